// People of the console, without what is secret of them.

import { isoOf } from '../domain/batch-status.ts'
import { MONEY, type Person } from '../domain/person.ts'
import { isConfirmed } from '../domain/second-person.ts'
import { toTable } from './text.ts'

export function personState({ revokedAtMs, joined }: Person): 'active' | 'invited' | 'revoked' {
  if (revokedAtMs !== null) return 'revoked'
  return joined ? 'active' : 'invited'
}

/** What it takes before the account counts as somebody's own; null: nothing. */
export function secondPersonText(person: Person): string | null {
  const { name, grants, waiting, revokedAtMs, issuer } = person
  const hasRoles = waiting.length > 0 || grants.some((one) => MONEY.includes(one.name))
  if (revokedAtMs !== null || issuer !== null || !hasRoles || isConfirmed(person)) return null
  const roles = waiting.map((one) => one.name).join(', ')
  if (roles !== '')
    return `${roles} of ${name} ${waiting.length === 1 ? 'waits' : 'wait'} until a second person confirms it.`
  return `No second person has confirmed ${name}: whoever was made by the same person cannot approve for ${name}, nor ${name} for them.`
}

export function toJsonPerson(person: Person): object {
  const { id, name, grants, waiting, makers, confirmedBy, createdAtMs, createdBy, revokedAtMs, issuer } = person
  return {
    ...{ id, name, state: personState(person) },
    roles: grants.map((one) => ({ role: one.name, since: isoOf(one.atMs), by: one.by })),
    waiting: waiting.map((one) => ({ role: one.name, since: isoOf(one.atMs), by: one.by })),
    ...{ made_by: makers, confirmed_by: confirmedBy },
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
    [...person.grants.map(({ name }) => name), ...person.waiting.map(({ name }) => `(${name})`)].join(' '),
    person.confirmedBy ?? '',
  ])
  const second = people.flatMap((person) => secondPersonText(person) ?? [])
  return [...toTable([['name', 'state', 'roles', 'confirmed by'], ...rows], []), ...second]
}
