// People by an identity provider: known by its issuer and their subject, never by a name, with the roles that it says each time.

import { type DoorActor, identityOf } from '../../../domain/actor.ts'
import { numberedName } from '../../../domain/identity.ts'
import { type GrantName, MONEY, type Person } from '../../../domain/person.ts'
import { given } from '../../../domain/second-person.ts'
import type { Entered, EnteredAgain, PeopleLedger, Provided } from '../../../ports/ledger/people.ts'
import { beginFourEyes } from '../approving/adopting.ts'
import { type Engine, FAULTING } from '../engine.ts'
import { byOf, recordAct } from '../record/acts.ts'
import { change, exists, one, type Script } from '../script.ts'
import { agreeOnFourEyes, assertTogether, endRightsOf, isFirstSetup, PERSON, personById, personOf } from './people.ts'
import { type Opening, openFor, renewTo, visited } from './sessions.ts'

type Parts = Pick<PeopleLedger, 'enter' | 'enterAgain'>

export function providedOn(engine: Engine): Parts {
  return {
    enter: (provided, session) => engine.write(() => enter(provided, session), FAULTING),
    enterAgain: (provided, session) => engine.write(() => enterAgain(provided, session), FAULTING),
  }
}

function* enter(provided: Provided, { sha256, id, provedAtMs }: Parameters<PeopleLedger['enter']>[1]): Script<Entered> {
  const { address, nowMs, grants } = provided
  assertTogether(grants)
  const found = yield* personBySubject(provided)
  if (found === null && grants.length === 0) return { kind: 'no-roles' }
  if (found !== null && found.revokedAtMs !== null) return { kind: 'revoked' }
  if (found !== null) yield* giveRoles(found, provided)
  if (grants.length === 0) return { kind: 'no-roles' }
  const person = found ?? (yield* addProvided(provided))
  const opening: Opening = { sha256, id, personId: person.id, address, nowMs, provedAtMs }
  return { kind: 'in', session: yield* openFor(person, opening, { provider: provided.issuer }) }
}

function* enterAgain(provided: Provided, asked: Parameters<PeopleLedger['enterAgain']>[1]): Script<EnteredAgain> {
  const { nowMs, grants } = provided
  assertTogether(grants)
  const visit = yield* visited(asked.from, nowMs)
  if (visit === null) return 'over'
  const found = yield* personBySubject(provided)
  if (found === null || found.id !== visit.person.id) return 'other-person'
  const isChanged = yield* giveRoles(found, provided)
  if (grants.length === 0) return 'no-roles'
  if (isChanged) return 'other-roles'
  if (asked.provedAtMs === null) return 'not-fresh'
  yield* renewTo({ from: asked.from, to: asked.to, provedAtMs: asked.provedAtMs, nowMs })
  return 'renewed'
}

function* personBySubject({ issuer, subject }: Provided): Script<Person | null> {
  const found = yield* one<Parameters<typeof personOf>[0]>(`${PERSON} WHERE issuer = :issuer AND subject = :subject`, {
    issuer,
    subject,
  })
  return found === undefined ? null : personOf(found)
}

function actorOf({ issuer, providerName, address }: Provided): DoorActor {
  return { kind: 'provider', id: issuer, name: providerName, address }
}

const ADD = `
    INSERT INTO person (id, name, grants, waiting, makers, signed_in, created_at, created_by, issuer, subject)
    VALUES (:id, :name, :grants, '[]', '[]', '[]', :nowMs, :by, :issuer, :subject)`

function* addProvided(provided: Provided): Script<Person> {
  const { newId: id, issuer, subject, nowMs } = provided
  const actor = actorOf(provided)
  const name = yield* freeName(provided.name)
  const by = { atMs: nowMs, by: identityOf(actor), first: yield* isFirstSetup(nowMs) }
  const grants = JSON.stringify(given([], provided.grants, by, false).grants)
  yield* change(ADD, { id, name, grants, nowMs, by: byOf(actor), issuer, subject })
  const details = { person: id, name, roles: wordsOf(provided.grants), issuer, subject }
  yield* recordAct({ what: 'add-person', atMs: nowMs, actor, details })
  yield* agreeOnFourEyesWith(provided)
  return (yield* personById(id))!
}

/** A name that somebody has, or had, stays theirs: who comes with it gets it with a number. */
function* freeName(wanted: string): Script<string> {
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? wanted : numberedName(wanted, n)
    if (!(yield* exists('SELECT 1 FROM person WHERE name = :name', { name }))) return name
  }
}

/** Whether they are other ones than before: then all sessions of the person end. Roles that stay keep since when they are held. */
function* giveRoles(person: Person, provided: Provided): Script<boolean> {
  const before = person.grants.map(({ name }) => name)
  if (wordsOf(before) === wordsOf(provided.grants)) return false
  const { nowMs, providerName } = provided
  const actor = actorOf(provided)
  const by = { atMs: nowMs, by: identityOf(actor), first: yield* isFirstSetup(nowMs) }
  // Groups are no one person's, so no second one is waited for.
  const grants = JSON.stringify(given(person.grants, provided.grants, by, false).grants)
  yield* change('UPDATE person SET grants = :grants WHERE id = :id', { id: person.id, grants })
  yield* endRightsOf(person.id, nowMs)
  const details = {
    ...{ person: person.id, name: person.name },
    ...{ before: wordsOf(before), after: wordsOf(provided.grants) },
  }
  const reason = `the groups at ${providerName} have changed`
  yield* recordAct({ what: 'set-roles', atMs: nowMs, actor, reason, details })
  yield* agreeOnFourEyesWith(provided)
  return true
}

/** Approvers of whom the configuration speaks are not here before they sign in: whoever comes first pays no more alone than who comes last. */
function* agreeOnFourEyesWith(provided: Provided): Script<void> {
  const { grants, hasApprovers, nowMs } = provided
  const actor = actorOf(provided)
  if (hasApprovers && grants.some((name) => MONEY.includes(name)))
    yield* beginFourEyes('groups of the identity provider have roles that move money', actor, nowMs)
  yield* agreeOnFourEyes(actor, nowMs)
}

function wordsOf(names: readonly GrantName[]): string {
  return names.toSorted().join(' ')
}
