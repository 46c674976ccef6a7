// Which server the ledger is on, and which history it has. The ledger remembers both; what it remembers goes along with every copy, the
// server's identity only with a copy of its disk.

import { randomBytes } from 'node:crypto'
import { Fault } from '../../../domain/fault.ts'
import { words } from '../../../domain/words.ts'
import type { Remembered, ServerIdentity, Unfinished } from '../../rules/histories.ts'
import { LEASE_MS } from '../../rules/trust.ts'
import { all, change, exists, one, type Script } from '../../texts/script.ts'
import { LOCKS } from '../locks.ts'
import { SCHEMA_VERSION } from '../schema.ts'

/**
 * How the server may be replaced:
 * - `none`: by nobody without a person who adopts the ledger
 * - `synchronous`: as `none`, and nothing is sent while it waits for no standby; so one that takes over has every claim
 * - `storage`: under it, by disks that lose nothing; it tells no timeline
 */
export type Failover = 'none' | 'synchronous' | 'storage'

const TIMELINE = 'substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)'

/** Which database of the server, and which tables in it: a copy beside the ledger, by `createdb -T` or `pg_restore`, has others. */
const DATABASE = `(SELECT oid FROM pg_database WHERE datname = current_database()) || '.' || CAST(CAST('meta' AS regclass) AS oid)`

/** A program of before an upgrade knows nothing of what the new tables ask of a claim, such as approvals. */
const SAME_VERSION = `${SCHEMA_VERSION} = (SELECT max(version) FROM migration)`

/**
 * What every claim asks, in its own statement: no request leaves for a server whose history is not known to be the ledger's. A ledger that
 * remembers a timeline is no ledger for hosts that compare none.
 */
export function sameHistory(failover: Failover): string {
  const sameDatabase = `EXISTS (SELECT 1 FROM meta WHERE key = 'database' AND value = ${DATABASE})`
  const stays = `NOT EXISTS (SELECT 1 FROM meta WHERE key = 'unfinished') AND ${SAME_VERSION} AND ${sameDatabase}`
  if (failover === 'storage') return `${stays} AND NOT EXISTS (SELECT 1 FROM meta WHERE key = 'timeline')`
  const sameTimeline = `EXISTS (SELECT 1 FROM meta WHERE key = 'timeline' AND value = ${TIMELINE})`
  const waits = failover === 'synchronous' ? " AND current_setting('synchronous_standby_names') <> ''" : ''
  return `${stays} AND ${sameTimeline}${waits}`
}

/** What is asked once more when a claim is committed: where the setting is emptied, commits that wait for a standby end as if it had them. */
export function* hasStandby(): Script<boolean> {
  return yield* exists("SELECT 1 WHERE current_setting('synchronous_standby_names') <> ''")
}

/**
 * A server that was put back is usually started again. When this time is over, nobody sends on the word of the server that it was before: a
 * worker has beaten since, and said whether this one lacks anything that it saw committed, or has lost its trust. What it sent until then it
 * has told the Redis that the hosts share.
 */
export const REST_MS = LEASE_MS

/** What every claim asks besides. If the clock of the server was set back, its start lies in the future, which counts as rested. */
export function restedFor(ms: number): string {
  return `clock_timestamp() - pg_postmaster_start_time() NOT BETWEEN interval '0' AND interval '${ms} milliseconds'`
}

/** How long it rests yet, in milliseconds. */
export function restLeft(ms: number): string {
  const age = 'CAST(extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 1000 AS BIGINT)'
  return `CASE WHEN ${restedFor(ms)} THEN 0 ELSE greatest(0, CAST(${ms} AS BIGINT) - ${age}) END`
}

/** For a worker, which would ask for one claim after the other, and for people, who would wait without knowing why. */
export function restingFault(leftMs: number): Fault {
  return new Fault(
    'unavailable',
    `The PostgreSQL server of the ledger was started a moment ago: for ${Math.ceil(leftMs / 1_000)} s more it is not known what it may lack.`,
  )
}

/** Another one since it was put back. No setting of a connection changes how it is written. */
export const SERVER_START = 'CAST(extract(epoch FROM pg_postmaster_start_time()) AS TEXT)'

/** Which ledger a connection reaches, and in which running server: a copy of it has another database, or another server. */
export function* whereabouts(): Script<string> {
  const ledger = yield* one<{ id: string }>("SELECT value AS id FROM meta WHERE key = 'ledger_id'")
  const found = yield* one<{ place: string }>(`SELECT ${SERVER_START} || ' ' || ${DATABASE} AS place`)
  return `${ledger?.id} ${found!.place}`
}

export function* startOfServer(): Script<string> {
  const found = yield* one<{ at: string }>(`SELECT ${SERVER_START} AS at`)
  return found!.at
}

/** `hasRested`: see `REST_MS`. */
export function* restOf(restMs: number): Script<{ readonly serverStart: string; readonly hasRested: boolean }> {
  const text = `SELECT ${SERVER_START} AS "serverStart", ${restedFor(restMs)} AS "hasRested"`
  return (yield* one<{ serverStart: string; hasRested: boolean }>(text))!
}

const MAY_BE_ANOTHER =
  'The PostgreSQL server of the ledger may not be the one that goes on: it was replaced or put back, or it waits for no standby.'
const RESTS = 'The PostgreSQL server of the ledger was started a moment ago: what it lacks is not known yet.'

/** Whether it may lack what was committed, and nobody has had the time to say so. */
export function whyUnsureOf(failover: Failover, restMs: number): () => Script<Fault | null> {
  const text = `SELECT ${sameHistory(failover)} AS "isSame", ${restedFor(restMs)} AS "hasRested"`
  return function* () {
    const { isSame, hasRested } = (yield* one<{ isSame: boolean; hasRested: boolean }>(text))!
    if (!isSame)
      return new Fault(
        'stopped',
        words`${MAY_BE_ANOTHER} Nothing was changed. What is wrong: ${{ act: 'diagnose', look: 'usual' }}`,
      )
    return hasRested ? null : new Fault('stopped', `${RESTS} Nothing was changed. Try again in 20 s.`)
  }
}

/**
 * What every instruction asks that comes in, in the transaction that records it. Without it a standby that took over would acknowledge what
 * may be lost with it, until a worker looks again. `sameHistory` alone: what comes in while a server rests is on it, and is not sent yet.
 */
export function assertSameHistoryOn(failover: Failover): () => Script<void> {
  const isSame = `SELECT 1 WHERE ${sameHistory(failover)}`
  return function* () {
    if (yield* exists(isSame)) return
    throw new Fault(
      'unavailable',
      words`${MAY_BE_ANOTHER} Nothing was recorded and nothing was sent. What is wrong: ${{ act: 'diagnose', look: 'usual' }}`,
    )
  }
}

export function* serverIdentity(failover: Failover): Script<ServerIdentity> {
  const found = yield* one<ServerIdentity>(
    failover === 'storage'
      ? `SELECT ${DATABASE} AS database, NULL AS "systemId", NULL AS timeline`
      : `SELECT ${DATABASE} AS database, CAST((SELECT system_identifier FROM pg_control_system()) AS TEXT) AS "systemId", ${TIMELINE} AS timeline`,
  )
  return found!
}

export function* remembered(): Script<Remembered> {
  const found = yield* all<{ key: string; value: string }>(
    "SELECT key, value FROM meta WHERE key IN ('system_id', 'timeline', 'database', 'adopted_at', 'unfinished')",
  )
  const meta = new Map(found.map(({ key, value }) => [key, value]))
  const epoch = yield* one<{ no: number }>('SELECT coalesce(max(no), 0) AS no FROM epoch')
  return {
    systemId: meta.get('system_id') ?? null,
    timeline: meta.get('timeline') ?? null,
    database: meta.get('database') ?? null,
    epochNo: epoch!.no,
    adoptedAt: Number(meta.get('adopted_at') ?? 0),
    unfinished: (meta.get('unfinished') as Unfinished | undefined) ?? null,
  }
}

export function* remember({ systemId, timeline, database }: ServerIdentity): Script<void> {
  yield* change("DELETE FROM meta WHERE key IN ('system_id', 'timeline')")
  if (database !== null) yield* keep('database', database)
  if (systemId !== null) yield* keep('system_id', systemId)
  if (timeline !== null) yield* keep('timeline', timeline)
}

export function* keep(key: string, value: string): Script<void> {
  yield* change(
    'INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    { key, value },
  )
}

/** The last move before an older state was taken over last; 0: none ever was. */
export const RESTORED_AFTER = "coalesce((SELECT CAST(value AS BIGINT) FROM meta WHERE key = 'restored_after'), 0)"

/**
 * Taken by the last step of an adoption of an older state, and by whoever finds the ledger put back before it says so: neither overtakes the
 * other. The turnstile instead would wait for every writer, while others may claim.
 */
const ADOPTING = `${LOCKS.adopting}, CAST(CAST(CAST(quote_ident(current_schema()) AS regnamespace) AS oid) AS integer)`
export const LOCK_ADOPTING = `SELECT pg_advisory_xact_lock(${ADOPTING})`
const LOCK_FINDING = `SELECT pg_advisory_xact_lock_shared(${ADOPTING})`

/** Keeps every claim out until a person has adopted it. `adoptedAt`: as far as this process knows; false: a person has adopted it since. */
export function* markPutBack(adoptedAt: number): Script<boolean> {
  yield* one(LOCK_FINDING)
  if ((yield* remembered()).adoptedAt !== adoptedAt) return false
  yield* keep('unfinished', 'put-back')
  return true
}

/** From here on nothing is claimed until it has been taken over, and no earlier claim frees a row. */
export function* beginRestoring(): Script<void> {
  yield* keep('unfinished', 'adopting')
  const last = yield* one<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM move')
  yield* keep('restored_after', String(last!.id))
}

export interface Epoch {
  readonly no: number
  readonly value: string
}

/** Those of the last days are kept, so that a history that went apart from this one is known by any of them. */
export function* beginEpoch(no: number): Script<Epoch> {
  const value = randomBytes(12).toString('hex')
  yield* change('INSERT INTO epoch (no, value) VALUES (:no, :value)', { no, value })
  yield* change("DELETE FROM epoch WHERE at < clock_timestamp() - interval '3 days' AND no < :no", { no })
  return { no, value }
}
