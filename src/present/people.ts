// People of the console, without what is secret of them.

import { isoOf } from '../domain/batch-status.ts'
import type { Person } from '../domain/person.ts'
import { toTable } from './text.ts'

export function personState({ revokedAtMs, joined }: Person): 'active' | 'invited' | 'revoked' {
  if (revokedAtMs !== null) return 'revoked'
  return joined ? 'active' : 'invited'
}

export function toJsonPerson(person: Person): object {
  const { id, name, grants, createdAtMs, createdBy, revokedAtMs, issuer } = person
  return {
    ...{ id, name, state: personState(person) },
    roles: grants.map((one) => ({ role: one.name, since: isoOf(one.atMs), by: one.by })),
    ...{ created_at: isoOf(createdAtMs), created_by: createdBy },
    revoked_at: revokedAtMs === null ? null : isoOf(revokedAtMs),
    identity_provider: issuer,
  }
}

export function personLines(people: readonly Person[]): string[] {
  if (people.length === 0) return []
  const rows = people.map((person) => [
    person.name,
    personState(person),
    person.grants.map(({ name }) => name).join(' '),
  ])
  return toTable([['name', 'state', 'roles'], ...rows], [])
}
