// Reconciliations on disk: their bytes, what they refuse to overwrite, and what a failure leaves.

import { link, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import { guardCell, unguardCell } from '../../src/domain/formula-guard.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { RESULT_COLUMNS } from '../../src/domain/result-columns.ts'
import type { BatchReading } from '../../src/ports/ledger/queries.ts'
import { checkOut, toOutFault } from '../../src/results/out.ts'
import { writeResults } from '../../src/results/write.ts'
import { codePoint } from '../fixtures/code-points.ts'
import { AT_MS, HEAD, NO_FACTS, readingOf, rowOf } from './reading.ts'

let dir: string
let out: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tranche-results-'))
  out = join(dir, 'refunds.results.csv')
})
afterEach(() => rm(dir, { recursive: true }))

const write = (reading: BatchReading, options: { out?: string; inputPath?: string | null; bom?: boolean } = {}) =>
  writeResults(reading, { out, inputPath: null, bom: false, sinceMs: null, reasonRules: [], ...options })

const text = (path: string) => readFile(path, 'utf8')

const REFUNDS = readingOf(
  ['reference', 'amount', 'note'],
  [
    rowOf({
      rowNo: 1,
      cells: ['r-1', '12.30', 'says "hi", twice'],
      state: 'APPROVED',
      facts: { ...NO_FACTS, transactionId: '900', orderId: '123', amount: '12.3000', currency: 'EUR' },
      attempts: 1,
      sentAtMs: AT_MS - 2000,
      completedAtMs: AT_MS - 1000,
    }),
    rowOf({ rowNo: 2, cells: ['r-2', '12.30', '=1+1\nÜ'] }),
    rowOf({
      rowNo: 3,
      cells: ['', '-12.50', ''],
      reference: null,
      state: 'INVALID',
      operation: null,
      amountMinor: null,
      currency: null,
      reason: 'amount: has a sign',
    }),
  ],
)

const RESULTS = [
  'reference,amount,note,result_status,result_reason,result_transaction_id,result_order_id,result_record_id,' +
    'result_amount,result_currency,result_vault_id,result_xtl_order_id,result_warning,result_attempts,' +
    'result_sent_at,result_completed_at,result_row,result_reference,result_batch,result_reason_category\r\n',
  'r-1,12.30,"says ""hi"", twice",APPROVED,,900,123,,12.3000,EUR,,,,1,' +
    '2026-01-31T11:59:58.000Z,2026-01-31T11:59:59.000Z,1,r-1,b-7,\r\n',
  `r-2,12.30,"'=1+1\nÜ",PENDING,,,,,,,,,,0,,,2,r-2,b-7,\r\n`,
  ',-12.50,,INVALID,amount: has a sign,,,,,,,,,0,,,3,,b-7,data\r\n',
].join('')

const SUMMARY = [
  'summary_batch,summary_read_at,operation,currency,status,count,requested_amount,answered_currency,answered_count,' +
    'answered_amount,batch_count,batch_requested_amount,ties_out,audit_head\r\n',
  `b-7,2026-01-31T12:00:00.000Z,REFUND,EUR,APPROVED,1,12.30,EUR,1,12.3000,2,24.60,yes,${HEAD}\r\n`,
  `b-7,2026-01-31T12:00:00.000Z,REFUND,EUR,PENDING,1,12.30,,0,,2,24.60,yes,${HEAD}\r\n`,
  `b-7,2026-01-31T12:00:00.000Z,,,INVALID,1,,,0,,1,,yes,${HEAD}\r\n`,
  `b-7,2026-01-31T12:00:00.000Z,TOTAL,,,3,,,1,,3,,yes,${HEAD}\r\n`,
].join('')

describe('the bytes', () => {
  test('are RFC 4180 with CRLF, and the summary stands beside', async () => {
    const written = await write(REFUNDS)
    expect(written).toMatchObject({ path: out, summaryPath: join(dir, 'refunds.results.summary.csv'), rows: 3 })
    expect(written.summary).toHaveLength(3)
    expect(await text(out)).toBe(RESULTS)
    expect(await text(written.summaryPath)).toBe(SUMMARY)
    expect((await readdir(dir)).sort()).toEqual(['refunds.results.csv', 'refunds.results.summary.csv'])
  })

  test('begin with a byte order mark where one is asked for', async () => {
    const { summaryPath } = await write(REFUNDS, { bom: true })
    expect(await text(out)).toBe(`\uFEFF${RESULTS}`)
    expect(await text(summaryPath)).toBe(`\uFEFF${SUMMARY}`)
  })

  test('parse back to the cells that came in, but for the apostrophe of the guard', async () => {
    const cell = fc.oneof(
      fc.string({ unit: codePoint }),
      fc.string({ unit: fc.constantFrom('=', "'", '-', '"', ',', ';', '\r', '\n', ' ', '\t', '1', '\uFEFF') }),
    )
    const cellRows = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(cell, cellRows, fc.boolean(), async (header, list, bom) => {
        const columns = [`${header}!`, 'second']
        const rows = list.map((cells, i) => rowOf({ rowNo: i + 1, cells }))
        await write(readingOf(columns, rows), { bom })
        const parsed: string[][] = parse(await readFile(out), { bom: true })
        const carried = parsed.map((record) => record.slice(0, 2))
        expect(carried).toEqual([columns, ...list].map((cells) => cells.map(guardCell)))
        expect(carried.map((cells) => cells.map(unguardCell))).toEqual([columns, ...list])
        expect(new Set(parsed.map((record) => record.length))).toEqual(new Set([2 + RESULT_COLUMNS.length]))
      }),
      { numRuns: 60 },
    )
  })

  test('hold every row once and in order, over many writes', async () => {
    const rows = Array.from({ length: 1501 }, (_, i) => rowOf({ rowNo: i + 1, cells: [`c${i + 1}`] }))
    const { summaryPath } = await write(readingOf(['c'], rows))
    const records: string[][] = parse(await text(out), { from: 2 })
    expect(records.map((record) => record[0])).toEqual(rows.map((row) => row.cells[0]))
    expect(await text(summaryPath)).toContain('TOTAL,,,1501,')
  })
})

describe('sandbox results', () => {
  test('say SANDBOX in the file names and in every line', async () => {
    const { path, summaryPath } = await write({ ...REFUNDS, batch: { ...REFUNDS.batch, sandbox: true } })
    expect(path).toBe(join(dir, 'refunds.results.SANDBOX.csv'))
    expect(summaryPath).toBe(join(dir, 'refunds.results.SANDBOX.summary.csv'))
    expect(await text(path)).toContain(',SANDBOX-b-7,\r\n')
    expect(await text(summaryPath)).toMatch(/^SANDBOX-b-7,/m)
  })

  test('keep a name that says it already, and are written again over themselves', async () => {
    const sandbox = { ...REFUNDS, batch: { ...REFUNDS.batch, sandbox: true } }
    const named = join(dir, 'SANDBOX.csv')
    expect((await write(sandbox, { out: named })).path).toBe(named)
    expect((await write(sandbox, { out: named })).path).toBe(named)
  })

  test('are never written over real ones of the same id', async () => {
    const named = join(dir, 'SANDBOX.csv')
    await write(REFUNDS, { out: named })
    await expect(
      write({ ...REFUNDS, batch: { ...REFUNDS.batch, sandbox: true } }, { out: named }),
    ).rejects.toMatchObject({ code: 'usage' })
  })
})

describe('an existing file', () => {
  test('that is an earlier result of the batch is replaced', async () => {
    await write(readingOf(['c'], [rowOf({ cells: ['old'] })]), { bom: true })
    await write(readingOf(['c'], [rowOf({ cells: ['new'] })]))
    expect(await text(out)).toContain('new')
  })

  test('that is an earlier result of the batch is known by its head, however long it is', async () => {
    const note = 'x'.repeat(2000)
    const rows = Array.from({ length: 1000 }, (_, i) => rowOf({ rowNo: i + 1, cells: [`"${note}\n`] }))
    await write(readingOf(['c'], rows))
    await expect(write(readingOf(['c'], rows))).resolves.toMatchObject({ rows: 1000 })
  })

  test.each([
    ['of another batch', RESULTS.replaceAll('b-7', 'b-8'), 'results of batch b-8, not of b-7'],
    ['without rows', RESULTS.slice(0, RESULTS.indexOf('\r\n') + 2), 'not a result'],
    ['of another kind', 'a,b\r\n1,2\r\n', 'not a result'],
    ['that is no CSV', '"\0"x"', 'not a result'],
    ['that is empty', '', 'is empty'],
  ])('%s is not written over', async (_, content, said) => {
    await writeFile(out, content)
    const error = await write(REFUNDS).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Fault)
    expect(error).toMatchObject({ code: 'usage', message: expect.stringContaining(said) })
    expect(await text(out)).toBe(content)
    expect(await readdir(dir)).toEqual(['refunds.results.csv'])
  })

  test('in the place of the summary is not written over', async () => {
    await writeFile(join(dir, 'refunds.results.summary.csv'), 'mine')
    await expect(write(REFUNDS)).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('summary') })
    expect(await readdir(dir)).toEqual(['refunds.results.summary.csv'])
  })

  test('that is a directory is refused', async () => {
    await mkdir(out)
    await expect(write(REFUNDS)).rejects.toMatchObject({ code: 'usage' })
  })

  test('behind a symbolic link is replaced where it stands', async () => {
    await write(REFUNDS)
    const linked = join(dir, 'latest.csv')
    await symlink(out, linked)
    expect((await write(REFUNDS, { out: linked })).path).toBe(out)
  })
})

describe('the input', () => {
  test.each([
    ['itself', async (input: string) => input],
    [
      'under another name',
      async (input: string) => {
        const other = join(dir, 'hard.csv')
        await link(input, other)
        return other
      },
    ],
    [
      'behind a symbolic link',
      async (input: string) => {
        const other = join(dir, 'soft.csv')
        await symlink(input, other)
        return other
      },
    ],
  ])('%s is not written over', async (_, outFor) => {
    const inputPath = join(dir, 'refunds.csv')
    // Even where it passes for an earlier result of the batch.
    await writeFile(inputPath, RESULTS)
    const asked = await outFor(inputPath)
    await expect(write(REFUNDS, { out: asked, inputPath })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('is the input file'),
    })
    expect(await text(inputPath)).toBe(RESULTS)
  })

  test('is not written over by the summary either', async () => {
    const inputPath = join(dir, 'refunds.results.summary.csv')
    await writeFile(inputPath, SUMMARY)
    await expect(write(REFUNDS, { inputPath })).rejects.toMatchObject({ message: expect.stringContaining('input') })
  })
})

describe('a failure half-way', () => {
  const failing = (failure: Error): BatchReading => ({
    ...REFUNDS,
    async *rows() {
      yield* REFUNDS.rows()
      throw failure
    },
  })

  test('leaves the old files as they were and no temporary ones', async () => {
    const { summaryPath } = await write(REFUNDS)
    await expect(write(failing(new Error('the ledger went away')))).rejects.toThrow('the ledger went away')
    expect(await text(out)).toBe(RESULTS)
    expect(await text(summaryPath)).toBe(SUMMARY)
    expect(await readdir(dir)).toHaveLength(2)
  })

  test('leaves nothing where nothing was', async () => {
    await expect(write(failing(new Error('the ledger went away')))).rejects.toThrow()
    expect(await readdir(dir)).toEqual([])
  })

  test.each([
    ['a row is missing', readingOf(['c'], [rowOf()], { rows: 2 })],
    ['a row comes twice', readingOf(['c'], [rowOf(), rowOf()])],
    ['the amounts are not those of the ledger', readingOf(['c'], [rowOf()], { totals: [] })],
    ['rows are out of order', readingOf(['c'], [rowOf({ rowNo: 2 }), rowOf({ rowNo: 1 })])],
  ])('comes before results in which %s', async (_, reading) => {
    await expect(write(reading)).rejects.toThrow(/^bug: /)
    expect(await readdir(dir)).toEqual([])
  })
})

describe('checkOut before any work', () => {
  const request = { inputPath: null, batchId: null, sandbox: false }

  test('answers with the paths and leaves no trace', async () => {
    expect(await checkOut({ ...request, out })).toEqual({
      path: out,
      summaryPath: join(dir, 'refunds.results.summary.csv'),
    })
    expect(await readdir(dir)).toEqual([])
  })

  test('refuses any existing file while the batch has no id', async () => {
    await writeFile(out, RESULTS)
    await expect(checkOut({ ...request, out })).rejects.toMatchObject({ code: 'usage' })
    await expect(checkOut({ ...request, out, batchId: 'b-7' as BatchId })).resolves.toMatchObject({ path: out })
  })

  test('lets one rehearsal write over another, and neither over a record', async () => {
    const rehearse = (id: string, over: { out?: string } = {}) =>
      writeResults(
        { ...REFUNDS, batch: { ...REFUNDS.batch, batchId: id as BatchId, sandbox: true } },
        { out, inputPath: null, bom: false, sinceMs: null, reasonRules: [], ...over },
      )
    const rehearsal = { ...request, out, sandbox: true }
    const { path } = await rehearse('b-1')
    expect(path).toBe(join(dir, 'refunds.results.SANDBOX.csv'))
    await expect(checkOut(rehearsal)).resolves.toMatchObject({ path })
    await rehearse('b-2')
    expect(await text(path)).toContain('SANDBOX-b-2')

    await writeFile(path, RESULTS) // somebody moved a record there
    await expect(checkOut(rehearsal)).rejects.toMatchObject({ code: 'usage' })
    await expect(rehearse('b-3')).rejects.toMatchObject({ code: 'usage' })
    expect(await text(path)).toBe(RESULTS)
  })

  test('lets no record write over a rehearsal', async () => {
    await writeFile(out, RESULTS.replaceAll('b-7', 'SANDBOX-b-7'))
    await expect(checkOut({ ...request, out, batchId: 'b-7' as BatchId })).rejects.toMatchObject({ code: 'usage' })
  })

  test.each([
    ['a directory that is not there', 'nowhere/out.csv', 'the directory does not exist'],
    ['a file in the place of the directory', 'file/out.csv', 'the directory does not exist'],
    ['a name too long for its temporary file', `${'n'.repeat(240)}.csv`, 'ENAMETOOLONG'],
  ])('refuses %s', async (_, name, said) => {
    await writeFile(join(dir, 'file'), '')
    await expect(checkOut({ ...request, out: join(dir, name) })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(said),
    })
  })

  test.each([
    ['results.csv', 'results.summary.csv'],
    ['RESULTS.CSV', 'RESULTS.summary.CSV'],
    ['results', 'results.summary.csv'],
    ['results.txt', 'results.txt.summary.csv'],
  ])('puts the summary of %s into %s', async (name, summary) => {
    expect((await checkOut({ ...request, out: join(dir, name) })).summaryPath).toBe(join(dir, summary))
  })
})

test.each([
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EACCES', 'usage'],
  ['EROFS', 'usage'],
  ['EIO', 'storage'],
])('the trouble %s is the fault %s', (code, fault) => {
  const error = Object.assign(new Error('no'), { code })
  expect(toOutFault(error, '/x.csv')).toMatchObject({ code: fault, cause: error })
})

test('trouble that is not of the file system is handed on as it is', () => {
  const error = new Error('other')
  expect(toOutFault(error, '/x.csv')).toBe(error)
})
