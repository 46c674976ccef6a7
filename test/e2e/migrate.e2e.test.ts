// A ledger in a file, moved to a server: whatever breaks off, it sends from one place.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TABLES } from '../../src/ledger/texts/tables.ts'
import { booksOf, compareBooks, readCsv } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { type FileRow, mixedFile, preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { newSchemaName, query, sharedCluster } from '../fixtures/postgres.ts'

let office: Office
let url: string
let there: NodeJS.ProcessEnv

beforeEach(async () => {
  url = (await sharedCluster()).url
  there = { TRANCHE_LEDGER_URL: url, TRANCHE_LEDGER_SCHEMA: newSchemaName() }
  office = await openOffice({ env: { TRANCHE_LEDGER_SCHEMA: there.TRANCHE_LEDGER_SCHEMA } })
})
afterEach(() => office.close())

const move = () => office.tranche('migrate', '--to', url)
const receivedRows = () => office.sandbox.received()

async function put(name: string, rows: ReturnType<typeof refunds>): Promise<string> {
  office.sandbox.prepare(preparationFor(rows))
  return office.put(name, toCsv(rows))
}

test('a ledger that is partly worked off moves with all its values, and the server goes on where it stopped', async () => {
  const file = mixedFile(60)
  office.sandbox.prepare(file.preparation)
  const [first, out] = [await office.put('first.csv', toCsv(file.rows)), office.path('first.results.csv')]
  await office.tranche('run', first, '--out', out)
  const rows = refunds(30, 1_000)
  const second = await put('second.csv', rows)
  const { stdout: batchId } = await office.tranche('submit', second)
  const head = (await office.tranche('log', '--json')).last.head as string

  const checked = await office.tranche('migrate', '--to', url, '--check')
  expect([checked.code, checked.stderr]).toEqual([0, expect.stringContaining('106 rows in 2 batches')])
  expect((await office.trancheWith(there, 'status')).code).toBe(2) // nothing is there yet
  const moved = await move()
  expect([moved.code, moved.stderr]).toEqual([0, expect.stringContaining('each value compared with the file')])

  const results = (env: NodeJS.ProcessEnv, to: string) =>
    office.trancheWith(env, 'results', batchId.trim(), '--out', office.path(to))
  expect((await office.trancheWith(there, 'worker', '--until-idle')).code).toBe(0)
  expect((await results(there, 'second.results.csv')).code).toBe(0)
  expect(readCsv(office.path('second.results.csv')).map((line) => line.result_status)).toEqual(
    rows.map(() => 'APPROVED'),
  )
  const deep = await office.trancheWith(there, 'doctor', '--deep', '--head', head)
  expect(deep.stdout).toContain('ok   record: sums, rows, what was submitted, moves and acts agree')
  const ledgerPath = office.path('books.db')
  expect((await office.trancheWith(there, 'backup', ledgerPath)).code).toBe(0)
  const reports = [
    { input: first, out },
    { input: second, out: office.path('second.results.csv') },
  ]
  expect(compareBooks(await booksOf({ ledgerPath, sandbox: office.sandbox }, ...reports))).toEqual([])
  // What was handed in before is known there.
  const received = receivedRows()
  expect((await office.trancheWith(there, 'run', second)).stderr).toContain('no row of it is left to send')
  expect(receivedRows()).toBe(received)
})

test('the file is read, sends nothing and records nothing any more, and is taken over as an older state only', async () => {
  const [a, b, c] = refunds(3) as [FileRow, FileRow, FileRow]
  const input = await put('in.csv', [a, b, { ...c, execute_at: '2099-01-01T00:00:00Z' }])
  const { stdout } = await office.tranche('submit', input)
  const batchId = stdout.trim()
  expect((await move()).code).toBe(0)
  for (const refused of [
    ['run', input],
    ['submit', input],
    ['worker', '--until-idle'],
    ['pause', batchId, '--reason', 'x'],
    ['cancel', batchId, '--reason', 'x', '--yes'],
    ['purge', '--before', '2026-01-01T00:00:00Z', '--reason', 'x', '--yes'],
  ]) {
    const ended = await office.tranche(...refused)
    expect([refused[0], ended.code, ended.stderr]).toEqual([
      refused[0],
      6,
      expect.stringContaining('it was moved to postgres://'),
    ])
  }
  expect(receivedRows()).toBe(0)
  expect((await office.tranche('status')).stdout).toContain(batchId)
  expect((await office.tranche('adopt', '--moved', '--reason', 'x')).stderr).toContain('It cannot be the newest state')
  const restored = (...more: string[]) =>
    office.tranche('adopt', '--restored', '--reason', 'the server burnt down', ...more)
  const tooEarly = await restored('--due-before', '2026-11-02T00:00:00Z')
  expect([tooEarly.code, tooEarly.stderr]).toEqual([2, expect.stringContaining('this ledger itself worked until')])
  const past = await restored('--due-before', new Date(Date.now() - 1).toISOString())
  expect([past.code, past.stderr]).toEqual([2, expect.stringContaining('may have been sent by what is lost')])
  const adopted = await restored('--due-before', '2098-01-01T00:00:00Z')
  expect([adopted.code, adopted.stderr]).toEqual([0, expect.stringContaining('stay PENDING and will be sent')])
  expect((await office.tranche('in-doubt', 'list')).stdout.match(/R-\d/g)).toEqual(['R-1', 'R-2'])
})

test('broken off at any step and run again, all of it arrives; in between nothing is sent from two places', async () => {
  const rows = refunds(12)
  const input = await put('in.csv', rows)
  await office.tranche('submit', input)
  const diesAt = (step: string) => {
    const child = fileURLToPath(new URL('../fixtures/child-migrate.ts', import.meta.url))
    return spawnSync(process.execPath, [child, url, step], { env: office.settings, encoding: 'utf8' }).signal
  }
  for (const { name } of TABLES) {
    expect([name, diesAt(name)]).toEqual([name, 'SIGKILL'])
    expect((await office.tranche('status')).stderr).not.toContain('moved')
    expect((await office.trancheWith(there, 'status')).code).not.toBe(0)
  }
  // Work goes on in the file meanwhile.
  const more = await put('more.csv', refunds(5, 100))
  expect((await office.tranche('run', more)).code).toBe(0)
  expect(diesAt('retired')).toBe('SIGKILL')
  const [here, asleep] = [await office.tranche('worker', '--until-idle'), await office.trancheWith(there, 'worker')]
  expect([here.code, asleep.code]).toEqual([6, 6])
  expect(asleep.stderr).toContain('has not arrived yet')
  const finished = await move()
  expect([finished.code, finished.stderr]).toEqual([0, expect.stringContaining('17 rows in 2 batches')])
  expect((await move()).stderr).toContain('already')
  expect((await office.trancheWith(there, 'worker', '--until-idle')).code).toBe(0)
  expect(receivedRows()).toBe(17)
})

test('what a dead worker left open comes into doubt before it is moved', async () => {
  office.sandbox.prepare(preparationFor(refunds(2)))
  const slow = await openOffice({ env: office.settings, latencyMs: 60_000 })
  try {
    const input = await slow.put('in.csv', toCsv(refunds(2)))
    const running = slow.startWith(
      {
        TRANCHE_DATA_DIR: slow.dataDir,
        TRANCHE_WITNESS_DIR: slow.witnessDir,
        TRANCHE_GATEWAY_URL: slow.sandbox.url,
        TRANCHE_IN_FLIGHT: '1',
      },
      'run',
      input,
    )
    await until('a request is open', () => slow.sandbox.received() > 0, running)
    const own = { TRANCHE_DATA_DIR: slow.dataDir, TRANCHE_WITNESS_DIR: slow.witnessDir }
    const held = await slow.trancheWith(own, 'migrate', '--to', url)
    expect([held.code, held.stderr]).toEqual([
      6,
      expect.stringContaining('is at work in this ledger. Nothing was moved'),
    ])
    running.kill('SIGKILL')
    await running.ended
    const moved = await slow.trancheWith(own, 'migrate', '--to', url)
    expect([moved.code, moved.stderr]).toEqual([
      0,
      expect.stringContaining('1 request was open when the worker ended, and is in doubt now'),
    ])
    expect((await slow.trancheWith({ ...own, ...there }, 'status', '--json')).stdout).toContain('IN_DOUBT')
  } finally {
    await slow.close()
  }
})

test('a place that is taken is left alone', async () => {
  expect((await office.trancheWith(there, 'init')).code).toBe(0)
  const refused = await move()
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('There is a ledger at')])
  expect(await query(url, `SELECT count(*) AS n FROM ${there.TRANCHE_LEDGER_SCHEMA}.instruction`)).toEqual([{ n: '0' }])
  expect((await office.tranche('status')).stderr).not.toContain('moved')
})
