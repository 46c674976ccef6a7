// Another program that locks what a settlement locks, the other way round: the server breaks one of the two transactions off (40P01).

import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { auditOf, claimNamed, factsWith, openAccount, refund, rowIn, settle, submit } from '../../fixtures/ledgers.ts'
import { openCluster, query } from '../../fixtures/postgres.ts'
import { postgresPlaceOn } from '../../fixtures/postgres-places.ts'

const ROW = "SELECT 1 FROM instruction WHERE reference = 'A' FOR UPDATE"
const CLAIM = 'SELECT 1 FROM claim FOR UPDATE'
const WAITING = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name <> 'other'"
const DEADLOCKS = "SELECT CAST(sum(deadlocks) AS INTEGER) AS n FROM pg_stat_database WHERE datname = 'postgres'"

test.each([
  ['in a group', 'APPROVED', ROW, CLAIM],
  ['by the script', 'IN_DOUBT', CLAIM, ROW],
] as const)(
  'a settlement, %s, that the server breaks off for a deadlock is written once all the same',
  async (_how, to, first, second) => {
    const cluster = openCluster({ settings: ['deadlock_timeout = 1900'] }) // sooner than the ledger gives a lock up
    onTestFinished(() => cluster.remove())
    const place = await postgresPlaceOn(cluster.url)
    onTestFinished(() => place.remove())
    const ledger = place.open()
    const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
    const row = await claimNamed(ledger, batchId, 'A')

    const other = new Client({ connectionString: cluster.url, application_name: 'other' })
    await other.connect()
    onTestFinished(() => other.end())
    // It never looks for deadlocks itself: the ledger finds them, and is broken off.
    await other.query(`SET search_path TO ${place.address.schema}; SET deadlock_timeout TO '1h'; BEGIN; ${first}`)
    const settling = settle(ledger, row, to, { facts: factsWith('51') })
    await expect.poll(() => query(cluster.url, WAITING), { timeout: 20_000, interval: 10 }).toHaveLength(1)
    await other.query(`${second}; COMMIT`)
    expect(await settling).toMatchObject({ state: to })

    await expect.poll(() => query(cluster.url, DEADLOCKS), { timeout: 20_000 }).toEqual([{ n: 1 }])
    expect((await ledger.history('A')).map((move) => move.to)).toEqual(['READY', 'SENDING', to])
    expect(await rowIn(ledger, batchId, 'A')).toMatchObject({ state: to, attempts: 1 })
    expect((await ledger.batch(batchId))?.counts).toEqual({ [to]: 1 })
    expect(await auditOf(ledger)).toEqual([])
  },
)
