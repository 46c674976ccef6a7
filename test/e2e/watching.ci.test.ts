// What a worker shows of itself: figures, and whether it can do its work.

import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { openRedisServer } from '../fixtures/redis.ts'
import { figuresAt, watchedWorker } from '../fixtures/watching.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice({ triggers: true })
})
afterEach(() => office.close())

const HEADER = 'reference,amount,request_currency,customer_vault_id\n'
const CAPTURES = `${HEADER}secret-one,1.00,EUR,40001\nsecret-two,2.50,EUR,40002\nno,5.02,EUR,40003\nlost,5.06,EUR,40004\nmore,5.08,USD,40005\n`

async function submitted(text: string): Promise<string> {
  const input = await office.put('captures.csv', text)
  const said = await office.tranche('submit', input, '--operation', 'CAPTURE', '--json')
  expect(said.code, said.stderr).toBe(0)
  return said.last.batch
}

test('a worker counts what it did, and shows what waits, without a reference, amount or batch in any label', async () => {
  office.sandbox.prepare({ vault: ['40001', '40002', '40003', '40004', '40005'].map((vaultId) => ({ vaultId })) })
  const batch = await submitted(CAPTURES)
  const { running, url } = await watchedWorker(office)
  const attempts = (verdict: string) =>
    `tranche_attempts_total{merchant="default",operation="CAPTURE",verdict="${verdict}"}`
  await until(
    'all are over',
    async () =>
      [...(await figuresAt(url))]
        .filter(([name]) => name.startsWith('tranche_attempts_total'))
        .reduce((sum, [, n]) => sum + n, 0) >= 5,
    running,
  )
  // The look at the ledger stands for a second.
  await until(
    'the ledger shows the doubt',
    async () => (await figuresAt(url)).get('tranche_rows{merchant="default",state="in_doubt"}') === 1,
    running,
  )
  const figures = await figuresAt(url)
  expect([attempts('approved'), attempts('declined'), attempts('in_doubt')].map((name) => figures.get(name))).toEqual([
    3, 1, 1,
  ])
  const of = (labels: string) =>
    figures.get(`tranche_amount_minor_total{merchant="default",operation="CAPTURE",${labels}}`)
  expect([of('currency="EUR",verdict="approved"'), of('currency="EUR",verdict="declined"')]).toEqual([350, 502])
  expect(figures.get('tranche_gateway_responses_total{merchant="default",code="503"}')).toBe(1)
  expect(figures.get('tranche_money_warnings_total{merchant="default"}')).toBe(1)
  expect(figures.get('tranche_answer_duration_seconds_count{merchant="default",operation="CAPTURE"}')).toBe(5)
  expect(figures.get('tranche_claim_duration_seconds_count')).toBe(5)
  expect(figures.get('tranche_rows{merchant="default",state="pending"}')).toBe(0)
  expect(figures.get('tranche_oldest_doubt_seconds{merchant="default"}')).toBeGreaterThan(0)
  expect(figures.get('tranche_check_ok{check="lease"}')).toBe(1)
  expect(figures.get('tranche_open_requests{merchant="default"}')).toBe(0)
  const names = [...figures.keys()].join('\n')
  for (const secret of ['secret-one', 'lost', '4000', batch, '250']) expect(names).not.toContain(secret)
  running.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
})

test('without the setting nothing listens; with a port that is taken nothing starts', async () => {
  const worker = await office.worker()
  expect(worker.saidAside().join('\n')).not.toContain('figures and health')
  worker.kill('SIGTERM')
  await worker.ended
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  const ended = await office.trancheWith({ TRANCHE_METRICS: `127.0.0.1:${port}` }, 'worker')
  other.close()
  expect(ended.code).toBe(2)
  expect(ended.stderr).toContain('another process has it')
  expect(office.sandbox.received()).toBe(0)
})

test('it is ready while it can send, and says which part fails when it cannot; it stays alive', async () => {
  const redis = await openRedisServer(office.path('r.sock'))
  const { running, url } = await watchedWorker(office, { TRANCHE_REDIS_URL: office.path('r.sock') })
  const ready = async () => {
    const response = await fetch(`${url}/readyz`)
    return {
      code: response.status,
      ...((await response.json()) as { ready: boolean; checks: Record<string, { ok: boolean }> }),
    }
  }
  await until('it is ready', async () => (await ready()).ready, running)
  expect(await ready()).toMatchObject({ code: 200, ready: true })
  expect(Object.keys((await ready()).checks)).toEqual(['ledger', 'disk', 'lease', 'tick', 'redis'])
  await redis[Symbol.asyncDispose]()
  await until('it is not ready', async () => !(await ready()).ready, running)
  const { code, checks } = await ready()
  expect([code, checks.redis?.ok, checks.ledger?.ok]).toEqual([503, false, true])
  expect((await fetch(`${url}/livez`)).status).toBe(200)
  expect((await fetch(`${url}/other`)).status).toBe(404)
  expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
})
