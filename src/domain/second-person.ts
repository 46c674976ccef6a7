// Behind which accounts may be one human: whoever makes an account, or gives a link to it, can be the one who comes by it.

import { type Grant, type GrantName, MONEY, mayDo, type Person } from './person.ts'

type Account = Pick<Person, 'id' | 'makers' | 'confirmedBy'>

/** Of an identity as in `identityOf`. A provider is no person; a person whom a second one confirmed is nobody else. */
function handsBehind(identity: string, people: readonly Account[]): ReadonlySet<string> {
  const hands = new Set<string>()
  const waiting = [identity]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (hands.has(next) || next.startsWith('provider:')) continue
    hands.add(next)
    const account = people.find(({ id }) => `person:${id}` === next)
    if (account !== undefined && account.confirmedBy === null) waiting.push(...account.makers)
  }
  return hands
}

export function mayBeOne(one: string, other: string, people: readonly Account[]): boolean {
  return !handsBehind(one, people).isDisjointFrom(handsBehind(other, people))
}

type Confirmed = Account & Pick<Person, 'grants' | 'waiting'>

/** Whether a second person has nothing to say: the account is known to be somebody's own, and no role waits. */
export function isConfirmed({ confirmedBy, waiting }: Pick<Person, 'confirmedBy' | 'waiting'>): boolean {
  return confirmedBy !== null && waiting.length === 0
}

/** Whether the identity is another person than whoever made the account or gave what it has. */
export function mayConfirm(identity: string, person: Confirmed, people: readonly Account[]): boolean {
  const givers = [...person.grants, ...person.waiting].map(({ by }) => by)
  return [`person:${person.id}`, ...person.makers, ...givers].every((one) => !mayBeOne(identity, one, people))
}

/** Administrators who may confirm. None: it takes the owner of the ledger's machine. */
export function confirmersOf(person: Confirmed, people: readonly Person[]): readonly Person[] {
  const able = people.filter((one) => one.joined && mayDo(one, 'administer'))
  return able.filter(({ id }) => mayConfirm(`person:${id}`, person, people))
}

/** Roles that hold at once, and those that move money and wait for a second person. What was given before keeps its moment and its giver. */
export function given(
  before: readonly Grant[],
  names: readonly GrantName[],
  by: Omit<Grant, 'name'>,
  takesTwo: boolean,
): Pick<Person, 'grants' | 'waiting'> {
  const all = [...new Set(names)].toSorted()
  const waits = (name: GrantName) => takesTwo && MONEY.includes(name) && !before.some((one) => one.name === name)
  return {
    grants: all
      .filter((name) => !waits(name))
      .map((name) => before.find((one) => one.name === name) ?? { name, ...by }),
    waiting: all.filter(waits).map((name) => ({ name, ...by })),
  }
}
