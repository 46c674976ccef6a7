// How the server is, for a person who asks before it matters. Changes nothing.

import { all, one } from '../texts/script.ts'
import { type Failover, SERVER_START } from './copies/identity.ts'
import { openFitSession } from './open.ts'
import type { Address } from './session.ts'

export interface ServerView {
  /** In its own words, as `18.4`. */
  readonly version: string
  /** Names of standbys that receive its log now, each with how far the server waits for it: `sync`, `async`, `quorum`, `potential`, or `unknown` without `seesAll`. */
  readonly standbys: readonly { readonly name: string; readonly waits: string }[]
  readonly fullPageWrites: boolean
  /** How much this machine's clock is ahead of the server's, in milliseconds; half of what the question took is not known. */
  readonly aheadMs: number
  /** Of the oldest transaction, of whichever database and program, in seconds. 0: none is open that `seesAll` lets it see. */
  readonly oldestS: number
  /** Whether it may see what other users do, and what the server waits for. */
  readonly seesAll: boolean
  readonly user: string
  /** Where it is: which running server, and the name of the database. */
  readonly where: string
  /** Of all that is in the schema, in bytes. */
  readonly bytes: number
}

const VIEW = `
  SELECT current_user AS "user", CASE WHEN pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') THEN 1 ELSE 0 END AS "seesAll",
    ${SERVER_START} || ' ' || current_database() AS "where",
    current_setting('server_version') AS version, CASE current_setting('full_page_writes') WHEN 'on' THEN 1 ELSE 0 END AS pages,
    CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS "nowMs",
    (SELECT CAST(coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0) AS BIGINT) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS "oldestS",
    (SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS BIGINT) FROM pg_class c
      WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind = 'r') AS bytes`

const STANDBYS = `SELECT application_name AS name, coalesce(sync_state, 'unknown') AS waits FROM pg_stat_replication ORDER BY 1`

interface Row extends Pick<ServerView, 'version' | 'oldestS' | 'bytes' | 'user' | 'where'> {
  readonly nowMs: number
  readonly pages: number
  readonly seesAll: number
}

/** Faults where it is not fit. */
export async function inspectServer(address: Address, failover: Failover): Promise<ServerView> {
  const session = await openFitSession(address, failover)
  try {
    await session.begin('READ COMMITTED')
    const askedAtMs = Date.now()
    const { nowMs, pages, seesAll, ...view } = (await session.run(one<Row>(VIEW)))!
    const aheadMs = Math.round((askedAtMs + Date.now()) / 2 - nowMs)
    const standbys = await session.run(all<{ name: string; waits: string }>(STANDBYS))
    return { ...view, aheadMs, standbys, fullPageWrites: pages === 1, seesAll: seesAll === 1 }
  } finally {
    await session.close()
  }
}
