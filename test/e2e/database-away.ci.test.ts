// A PostgreSQL server that is away for longer than any command waits: workers go on when it is back, and end meanwhile when they are told to.

import { afterEach, expect, test } from 'vitest'
import { type Office, openOffice, type Running, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { newSchemaName, openCluster } from '../fixtures/postgres.ts'

let office: Office
const closing: (() => unknown)[] = []
afterEach(async () => {
  await office.close()
  for (const close of closing.splice(0).toReversed()) close()
})

/** A worker in the midst of a batch. */
async function working() {
  const cluster = openCluster()
  closing.push(() => cluster.remove())
  const env = {
    TRANCHE_LEDGER_URL: cluster.url,
    TRANCHE_LEDGER_SCHEMA: newSchemaName(),
    TRANCHE_RATE: '5',
    TRANCHE_TIMEOUT_MS: '2000',
  }
  office = await openOffice({ made: false, env: { ...env, TRANCHE_LOG_LEVEL: 'debug' } })
  expect((await office.tranche('init')).code).toBe(0)
  office.sandbox.prepare(preparationFor(refunds(30)))
  const { last } = await office.tranche('submit', await office.put('in.csv', toCsv(refunds(30))), '--json')
  const worker = await office.worker()
  await until('it sends', () => office.sandbox.received() > 3, worker)
  return { cluster, worker, batch: String(last.batch) }
}

const untilOver = (batch: string, worker: Running) =>
  until(
    'nothing is left',
    async () => {
      const { last } = await office.tranche('status', batch, '--json')
      const { PENDING = 0, SENDING = 0 } = last.counts ?? { PENDING: 1 }
      return PENDING + SENDING === 0
    },
    worker,
  )

const gaveUpReading = (worker: Running) =>
  until('it gave up a read', () => worker.saidAside().some((line) => line.includes('is told later')), worker)

test.each(['SIGINT', 'SIGQUIT'] as const)('a worker outlives an outage of its server (%s)', async (signal) => {
  const { cluster, worker, batch } = await working()
  cluster.kill(signal)
  await gaveUpReading(worker)
  cluster.start()
  await untilOver(batch, worker)
  expect(office.sandbox.received()).toBe(30)
  worker.kill('SIGTERM')
  expect((await worker.ended).code).toBe(0)
})

test('a worker whose server is away ends when it is told to', async () => {
  const { cluster, worker, batch } = await working()
  cluster.kill()
  worker.kill('SIGTERM')
  const { code, stderr } = await worker.ended
  expect([code, stderr]).toEqual([75, expect.stringContaining('the next worker here hands them in')])
  cluster.start()
  const next = await office.worker()
  await untilOver(batch, next)
  expect(office.sandbox.received()).toBeLessThanOrEqual(30)
})
