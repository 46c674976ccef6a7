// How the server is, for a person who asks before it matters. Changes nothing.

import { all, one } from '../texts/script.ts'
import type { Failover } from './copies/identity.ts'
import { assertFit } from './open.ts'
import { type Address, openSession } from './session.ts'

export interface ServerView {
  /** In its own words, as `18.4`. */
  readonly version: string
  /** Names of standbys that receive its log now, each with how far the server waits for it: `sync`, `async`, `quorum`, `potential`. */
  readonly standbys: readonly { readonly name: string; readonly waits: string }[]
  readonly fullPageWrites: boolean
  /** How much this machine's clock is ahead of the server's, in milliseconds; half of what the question took is not known. */
  readonly aheadMs: number
  /** Of the oldest transaction, of whichever database and program, in seconds. 0: none is open. */
  readonly oldestS: number
  /** Of all that is in the schema, in bytes. */
  readonly bytes: number
}

/** Older than any transaction of ours but a reading: it keeps dead rows in the indexes that every look goes through. */
export const LONG_TRANSACTION_S = 600

const VIEW = `
  SELECT current_setting('server_version') AS version, CASE current_setting('full_page_writes') WHEN 'on' THEN 1 ELSE 0 END AS pages,
    CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS "nowMs",
    (SELECT CAST(coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0) AS BIGINT) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS "oldestS",
    (SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS BIGINT) FROM pg_class c
      WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind = 'r') AS bytes`

const STANDBYS = `SELECT application_name AS name, coalesce(sync_state, 'unknown') AS waits FROM pg_stat_replication ORDER BY 1`

/** Faults where it is not fit. */
export async function inspectServer(address: Address, failover: Failover): Promise<ServerView> {
  const session = await openSession(address)
  try {
    await assertFit(session, failover)
    await session.begin('READ COMMITTED')
    const askedAtMs = Date.now()
    const view = (await session.run(
      one<{ version: string; pages: number; nowMs: number; oldestS: number; bytes: number }>(VIEW),
    ))!
    const aheadMs = Math.round((askedAtMs + Date.now()) / 2 - view.nowMs)
    const { version, oldestS, bytes } = view
    const standbys = await session.run(all<{ name: string; waits: string }>(STANDBYS))
    return { version, oldestS, bytes, aheadMs, standbys, fullPageWrites: view.pages === 1 }
  } finally {
    await session.close()
  }
}
