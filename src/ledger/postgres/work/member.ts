// This process as one of the workers: its row, and the lease that it lives by. Beats have a connection of their own, so that they wait
// for nothing, and do not take the turnstile: they move no row of anyone's.

import { hostname } from 'node:os'
import type { Heartbeat } from '../../../domain/worker.ts'
import type { SharedClock } from '../../../ports/clock.ts'
import { createTrust, LEASE_MS, type Moment, momentOf } from '../../rules/trust.ts'
import type { Engine } from '../../texts/engine.ts'
import { all, change, exists, one, type Script } from '../../texts/script.ts'
import { type Failover, markPutBack, remembered, restLeft, SERVER_START, sameHistory } from '../copies/identity.ts'
import type { Seen, SeenCommits } from '../seen.ts'
import type { Session } from '../session.ts'

export interface Member {
  /** Joins where this process has not joined yet, or was ended by another. */
  id(): Promise<number>
  /** Whether others still take it for alive. Answers at once, and asks nobody. */
  isTrusted(): boolean
  /** The server was put back, and a person has taken the ledger over since: nothing that this process does is of that ledger. */
  isOverruled(): boolean
  /** Sends nothing more, and tells all: this process did not see it, but what others saw proves it. `adoptedAt`: see `Remembered`. */
  foundPutBack(adoptedAt: number): Promise<void>
  /** For how long the server hands nothing out yet, as far as it has said; 0: it does. */
  restLeftMs(): number
  /** Says what it does, for people, and renews its lease. */
  beat(heartbeat: Heartbeat): Promise<void>
  leave(): Promise<void>
}

export interface MemberParts {
  /** The connection for the next beat. */
  readonly connect: () => Promise<Session>
  /** Where it works: one process at a time, so that whoever comes next there knows that this one is dead. null: nobody knows. */
  readonly place: string | null
  readonly clock: SharedClock
  readonly newId: () => number
  readonly failover: Failover
  /** See `REST_MS`. */
  readonly restMs: number
  readonly seen: SeenCommits
  /** See `ServerCopies`. */
  readonly ensureLooked: (serverStart: string) => boolean
  /** Others may have taken over what it held: called before it may send again. */
  readonly onGivenUp: () => void
}

/** Several within a lease: one that is lost is no silence. */
const EVERY_MS = 2_000
const LEASE = `clock_timestamp() + interval '${LEASE_MS} milliseconds'`
const SERVER_TIME = `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS "serverMs"`

const JOIN = `
  INSERT INTO worker (id, place, name, host, pid, command, since, beat_at, activity, lease_until)
  VALUES (:id, :place, :name, :host, :pid, 'worker', :nowMs, :nowMs, 'idle', ${LEASE})`
/** Those of the last 30 days may be named by who saw them commit (`isOfLate`), and any by a testimony of an epoch that is known. */
const FORGET_TRANSACTORS = `
  DELETE FROM lane WHERE at < clock_timestamp() - interval '30 days' AND at < (SELECT min(at) - interval '1 day' FROM epoch)`
/** The dead of long ago, of whom nothing is left to tell. */
const FORGET = `
  DELETE FROM worker w WHERE coalesce(w.ended_at, w.fenced_at) < clock_timestamp() - interval '30 days'
    AND NOT EXISTS (SELECT 1 FROM claim c WHERE c.worker = w.id)`
const renewing = (same: string, restMs: number) => `
  UPDATE worker w SET lease_until = ${LEASE}, fenced_at = NULL
  FROM (SELECT id, fenced_at FROM worker WHERE id = :id AND ended_at IS NULL FOR UPDATE) AS before WHERE w.id = before.id
  RETURNING ${SERVER_TIME}, CASE WHEN ${same} THEN 1 ELSE 0 END AS "isSame",
    CASE WHEN before.fenced_at IS NULL THEN 0 ELSE 1 END AS "wasGivenUp", ${SERVER_START} AS "serverStart",
    ${restLeft(restMs)} AS "restLeftMs"`
const TELL = `
  UPDATE worker SET name = :name, host = :host, pid = :pid, command = :command, since = :sinceMs, batch_id = :batchId, beat_at = :beatAtMs,
    activity = :activity, merchants = :merchants WHERE id = :worker`
/** A transactor of its own: each beat that was committed is one more that a server may lack. */
const COUNT_BEAT = `
  INSERT INTO lane (id, last) VALUES (:transactorId, :no) ON CONFLICT (id)
  DO UPDATE SET last = greatest(lane.last, excluded.last), at = excluded.at`
const LACKING = `
  SELECT 1 FROM json_to_recordset(CAST(:seen AS json)) AS s (transactor BIGINT, no BIGINT)
  WHERE NOT EXISTS (SELECT 1 FROM lane l WHERE l.id = s.transactor AND l.last >= s.no)`
const LEAVE = 'UPDATE worker SET ended_at = clock_timestamp() WHERE id = :id AND ended_at IS NULL'

/** The dead are told of while anything of theirs is open. */
const ALL = `
  SELECT name AS id, host, pid, command, since AS "sinceMs", batch_id AS "batchId", beat_at AS "beatAtMs", activity, merchants,
    CASE WHEN ended_at IS NULL AND fenced_at IS NULL AND lease_until > clock_timestamp() THEN 1 ELSE 0 END AS alive
  FROM worker w
  WHERE (ended_at IS NULL AND fenced_at IS NULL) OR EXISTS (SELECT 1 FROM claim c WHERE c.worker = w.id) ORDER BY beat_at`

/** A process that is stopped between question and COMMIT would keep its row, and with it whoever takes it for lost. */
const BEAT_SETTINGS = `SET LOCAL synchronous_commit TO on; SET LOCAL lock_timeout TO '2s';
  SET LOCAL idle_in_transaction_session_timeout TO '5s'; SELECT 1`

interface LookingBack {
  readonly seen: readonly Seen[]
  readonly adoptedAt: number
  /** Called first: telling the others may fail. */
  readonly onLacking: () => void
}

/**
 * A server that lacks what this process saw committed was put back: nobody may claim from it, and perhaps no other process knows.
 * `overruled`: a person has taken it over since, and this process is of the past.
 */
function* lookBack({ seen, adoptedAt, onLacking }: LookingBack): Script<'here' | 'put-back' | 'overruled'> {
  if (!(yield* exists(LACKING, { seen: JSON.stringify(seen) }))) return 'here'
  onLacking()
  return (yield* markPutBack(adoptedAt)) ? 'put-back' : 'overruled'
}

interface Renewed {
  readonly serverMs: number
  /** Whether claims pass here: see `sameHistory`. */
  readonly isSame: number
  readonly wasGivenUp: number
  readonly serverStart: string
  readonly restLeftMs: number
}

export function createMember({
  connect,
  place,
  clock,
  newId,
  failover,
  restMs,
  seen,
  ensureLooked,
  onGivenUp,
}: MemberParts): Member {
  const renewText = renewing(sameHistory(failover), restMs)
  const trust = createTrust(clock.host)
  let joined: Promise<number> | null = null
  /** As of the last join: see `Remembered`. */
  let adoptedAt = 0
  let isOverruled = false
  let isPutBack = false
  let restsUntilMs = 0
  let isBeating = false
  const transactorId = newId()
  /** Those that are known to be committed. */
  let beats = 0
  const leaving = new AbortController()

  /** One after another on its connection. A commit whose answer was lost counts as none: the next beat renews what it renewed. */
  let last: Promise<unknown> = Promise.resolve()
  function write<T>(script: () => Script<T>): Promise<T> {
    const written = last.then(async () => {
      const session = await connect()
      try {
        await session.begin('READ COMMITTED', BEAT_SETTINGS)
        const found = await session.run(script())
        await session.commit()
        return found
      } catch (error) {
        await session.rollback()
        throw error
      }
    })
    last = written.catch(() => {})
    return written
  }

  /** Trusted from when the question began: the server may have written it at once. */
  function trusting(from: Moment, { serverMs, isSame, wasGivenUp, serverStart, restLeftMs }: Renewed): void {
    restsUntilMs = clock.monotonicMs() + restLeftMs
    // Or it was given up, and the answer that said so was lost.
    if (wasGivenUp === 1 || !trust.holds()) onGivenUp()
    clock.follow(serverMs, from.monotonicMs, clock.monotonicMs())
    if (isSame === 1 && !isPutBack && ensureLooked(serverStart)) trust.renewed(from)
    else trust.withdraw()
  }

  function counted(no: number): void {
    beats = Math.max(beats, no)
    seen.committed(transactorId, no)
  }

  async function join(): Promise<number> {
    const id = newId()
    const from = momentOf(clock.host)
    const values = {
      id,
      place,
      name: `${hostname()}:${process.pid}`,
      host: hostname(),
      pid: process.pid,
      nowMs: clock.nowMs(),
    }
    const renewed = await write(function* () {
      yield* change(FORGET)
      yield* change(FORGET_TRANSACTORS)
      yield* change(JOIN, values)
      adoptedAt = (yield* remembered()).adoptedAt
      if (beats === 0) yield* change(COUNT_BEAT, { transactorId, no: 1 }) // later ones look back first
      return yield* one<Renewed>(renewText, { id })
    })
    if (beats === 0) counted(1)
    trusting(from, renewed!)
    void keepBeating()
    return id
  }

  function id(): Promise<number> {
    joined ??= join().catch((error: unknown) => {
      joined = null
      throw error
    })
    return joined
  }

  async function renew(heartbeat: Heartbeat | null): Promise<void> {
    const worker = await id()
    const from = momentOf(clock.host)
    let no = 0
    const renewed = await write(function* () {
      no = beats + 1 // only now: another beat may have been under way
      const found = yield* lookBack({ seen: seen.all(), adoptedAt, onLacking: trust.withdraw })
      if (found === 'overruled') isOverruled = true
      if (found !== 'here') return null
      yield* change(COUNT_BEAT, { transactorId, no })
      if (heartbeat !== null) yield* change(TELL, toldBy(worker, heartbeat))
      return yield* one<Renewed>(renewText, { id: worker })
    })
    if (renewed === null) return trust.withdraw()
    counted(no)
    if (renewed !== undefined) return trusting(from, renewed)
    // Another process ended this one: what it has claimed is not its own any more, and it begins anew.
    trust.withdraw()
    onGivenUp()
    joined = null
  }

  /** One after another: while the server is away none piles up behind another. */
  async function keepBeating(): Promise<void> {
    if (isBeating) return
    isBeating = true
    for (;;) {
      await clock.sleep(EVERY_MS, leaving.signal)
      if (leaving.signal.aborted) return
      await renew(null).catch(() => {})
    }
  }

  return {
    id,
    isTrusted: trust.holds,
    isOverruled: () => isOverruled,
    restLeftMs: () => Math.max(0, restsUntilMs - clock.monotonicMs()),
    async foundPutBack(whenAdopted) {
      isPutBack = true
      trust.withdraw()
      await write(() => markPutBack(whenAdopted))
    },
    beat: renew,
    async leave() {
      leaving.abort()
      trust.withdraw()
      const worker = await joined?.catch(() => null)
      if (worker == null) return
      await write(() => change(LEAVE, { id: worker })).catch(() => {}) // its lease ends by itself
    },
  }
}

function toldBy(
  worker: number,
  { id: name, host, pid, command, sinceMs, batchId, beatAtMs, activity, ...of }: Heartbeat,
) {
  const merchants = of.merchants === undefined ? null : JSON.stringify(of.merchants)
  return { worker, name, host, pid, command, sinceMs, batchId, beatAtMs, activity, merchants }
}

type Told = Omit<Heartbeat, 'merchants' | 'givenUp'> & { readonly merchants: string | null; readonly alive: number }

export function heartbeatsOn(engine: Engine): { heartbeats(): Promise<Heartbeat[]> } {
  return {
    async heartbeats() {
      const told = await engine.read(() => all<Told>(ALL))
      return told.map(({ merchants, alive, ...beat }) => ({
        ...beat,
        ...(alive === 0 && { givenUp: true }),
        ...(merchants !== null && { merchants: JSON.parse(merchants) as readonly string[] }),
      }))
    },
  }
}
