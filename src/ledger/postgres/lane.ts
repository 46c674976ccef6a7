// A lane: one connection, opened when it is needed and again when it was lost, and one transaction after another on it. How a COMMIT
// ended whose answer was lost is asked for by the number of its transaction, until the server knows: a commit is never repeated blindly.

import type { Transacted } from '../write-queue.ts'
import { isDamage, isLost, whyNotWritten } from './errors.ts'
import type { Session } from './session.ts'
import { unreachableFault } from './unreachable.ts'

/** How a transaction stands to the others of the ledger. */
export type Company =
  /** No other is under way meanwhile. */
  | 'alone'
  /** None that is alone is under way meanwhile. */
  | 'beside'

export interface LaneParts {
  readonly schema: string
  /** The connection for the next transaction. */
  readonly connect: () => Promise<Session>
  /** Another one, to ask how a transaction ended. */
  readonly reconnect: () => Promise<Session>
  /** Ends the process after an error that leaves nothing to trust. */
  readonly die: (error: unknown) => never
}

export interface Lane {
  /** One after another: the caller sees to it. */
  write(company: Company, work: (session: Session) => Promise<void>): Promise<Transacted>
}

const AGAIN_AFTER_MS = 100
const LOCK_WITHIN_MS = 2_000
/** The server ends the transaction of a client that has fallen silent: it would keep all others waiting. */
const GIVEN_UP_AFTER_MS = 10_000
/** A command does not wait longer for a server that cannot be reached. */
const PATIENCE_MS = 10_000

export function createLane({ schema, connect, reconnect, die }: LaneParts): Lane {
  let lostSinceMs: number | null = null

  async function lost(error: unknown): Promise<Transacted> {
    lostSinceMs ??= performance.now()
    await pause(AGAIN_AFTER_MS)
    const isLasting = performance.now() - lostSinceMs > PATIENCE_MS
    return { kind: 'not-written', why: 'busy', ...(isLasting && { fault: unreachableFault(error) }) }
  }

  /** The transaction may have been committed: its answer was lost. */
  async function howItEnded(xid: string): Promise<Transacted> {
    for (;;) {
      try {
        const session = await reconnect()
        const [found] = await session.exec(`SELECT pg_xact_status('${xid}'::xid8) AS status`).finally(session.close)
        const { status } = found as { status: string | null }
        if (status === 'committed') return { kind: 'written' }
        if (status === 'aborted') return { kind: 'not-written', why: 'busy' }
      } catch (error) {
        if (whyNotWritten(error) === null) die(error)
      }
      await pause(AGAIN_AFTER_MS)
    }
  }

  return {
    async write(company, work) {
      let session: Session | null = null
      let committing: string | null = null
      try {
        session = await connect()
        const [begun] = await session.begin('READ COMMITTED', opening(schema, company))
        lostSinceMs = null
        await work(session)
        committing = (begun as { xid: string }).xid
        await session.commit()
        return { kind: 'written' }
      } catch (error) {
        if (committing !== null && isLost(error)) return await howItEnded(committing)
        if (session !== null && !session.isOver) await session.rollback()
        if (isDamage(error)) die(error)
        if (isLost(error)) return await lost(error)
        const why = whyNotWritten(error)
        return why === null ? { kind: 'broke', error } : { kind: 'not-written', why }
      }
    },
  }
}

/** Of one ledger in the database. Its statement comes before all others, so that these see what was committed before it was taken. */
function opening(schema: string, company: Company): string {
  const shared = company === 'beside' ? '_shared' : ''
  return `SET LOCAL synchronous_commit TO on; SET LOCAL lock_timeout TO ${LOCK_WITHIN_MS};
    SET LOCAL idle_in_transaction_session_timeout TO ${GIVEN_UP_AFTER_MS};${company === 'beside' ? BY_INDEX : ''}
    SELECT pg_advisory_xact_lock${shared}(${TURNSTILE}, '${schema.replaceAll("'", "''")}'::regnamespace::oid::int);
    SELECT CAST(pg_current_xact_id() AS TEXT) AS xid`
}

/** A plan that was made while a table was small would read all of it, again and again. */
const BY_INDEX = ' SET LOCAL enable_seqscan TO off;'

/** Any number that others are not likely to take. */
const TURNSTILE = 20_817_001

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
