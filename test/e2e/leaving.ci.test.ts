// Whoever watches may go, the terminal may close, Redis may freeze: work ends as it should all the same.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, query, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'

/** How often a worker looks for what is due. */
const HEARTBEAT_MS = 250

let office: Office
const thaw: (() => void)[] = []
afterEach(() => {
  for (const go of thaw.splice(0)) go()
  return office.close()
})

async function prepared(count: number): Promise<{ input: string; out: string }> {
  const rows = refunds(count)
  office.sandbox.prepare(preparationFor(rows))
  return { input: await office.put('in.csv', toCsv(rows)), out: office.path('out.csv') }
}

describe('a reader that goes', () => {
  test.each(['stdout', 'stderr'] as const)(
    'from %s ends no run: every row is settled, the results are written',
    async (stream) => {
      office = await openOffice({ latencyMs: 10 })
      const { input, out } = await prepared(30)
      const running = office.start('run', input, '--out', out, '--json')
      running.stopReading(stream) // before it has said anything: whatever it says there from now on is an error
      const ran = await running.ended
      expect(ran.code, ran.stderr).toBe(0)
      expect(countsIn(out)).toEqual({ APPROVED: 30 })
      expect(office.sandbox.received()).toBe(30)
      expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
    },
  )

  test('from the log of a worker does not end it either', async () => {
    office = await openOffice()
    const { input } = await prepared(10)
    const { batch } = (await office.tranche('submit', input, '--json')).last
    const worker = office.startWith({ TRANCHE_LOG_LEVEL: 'debug' }, 'worker', '--json') // a line per row
    worker.stopReading('stderr')
    const settled = () => recordedIn(office).every(({ state }) => state === 'APPROVED')
    await until('all rows are settled', settled, worker)
    worker.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
    expect((await office.tranche('status', batch as string, '--json')).last).toMatchObject({ state: 'done' })
    expect(compareBooks(booksOf(office))).toEqual([])
  })
})

test('a terminal that closes (SIGHUP) lets open requests finish, though it hears nothing', async () => {
  office = await openOffice({ latencyMs: 60, env: { TRANCHE_IN_FLIGHT: '5' } })
  const { input, out } = await prepared(60)
  const first = office.start('run', input, '--out', out)
  await until('the run is under way', () => office.sandbox.log().length >= 15, first)
  first.stopReading('stdout')
  first.stopReading('stderr')
  first.kill('SIGHUP')
  expect((await first.ended).code).toBe(130)
  const sent = office.sandbox.received()
  expect(sent).toBeLessThan(60)
  const states = Map.groupBy(recordedIn(office), ({ state }) => state)
  expect([states.get('APPROVED')?.length, states.get('READY')?.length]).toEqual([sent, 60 - sent])

  const again = await office.tranche('run', input, '--out', out)
  expect(again.code, again.stderr).toBe(0)
  expect(office.sandbox.received()).toBe(60)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

describe('Ctrl-C of a run beside a running worker', () => {
  test('while the file is being read: nothing is recorded, so the worker sends nothing', async () => {
    office = await openOffice()
    const worker = await office.worker()
    const { input, out } = await prepared(8_000)
    const running = office.start('run', input, '--out', out, '--json')
    await until('the file is read for the ledger', () => running.saidAside().some(isOfColumns), running)
    running.kill('SIGINT')
    const ended = await running.ended
    expect([ended.code, ended.last.error?.code], ended.stderr).toEqual([130, 'interrupted'])
    expect(ended.stderr).toContain('Nothing was recorded and nothing was sent')
    expect(query(office, 'SELECT id FROM batch')).toEqual([])
    worker.kill('SIGTERM')
    await worker.ended
    expect(office.sandbox.received()).toBe(0)
  })

  test('while it follows that worker: it says that the worker goes on and how to stop it', async () => {
    office = await openOffice({ latencyMs: 20_000 })
    const worker = await office.worker()
    const { input, out } = await prepared(5)
    const running = office.start('run', input, '--out', out, '--json')
    await until('a request is open', () => office.sandbox.log().length === 1, running)
    running.kill('SIGINT')
    const ended = await running.ended
    const { batch } = ended.last
    expect([ended.code, ended.last], ended.stderr).toEqual([
      130,
      { event: 'result', batch, state: 'interrupted', exit: 130 },
    ])
    expect(ended.stderr).not.toMatch(/nothing new is sent|are awaited|every answer that came/)
    expect(ended.stderr).toContain(`SIGINT: this run stops here; the worker goes on with batch ${batch}.`)
    expect(ended.stderr).toContain(`to stop it: tranche pause ${batch} --reason TEXT`)
    expect(recordedIn(office).map(({ state }) => state)).toContain('SENDING')
    worker.kill('SIGKILL')
    await worker.ended
  })
})

test('a frozen Redis does not keep a process from leaving, and what was sent is known', async () => {
  office = await openOffice({ latencyMs: 30, env: { TRANCHE_IN_FLIGHT: '4' } })
  const { input, out } = await prepared(300)
  const first = office.start('run', input, '--out', out, '--json')
  await until('the run is under way', () => office.sandbox.log().length >= 15, first)
  freezeRedis()
  // What was handed out goes on, and after several heartbeats the next one is stuck asking Redis.
  const sent = office.sandbox.log().length
  const frozenMs = Date.now()
  const goesOn = () => office.sandbox.log().length > sent && Date.now() > frozenMs + 4 * HEARTBEAT_MS
  await until('work goes on', goesOn, first)
  first.kill('SIGINT')
  const interrupted = await first.ended
  expect(interrupted.code, interrupted.stderr).toBe(130)
  expect(interrupted.last).toMatchObject({ state: 'interrupted' })
  expect(existsSync(out)).toBe(false)
  expect(recordedIn(office).filter(({ state }) => state === 'SENDING')).toEqual([])

  const again = await office.tranche('run', input, '--out', out)
  expect(again.code, again.stderr).toBe(0)
  expect(countsIn(out)).toEqual({ APPROVED: 300 })
  expect(office.sandbox.received()).toBe(300)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

/** What a run says of a file before it compares it with the record. */
function isOfColumns(line: string): boolean {
  return line.startsWith('Columns')
}

function freezeRedis(): void {
  const pid = Number(readFileSync(join(office.dataDir, 'redis.pid'), 'utf8'))
  process.kill(pid, 'SIGSTOP')
  thaw.push(() => {
    try {
      process.kill(pid, 'SIGCONT')
    } catch {} // it is gone, as it should be
  })
}

describe('a worker that is to work until idle', () => {
  test('ends with 5 when its start put rows in doubt', async () => {
    office = await openOffice({ latencyMs: 200, env: { TRANCHE_IN_FLIGHT: '1' } })
    const { input } = await prepared(3)
    const { batch } = (await office.tranche('submit', input, '--json')).last
    const killed = await office.worker()
    await until('a request is open', () => recordedIn(office).some(({ state }) => state === 'SENDING'), killed)
    killed.kill('SIGKILL')
    await killed.ended
    expect(recordedIn(office).filter(({ state }) => state === 'SENDING')).toHaveLength(1)
    // Nothing is left to do: the exit code is all that tells of it.
    expect((await office.tranche('cancel', batch as string, '--reason', 'enough')).code).toBe(0)
    const worked = await office.tranche('worker', '--until-idle', '--json')
    expect(worked.code, worked.stderr).toBe(5)
    expect(worked.objects).toContainEqual(expect.objectContaining({ event: 'batch', batch, exit: 5 }))
    expect(worked.stderr).toContain('1 row is IN DOUBT')
    expect(compareBooks(booksOf(office))).toEqual([])
  })

  test('ends with 130 when it is told to end before', async () => {
    office = await openOffice({ latencyMs: 60, env: { TRANCHE_IN_FLIGHT: '2' } })
    const { input } = await prepared(60)
    await office.tranche('submit', input)
    const worker = office.start('worker', '--until-idle', '--json')
    await until('the batch is under way', () => office.sandbox.log().length >= 5, worker)
    worker.kill('SIGTERM')
    const ended = await worker.ended
    expect([ended.code, ended.last], ended.stderr).toEqual([130, { event: 'result', exit: 130 }])
    expect(recordedIn(office).filter(({ state }) => state === 'APPROVED')).toHaveLength(office.sandbox.received())
    expect(compareBooks(booksOf(office))).toEqual([])
  })

  test('does what it can, and ends with 6 for a batch of a merchant that is not configured', async () => {
    office = await openOffice()
    const { input } = await prepared(3)
    const password = await office.put('password', 's3cret-too')
    const config = await office.put(
      'tranche.yaml',
      `merchants:\n  second:\n    url: https://second.gateway.example\n    username: shop2\n    password_file: ${password}\n`,
    )
    const elsewhere = await office.trancheWith(
      { TRANCHE_CONFIG: config },
      ...['submit', input, '--merchant', 'second', '--json'],
    )
    expect(elsewhere.code, elsewhere.stderr).toBe(0)
    // The same file for another account is asked about.
    const { batch } = (await office.tranche('submit', input, '--allow-lookalikes', '3', '--json')).last
    const worked = await office.tranche('worker', '--until-idle', '--json')
    expect(worked.code, worked.stderr).toBe(6)
    expect(worked.objects.filter(({ event }) => event === 'batch')).toMatchObject([
      { batch, exit: 0, counts: { APPROVED: 3 } },
      { batch: elsewhere.last.batch, exit: 6, counts: { PENDING: 3 } },
    ])
    expect(worked.stderr).toContain('3 rows are not sent: merchant second is not configured here')
    expect(office.sandbox.received()).toBe(3)
    expect(compareBooks(booksOf(office))).toEqual([])
  })
})
