// An inbox as its users have it: files go in, results come out, and the real command line is all that stands between.

import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { appendFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, query } from '../fixtures/books.ts'
import { type Office, openOffice, type Running, until } from '../fixtures/cli.ts'
import { orderOf, preparationFor, refundRow, refunds, toCsv } from '../fixtures/files.ts'
import { partsOf, rowsOf, zip } from '../ingest/sheets.ts'

const PAN = '4111111111111111'

let office: Office
let dir: string
beforeEach(async () => {
  office = await openOffice()
  dir = office.path('in')
  await mkdir(dir)
})
afterEach(() => office.close())

const namesIn = (folder: string) => readdirSync(join(dir, folder)).filter((name) => !name.startsWith('.'))
const csvIn = (folder: string) => namesIn(folder).filter((name) => name.endsWith('.csv'))
const once = (...args: readonly string[]) =>
  office.tranche('inbox', dir, '--once', '--stable-for', '0', '--json', ...args)
const eventsOf = (running: Running) => running.said().map((line) => JSON.parse(line).event as string)

/** Under another name and then renamed, as it should be done. */
function putWhole(name: string, text: string): void {
  writeFileSync(join(dir, '.unfinished'), text)
  renameSync(join(dir, '.unfinished'), join(dir, name))
}

function reports() {
  const archived = csvIn('archive').filter((name) => !name.includes('.again-'))
  return archived.map((name) => ({
    input: join(dir, 'archive', name),
    out: join(dir, 'results', name.replace(/\.csv$/, '.results.csv')),
  }))
}

test('a file that is put in comes out as results, and SIGTERM ends the inbox with 0', async () => {
  const rows = [...refunds(5), refundRow(6, { amount: '5.02' })]
  office.sandbox.prepare(preparationFor(rows))
  const worker = await office.worker()
  const watcher = office.start('inbox', dir, '--stable-for', '0', '--json')
  await until('it watches', () => eventsOf(watcher).includes('watching'), watcher)
  putWhole('Gutschriften März 2026.csv', toCsv(rows))
  await until('the results are there', () => eventsOf(watcher).includes('results'), watcher)
  watcher.kill('SIGTERM')
  const ended = await watcher.ended
  expect(ended.code, ended.stderr).toBe(0)
  expect(ended.objects.map(({ event }) => event)).toEqual(['watching', 'claimed', 'recorded', 'results', 'result'])
  const [{ batch, exit, counts } = {}] = ended.objects.filter(({ event }) => event === 'results')
  expect({ exit, counts }).toEqual({ exit: 3, counts: { APPROVED: 5, DECLINED: 1 } })
  expect(csvIn('archive')).toEqual([`Gutschriften März 2026.${batch}.csv`])
  expect(csvIn('results')).toHaveLength(2)
  expect(compareBooks(booksOf(office, ...reports()))).toEqual([])
  worker.kill('SIGTERM')
  await worker.ended
})

test('of two on one inbox of 50 files one works and one stands by; each file is one batch', async () => {
  const rows = Array.from({ length: 50 }, (_, n) => refunds(2, 10 * (n + 1)))
  office.sandbox.prepare(preparationFor(rows.flat()))
  rows.forEach((some, n) => void putWhole(`f-${n}.csv`, toCsv(some)))
  const watchers = [1, 2].map(() => office.start('inbox', dir, '--stable-for', '0', '--json'))
  const recorded = () => watchers.flatMap(eventsOf).filter((event) => event === 'recorded').length
  await until('all are recorded', () => recorded() === 50)
  await until('one stands by', () => watchers.flatMap(eventsOf).includes('waiting'))
  const [standingBy, working] = watchers.toSorted((a, b) => eventsOf(a).length - eventsOf(b).length)
  const held = await once()
  expect(held.code).toBe(6)
  expect(held.stderr).toContain(`Process ${working?.pid} on `)

  working?.kill('SIGKILL')
  putWhole('late.csv', toCsv(refunds(1, 700)))
  office.sandbox.prepare(preparationFor(refunds(1, 700)))
  await until('the other goes on', () => recorded() === 51, standingBy)
  standingBy?.kill('SIGTERM')
  expect((await standingBy?.ended)?.code).toBe(0)
  const batches = query<{ n: number }>(office, 'SELECT count(*) AS n FROM batch GROUP BY file_name')
  expect(batches.map(({ n }) => n)).toEqual(Array.from({ length: 51 }, () => 1))
  expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
  expect((await once()).code).toBe(0)
  expect(compareBooks(booksOf(office, ...reports()))).toEqual([])
  expect(office.sandbox.log()).toHaveLength(101)
})

test('a file that grows is taken when it has stopped, with all of its rows', async () => {
  const rows = refunds(20)
  office.sandbox.prepare(preparationFor(rows))
  const [header = '', ...lines] = toCsv(rows).trimEnd().split('\n')
  const path = join(dir, 'slow.csv')
  writeFileSync(path, `${header}\n`)
  const pass = office.start('inbox', dir, '--once', '--stable-for', '2s', '--json')
  await until('it waits', () => pass.saidAside().some((line) => line.includes('checking again in 2 s')), pass)
  for (const line of lines) await appendFile(path, `${line}\n`)
  const ended = await pass.ended
  expect(ended.code, ended.stderr).toBe(0)
  expect(ended.stderr).toContain('still being written and left for the next time')
  expect(csvIn('.')).toEqual(['slow.csv'])
  expect((await once()).objects.map(({ event }) => event)).toContain('recorded')
  expect(query(office, 'SELECT rows FROM batch')).toEqual([{ rows: 20 }])
})

test('a refused file is put aside with every fault and the way to mend it, and exit 7 says so', async () => {
  const rows = [refundRow(1, { amount: '1.234,5,6' }), refundRow(2, { request_currency: 'XXZ' })]
  putWhole('bad.csv', toCsv(rows))
  putWhole('worse.csv', 'neither,nor\n1,2\n')
  const passed = await once()
  expect(passed.code).toBe(7)
  expect(passed.objects.filter(({ event }) => event === 'rejected')).toHaveLength(2)
  const texts = namesIn('rejected')
    .filter((name) => name.endsWith('.report.txt'))
    .map((name) => readFileSync(join(dir, 'rejected', name), 'utf8'))
  expect(texts.join('\n')).toMatch(/line 2, amount[\s\S]*line 3, request_currency/)
  expect(texts.join('\n')).toContain('the file has no column transaction_type')
  expect(texts.every((text) => text.includes('put it into the inbox again'))).toBe(true)
  const rejects = csvIn('rejected').filter((name) => name.endsWith('.rejects.csv'))
  expect([csvIn('rejected').length, rejects.length]).toEqual([3, 1])
  expect(readFileSync(join(dir, 'rejected', rejects[0] as string), 'utf8')).toMatch(/1\.234,5,6[\s\S]*XXZ/)
  expect((await once()).code).toBe(0) // what is refused is not tried again
  const refused = await office.tranche('status', '--check')
  expect([refused.code, refused.stdout]).toEqual([3, expect.stringContaining('has refused 2 files')])
  for (const name of csvIn('rejected').filter((one) => !rejects.includes(one))) rmSync(join(dir, 'rejected', name))
  expect((await office.tranche('status', '--check')).code).toBe(0)
  expect(query(office, 'SELECT id FROM batch')).toEqual([])
})

test('a question about a file is answered by the command that its report gives', async () => {
  putWhole('first.csv', toCsv(refunds(2)))
  expect((await once('--operation', 'REFUND')).code).toBe(0)
  putWhole('like it.csv', toCsv([refundRow(1, { reference: 'again' }), refundRow(9)]))
  expect((await once('--operation', 'REFUND')).code).toBe(7)
  const [name = ''] = namesIn('rejected').filter((one) => one.endsWith('.report.txt'))
  const report = readFileSync(join(dir, 'rejected', name), 'utf8')
  const number = /add (--allow-lookalikes) (\d+)/.exec(report)?.slice(1) ?? []
  const [, path = '', rest = ''] = /: tranche submit '(.+?)' (.+) …$/m.exec(report) ?? []
  const answered = await office.tranche('submit', path, ...rest.split(' '), ...number)
  expect(answered.code, answered.stderr).toBe(0)
  expect(query(office, 'SELECT rows FROM batch ORDER BY id')).toEqual([{ rows: 2 }, { rows: 2 }])
})

test('what is not taken is reported once beside the folder, and the exit code is 7 once, until the file changes', async () => {
  const long = `${'n'.repeat(251)}.csv`
  const rows = refunds(2)
  office.sandbox.prepare(preparationFor(rows))
  for (const name of ['refunds.xls', 'refunds.ods', 'refunds.CSV ', 'refunds', '.hidden.csv', 'x.csv.part'])
    putWhole(name, 'x')
  putWhole(long, toCsv(rows))
  const latin = Buffer.concat([Buffer.from(`${dir}/R`), Buffer.from([0xfc]), Buffer.from('.csv')])
  writeFileSync(latin, 'x')
  symlinkSync(office.path('in/refunds'), office.path('in/link.csv'))
  const passed = await once()
  expect(passed.code).toBe(7)
  const kinds = passed.objects.map(({ event, reason }) => reason ?? event)
  expect(kinds.filter((kind) => kind === 'not-taken')).toHaveLength(6)
  expect(kinds.filter((kind) => kind === 'recorded')).toHaveLength(1)
  const reports = ['R\\xFC.csv', 'link.csv', 'refunds', 'refunds.CSV ', 'refunds.ods', 'refunds.xls']
  expect(new Set(namesIn('rejected'))).toEqual(new Set(reports.map((name) => `${name}.not-taken.txt`)))
  expect(csvIn('archive')).toHaveLength(1)
  const text = readFileSync(join(dir, 'rejected', 'refunds.xls.not-taken.txt'), 'utf8')
  expect(text).toContain(
    '"refunds.xls" is not taken: files of this kind cannot be read. It stays where it is. Nothing was recorded',
  )

  const written = () => namesIn('rejected').map((name) => statSync(join(dir, 'rejected', name)).mtimeMs)
  const before = written()
  const again = await once()
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('is still there and is not taken')])
  expect(again.objects.filter(({ reason }) => reason === 'not-taken').every(({ known }) => known)).toBe(true)
  expect(written()).toEqual(before)
  appendFileSync(join(dir, 'refunds.ods'), 'y')
  expect((await once()).code).toBe(7)
  expect((await once()).code).toBe(0)

  for (const name of ['link.csv', 'refunds', 'refunds.ods', 'refunds.CSV ']) rmSync(join(dir, name))
  rmSync(latin)
  renameSync(join(dir, 'refunds.xls'), join(dir, 'other.csv'))
  putWhole('other.csv', toCsv(refunds(1, 700)))
  office.sandbox.prepare(preparationFor(refunds(1, 700)))
  const mended = await once()
  expect(mended.code, mended.stderr).toBe(0)
  expect(namesIn('rejected')).toEqual([])
  expect(namesIn('.').toSorted()).toEqual(['archive', 'claimed', 'rejected', 'results', 'x.csv.part'])
  expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
  expect((await once()).code).toBe(0)
  expect(csvIn('results').filter((name) => name.endsWith('.results.csv'))).toHaveLength(2)
})

test('a card number leaves no trace anywhere but in its own file', async () => {
  const rows = [refundRow(1, { note: `paid with ${PAN}` })]
  putWhole('cards.csv', toCsv(rows))
  putWhole(`${PAN}.csv`, toCsv(refunds(2)))
  const passed = await once()
  expect(passed.code).toBe(7)
  expect(passed.objects.map(({ event }) => event)).toEqual(['watching', 'left', 'left', 'result'])
  expect(passed.stdout + passed.stderr).not.toContain(PAN)
  const files = readdirSync(office.dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const holding = files.filter((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1').includes(PAN))
  expect(holding.map(({ parentPath, name }) => join(parentPath, name))).toEqual([join(dir, 'cards.csv')])
  expect(files.filter((entry) => entry.name.includes(PAN)).map(({ parentPath }) => parentPath)).toEqual([dir])
})

test('one pass tells of a batch that is paused, because its results do not come', async () => {
  const rows = refunds(3)
  office.sandbox.prepare(preparationFor(rows))
  putWhole('a.csv', toCsv(rows))
  expect((await once('--canary', '1')).code).toBe(0)
  await office.tranche('worker', '--until-idle')
  const passed = await once('--canary', '1')
  expect(passed.stderr).toMatch(/Batch \S+ \(a\.csv\) is paused, so its results do not come: .*as a canary/)
})

test('a card number beside the rows of a workbook keeps it where it is', async () => {
  const rows = rowsOf([
    ['transaction_type', 'amount', 'request_currency', 'request_ref_po_id'],
    ['REFUND', '1.00', 'EUR', '700000001'],
  ])
  const summary = rowsOf([['summary_batch'], [PAN]])
  writeFileSync(join(dir, 'refunds.xlsx'), zip(partsOf({ Rows: rows, Summary: summary })))
  const done = await once()
  expect(done.code).toBe(7)
  expect(readdirSync(dir)).toContain('refunds.xlsx')
  expect(namesIn('archive')).toEqual([])
})

test('results with doubts are written, and again when a person has resolved them', async () => {
  const rows = refunds(3)
  office.sandbox.prepare(preparationFor(rows))
  putWhole('a.csv', toCsv(rows))
  expect((await once()).code).toBe(0)
  office.sandbox.addFault({ kind: 'reset-after', match: { orderId: orderOf(3) }, times: 1 })
  const worked = await office.tranche('worker', '--until-idle')
  expect(worked.code, worked.stderr).toBe(5)
  const first = await once()
  expect(first.code).toBe(5)
  const [report] = reports()
  expect(countsIn(report?.out ?? '')).toEqual({ APPROVED: 2, IN_DOUBT: 1 })
  expect((await once()).objects.map(({ event }) => event)).toEqual(['watching', 'result'])
  const executed = office.sandbox.log().find(({ orderId }) => orderId === orderOf(3))?.transactionId as string
  const resolved = await office.tranche(
    'in-doubt',
    'resolve',
    'R-3',
    '--found',
    'approved',
    '--transaction',
    executed,
    '--reason',
    'found',
  )
  expect(resolved.code, resolved.stderr).toBe(0)
  expect((await once()).objects.map(({ event }) => event)).toEqual(['watching', 'results', 'result'])
  expect(countsIn(report?.out ?? '')).toEqual({ APPROVED: 3 })
})

test('an inbox belongs to one ledger: another takes nothing from it', async () => {
  expect((await once()).code).toBe(0)
  putWhole('a.csv', toCsv(refunds(2)))
  await mkdir(office.path('other'))
  const elsewhere = { TRANCHE_DATA_DIR: office.path('other') }
  expect((await office.trancheWith(elsewhere, 'init')).code).toBe(0)
  const other = await office.trancheWith(elsewhere, 'inbox', dir, '--once', '--json')
  expect(other.code).toBe(2)
  expect(other.stderr).toContain('belongs to another ledger')
  expect(csvIn('.')).toEqual(['a.csv'])
})

test.each([
  ['--run-key', '2026-11'],
  ['--expect-count', '3'],
  ['--expect-total', 'EUR=3.00'],
  ['--allow-lookalikes', '2'],
  ['--retry', 'failed'],
])('%s is meant for one file: exit 2, and nothing is taken', async (option, value) => {
  putWhole('a.csv', toCsv(refunds(2)))
  const refused = await once(option, value)
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain(`${option} is meant for one file`)
  expect(namesIn('.')).toEqual(['a.csv'])
})
