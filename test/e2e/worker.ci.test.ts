// Submitting, working and watching as three processes, and what people decide while rows are on their way.

import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { type FileRow, orderOf, preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { openRedisServer } from '../fixtures/redis.ts'

let office: Office
afterEach(() => office.close())

async function submitted(rows: readonly FileRow[]): Promise<{ input: string; batch: string }> {
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const said = await office.tranche('submit', input, '--json')
  expect(said.code, said.stderr).toBe(0)
  return { input, batch: said.last.batch as string }
}

async function reconciled(batch: string): Promise<string> {
  const out = office.path('out.csv')
  const written = await office.tranche('results', batch, '--out', out)
  expect(written.code, written.stderr).toBe(0)
  return out
}

test('a worker told to end lets open requests finish, and the next worker does the rest', async () => {
  office = await openOffice({ latencyMs: 60, env: { TRANCHE_IN_FLIGHT: '6' } })
  const { input, batch } = await submitted(refunds(120))
  const watching = office.start('status', batch, '--watch', '--json')
  const first = await office.worker()
  await until('the batch is under way', () => office.sandbox.log().length >= 30, first)
  first.kill('SIGTERM')
  const ended = await first.ended
  expect(ended.code, ended.stderr).toBe(0)
  expect(ended.stderr).toContain('Every answer that came is recorded')
  const sent = office.sandbox.received()
  expect(sent).toBeLessThan(120)
  expect(recordedIn(office).filter((row) => row.state === 'APPROVED')).toHaveLength(sent)
  expect(recordedIn(office).filter((row) => row.state === 'READY')).toHaveLength(120 - sent)

  const second = await office.worker()
  const watched = await watching.ended
  expect(watched.code, watched.stderr).toBe(0)
  expect(watched.last).toMatchObject({ batch, state: 'done', counts: { APPROVED: 120 } })
  const out = await reconciled(batch)
  expect(countsIn(out)).toEqual({ APPROVED: 120 })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
  second.kill('SIGTERM')
  expect((await second.ended).code).toBe(0)
})

test('a run does not count on a worker without its merchant: it ends with 6 and says why', async () => {
  office = await openOffice()
  const worker = await office.worker()
  await office.put('pw', 'sandbox\n')
  const hotel = `merchants:\n  hotel: {url: "${office.sandbox.url}", username: hotel, password_file: pw}\n`
  const configured = { TRANCHE_CONFIG: await office.put('t.yaml', hotel) }
  const input = await office.put('in.csv', toCsv(refunds(3)))
  const out = office.path('out.csv')
  const run = ['run', input, '--merchant', 'hotel', '--out', out, '--give-up-after', '5s', '--json']
  const ran = await office.trancheWith(configured, ...run)
  expect(ran.code, ran.stderr).toBe(6)
  expect(ran.stderr).toContain('was started without merchant hotel')
  expect(ran.stderr).not.toContain('does this batch too')
  expect(countsIn(out)).toEqual({ PENDING: 3 })
  expect(office.sandbox.received()).toBe(0)
  const { last: status } = await office.tranche('status', ran.last.batch, '--json')
  expect(status).toMatchObject({ state: 'waiting', reason: expect.stringContaining('without merchant hotel') })
  const again = await office.trancheWith(configured, 'submit', input, '--merchant', 'hotel')
  expect(again.stderr).toContain('was started without merchant hotel')
  expect(again.stderr).not.toContain('The running worker does the rest.')
  const other = await office.put('other.csv', toCsv(refunds(2, 10)))
  const own = await office.trancheWith(configured, 'submit', other, '--merchant', 'default')
  expect(own.stderr).toContain('The running worker does the rest.')
  worker.kill('SIGTERM')
  await worker.ended
})

test('a second worker on one ledger is turned away with 6; a run follows the first', async () => {
  office = await openOffice()
  const first = await office.worker()
  const second = await office.tranche('worker')
  expect(second.code).toBe(6)
  expect(second.stderr).toContain(`Process ${first.pid} on `)
  expect(second.stderr).toContain('(tranche worker)')

  const rows = refunds(6)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const out = office.path('out.csv')
  const ran = await office.tranche('run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.stderr).toMatch(/Following batch/)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
  expect((await office.tranche('down')).code).toBe(6)
})

test('a run takes over the batch when the worker it follows ends', async () => {
  office = await openOffice({ latencyMs: 40, env: { TRANCHE_IN_FLIGHT: '4' } })
  const rows = refunds(60)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const out = office.path('out.csv')
  const worker = await office.worker()
  const running = office.start('run', input, '--out', out)
  await until('the batch is under way', () => office.sandbox.log().length >= 15, worker)
  worker.kill('SIGTERM')
  const ran = await running.ended
  expect(ran.code, ran.stderr).toBe(0)
  expect(countsIn(out)).toEqual({ APPROVED: 60 })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('a run waits for its turn as long as the run before it moves', async () => {
  office = await openOffice({ latencyMs: 300, env: { TRANCHE_IN_FLIGHT: '1' } })
  const rows = refunds(26)
  office.sandbox.prepare(preparationFor(rows))
  const [long, short] = [
    await office.put('a.csv', toCsv(rows.slice(1))),
    await office.put('b.csv', toCsv(rows.slice(0, 1))),
  ]
  const first = office.start('run', long, '--out', office.path('a.out.csv'), '--json')
  await until('the first one works', () => office.sandbox.received() > 0, first)
  const second = await office.tranche('run', short, '--out', office.path('b.out.csv'), '--give-up-after', '3s')
  expect(second.stderr).toContain('begins when that one ends.')
  expect([second.code, countsIn(office.path('b.out.csv'))], second.stderr).toEqual([0, { APPROVED: 1 }])
  expect((await first.ended).code).toBe(0)
})

test('what is submitted beside a run is not said to be sent by it, and is told of until somebody sends it', async () => {
  office = await openOffice({ latencyMs: 200, env: { TRANCHE_IN_FLIGHT: '1' } })
  const rows = refunds(26)
  office.sandbox.prepare(preparationFor(rows))
  const own = await office.put('a.csv', toCsv(rows.slice(1)))
  const anHourAgo = new Date(Date.now() - 3_600_000).toISOString()
  const other = await office.put('b.csv', toCsv(rows.slice(0, 1).map((row) => ({ ...row, execute_at: anHourAgo }))))
  const running = office.start('run', own, '--out', office.path('a.out.csv'), '--json')
  await until('it works', () => office.sandbox.received() > 0, running)
  const known = await office.tranche('submit', own)
  expect(known.stderr).toContain('The run that works on it does the rest.')
  const submitted = await office.tranche('submit', other)
  expect(submitted.stderr).toContain('Nothing moves yet: a run is working on this ledger')
  expect(submitted.stderr).not.toContain('does the rest')
  const batch = submitted.stdout.trim()
  const { last: beside } = await office.tranche('status', batch, '--json')
  expect(beside).toMatchObject({
    state: 'waiting',
    reason: expect.stringContaining('a run sends no batch but its own'),
  })
  const told = {
    code: 6,
    stdout: expect.stringMatching(`^ATTENTION batch ${batch} has rows that are due and that nobody`),
  }
  expect(await office.tranche('status', '--check')).toMatchObject(told)
  expect((await running.ended).code).toBe(0)
  expect(await office.tranche('status', '--check')).toMatchObject(told)
  expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
  expect((await office.tranche('status', '--check')).code).toBe(0)
  expect(office.sandbox.received()).toBe(26)
})

test('a run that cannot take over from a dead worker says how its batch stands', async () => {
  office = await openOffice({ latencyMs: 20, env: { TRANCHE_RATE: '20' } })
  await using redis = await openRedisServer(office.path('r.sock'))
  const shared = { TRANCHE_REDIS_URL: redis.path }
  const rows = refunds(100)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const run = ['run', input, '--out', office.path('out.csv'), '--json']
  const worker = await office.worker(shared)
  const running = office.startWith(shared, ...run)
  await until('rows are settled', () => recordedIn(office).filter(isApproved).length >= 5, running)
  await redis.kill()
  worker.kill('SIGKILL')
  const ran = await running.ended
  const settled = recordedIn(office).filter(isApproved).length
  expect([ran.code, ran.last.error?.code], ran.stderr).toEqual([6, 'stopped'])
  const batch = ran.objects.find(({ event }) => event === 'submitted')?.batch
  expect(ran.stderr).toContain(`Batch ${batch} is recorded: ${settled} of 100 rows are settled`)
  expect(ran.stderr).toContain('Run the same command again')
  expect(ran.stderr).not.toMatch(/nothing[^.]* sent/i)

  const again = await office.trancheWith(shared, ...run)
  expect(again.code, again.stderr).toBe(75)
  expect(again.stderr).toContain(`Batch ${batch} is recorded: ${settled} of 100 rows are settled`)
  expect(again.stderr).not.toMatch(/nothing[^.]* sent/i)
})

const isApproved = ({ state }: { readonly state: string }) => state === 'APPROVED'

test('a paused batch sends nothing until it is resumed; a cancelled one gives up the rest', async () => {
  const ROWS = 1_500
  office = await openOffice({ latencyMs: 50, env: { TRANCHE_IN_FLIGHT: '3' } })
  const { input, batch } = await submitted(refunds(ROWS)) // more than are sent while a slow machine starts a command
  const worker = await office.worker()
  await until('the batch is under way', () => office.sandbox.log().length >= 10, worker)

  const paused = await office.tranche('pause', batch, '--reason', 'asked by the bank', '--as', 'ann', '--json')
  expect(paused.code, paused.stderr).toBe(0)
  expect(paused.last).toMatchObject({ batch, hold: 'paused' })
  await until('open requests are answered', () => recordedIn(office).every((row) => row.state !== 'SENDING'), worker)
  const sent = office.sandbox.received()
  const status = (await office.tranche('status', batch, '--json')).last
  expect(status).toMatchObject({ state: 'paused', reason: 'asked by the bank' })
  expect(status.counts).toEqual({ APPROVED: sent, PENDING: ROWS - sent })
  expect(office.sandbox.received()).toBe(sent)

  expect((await office.tranche('resume', batch, '--reason', 'the bank agrees')).code).toBe(0)
  await until('the batch goes on', () => office.sandbox.log().length >= sent + 10, worker)
  const cancelled = await office.tranche('cancel', batch, '--reason', 'wrong month', '--json')
  expect(cancelled.code, cancelled.stderr).toBe(0)
  await until(
    'nothing is open',
    () => recordedIn(office).every(({ state }) => !['SENDING', 'READY'].includes(state)),
    worker,
  )

  const out = await reconciled(batch)
  const executed = office.sandbox.log().length
  expect(countsIn(out)).toEqual({ APPROVED: executed, CANCELLED: ROWS - executed })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
  expect((await office.tranche('status', batch, '--json')).last).toMatchObject({
    state: 'cancelled',
    reason: 'wrong month',
  })
  const last = (await office.tranche('history', `R-${ROWS}`)).stdout
  expect(last).toMatch(/PENDING → CANCELLED {2}\(cancel/)
  expect(last).toContain('wrong month')
})

test('a row in doubt stands in the worklist and holds back later rows of its order', async () => {
  office = await openOffice()
  const doubted = orderOf(3)
  const later = { ...refunds(1, 3)[0]!, reference: 'R-3-again', amount: '2.77' }
  const rows = [...refunds(5), later]
  office.sandbox.addFault({ kind: 'reset-after', match: { orderId: doubted }, times: 1 })
  const { input, batch } = await submitted(rows)
  const worked = await office.tranche('worker', '--until-idle')
  expect(worked.code, worked.stderr).toBe(6) // one row waits behind the doubt
  const listed = (await office.tranche('in-doubt', 'list', '--json')).last
  expect(listed.in_doubt).toMatchObject([
    {
      reference: 'R-3',
      operation: 'REFUND',
      amount: '3.01',
      currency: 'EUR',
      order_id: doubted,
      attempt: 1,
      batch,
      row: 3,
    },
  ])
  const list = office.path('doubts.csv')
  expect((await office.tranche('in-doubt', 'list', '--out', list)).code).toBe(0)
  expect((await office.tranche('in-doubt', 'list', '--out', list)).code).toBe(2) // no list is written over
  const moves = (await office.tranche('history', 'R-3', '--json')).last.moves
  expect(moves.map((move: { to: string }) => move.to)).toEqual(expect.arrayContaining(['SENDING', 'IN_DOUBT']))
  expect((await office.tranche('status', batch)).stdout).toContain('1 row waits behind a row of the same order')
  const out = await reconciled(batch)
  expect(countsIn(out)).toEqual({ APPROVED: 4, IN_DOUBT: 1, PENDING: 1 })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('a row that waits for a person ends a run with 6, although another is due next year', async () => {
  office = await openOffice()
  await submitted(refunds(1))
  const { batch: held } = (await office.tranche('status', '--json')).last.batches[0]
  await office.tranche('pause', held, '--reason', 'wait')
  const another = { ...refunds(1)[0]!, reference: 'other', amount: '0.50' }
  const nextYear = { ...refunds(1, 2)[0]!, execute_at: new Date(Date.now() + 365 * 86_400_000).toISOString() }
  const input = await office.put('both.csv', toCsv([another, nextYear]))
  const ran = await office.tranche('run', input, '--out', office.path('out.csv'), '--json')
  expect([ran.code, ran.last.reason], ran.stderr).toEqual([6, expect.stringContaining('1 row waits behind')])
  const idle = await office.tranche('worker', '--until-idle')
  expect([idle.code, idle.stderr]).toEqual([6, expect.stringContaining('1 row waits behind')])
  expect((await office.tranche('status', ran.last.batch, '--json')).last).toMatchObject({ state: 'needs_attention' })
})

test('told to end twice, a worker leaves at once and says how many rows that leaves in doubt', async () => {
  office = await openOffice({ latencyMs: 20_000 })
  const { batch } = await submitted(refunds(5))
  const worker = await office.worker()
  await until('a request is open', () => office.sandbox.log().length === 1, worker)
  worker.kill('SIGTERM')
  worker.kill('SIGINT')
  const ended = await worker.ended
  expect(ended.code, ended.stderr).toBe(130)
  expect(ended.stderr).toContain('1 request was open and will be in doubt at the next start')
  expect(recordedIn(office).filter((row) => row.state === 'SENDING')).toHaveLength(1)
  await office.tranche('cancel', batch, '--reason', 'no more of it')
  expect((await office.tranche('worker', '--until-idle')).code).toBe(5)
  expect(compareBooks(booksOf(office))).toEqual([])
})

test('a worker under which a newer version changes the ledger keeps what it is answered, sends nothing more and says why', async () => {
  office = await openOffice({ latencyMs: 100, env: { TRANCHE_IN_FLIGHT: '1' } })
  await submitted(refunds(400))
  const worker = await office.worker()
  await until('the batch is under way', () => office.sandbox.received() >= 3, worker)
  const db = new DatabaseSync(office.ledgerPath, { timeout: 10_000 })
  db.exec('PRAGMA user_version = 999')
  db.close()
  const sent = office.sandbox.received()
  const says = () => worker.saidAside().some((line) => line.includes('belongs to another version of Tranche'))
  await until('the worker says why', says, worker) // at the next renewal of the epoch
  expect(office.sandbox.received()).toBeLessThanOrEqual(sent + 1) // it was claimed already
  worker.kill('SIGTERM')
  await worker.ended
  const states = recordedIn(office).map(({ state }) => state)
  expect(states.filter((state) => state === 'APPROVED')).toHaveLength(office.sandbox.received())
  expect(states.filter((state) => state === 'READY')).toHaveLength(400 - office.sandbox.received())
})
