// The rate dial: turned by a command, kept in the ledger, followed by whoever works.

import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, query } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

/** At the configured rate a test would be over long before a second row is sent. */
const HARDLY_EVER = { TRANCHE_RATE: '0.01' }

async function submitted(count: number): Promise<{ input: string; batch: string }> {
  const rows = refunds(count)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const said = await office.tranche('submit', input, '--json')
  expect(said.code, said.stderr).toBe(0)
  return { input, batch: said.last.batch as string }
}

function acts(): object[] {
  const db = new DatabaseSync(office.ledgerPath, { readOnly: true })
  const found = db.prepare("SELECT by, what, reason FROM act WHERE what = 'rate' ORDER BY id").all()
  db.close()
  return found.map((act) => ({ ...act }))
}

test('a worker follows the dial up and down, and the ledger knows who turned it', async () => {
  office = await openOffice({ env: HARDLY_EVER })
  const { input, batch } = await submitted(30)
  const worker = await office.worker()
  await until('the first row is sent', () => office.sandbox.received() === 1, worker)

  const faster = await office.tranche('rate', '50/s', '--json', '--as', 'Ann')
  expect(faster.code, faster.stderr).toBe(0)
  expect(faster.stderr).toContain('The running worker takes it up at once')
  expect(faster.objects).toEqual([
    { merchant: 'default', dial_per_second: 50, configured_here: true, configured_per_second: 0.01 },
  ])
  const watched = await office.tranche('status', batch, '--watch', '--json')
  expect(watched.last).toMatchObject({ state: 'done', counts: { APPROVED: 30 } })

  expect((await office.tranche('rate', 'default', '0.02/s', '--reason', 'the gateway asks')).code).toBe(0)
  const saidSlower = () => worker.saidAside().some((line) => line.includes('the rate is now 0.02/s'))
  await until('the worker says that it goes slower', saidSlower, worker)
  worker.kill('SIGTERM')
  await worker.ended
  expect(worker.saidAside().filter((line) => line.includes('the rate is now'))).toHaveLength(2)
  expect(acts()).toEqual([
    { by: expect.stringMatching(/^\S+@\S+.*, says "Ann"$/), what: 'rate', reason: '50/s' },
    { by: expect.stringMatching(/@/), what: 'rate', reason: '0.02/s: the gateway asks' },
  ])
  const out = office.path('out.csv')
  await office.tranche('results', batch, '--out', out)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('turned without a worker or an account, it holds for the next worker, which says so', async () => {
  office = await openOffice({ env: HARDLY_EVER })
  const turned = await office.tranche('rate', 'default', '50/s')
  expect(turned.stderr).toContain('No worker is running; the next one keeps to it.')
  const { input, batch } = await submitted(20)
  const worked = await office.tranche('worker', '--until-idle')
  expect(worked.code, worked.stderr).toBe(0)
  expect(worked.stderr).toContain('the rate is now 50/s, as a person set it')
  expect(office.sandbox.received()).toBe(20)
  expect((await office.tranche('doctor')).stdout).toContain('the rate dial of merchant default is at 50/s')
  const out = office.path('out.csv')
  await office.tranche('results', batch, '--out', out)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('is shown for every merchant of the ledger and of the configuration, and turned back', async () => {
  office = await openOffice()
  const shown = async (...args: string[]) => (await office.tranche('rate', ...args)).stdout.split('\n').slice(0, -1)
  expect(await shown()).toEqual(['merchant  dial           configured here', 'default   as configured  no limit'])
  expect((await office.tranche('rate', '25')).code).toBe(0)
  expect(await shown('default')).toEqual(['merchant  dial  configured here', 'default   25/s  no limit'])
  const all = await office.trancheWith({ TRANCHE_RATE: '10' }, 'rate', '--json')
  expect(all.objects).toEqual([
    {
      rates: [{ merchant: 'default', dial_per_second: 25, configured_here: true, configured_per_second: 10 }],
    },
  ])
  const back = await office.tranche('rate', 'configured')
  expect(back.stderr).toContain('Merchant default goes by its configuration again (no limit here).')
  expect(await shown()).toEqual(['merchant  dial           configured here', 'default   as configured  no limit'])
})

test('where several merchants are known, a rate needs the name of one', async () => {
  office = await openOffice()
  await office.put('pw', 's3cret')
  const second = { url: office.sandbox.url, username: 'second', password_file: 'pw', rate: 7 }
  const env = { TRANCHE_CONFIG: await office.put('c.yaml', JSON.stringify({ merchants: { second } })) }
  const nameless = await office.trancheWith(env, 'rate', '5/s')
  expect([nameless.code, nameless.stderr]).toEqual([2, expect.stringContaining('(default, second)')])
  expect((await office.trancheWith(env, 'rate', 'second', '5/s')).code).toBe(0)
  // Known from the ledger now, and not configured here.
  expect((await office.tranche('rate')).stdout.split('\n').slice(1, -1)).toEqual([
    'second    5/s            not configured',
    'default   as configured  no limit',
  ])
  expect((await office.tranche('rate', 'second', 'configured')).code).toBe(0)
})

test('what is no rate, or no merchant, is refused with 2 and changes nothing', async () => {
  office = await openOffice()
  const refusals: ReadonlyArray<readonly [readonly string[], string]> = [
    [['0/s'], 'To stop sending, pause the batch'],
    [['30/min'], '"30/min" is not a rate'],
    [['default', 'fast'], '"fast" is not a rate'],
    [['1000000/s'], 'is not a rate'],
    [['2.5/s'], 'write whole numbers, 2/s or 3/s'],
    [['shop'], 'There is no merchant "shop". Known: default.'],
    [['shop', '5/s'], 'There is no merchant "shop". Known: default.'],
  ]
  for (const [args, words] of refusals) {
    const refused = await office.tranche('rate', ...args)
    expect([args, refused.code, refused.stderr]).toEqual([args, 2, expect.stringContaining(words)])
    expect(refused.stderr).toContain('Nothing was changed.')
  }
  expect(query(office, 'SELECT * FROM act')).toEqual([])
})
