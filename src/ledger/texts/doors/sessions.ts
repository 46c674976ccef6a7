// Signing in, and what it opens: looked up with each request, so that what was taken away is gone from the next one on.

import type { Actor } from '../../../domain/actor.ts'
import { type ActDetails, isTold } from '../../../domain/acts.ts'
import {
  backOffMs,
  isOpen,
  isToldOfKnown,
  type Person,
  SESSION_IDLE_MS,
  SESSION_LIVES_MS,
  type Session,
  signedInFrom,
  toldOfFailures,
} from '../../../domain/person.ts'
import type {
  ChangingPassword,
  NewSession,
  PeopleLedger,
  RefusedSignIn,
  SignInTry,
} from '../../../ports/ledger/people.ts'
import { type Engine, FAULTING } from '../engine.ts'
import { recordAct } from '../record/acts.ts'
import { all, change, exists, one, type Script } from '../script.ts'
import { personById } from './people.ts'

type Parts = Pick<
  PeopleLedger,
  | 'beginSignIn'
  | 'noteRefusedSignIn'
  | 'openSession'
  | 'renewSession'
  | 'changePassword'
  | 'visit'
  | 'sessions'
  | 'endSession'
>

/** A session that is used all the time is noted once in this time. */
const NOTED_EVERY_MS = 60_000

export function sessionsOn(engine: Engine): Parts {
  return {
    beginSignIn: (nameSha256, nowMs) => engine.write(() => beginSignIn(nameSha256, nowMs), FAULTING),
    noteRefusedSignIn: (refused) => engine.write(() => noteRefusedSignIn(refused), FAULTING),
    openSession: (session, nameSha256) => engine.write(() => openSession(session, nameSha256), FAULTING),
    renewSession: (from, to, nameSha256, nowMs) =>
      engine.write(() => renewSession({ from, to, nameSha256 }, nowMs), FAULTING),
    changePassword: (changing, nowMs) => engine.write(() => changePassword(changing, nowMs), FAULTING),
    async visit(sha256, nowMs, isUsed = true) {
      const found = await engine.read(() => visited(sha256, nowMs))
      if (isUsed && found !== null && nowMs - found.session.seenAtMs > NOTED_EVERY_MS)
        await engine.write(() => change(SEEN, { sha256, nowMs }), FAULTING)
      return found
    },
    sessions: async (personId, nowMs) =>
      (await engine.read(() => all<Session>(`${SESSION} WHERE person_id = :personId`, { personId })))
        .filter((session) => isOpen(session, nowMs))
        .toSorted((one, other) => other.startedAtMs - one.startedAtMs || (one.id < other.id ? -1 : 1)),
    endSession: (personId, id, actor, nowMs) =>
      engine.write(() => endSession({ personId, id }, actor, nowMs), FAULTING),
  }
}

const TRIES_KEPT_MS = 86_400_000

function* beginSignIn(nameSha256: string, nowMs: number): Script<SignInTry> {
  const found = yield* one<{ failures: number; until: number }>(
    'SELECT failures, until FROM sign_in_try WHERE name_sha256 = :nameSha256',
    { nameSha256 },
  )
  if (found !== undefined && found.until > nowMs) return { kind: 'wait', untilMs: found.until }
  yield* change('DELETE FROM sign_in_try WHERE until < :over', { over: nowMs - TRIES_KEPT_MS })
  const failures = found === undefined || found.until < nowMs - TRIES_KEPT_MS ? 0 : found.failures
  yield* change(
    `INSERT INTO sign_in_try (name_sha256, failures, until) VALUES (:nameSha256, :failures, :until)
      ON CONFLICT (name_sha256) DO UPDATE SET failures = excluded.failures, until = excluded.until`,
    { nameSha256, failures: failures + 1, until: nowMs + backOffMs(failures) },
  )
  return { kind: 'try', failures: failures + 1 }
}

/** Keys beside the digests of names; neither is a digest. */
const UNKNOWN = 'unknown names'

/** Counted since a day without any. Of a known name and of an unknown one it is one write, so that the time tells nothing. */
const COUNT = `
    INSERT INTO sign_in_try (name_sha256, failures, until) VALUES (:key, 1, :nowMs)
    ON CONFLICT (name_sha256) DO UPDATE SET failures = sign_in_try.failures + 1, until = excluded.until RETURNING failures`
const KNOWN = 'known names'

function* noteRefusedSignIn({ name, failures, address, nowMs }: RefusedSignIn): Script<void> {
  const person = yield* one<{ id: string }>('SELECT id FROM person WHERE name = :name', { name })
  const counted = yield* one<{ failures: number }>(COUNT, { key: person === undefined ? UNKNOWN : KNOWN, nowMs })
  const tries = counted?.failures ?? 0
  if (person === undefined) {
    if (isTold(tries)) yield* tellRefused('unknown names were tried', { tries, address }, nowMs)
    return
  }
  if (isToldOfKnown(tries)) yield* tellRefused('wrong passwords of all people together', { tries, address }, nowMs)
  const told = toldOfFailures(failures)
  if (told === null) return
  yield* tellRefused(REFUSED[told], { person: person.id, name, tries: failures, address }, nowMs)
}

const REFUSED = {
  first: 'a wrong password',
  many: 'wrong passwords in a row',
  longest: 'wrong passwords in a row; each further try waits 15 minutes',
} as const

function* tellRefused(reason: string, details: ActDetails, atMs: number): Script<void> {
  yield* recordAct({ what: 'sign-in-refused', atMs, actor: null, reason, details })
}

function* forgetTries(nameSha256: string): Script<void> {
  yield* change('DELETE FROM sign_in_try WHERE name_sha256 = :nameSha256', { nameSha256 })
}

const SESSION = `
    SELECT id, person_id AS "personId", started_at AS "startedAtMs", seen_at AS "seenAtMs", proved_at AS "provedAtMs",
      address FROM session`
const BY_SHA256 = `${SESSION} WHERE sha256 = :sha256`
const SEEN = 'UPDATE session SET seen_at = :nowMs WHERE sha256 = :sha256 AND seen_at < :nowMs'
const OPEN = `
    INSERT INTO session (sha256, id, person_id, started_at, seen_at, proved_at, address)
    VALUES (:sha256, :id, :personId, :nowMs, :nowMs, :provedAtMs, :address)`
const SIGNED_IN = 'UPDATE person SET signed_in = :signedIn WHERE id = :personId'
const OVER = 'DELETE FROM session WHERE seen_at <= :idle OR started_at <= :old'

function* openSession(
  { sha256, passwordHash, id, personId, address, nowMs }: NewSession,
  nameSha256: string,
): Script<Session | null> {
  const person = yield* personById(personId)
  if (person === null || person.revokedAtMs !== null) return null
  // To compare a password takes a while: another link may have been given, and another password chosen.
  if (
    !(yield* exists('SELECT 1 FROM person WHERE id = :personId AND password = :passwordHash', {
      personId,
      passwordHash,
    }))
  )
    return null
  yield* forgetTries(nameSha256)
  return yield* openFor(person, { sha256, id, personId, address, nowMs, provedAtMs: nowMs })
}

export interface Opening extends Omit<NewSession, 'passwordHash'> {
  /** When the person last proved who it is; 0: nobody knows. */
  readonly provedAtMs: number
}

/** For somebody who was recognised. */
export function* openFor(
  { name, signedIn }: Pick<Person, 'name' | 'signedIn'>,
  opening: Opening,
  by: ActDetails = {},
): Script<Session> {
  const { sha256, id, personId, address, nowMs, provedAtMs } = opening
  yield* change(OVER, { idle: nowMs - SESSION_IDLE_MS, old: nowMs - SESSION_LIVES_MS })
  yield* change(OPEN, { sha256, id, personId, address, nowMs, provedAtMs })
  yield* change(SIGNED_IN, { personId, signedIn: JSON.stringify(signedInFrom(signedIn, address, nowMs)) })
  const actor = { kind: 'person', id: personId, name, address } as const
  const isNew = address !== null && signedIn.every((one) => one.address !== address)
  const details = { session: id, ...by, ...(isNew && { name, new_address: address }) }
  yield* recordAct({ what: 'sign-in', atMs: nowMs, actor, details })
  return (yield* one<Session>(BY_SHA256, { sha256 }))!
}

const RENEW = 'UPDATE session SET sha256 = :to, proved_at = :provedAtMs, seen_at = :nowMs WHERE sha256 = :from'

function* renewSession(
  { from, to, nameSha256 }: { readonly from: string; readonly to: string; readonly nameSha256: string },
  nowMs: number,
): Script<Session | null> {
  if ((yield* visited(from, nowMs)) === null) return null
  yield* forgetTries(nameSha256)
  yield* renewTo({ from, to, provedAtMs: nowMs, nowMs })
  return (yield* one<Session>(BY_SHA256, { sha256: to }))!
}

const ANOTHER_PASSWORD = 'UPDATE person SET password = :after WHERE id = :id AND password = :before RETURNING id'

function* changePassword(changing: ChangingPassword, nowMs: number): Script<boolean> {
  const { from, to, nameSha256, before, after, address } = changing
  const found = yield* visited(from, nowMs)
  if (found === null) return false
  const { id, name } = found.person
  if ((yield* all(ANOTHER_PASSWORD, { id, before, after })).length === 0) return false
  const ended = yield* all('DELETE FROM session WHERE person_id = :id AND sha256 <> :from RETURNING id', { id, from })
  yield* renewSession({ from, to, nameSha256 }, nowMs)
  const actor = { kind: 'person', id, name, address } as const
  const details = { person: id, name, sessions_ended: ended.length }
  yield* recordAct({ what: 'change-password', atMs: nowMs, actor, details })
  return true
}

export function* renewTo(renewal: {
  readonly from: string
  readonly to: string
  readonly provedAtMs: number
  readonly nowMs: number
}): Script<void> {
  yield* change(RENEW, renewal)
}

export function* visited(sha256: string, nowMs: number): Script<{ person: Person; session: Session } | null> {
  const session = yield* one<Session>(BY_SHA256, { sha256 })
  if (session === undefined || !isOpen(session, nowMs)) return null
  const person = yield* personById(session.personId)
  return person === null || person.revokedAtMs !== null ? null : { person, session }
}

function* endSession(named: { readonly personId: string; readonly id: string }, actor: Actor, nowMs: number) {
  const ended = yield* all('DELETE FROM session WHERE person_id = :personId AND id = :id RETURNING id', named)
  if (ended.length === 0) return false
  yield* recordAct({ what: 'end-session', atMs: nowMs, actor, details: { person: named.personId, session: named.id } })
  return true
}
