// Several workers on one server divide an account: together they never hold more than it allows, whoever comes, goes or falls silent.

import { expect, onTestFinished, test } from 'vitest'
import type { Share } from '../../../src/domain/share.ts'
import { openSession } from '../../../src/ledger/postgres/session.ts'
import { createSessions } from '../../../src/ledger/postgres/sessions.ts'
import { createTransactor } from '../../../src/ledger/postgres/transactor.ts'
import { createShares } from '../../../src/ledger/postgres/work/shares.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import { CLERK, claimNamed, NOW, refund, submit } from '../../fixtures/ledgers.ts'
import { query } from '../../fixtures/postgres.ts'
import { TRANSACTOR_HERE } from '../../fixtures/postgres-places.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

const CONFIGURED: Share = { ratePerSecond: 40, inFlightMax: 16 }

/** A worker as its limiter sees it. */
function workerAt(desk: string, configured = CONFIGURED, rests = false) {
  const one: Ledger = postgres.openAt(postgres.address.url, {}, desk)
  let share: Share = { ratePerSecond: 0, inFlightMax: 0 }
  return {
    ledger: one,
    share: () => share,
    ask: () =>
      one.takeShare({
        ...{ accountId, configured, rests, inFlight: () => 0 },
        use: (next) => {
          share = next
        },
      }),
  }
}

type Worker = ReturnType<typeof workerAt>

/** What the server counts, past every program. */
async function counted(): Promise<{ rate: number | null; places: number }> {
  const { url, schema } = postgres.address
  const [found] = await query<{ rate: number | null; places: string }>(
    url,
    `SELECT sum(rate) AS rate, coalesce(sum(places), 0) AS places FROM (
      SELECT rate, places FROM ${schema}.share UNION ALL SELECT rate, places FROM ${schema}.freed WHERE until > clock_timestamp()) AS x`,
  )
  return { rate: found!.rate, places: Number(found!.places) }
}

async function askInTurn(workers: readonly Worker[], times = 1): Promise<void> {
  for (let i = 0; i < times; i++) for (const worker of workers) await worker.ask()
}

const shares = (workers: readonly Worker[]) => workers.map(({ share }) => share().ratePerSecond).toSorted()
const ageFreed = () =>
  query(postgres.address.url, `UPDATE ${postgres.address.schema}.freed SET until = now() - interval '1 s'`)

test('one worker has all of it, and without a limit there is none', async () => {
  const one = workerAt('a')
  await one.ask()
  expect(one.share()).toEqual(CONFIGURED)
  await one.ledger.close()
  await ageFreed()
  const free = workerAt('b', { ratePerSecond: null, inFlightMax: 16 })
  await free.ask()
  expect(free.share()).toEqual({ ratePerSecond: null, inFlightMax: 16 })
})

test('a worker that joins has its part within three questions of each, and never more than what was given up a second ago', async () => {
  const workers = [workerAt('a'), workerAt('b'), workerAt('c'), workerAt('d')]
  await workers[0]!.ask()
  for (let round = 0; round < 3; round++) {
    await askInTurn(workers)
    const { rate, places } = await counted()
    expect(rate).toBeLessThanOrEqual(40)
    expect(places).toBeLessThanOrEqual(16)
    expect(workers.reduce((sum, { share }) => sum + (share().ratePerSecond ?? 0), 0)).toBeLessThanOrEqual(40)
  }
  await ageFreed()
  await askInTurn(workers, 2)
  expect(shares(workers)).toEqual([10, 10, 10, 10])
  expect(workers.map(({ share }) => share().inFlightMax)).toEqual([4, 4, 4, 4])
})

test('all of them at once, again and again, never hold more than the account allows', async () => {
  const workers = ['a', 'b', 'c', 'd'].map((desk) => workerAt(desk))
  for (let round = 0; round < 15; round++) {
    await Promise.all(workers.map((worker) => worker.ask()))
    expect((await counted()).rate).toBeLessThanOrEqual(40)
    if (round % 3 === 0) await ageFreed()
  }
  expect(shares(workers)).toEqual([10, 10, 10, 10])
})

test('what a worker leaves is taken by the others', async () => {
  const workers = [workerAt('a'), workerAt('b')]
  await askInTurn(workers, 2)
  await ageFreed()
  await askInTurn(workers, 2)
  expect(shares(workers)).toEqual([20, 20])
  await workers[1]!.ledger.close()
  expect((await counted()).rate).toBe(40)
  await ageFreed()
  await workers[0]!.ask()
  expect(workers[0]!.share()).toEqual(CONFIGURED)
})

test('of a worker that fell silent, its open requests count until no answer can come any more', async () => {
  const workers = [workerAt('a'), workerAt('b')]
  await askInTurn(workers, 2)
  await ageFreed()
  await askInTurn(workers, 2)
  const batchId = await submit(ledger, accountId, [refund('A')])
  await claimNamed(workers[1]!.ledger, batchId, 'A', NOW)
  const { url, schema } = postgres.address
  await query(url, `UPDATE ${schema}.worker SET lease_until = now() - interval '1 s' WHERE place = 'b'`)
  await workers[0]!.ledger.sweepLost(NOW)
  await workers[0]!.ask()
  await ageFreedRate()
  await workers[0]!.ask()
  expect(workers[0]!.share()).toEqual({ ratePerSecond: 40, inFlightMax: 15 })
  await ageFreed()
  await workers[0]!.ask()
  expect(workers[0]!.share()).toEqual(CONFIGURED)
})

test('of a worker that is known to be dead, nothing is open any more', async () => {
  const one = workerAt('a')
  await one.ask()
  const batchId = await submit(ledger, accountId, [refund('A')])
  await claimNamed(one.ledger, batchId, 'A', NOW)
  const next = workerAt('a')
  await next.ledger.sweep(NOW)
  await ageFreedRate()
  await next.ask()
  expect(next.share()).toEqual(CONFIGURED)
})

function ageFreedRate(): Promise<object[]> {
  const { url, schema } = postgres.address
  return query(url, `UPDATE ${schema}.freed SET until = now() - interval '1 s' WHERE rate > 0`)
}

test('a worker that comes back after it was given up begins with nothing', async () => {
  const one = workerAt('a')
  await one.ask()
  const { url, schema } = postgres.address
  await query(url, `UPDATE ${schema}.worker SET lease_until = now() - interval '1 s'`)
  const other = workerAt('b')
  await other.ledger.sweepLost(NOW)
  await other.ask()
  await one.ledger.beat({
    ...{
      id: 'x:1',
      host: 'x',
      pid: 1,
      command: 'worker',
      sinceMs: NOW,
      batchId: null,
      activity: 'idle',
      beatAtMs: NOW,
    },
  })
  expect(one.share()).toEqual({ ratePerSecond: 0, inFlightMax: 0 })
})

test('a share that was asked for before it was lost is not used after', async () => {
  const { schema } = postgres.address
  const sessions = createSessions(() => openSession(postgres.address))
  onTestFinished(() => sessions.closeAll())
  const die = (error: unknown): never => {
    throw error
  }
  const parts = { ...TRANSACTOR_HERE, schema, die, connect: sessions.kept(), reconnect: sessions.open }
  const transactor = createTransactor(parts)
  const me = 77
  await query(
    postgres.address.url,
    `INSERT INTO ${schema}.worker (id, place, name, host, pid, command, since, beat_at, activity, lease_until)
     VALUES ($1, 'b', 'b', 'b', 1, 'worker', 0, 0, 'idle', now() + interval '1 hour')`,
    [me],
  )
  let used: Share | null = null
  const losing = {
    ...transactor,
    write: async (...asked: Parameters<typeof transactor.write>) => {
      const how = await transactor.write(...asked)
      shares.lose()
      return how
    },
  }
  const shares = createShares(losing, { id: async () => me }, () => 0)
  const use = (next: Share) => {
    used = next
  }
  const asking = shares.takeShare({ accountId, configured: CONFIGURED, rests: false, inFlight: () => 0, use })
  await expect(asking).rejects.toThrow('lost while it was asked for')
  expect(used).toEqual({ ratePerSecond: 0, inFlightMax: 0 })
})

test('what workers held that an adoption ended, and nobody knows any more, is there for the next one', async () => {
  const one = workerAt('a')
  await one.ask()
  expect(one.share()).toEqual(CONFIGURED)
  const { url, schema } = postgres.address
  await query(url, `UPDATE ${schema}.worker SET lease_until = now() - interval '1 s'`)
  await ledger.adopt('moved', 'another server', CLERK, NOW)
  await query(url, `UPDATE ${schema}.worker SET ended_at = now() - interval '31 days'`)
  await ageFreed()
  const next = workerAt('b')
  await askInTurn([next], 3)
  expect(next.share()).toEqual(CONFIGURED)
})

test('the dial that a person turned is what there is to divide', async () => {
  const workers = [workerAt('a'), workerAt('b')]
  await askInTurn(workers, 2)
  await ageFreed()
  await askInTurn(workers, 2)
  await ledger.setRate(accountId, 22, CLERK, NOW)
  await askInTurn(workers, 2)
  await ageFreed()
  await askInTurn(workers, 2)
  expect(shares(workers)).toEqual([11, 11])
})
