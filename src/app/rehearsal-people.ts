// Two people for a rehearsal, whose password everybody knows: one hands in, the other approves.

import type { Actor } from '../domain/actor.ts'
import type { GrantName } from '../domain/person.ts'
import type { PeopleLedger } from '../ports/ledger/people.ts'
import { hashPassword, newInvitation, newPersonId } from './people.ts'

export interface RehearsalPerson {
  readonly name: string
  readonly password: string
  readonly does: string
}

const PASSWORD = 'no money moves here'
const PEOPLE = [
  { name: 'ana', grants: ['submitter', 'operator', 'results'], does: 'hands files in, steers, and resolves doubts' },
  { name: 'ben', grants: ['approver', 'auditor'], does: 'approves what ana handed in' },
] as const satisfies readonly { name: string; grants: readonly GrantName[]; does: string }[]

export async function addRehearsalPeople(
  ledger: Pick<PeopleLedger, 'addPerson' | 'confirmPerson' | 'join'>,
  actor: Actor,
  nowMs: number,
): Promise<readonly RehearsalPerson[]> {
  const passwordHash = await hashPassword(PASSWORD)
  for (const { name, grants } of PEOPLE) {
    const { invitation } = newInvitation(nowMs)
    const person = { id: newPersonId(), name, grants }
    await ledger.addPerson(person, invitation, actor, nowMs)
    await ledger.confirmPerson(name, actor, nowMs)
    const joining = { invitationSha256: invitation.sha256, first: person, passwordHash, address: null, nowMs }
    await ledger.join(joining)
  }
  return PEOPLE.map(({ name, does }) => ({ name, does, password: PASSWORD }))
}
