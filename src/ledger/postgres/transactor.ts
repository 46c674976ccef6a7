// A transactor runs one transaction after another on one connection, opened when it is needed and again when it was lost. Each transaction
// leaves its number in the transactor's row of the table `lane`. How a COMMIT ended whose answer was lost is read there until it is known: a
// commit is never repeated blindly. (The server's own transaction numbers tell nothing: after a crash it may give one to another transaction.)

import { type Alarm, stoppedBy } from '../../domain/alarm.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Moment, momentOf } from '../rules/trust.ts'
import type { Transacted } from '../write-queue.ts'
import { isDamage, isLost, lacksMemory, NotCommitted, triedLongFault, whyNotWritten } from './errors.ts'
import { keyOfLedger, LOCKS } from './locks.ts'
import { isOfLate } from './seen.ts'
import {
  type Asked,
  type Begun,
  GENERIC_PLAN,
  KEEPS_KEYS,
  type Session,
  type Settings,
  settingText,
} from './session.ts'

/** How a transaction takes the turnstile: a lock of the whole ledger, at the server. */
export type Turnstile =
  /** No other transaction that takes it is under way meanwhile. */
  | 'exclusive'
  /** No exclusive one is under way meanwhile. */
  | 'shared'
  /** Not at all: for what changes the sender of an account: it moves no row, and has a lock of its own. */
  | 'none'

export interface TransactorParts {
  /** Of the ledger, for people. */
  readonly name: string
  readonly schema: string
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs' | 'sleep'>
  readonly newId: () => number
  /** The connection for the next transaction. */
  readonly connect: () => Promise<Session>
  /** Another one, to ask how a transaction ended. */
  readonly reconnect: () => Promise<Session>
  /** Ends the process after an error that leaves nothing to trust. */
  readonly die: (error: unknown) => never
  /** Called with the number of each transaction that is known to be committed, before anyone is told. */
  readonly onCommitted?: (no: number) => void
}

export interface Transactor {
  /** In its row. */
  readonly id: number
  /** One after another: the caller sees to it. */
  write(turnstile: Turnstile, work: (session: Session) => Promise<void>): Promise<Transacted>
  /**
   * The same, shared, in two messages: `first` goes with its beginning, and what `finish` makes of what they found with its COMMIT. What
   * `between` asks goes by itself, and what that finds comes behind the rest.
   */
  writeGroup(first: readonly Asked[], finish: Next, between?: Next): Promise<Transacted>
}

/** What is asked next, by what was found so far. */
export type Next = (found: Begun['found']) => readonly Asked[]

type Work = (session: Session, found: Begun['found']) => Promise<readonly Asked[]>

const AGAIN_AFTER_MS = 100
const LOCK_WITHIN_MS = 2_000
/** The server ends the transaction of a client that has fallen silent: it would keep all others waiting. */
const GIVEN_UP_AFTER_MS = 10_000
/** How long a command waits for a server that cannot be reached. */
const PATIENCE_MS = 10_000
/** The same of one that takes no writes: another transaction may keep all others waiting, or its provider has set it to read only. */
const BUSY_PATIENCE_MS = 30_000

export function createTransactor({
  name,
  schema,
  clock,
  newId,
  connect,
  reconnect,
  die,
  onCommitted = () => {},
}: TransactorParts): Transactor {
  const transactorId = newId()
  let lastNo = 0
  /** The last that is known to be committed; null: none yet. */
  let seen: { readonly no: number; readonly at: Moment } | null = null
  let lostSinceMs: number | null = null
  let busySinceMs: number | null = null

  async function lost(error: unknown): Promise<Transacted> {
    lostSinceMs ??= clock.monotonicMs()
    await clock.sleep(AGAIN_AFTER_MS)
    return notNow(error, clock.monotonicMs() - lostSinceMs > PATIENCE_MS)
  }

  function busy(error: unknown): Transacted {
    busySinceMs ??= clock.monotonicMs()
    return notNow(error, clock.monotonicMs() - busySinceMs > BUSY_PATIENCE_MS)
  }

  /**
   * The transaction may have been committed. To write its row waits for it, where it is still open: after that it cannot commit any more.
   * A standby that has this commit has every earlier one.
   */
  async function howItEnded(no: number): Promise<Transacted> {
    for (;;) {
      try {
        const session = await reconnect()
        try {
          const [found] = await session.begin('READ COMMITTED', `${settingText(CAREFULLY)}; ${numberWas(transactorId)}`)
          await session.commit()
          return (found as { last: number }).last === no ? written(no) : { kind: 'not-written', why: 'busy' }
        } finally {
          await session.close()
        }
      } catch (error) {
        if (whyNotWritten(error) === null) die(error)
      }
      await clock.sleep(AGAIN_AFTER_MS)
    }
  }

  function written(no: number): Transacted {
    busySinceMs = null
    seen = { no, at: momentOf(clock) }
    onCommitted(no)
    return { kind: 'written' }
  }

  /** null also after a day: the ledger may have forgotten it by then. */
  const seenOfLate = () => (seen !== null && isOfLate(seen.at, clock) ? seen.no : null)

  async function transact(
    turnstile: Turnstile,
    first: readonly Asked[],
    work: Work,
    settings: Settings = {},
  ): Promise<Transacted> {
    lastNo += 1
    let session: Session | null = null
    let isCommitting = false
    try {
      session = await connect()
      const { opened, found } = await session.beginWith(
        { ...settingsOf(turnstile), ...settings },
        opening(schema, turnstile, numbered(transactorId, lastNo, seenOfLate())),
        first,
      )
      if (opened[0] === undefined) throw stoppedBy(PUT_BACK, name)
      lostSinceMs = null
      const last = await work(session, found)
      isCommitting = true
      await session.commit(last)
      return written(lastNo)
    } catch (thrown) {
      if (session !== null && !session.isOver) await session.rollback()
      const error = thrown instanceof NotCommitted ? thrown.cause : thrown
      if (isDamage(error)) die(error)
      if (isCommitting && error === thrown) return await howItEnded(lastNo)
      if (isLost(error)) return await lost(error)
      const why = whyNotWritten(error)
      if (lacksMemory(error)) await clock.sleep(AGAIN_AFTER_MS)
      if (why === 'busy') return busy(error)
      return why === null ? { kind: 'broke', error } : { kind: 'not-written', why }
    }
  }

  return {
    id: transactorId,
    write: (turnstile, work) =>
      transact(turnstile, [], async (session) => {
        await work(session)
        return []
      }),
    writeGroup: (first, finish, between) =>
      transact(
        'shared',
        first,
        async (session, found) => finish([...found, ...(await askEach(session, between?.(found)))]),
        IN_GROUPS,
      ),
  }
}

async function askEach(session: Session, asked: readonly Asked[] = []): Promise<Begun['found']> {
  const found: (readonly object[])[] = []
  for (const { text, values } of asked) found.push(await session.ask(text, values))
  return found
}

function notNow(error: unknown, isLasting: boolean): Transacted {
  return { kind: 'not-written', why: 'busy', ...(isLasting && { fault: triedLongFault(error) }) }
}

const PUT_BACK: Alarm = { kind: 'older', noticed: 'its server lacks what was committed from here' }

const CAREFULLY: Settings = {
  synchronous_commit: 'on',
  lock_timeout: String(LOCK_WITHIN_MS),
  idle_in_transaction_session_timeout: String(GIVEN_UP_AFTER_MS),
}

function settingsOf(turnstile: Turnstile): Settings {
  return turnstile === 'shared' ? { ...CAREFULLY, ...NO_SEQSCAN } : CAREFULLY
}

function opening(schema: string, turnstile: Turnstile, number: Asked): readonly Asked[] {
  return turnstile === 'none' ? [number] : [{ text: takeTurnstile(schema, turnstile), values: [] }, number]
}

/** Of one ledger in the database. It comes before all other statements, so that these see what was committed before it was taken. */
function takeTurnstile(schema: string, turnstile: 'exclusive' | 'shared'): string {
  const shared = turnstile === 'shared' ? '_shared' : ''
  return `SELECT pg_advisory_xact_lock${shared}(${LOCKS.turnstile}, ${keyOfLedger(schema)})`
}

/** Returns no row where the server lacks the last one that is known to be committed. It must not make one then: that would hide the loss. */
function numbered(transactorId: number, no: number, seenNo: number | null): Asked {
  if (seenNo !== null) return { text: NEXT_NUMBER, values: [transactorId, no, seenNo] }
  return { text: FIRST_NUMBER, values: [transactorId, no] }
}

const NEXT_NUMBER = 'UPDATE lane SET last = $2, at = clock_timestamp() WHERE id = $1 AND last >= $3 RETURNING last'
const FIRST_NUMBER = `
  INSERT INTO lane (id, last) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET last = excluded.last, at = excluded.at RETURNING last`

/** 0: none of its transactions was committed. */
function numberWas(transactorId: number): string {
  return `INSERT INTO lane (id, last) VALUES (${transactorId}, 0) ON CONFLICT (id) DO UPDATE SET last = lane.last RETURNING last`
}

/** A plan that was made while a table was small would read all of it, again and again. */
const NO_SEQSCAN: Settings = { enable_seqscan: 'off' }

const IN_GROUPS: Settings = { ...GENERIC_PLAN, ...KEEPS_KEYS }
