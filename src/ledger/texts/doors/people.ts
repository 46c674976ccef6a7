// The people of the console, as the ledger keeps them, and the links by which they come.

import type { Actor } from '../../../domain/actor.ts'
import { identityOf, isOsActor } from '../../../domain/actor.ts'
import { Fault } from '../../../domain/fault.ts'
import {
  exclusionIn,
  FIRST_SETUP_MS,
  type Grant,
  type GrantName,
  movesMoney,
  type Person,
  type SignedIn,
} from '../../../domain/person.ts'
import { confirmersOf, given, isConfirmed, mayConfirm } from '../../../domain/second-person.ts'
import type { Confirmed, Invitation, Joining, NewPerson, PeopleLedger } from '../../../ports/ledger/people.ts'
import { beginFourEyes } from '../approving/adopting.ts'
import { lapseOfProposer } from '../approving/lapsing.ts'
import { policyInForce } from '../approving/policy.ts'
import { type Engine, FAULTING } from '../engine.ts'
import { byOf, recordAct } from '../record/acts.ts'
import { all, change, exists, one, type Script } from '../script.ts'

type Parts = Pick<
  PeopleLedger,
  | 'people'
  | 'personNamed'
  | 'addPerson'
  | 'confirmPerson'
  | 'invite'
  | 'inviteFirst'
  | 'invited'
  | 'join'
  | 'setGrants'
  | 'revokePerson'
>

export function peopleOn(engine: Engine): Parts {
  return {
    people: () => engine.read(allPeople),
    async personNamed(name) {
      const found = await engine.read(() => one<PersonColumns>(NAMED, { name }))
      return found === undefined ? null : { person: personOf(found), passwordHash: found.password }
    },
    addPerson: (person, invitation, actor, nowMs) =>
      engine.write(() => addPerson(person, invitation, actor, nowMs), FAULTING),
    confirmPerson: (name, actor, nowMs) => engine.write(() => confirmPerson(name, actor, nowMs), FAULTING),
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

interface PersonColumns extends Omit<Person, 'grants' | 'waiting' | 'makers' | 'signedIn' | 'joined'> {
  readonly grants: string
  readonly waiting: string
  readonly makers: string
  readonly signedIn: string
  readonly password: string | null
}

export const PERSON = `
    SELECT id, name, grants, waiting, makers, confirmed_by AS "confirmedBy", signed_in AS "signedIn", password, created_at AS "createdAtMs", created_by AS "createdBy",
      revoked_at AS "revokedAtMs", issuer FROM person`
const NAMED = `${PERSON} WHERE name = :name`
const PERSON_BY_ID = `${PERSON} WHERE id = :id`

export function personOf({ grants, waiting, makers, signedIn, password, ...person }: PersonColumns): Person {
  return {
    ...person,
    grants: JSON.parse(grants) as Grant[],
    waiting: JSON.parse(waiting) as Grant[],
    makers: JSON.parse(makers) as string[],
    signedIn: JSON.parse(signedIn) as SignedIn[],
    joined: password !== null || person.issuer !== null,
  }
}

/** In the order in which they were made. */
export function* allPeople(): Script<Person[]> {
  return (yield* all<PersonColumns>(`${PERSON} ORDER BY created_at, id`)).map(personOf)
}

/** Fields of a person that approves; null: there is none. */
export function* personById(id: string): Script<Person | null> {
  const found = yield* one<PersonColumns>(PERSON_BY_ID, { id })
  return found === undefined ? null : personOf(found)
}

const ADD = `
    INSERT INTO person (id, name, grants, waiting, makers, signed_in, created_at, created_by)
    VALUES (:id, :name, :grants, :waiting, :makers, '[]', :nowMs, :by)`

function* addPerson(person: NewPerson, invitation: Invitation, actor: Actor, nowMs: number): Script<'added' | 'taken'> {
  assertTogether(person.grants)
  const { id, name } = person
  if (yield* exists('SELECT 1 FROM person WHERE name = :name OR id = :id', { name, id })) return 'taken'
  const roles = yield* givenBy(actor, [], person.grants, nowMs)
  yield* change(ADD, { id, name, ...roles, makers: JSON.stringify([identityOf(actor)]), nowMs, by: byOf(actor) })
  yield* replaceInvitation(id, invitation)
  const details = { person: id, name, roles: person.grants.join(' ') }
  yield* recordAct({ what: 'add-person', atMs: nowMs, actor, details })
  yield* agreeOnFourEyes(actor, nowMs)
  return 'added'
}

/** As columns. Once a policy is in force one person alone gives no role that moves money. */
function* givenBy(actor: Actor, before: readonly Grant[], names: readonly GrantName[], nowMs: number) {
  const by = { atMs: nowMs, by: identityOf(actor), first: yield* isFirstSetup(nowMs) }
  const { grants, waiting } = given(before, names, by, (yield* policyInForce()) !== null)
  return { grants: JSON.stringify(grants), waiting: JSON.stringify(waiting) }
}

/** As soon as there are two of them, of whom one can approve, one person alone pays no more. */
export function* agreeOnFourEyes(actor: Actor, nowMs: number): Script<void> {
  const movers = (yield* allPeople()).filter(movesMoney)
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

/** Nobody was there who could have given a role a day before, and nothing was handed in yet. */
export function* isFirstSetup(nowMs: number): Script<boolean> {
  if (yield* exists("SELECT 1 FROM batch WHERE stage = 'open'")) return false
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

const ANOTHER_LINK = `
    UPDATE person SET password = NULL, grants = :grants, waiting = :waiting, makers = :makers, confirmed_by = NULL
    WHERE id = :id`

function* invite(name: string, invitation: Invitation, actor: Actor, nowMs: number) {
  const found = yield* one<PersonColumns>(NAMED, { name })
  if (found === undefined) return 'unknown'
  if (found.revokedAtMs !== null) return 'revoked'
  // By a password they would come in with roles that their provider has taken away.
  if (found.issuer !== null) return 'provided'
  // Whoever gives the link decides who comes by it: the roles are theirs from now on, as if they were given now.
  const person = personOf(found)
  const names = [...person.grants, ...person.waiting].map((one) => one.name)
  const makers = JSON.stringify([...new Set([...person.makers, identityOf(actor)])])
  yield* change(ANOTHER_LINK, { id: found.id, ...(yield* givenBy(actor, [], names, nowMs)), makers })
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
  const given = personId === FIRST ? { roles: 'admin' } : {}
  yield* recordAct({ what: 'join', atMs: nowMs, actor, details: { person: id, name: person.name, ...given } })
  return person
}

function* addFirst({ id, name }: Joining['first'], nowMs: number): Script<void> {
  const admin: Grant = { name: 'admin', atMs: nowMs, by: `person:${id}`, first: true }
  const none = '[]'
  const by = 'the link of the first start'
  yield* change(ADD, { id, name, grants: JSON.stringify([admin]), waiting: none, makers: none, nowMs, by })
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
  const roles = yield* givenBy(actor, before.grants, names, nowMs)
  yield* change('UPDATE person SET grants = :grants, waiting = :waiting WHERE id = :id', { id: found.id, ...roles })
  yield* endRightsOf(found.id, nowMs)
  const after = [...new Set(names)].toSorted().join(' ')
  const details = { person: found.id, name, before: before.grants.map((one) => one.name).join(' '), after }
  yield* recordAct({ what: 'set-roles', atMs: nowMs, actor, reason, details })
  yield* agreeOnFourEyes(actor, nowMs)
  return 'set'
}

const CONFIRM = `
    UPDATE person SET grants = :grants, waiting = '[]', confirmed_by = :by WHERE id = :id`

/** A second person says that it is somebody's own account, and that they are to have these roles. */
function* confirmPerson(name: string, actor: Actor, nowMs: number): Script<Confirmed> {
  const people = yield* allPeople()
  const person = people.find((one) => one.name === name)
  if (person === undefined) return { kind: 'unknown' }
  if (person.revokedAtMs !== null) return { kind: 'revoked' }
  if (person.issuer !== null || isConfirmed(person)) return { kind: 'nothing' }
  const byOwner = isOsActor(actor)
  const others = confirmersOf(person, people)
  if (byOwner && others.length > 0) return { kind: 'others', names: others.map((one) => one.name) }
  if (!byOwner && !mayConfirm(identityOf(actor), person, people)) return { kind: 'same-hand' }
  // What was given in the first hour waits as long as any other when it is confirmed later.
  const first = yield* isFirstSetup(nowMs)
  const now = person.waiting.map((grant) => ({ ...grant, atMs: nowMs, first: grant.first && first }))
  const grants = [...person.grants, ...now].toSorted((a, b) => (a.name < b.name ? -1 : 1))
  yield* change(CONFIRM, { id: person.id, grants: JSON.stringify(grants), by: byOf(actor) })
  yield* endRightsOf(person.id, nowMs)
  const roles = grants.map((one) => one.name).join(' ')
  const as = byOwner ? 'owner of the machine, as no other person could' : 'another administrator'
  yield* recordAct({ what: 'confirm-person', atMs: nowMs, actor, details: { person: person.id, name, roles, as } })
  yield* agreeOnFourEyes(actor, nowMs)
  return { kind: 'confirmed' }
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
