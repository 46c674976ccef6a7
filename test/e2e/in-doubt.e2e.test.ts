// What a person does with a doubt, from the first look to the reconciliation.

import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, readCsv, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { orderOf, preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { HAS_TERMINALS, onTerminalOf } from '../fixtures/terminals.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice({ env: { TRANCHE_IN_FLIGHT: '1' } })
})
afterEach(() => office.close())

const AT_ONCE = { TRANCHE_DOUBT_REST_MS: '0' }

/** Runs five refunds: R-1 is executed and its answer lost, R-3 is lost before it is executed. */
async function runWithDoubts(env: NodeJS.ProcessEnv = AT_ONCE): Promise<{ input: string; out: string; batch: string }> {
  const rows = refunds(5)
  office.sandbox.prepare(preparationFor(rows))
  office.sandbox.addFault({ kind: 'reset-after', match: { orderId: orderOf(1) }, times: 1 })
  office.sandbox.addFault({ kind: 'reset-before', match: { orderId: orderOf(3) }, times: 1 })
  const input = await office.put('in.csv', toCsv(rows))
  const out = office.path('out.csv')
  const ran = await office.trancheWith(env, 'run', input, '--out', out, '--json')
  expect(ran.code, ran.stderr).toBe(5)
  expect(countsIn(out)).toEqual({ APPROVED: 3, IN_DOUBT: 2 })
  return { input, out, batch: ran.last.batch as string }
}

const executedAs = (n: number) => office.sandbox.log().find((entry) => entry.orderId === orderOf(n))?.transactionId
const statusOf = async (batch: string) => (await office.tranche('status', batch, '--json')).last

test('a wrong finding is corrected by a second one, and both names are kept', async () => {
  const { input, out, batch } = await runWithDoubts()
  const id = executedAs(1) as string
  const said = ['in-doubt', 'resolve', 'R-1', '--reason', 'in the portal']
  const first = await office.tranche(...said, '--as', 'Ann', '--found', 'declined', '--json')
  expect([first.code, first.last.status], first.stderr).toEqual([0, 'DECLINED'])
  const again = [...said, '--found', 'approved', '--transaction', id]
  const unsaid = await office.tranche(...again)
  expect([unsaid.code, unsaid.stderr]).toEqual([2, expect.stringContaining('record what is right with --correct')])
  const second = await office.tranche(...again, '--as', 'Bob', '--correct', '--json')
  expect([second.code, second.last.status], second.stderr).toEqual([0, 'APPROVED'])
  const { moves } = (await office.tranche('history', 'R-1', '--json')).last
  expect(moves.slice(-2)).toMatchObject([
    { from: 'IN_DOUBT', to: 'DECLINED', by: expect.stringMatching(/says "Ann"$/) },
    { from: 'DECLINED', to: 'APPROVED', by: expect.stringMatching(/says "Bob"$/) },
  ])
  expect((await office.tranche('results', batch, '--out', out)).code).toBe(0)
  expect(readCsv(out).find(({ reference }) => reference === 'R-1')).toMatchObject({
    ...{ result_status: 'APPROVED', result_transaction_id: id },
  })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('what was found is recorded, what is wanted is sent once more, and the books agree', async () => {
  const { input, out, batch } = await runWithDoubts()
  expect(await statusOf(batch)).toMatchObject({ state: 'needs_attention', results_stale: false })
  const { in_doubt: doubts } = (await office.tranche('in-doubt', 'list', '--json')).last
  expect(doubts).toMatchObject([{ reference: 'R-1', attempt: 1, order_id: orderOf(1) }, { reference: 'R-3' }])

  const id = executedAs(1) as string
  const found = ['in-doubt', 'resolve', 'R-1', '--found', 'approved', '--transaction', id, '--reason', 'in the portal']
  const approved = await office.tranche('--as', 'Ann', ...found, '--json')
  expect(approved.code, approved.stderr).toBe(0)
  expect(approved.last).toMatchObject({ kind: 'resolved', status: 'APPROVED', batch, row: 1 })
  expect(await statusOf(batch)).toMatchObject({ state: 'needs_attention', results_stale: true })

  const again = ['in-doubt', 'resolve', 'R-3', '--found', 'send-again', '--reason', 'not in the portal']
  const early = await office.tranche(...again)
  expect(early.code).toBe(6)
  expect(early.stderr).toContain('may still be executed')
  expect(office.sandbox.log()).toHaveLength(4)
  expect((await office.trancheWith(AT_ONCE, ...again)).code).toBe(0)

  const ran = await office.tranche('run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(0)
  expect(countsIn(out)).toEqual({ APPROVED: 5 })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
  const history = (await office.tranche('history', 'R-1', '--json')).last
  expect(history.moves.at(-1)).toMatchObject({ cause: 'resolve', by: expect.stringMatching(/says "Ann"$/) })
  const [line] = readCsv(out).filter(({ reference }) => reference === 'R-1')
  expect(line).toMatchObject({ result_transaction_id: id, result_reason: expect.stringContaining('in the portal') })
})

test.skipIf(!HAS_TERMINALS)('on a narrow screen a doubt is told with its names beside its values', async () => {
  const { batch } = await runWithDoubts()
  const resolved = ['in-doubt', 'resolve', 'R-3', '--found', 'not-executed', '--reason', 'not in the portal']
  expect((await office.trancheWith(AT_ONCE, ...resolved)).code).toBe(0)
  const wide = await onTerminalOf(120, office, null, 'in-doubt', 'list')
  expect(wide.screen).toMatch(/^ {2}reference +operation +amount .* at \(UTC\)/m)
  const { screen } = await onTerminalOf(80, office, null, 'in-doubt', 'list')
  expect(screen).toContain(
    `  R-1\n    operation REFUND, amount 1.01 EUR, order ${orderOf(1)}, merchant default, batch\n    ${batch}, row 1,`,
  )
  for (const line of screen.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
})

test('a request rests as long as the service that sent it says, not the shell of the clerk', async () => {
  await runWithDoubts({ TRANCHE_DOUBT_REST_MS: '3600000' })
  const again = ['in-doubt', 'resolve', 'R-3', '--found', 'send-again', '--reason', 'not in the portal']
  const early = await office.trancheWith(AT_ONCE, ...again)
  const listed = (await office.trancheWith(AT_ONCE, 'in-doubt', 'list', '--json')).last.in_doubt[1]
  expect(early.code).toBe(6)
  expect(early.stderr).toContain(`send-again from ${listed.rest_until} on`)
  const restMs = Date.parse(listed.rest_until) - Date.parse(listed.sent_at)
  expect(Math.round(restMs / 60_000)).toBe(60)
})

test('a worklist is written, filled in and read back; the second time changes nothing', async () => {
  const { out, batch } = await runWithDoubts()
  const list = office.path('doubts.csv')
  expect((await office.tranche('in-doubt', 'list', '--out', list)).code).toBe(0)
  const filled = readFileSync(list, 'utf8')
    .replace(/^(R-1,.*),,,\r$/m, `$1,approved,${executedAs(1)},portal\r`)
    .replace(/^(R-3,.*),,,\r$/m, '$1,not-executed,,settlement file\r')
  writeFileSync(list, filled)
  const resolve = ['in-doubt', 'resolve', '--file', list, '--json']

  const early = await office.tranche(...resolve)
  expect(early.code).toBe(5)
  expect(early.last).toMatchObject({ resolved: 1, refused: 1, in_doubt: 1 })
  const done = await office.trancheWith(AT_ONCE, ...resolve)
  expect(done.code, done.stderr).toBe(0)
  expect(done.last).toMatchObject({ resolved: 1, already: 1, refused: 0, in_doubt: 0 })
  expect((await office.trancheWith(AT_ONCE, ...resolve)).last).toMatchObject({ resolved: 0, already: 2 })
  expect(await statusOf(batch)).toMatchObject({ state: 'done', results_stale: true })
  expect((await office.tranche('results', batch, '--out', out)).code).toBe(0)
  expect(countsIn(out)).toEqual({ APPROVED: 4, FAILED: 1 })
  expect(compareBooks(booksOf(office, { input: office.path('in.csv'), out }))).toEqual([])
})

test('a worklist that was filled in for an attempt cannot judge the next one', async () => {
  const { input, out } = await runWithDoubts()
  const list = office.path('doubts.csv')
  await office.tranche('in-doubt', 'list', '--out', list)
  const approvesR3 = readFileSync(list, 'utf8').replace(/^(R-3,.*),,,\r$/m, '$1,not-executed,,looked on Monday\r')
  writeFileSync(list, approvesR3)
  await office.trancheWith(AT_ONCE, 'in-doubt', 'resolve', 'R-3', '--found', 'send-again', '--reason', 'wanted')
  office.sandbox.addFault({ kind: 'reset-after', match: { orderId: orderOf(3) }, times: 1 })
  expect((await office.tranche('run', input, '--out', out)).code).toBe(5)
  const late = await office.trancheWith(AT_ONCE, 'in-doubt', 'resolve', '--file', list)
  expect(late.code).toBe(5)
  expect(late.stderr).toContain('in doubt about attempt 2, not about 1')
  const one = ['in-doubt', 'resolve', 'R-3', '--found', 'not-executed', '--reason', 'looked on Monday']
  const unnamed = await office.trancheWith(AT_ONCE, ...one)
  expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining('add --attempt 2')])
  expect(recordedIn(office).find(({ reference }) => reference === 'R-3')?.state).toBe('IN_DOUBT')
})

test('an extract never replaces the reconciliation; an empty one may be written over', async () => {
  const { out, batch } = await runWithDoubts()
  const link = office.path('link.csv')
  symlinkSync(out, link)
  const since = ['results', batch, '--since', '2100-01-01T00:00:00Z', '--out']
  for (const name of [out, link]) {
    const refused = await office.tranche(...since, name)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('holds the whole reconciliation')])
  }
  expect(readCsv(out)).toHaveLength(5)
  for (const time of ['the first time', 'the second time']) {
    const extract = await office.tranche(...since, office.path('since.csv'))
    expect(extract.code, `${time}: ${extract.stderr}`).toBe(0)
  }
})

test('a worklist with a mistake is refused whole', async () => {
  await runWithDoubts()
  const list = office.path('doubts.csv')
  await office.tranche('in-doubt', 'list', '--out', list)
  const filled = readFileSync(list, 'utf8')
    .replace(/^(R-1,.*),,,\r$/m, '$1,approved,,portal\r')
    .replace(/^(R-3,.*),,,\r$/m, '$1,perhaps,,portal\r')
  writeFileSync(list, filled)
  const refused = await office.tranche('in-doubt', 'resolve', '--file', list)
  expect(refused.code).toBe(7)
  expect(refused.stderr).toContain('line 3, resolution "perhaps"')
  expect(recordedIn(office).filter(({ state }) => state === 'IN_DOUBT')).toHaveLength(2)
})

test.each([
  [['R-1', '--found', 'approved'], '--reason'],
  [['R-1', '--reason', 'x'], '--found'],
  [['R-1', '--as', 'approved', '--reason', 'x'], '--found'],
  [['--found', 'approved', '--reason', 'x'], 'Name the reference'],
  [['R-2', '--found', 'declined', '--reason', 'x'], 'is not in doubt'],
  [['R-9', '--found', 'approved', '--reason', 'x'], 'no instruction "R-9"'],
  [['R-1', '--found', 'declined', '--transaction', '12x', '--reason', 'x'], '--transaction 12x'],
  [['R-1', '--found', 'send-again', '--transaction', '12', '--reason', 'x'], 'has no transaction'],
  [['R-1', '--file', 'x.csv', '--reason', 'x'], '--file holds references'],
  [['--file', 'x.csv', '--merchant', 'default'], '--file holds references'],
])('resolve %j is refused and says why', async (args, why) => {
  await runWithDoubts()
  const refused = await office.tranche('in-doubt', 'resolve', ...args)
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(why)])
  expect(recordedIn(office).filter(({ state }) => state === 'IN_DOUBT')).toHaveLength(2)
})

test('rows that changed since a moment are an extract and never replace the reconciliation', async () => {
  const { out, batch } = await runWithDoubts()
  const since = new Date(Date.now() + 1).toISOString()
  await office.tranche('in-doubt', 'resolve', 'R-1', '--found', 'approved', '--reason', 'portal')
  expect((await office.tranche('results', batch, '--since', since, '--out', out)).code).toBe(2)
  const extract = office.path('since.csv')
  const written = await office.tranche('results', batch, '--since', since, '--out', extract, '--json')
  expect(written.code, written.stderr).toBe(0)
  expect(readCsv(extract).map(({ result_reference }) => result_reference)).toEqual(['R-1'])
  expect(await statusOf(batch)).toMatchObject({ results_stale: true, results: out })
  expect((await office.tranche('results', batch, '--since', 'yesterday', '--out', extract)).code).toBe(2)
})

test('every command tells what a killed worker left open until a worker puts it in doubt', async () => {
  const { input, batch, wasOpen } = await leftOpenByAWorker()
  const said = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await office.tranche(...args)
    expect(code, stderr).toBe(0)
    return stdout + stderr
  }
  const out = office.path('r.csv')
  const texts = {
    waiting: await said('status', batch),
    listed: await said('in-doubt', 'list'),
    paused: await said('pause', batch, '--reason', 'look first'),
    whilePaused: await said('status', batch),
    cancelled: await said('cancel', batch, '--reason', 'enough'),
    whileCancelled: await said('status', batch),
    results: await said('results', batch, '--out', out),
  }
  for (const [name, text] of Object.entries(texts)) {
    expect(text, name).toContain('1 row was being sent when the worker ended and may have been executed')
    expect(text, name).toContain('tranche worker')
    expect(text, name).not.toMatch(/will be answered|No row is in doubt|running \(| left at this speed/)
  }
  expect(await statusOf(batch)).toMatchObject({ state: 'waiting', counts: { SENDING: 1, CANCELLED: 2 } })
  const [line] = readCsv(out).filter(({ result_status: status }) => status === 'PENDING')
  expect(line).toMatchObject({ reference: 'R-1', result_reason: expect.stringContaining('may have been executed') })
  expect(recordedIn(office)[0]).toEqual(wasOpen)

  expect((await office.tranche('worker', '--until-idle')).code).toBe(5)
  expect((await office.tranche('in-doubt', 'list', '--json')).last.in_doubt).toMatchObject([{ reference: 'R-1' }])
  expect(countsIn(out)).toEqual({ PENDING: 1, CANCELLED: 2 })
  await said('results', batch, '--out', out)
  expect(countsIn(out)).toEqual({ IN_DOUBT: 1, CANCELLED: 2 })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('what a living worker has open is not told as left behind', async () => {
  await office.close()
  office = await openOffice({ latencyMs: 20_000, env: { TRANCHE_IN_FLIGHT: '1' } })
  const { batch } = await withOneOpen()
  const paused = await office.tranche('pause', batch, '--reason', 'look first')
  expect(paused.stderr).toContain('1 request is open and will be answered and recorded.')
  const out = office.path('r.csv')
  const results = await office.tranche('results', batch, '--out', out)
  expect(results.stderr).not.toContain('may have been executed')
  expect(readCsv(out).map(({ result_reason: reason }) => reason)).toEqual(['', '', ''])
  expect((await office.tranche('in-doubt', 'list')).stderr).toContain('No row is in doubt.')
})

/** A worker with the first of three requests open at the gateway, which has executed it. */
async function withOneOpen() {
  const rows = refunds(3)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const batch = (await office.tranche('submit', input, '--json')).last.batch as string
  const worker = await office.worker()
  await until('a request is open', () => office.sandbox.log().length === 1, worker)
  return { input, batch, worker }
}

async function leftOpenByAWorker() {
  await office.close()
  office = await openOffice({ latencyMs: 20_000, env: { TRANCHE_IN_FLIGHT: '1' } })
  const { input, batch, worker } = await withOneOpen()
  worker.kill('SIGKILL')
  await worker.ended
  return { input, batch, wasOpen: recordedIn(office)[0] }
}
