// The people of the console, as the ledger keeps them, and the links by which they come.

import type { Actor } from '../../../domain/actor.ts'
import { identityOf } from '../../../domain/actor.ts'
import { Fault } from '../../../domain/fault.ts'
import {
  exclusionIn,
  FIRST_SETUP_MS,
  type Grant,
  type GrantName,
  movesMoney,
  type Person,
  regranted,
} from '../../../domain/person.ts'
import type { Invitation, Joining, NewPerson, PeopleLedger } from '../../../ports/ledger/people.ts'
import { beginFourEyes } from '../approving/adopting.ts'
import { lapseOfProposer } from '../approving/lapsing.ts'
import { type Engine, FAULTING } from '../engine.ts'
import { byOf, recordAct } from '../record/acts.ts'
import { all, change, exists, one, type Script } from '../script.ts'

type Parts = Pick<
  PeopleLedger,
  'people' | 'personNamed' | 'addPerson' | 'invite' | 'inviteFirst' | 'invited' | 'join' | 'setGrants' | 'revokePerson'
>

export function peopleOn(engine: Engine): Parts {
  return {
    people: async () =>
      (await engine.read(() => all<PersonColumns>(`${PERSON} ORDER BY created_at, id`))).map(personOf),
    async personNamed(name) {
      const found = await engine.read(() => one<PersonColumns>(NAMED, { name }))
      return found === undefined ? null : { person: personOf(found), passwordHash: found.password }
    },
    addPerson: (person, invitation, actor, nowMs) =>
      engine.write(() => addPerson(person, invitation, actor, nowMs), FAULTING),
    invite: (name, invitation, actor, nowMs) => engine.write(() => invite(name, invitation, actor, nowMs), FAULTING),
    inviteFirst: (invitation) => engine.write(() => inviteFirst(invitation), FAULTING),
    invited: (sha256, nowMs) => engine.read(() => invited(sha256, nowMs)),
    join: (joining) => engine.write(() => join(joining), FAULTING),
    setGrants: (name, grants, reason, actor, nowMs) =>
      engine.write(() => setGrants(name, grants, { reason, actor, nowMs }), FAULTING),
    revokePerson: (name, reason, actor, nowMs) =>
      engine.write(() => revokePerson(name, { reason, actor, nowMs }), FAULTING),
  }
}

interface PersonColumns extends Omit<Person, 'grants' | 'joined'> {
  readonly grants: string
  readonly password: string | null
}

export const PERSON = `
    SELECT id, name, grants, password, created_at AS "createdAtMs", created_by AS "createdBy",
      revoked_at AS "revokedAtMs", issuer FROM person`
const NAMED = `${PERSON} WHERE name = :name`
const PERSON_BY_ID = `${PERSON} WHERE id = :id`

export function personOf({ grants, password, ...person }: PersonColumns): Person {
  return { ...person, grants: JSON.parse(grants) as Grant[], joined: password !== null || person.issuer !== null }
}

/** Fields of a person that approves; null: there is none. */
export function* personById(id: string): Script<Person | null> {
  const found = yield* one<PersonColumns>(PERSON_BY_ID, { id })
  return found === undefined ? null : personOf(found)
}

const ADD = `
    INSERT INTO person (id, name, grants, created_at, created_by) VALUES (:id, :name, :grants, :nowMs, :by)`

function* addPerson(person: NewPerson, invitation: Invitation, actor: Actor, nowMs: number): Script<'added' | 'taken'> {
  assertTogether(person.grants)
  const { id, name } = person
  if (yield* exists('SELECT 1 FROM person WHERE name = :name OR id = :id', { name, id })) return 'taken'
  const given = { atMs: nowMs, by: identityOf(actor), first: yield* isFirstSetup(nowMs) }
  const grants = JSON.stringify(regranted([], person.grants, given))
  yield* change(ADD, { id, name, grants, nowMs, by: byOf(actor) })
  yield* replaceInvitation(id, invitation)
  const details = { person: id, name, roles: person.grants.join(' ') }
  yield* recordAct({ what: 'add-person', atMs: nowMs, actor, details })
  yield* agreeOnFourEyes(actor, nowMs)
  return 'added'
}

/** As soon as there are two of them, of whom one can approve, one person alone pays no more. */
export function* agreeOnFourEyes(actor: Actor, nowMs: number): Script<void> {
  const people = (yield* all<PersonColumns>(PERSON)).map(personOf)
  const movers = people.filter(movesMoney)
  const canApprove = movers.some(({ grants }) => grants.some(({ name }) => name === 'approver'))
  if (movers.length >= 2 && canApprove) yield* beginFourEyes('two people have roles that move money', actor, nowMs)
}

export function assertTogether(names: readonly GrantName[]): void {
  const apart = exclusionIn(names)
  if (apart === null) return
  throw new Fault(
    'usage',
    `The roles ${apart[0]} and ${apart[1]} do not go together: who makes people moves no money. Nothing was changed. Give them to two people.`,
  )
}

/** Nobody was there who could have given a role a day before. */
export function* isFirstSetup(nowMs: number): Script<boolean> {
  const found = yield* one<{ at: number | null }>('SELECT min(created_at) AS at FROM person')
  const since = found?.at ?? null
  return since === null || nowMs - since < FIRST_SETUP_MS
}

function* replaceInvitation(personId: string, { sha256, untilMs }: Invitation): Script<void> {
  yield* change('DELETE FROM invitation WHERE person_id = :personId', { personId })
  yield* change('INSERT INTO invitation (sha256, person_id, until) VALUES (:sha256, :personId, :untilMs)', {
    ...{ sha256, personId, untilMs },
  })
}

function* invite(name: string, invitation: Invitation, actor: Actor, nowMs: number) {
  const found = yield* one<PersonColumns>(NAMED, { name })
  if (found === undefined) return 'unknown'
  if (found.revokedAtMs !== null) return 'revoked'
  // By a password they would come in with roles that their provider has taken away.
  if (found.issuer !== null) return 'provided'
  // Whoever gives the link decides who comes by it: the roles are theirs from now on, as if they were given now.
  const given = { atMs: nowMs, by: identityOf(actor), first: yield* isFirstSetup(nowMs) }
  const names = personOf(found).grants.map((one) => one.name)
  const grants = JSON.stringify(regranted([], names, given))
  yield* change('UPDATE person SET password = NULL, grants = :grants WHERE id = :id', { id: found.id, grants })
  yield* endRightsOf(found.id, nowMs)
  yield* replaceInvitation(found.id, invitation)
  yield* recordAct({ what: 'invite-person', atMs: nowMs, actor, details: { person: found.id, name } })
  return 'invited'
}

/** Of which person: of nobody yet. */
const FIRST = ''

function* inviteFirst(invitation: Invitation): Script<'invited' | 'people'> {
  if (yield* exists('SELECT 1 FROM person')) return 'people'
  yield* replaceInvitation(FIRST, invitation)
  return 'invited'
}

const INVITATION = 'SELECT person_id AS "personId" FROM invitation WHERE sha256 = :sha256 AND until > :nowMs'

function* invited(sha256: string, nowMs: number): Script<{ name: string | null } | null> {
  const found = yield* one<{ personId: string }>(INVITATION, { sha256, nowMs })
  if (found === undefined) return null
  if (found.personId === FIRST) return (yield* exists('SELECT 1 FROM person')) ? null : { name: null }
  const person = yield* personById(found.personId)
  return person === null || person.revokedAtMs !== null ? null : { name: person.name }
}

function* join({ invitationSha256: sha256, first, passwordHash, address, nowMs }: Joining): Script<Person | null> {
  if ((yield* invited(sha256, nowMs)) === null) return null
  const { personId } = (yield* one<{ personId: string }>(INVITATION, { sha256, nowMs }))!
  yield* change('DELETE FROM invitation WHERE sha256 = :sha256', { sha256 })
  const id = personId === FIRST ? first.id : personId
  if (personId === FIRST) yield* addFirst(first, nowMs)
  yield* change('UPDATE person SET password = :passwordHash WHERE id = :id', { passwordHash, id })
  const person = (yield* personById(id))!
  const actor = { kind: 'person', id, name: person.name, address } as const
  yield* recordAct({ what: 'join', atMs: nowMs, actor, details: { person: id, name: person.name } })
  return person
}

function* addFirst({ id, name }: Joining['first'], nowMs: number): Script<void> {
  const grants = JSON.stringify(regranted([], ['admin'], { atMs: nowMs, by: `person:${id}`, first: true }))
  yield* change(ADD, { id, name, grants, nowMs, by: 'the link of the first start' })
}

interface Changing {
  readonly reason: string
  readonly actor: Actor
  readonly nowMs: number
}

function* setGrants(name: string, names: readonly GrantName[], { reason, actor, nowMs }: Changing) {
  assertTogether(names)
  const found = yield* one<PersonColumns>(NAMED, { name })
  if (found === undefined) return 'unknown'
  if (found.revokedAtMs !== null) return 'revoked'
  if (found.issuer !== null) return 'provided'
  const before = personOf(found)
  const given = { atMs: nowMs, by: identityOf(actor), first: yield* isFirstSetup(nowMs) }
  const grants = regranted(before.grants, names, given)
  yield* change('UPDATE person SET grants = :grants WHERE id = :id', { id: found.id, grants: JSON.stringify(grants) })
  yield* endRightsOf(found.id, nowMs)
  const wordsOf = (list: readonly Grant[]) => list.map((one) => one.name).join(' ')
  const details = { person: found.id, name, before: wordsOf(before.grants), after: wordsOf(grants) }
  yield* recordAct({ what: 'set-roles', atMs: nowMs, actor, reason, details })
  yield* agreeOnFourEyes(actor, nowMs)
  return 'set'
}

function* revokePerson(name: string, { reason, actor, nowMs }: Changing) {
  const found = yield* one<PersonColumns>(NAMED, { name })
  if (found === undefined) return 'unknown'
  if (found.revokedAtMs !== null) return 'already'
  const { id } = found
  yield* change('UPDATE person SET revoked_at = :nowMs, password = NULL WHERE id = :id', { id, nowMs })
  yield* change('DELETE FROM invitation WHERE person_id = :id', { id })
  yield* endRightsOf(id, nowMs)
  yield* recordAct({ what: 'revoke-person', atMs: nowMs, actor, reason, details: { person: id, name } })
  return 'revoked'
}

/** Where what a person may do has changed: their sessions, and what they proposed. */
export function* endRightsOf(id: string, nowMs: number): Script<void> {
  yield* change('DELETE FROM session WHERE person_id = :id', { id })
  yield* lapseOfProposer(`person:${id}`, nowMs)
}
