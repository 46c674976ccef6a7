// The forms of results: what each holds, that it reads back, and what it may be written over.

import { mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { readSheet } from 'read-excel-file/node'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { unguardCell } from '../../src/domain/formula-guard.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { STATES } from '../../src/domain/states.ts'
import { surveyFile } from '../../src/ingest/inspect-file.ts'
import { readRows } from '../../src/ingest/rows.ts'
import { firstRecords } from '../../src/ingest/workbook/workbook.ts'
import type { BatchReading } from '../../src/ports/ledger/queries.ts'
import { isException } from '../../src/results/cells.ts'
import { checkOut } from '../../src/results/out.ts'
import { assertFitsWorkbook } from '../../src/results/workbook-file.ts'
import { type ResultsRequest, writeResults } from '../../src/results/write.ts'
import { listOf } from '../fixtures/ledgers.ts'
import { tries } from '../fixtures/tries.ts'
import { READING } from '../ingest/table.ts'
import { AT_MS, inPages, NO_FACTS, readingOf, rowOf } from './reading.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tranche-formats-'))
})
afterEach(() => rm(dir, { recursive: true }))

const at = (name: string) => join(dir, name)
const readWorkbook = async (path: string, count: number) => {
  const file = await open(path)
  return await firstRecords(file, count).finally(() => file.close())
}
const write = (reading: BatchReading, name: string, over: Partial<ResultsRequest> = {}) =>
  writeResults(reading, {
    out: at(name),
    inputPath: null,
    bom: false,
    sinceMs: null,
    readWorkbook,
    reasonRules: [],
    ...over,
  })
const csvIn = async (name: string): Promise<string[][]> => parse(await readFile(at(name)))
const linesIn = async (name: string) =>
  (await readFile(at(name), 'utf8'))
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
const sheetIn = async (name: string, sheet: string) =>
  (await readSheet(at(name), sheet, { trim: false })).map((cells) => cells.map((cell) => cell ?? ''))

const NASTY = [
  '00123',
  '1234567890123456789',
  '1e5',
  '2026-12',
  '3-4',
  '0.10',
  '1000000.00',
  'Zoë\n"q", ü',
  "'=1+1",
  '=1+1',
  '-12.50',
]
const REFUNDS = readingOf(
  ['reference', 'amount', 'note'],
  NASTY.map((note, i) =>
    rowOf({
      ...{ rowNo: i + 1, reference: `r-${i + 1}`, cells: [`0${i}`, '1234.50', note], state: 'APPROVED' as const },
      facts: { ...NO_FACTS, transactionId: '0090071992547409931', amount: '1234.5000' },
    }),
  ),
)

describe('a workbook', () => {
  test('holds the cells of the CSV, every one of them as text, and the summary on a second sheet', async () => {
    await write(REFUNDS, 'r.xlsx')
    await write(REFUNDS, 'r.csv')
    expect(await sheetIn('r.xlsx', 'Results')).toEqual(await csvIn('r.csv'))
    expect(await sheetIn('r.xlsx', 'Summary')).toEqual(await csvIn('r.summary.csv'))
    expect(await csvIn('r.xlsx.summary.csv')).toEqual(await csvIn('r.summary.csv'))
    expect((await readdir(dir)).sort()).toEqual(['r.csv', 'r.summary.csv', 'r.xlsx', 'r.xlsx.summary.csv'])
  })

  test('reads back every cell, whatever is in it', async () => {
    const nasty = fc.constantFrom(
      '_x000D_',
      '_x005F_',
      '_x0000_',
      'constructor',
      '__proto__',
      '\r\n',
      '\u000b',
      '\ufffd',
      '\ufffe',
      '&amp;',
      '<c>',
      ']]>',
      ' ',
      "'",
      '=',
      '😀',
      '_',
      'x',
    )
    const cell = fc.oneof(
      fc.array(nasty, { maxLength: 6 }).map((some) => some.join('')),
      fc.string({ unit: 'grapheme' }),
    )
    const rows = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(rows, async (table) => {
        const list = table.map(([a, b], i) => rowOf({ rowNo: i + 1, cells: [a, b], state: 'APPROVED' }))
        await write(readingOf(['first', 'second'], list), 'r.xlsx')
        const found = await readWorkbook(at('r.xlsx'), 99)
        const carried = found?.slice(1).map((cells) => cells.slice(0, 2).map(unguardCell))
        expect(carried).toEqual(table.map((cells) => cells.map((text) => text.toWellFormed())))
      }),
      { numRuns: tries(60) },
    )
  })

  test('fed back reads the same as its CSV', async () => {
    const fedBack = async (name: string) => {
      const file = await open(at(name))
      const options = { ...READING, operation: 'CANCEL' as const }
      const survey = await surveyFile(file, options)
      if (survey.kind === 'refused') throw new Error(survey.problem)
      const rows = []
      for await (const chunk of readRows(file, survey, options)) rows.push(...chunk)
      await file.close()
      return { fedBack: survey.fedBack, rows: rows.map(({ line: _, ...row }) => row) }
    }
    const reading = readingOf(
      ['order_id', 'note'],
      NASTY.map((note, i) => rowOf({ rowNo: i + 1, cells: [`${i + 1}`, note] })),
    )
    await write(reading, 'r.xlsx')
    await write(reading, 'r.csv')
    const found = await fedBack('r.xlsx')
    expect(found).toEqual(await fedBack('r.csv'))
    expect(found).toMatchObject({
      fedBack: true,
      rows: NASTY.map((note, i) => ({
        reference: `r-${i + 1}`,
        cells: [`${i + 1}`, note],
        cameFrom: { batchId: 'b-7', rowNo: i + 1 },
      })),
    })
  })

  test('has no formula in it, its header stays in sight, and it can be filtered', async () => {
    const { unzipSync, strFromU8 } = await import('fflate')
    await write(REFUNDS, 'r.xlsx')
    const parts = unzipSync(await readFile(at('r.xlsx')))
    const sheet = strFromU8(parts['xl/worksheets/sheet1.xml'] as Uint8Array)
    expect(sheet).not.toMatch(/<f[ >/]/)
    expect(sheet).not.toContain('<v>')
    expect(sheet).toContain('state="frozen"')
    expect(sheet).toContain(`<autoFilter ref="A1:T${NASTY.length + 1}"/>`)
  })

  test('cuts what no cell can hold, and says so in the cell', async () => {
    await write(readingOf(['c'], [rowOf({ cells: ['ä'.repeat(40_000)] })]), 'r.xlsx')
    const [, row] = (await readWorkbook(at('r.xlsx'), 2)) ?? []
    expect(row?.[0]).toHaveLength(32_767)
    expect(row?.[0]).toMatch(/cut: .* the CSV has it whole\)$/)
  })

  test('of more rows or columns than fit is refused before anything is written', async () => {
    expect(() => assertFitsWorkbook(200_000, 30)).not.toThrow()
    expect(() => assertFitsWorkbook(200_001, 30)).toThrow(/200000 rows do not fit a workbook.*: write CSV/)
    expect(() => assertFitsWorkbook(1, 16_385)).toThrow(/columns/)
    const many = readingOf(['c'], [rowOf()], { rows: 200_001 })
    await expect(write(many, 'r.xlsx')).rejects.toMatchObject({ code: 'usage' })
    expect(await readdir(dir)).toEqual([])
  })
})

describe('JSON lines', () => {
  test('hold one object a row, amounts and ids as texts, without the apostrophe of the guard', async () => {
    await write(REFUNDS, 'r.jsonl')
    const lines = await linesIn('r.jsonl')
    expect(lines.map(({ input }) => input.note)).toEqual(NASTY)
    expect(lines[0]).toMatchObject({
      input: { reference: '00', amount: '1234.50' },
      result: {
        result_status: 'APPROVED',
        result_amount: '1234.5000',
        result_transaction_id: '0090071992547409931',
        result_batch: 'b-7',
      },
    })
  })

  test('lose no cell of columns without a name or with a strange one, and keep their order', async () => {
    const columns = ['', 'b', ' ', '10', '9', '#1', '__proto__', 'constructor', 'result_batch_old']
    const cells = columns.map((_, i) => `cell ${i}`)
    await write(readingOf(columns, [rowOf({ cells })]), 'r.jsonl')
    const text = await readFile(at('r.jsonl'), 'utf8')
    expect(text).toContain(
      '{"input":{"##1":"cell 0","b":"cell 1","#3":"cell 2","10":"cell 3","9":"cell 4","#1":"cell 5","__proto__":"cell 6","constructor":"cell 7","result_batch_old":"cell 8"},"result":{"result_status":"PENDING",',
    )
  })
})

describe.each(['r.xlsx', 'r.jsonl', 'r.csv'])('an existing %s', (name) => {
  const other: BatchReading = { ...REFUNDS, batch: { ...REFUNDS.batch, batchId: 'b-8' as BatchId } }

  test('of this batch is written over, of another it is not', async () => {
    await write(REFUNDS, name)
    await write(REFUNDS, name)
    const before = await readFile(at(name))
    await expect(write(other, name)).rejects.toThrow('holds the results of batch b-7, not of b-8')
    expect(await readFile(at(name))).toEqual(before)
  })

  test('that is something else is not written over', async () => {
    await writeFile(at(name), 'mine')
    await expect(write(REFUNDS, name)).rejects.toThrow('not a result of this program')
    expect(await readFile(at(name), 'utf8')).toBe('mine')
  })

  test('that is the input is not written over', async () => {
    await writeFile(at(name), 'mine')
    const request = { out: at(name), inputPath: at(name), batchId: null, sandbox: false }
    await expect(checkOut(request)).rejects.toThrow(/input file/)
  })

  test('that is an extract without rows is known by its summary', async () => {
    const none: BatchReading = { ...REFUNDS, rows: () => inPages([]) }
    await write(none, name, { sinceMs: AT_MS })
    await write(none, name, { sinceMs: AT_MS })
    await expect(write({ ...none, batch: other.batch }, name, { sinceMs: AT_MS })).rejects.toThrow('batch b-7')
  })

  test('of a rehearsal says SANDBOX in its name and keeps its form', async () => {
    const { path } = await write({ ...REFUNDS, batch: { ...REFUNDS.batch, sandbox: true } }, name)
    expect(path).toBe(at(name.replace('.', '.SANDBOX.')))
  })
})

const ALL = readingOf(
  ['c'],
  [
    ...STATES.map((state, i) => rowOf({ rowNo: i + 1, cells: [state], state })),
    rowOf({ rowNo: 20, cells: ['warned'], state: 'APPROVED', warning: 'the answer names another amount' }),
    rowOf({ rowNo: 21, cells: ['again'], state: 'DUPLICATE', repeats: { state: 'APPROVED', warned: false } }),
    rowOf({ rowNo: 22, cells: ['again, warned'], state: 'DUPLICATE', repeats: { state: 'APPROVED', warned: true } }),
    rowOf({ rowNo: 23, cells: ['again, declined'], state: 'DUPLICATE', repeats: { state: 'DECLINED', warned: false } }),
  ],
)

describe('an extract by status', () => {
  test('holds the rows of these statuses, and its summary says what it is', async () => {
    const written = await write(ALL, 'r.csv', { only: ['DECLINED', 'PENDING'] })
    expect(written.rows).toBe(3)
    expect((await csvIn('r.csv')).slice(1).map(([cell]) => cell)).toEqual(['READY', 'SENDING', 'DECLINED'])
    const summary = await csvIn('r.summary.csv')
    expect(summary.at(-2)?.slice(2, 6)).toEqual(['TOTAL', '', '', '3'])
    expect(summary.at(-1)?.slice(2, 6)).toEqual(['EXTRACT', '', 'DECLINED PENDING', '13'])
    await write(ALL, 's.csv', { only: ['DECLINED'], sinceMs: AT_MS })
    expect((await csvIn('s.summary.csv')).at(-1)?.[4]).toBe('DECLINED changed since 2026-01-31T12:00:00.000Z')
  })
})

test('an extract puts its summary over no whole one, whatever the names that share it', async () => {
  await write(ALL, 'r.csv')
  const whole = await csvIn('r.summary.csv')
  for (const name of ['r', 'r.csv'])
    await expect(write(ALL, name, { only: ['DECLINED'] })).rejects.toThrow('belongs to the whole reconciliation')
  expect(await csvIn('r.summary.csv')).toEqual(whole)
  await write(ALL, 's', { only: ['DECLINED'] })
  await write(ALL, 's.csv', { only: ['PENDING'] })
  await write(ALL, 's.csv')
})

describe('the exceptions', () => {
  test('are the rows that a person must look at, beside the whole', async () => {
    const exceptions = at('look.csv')
    const written = await write(ALL, 'r.csv', { exceptions })
    expect(written).toMatchObject({ rows: 13, exceptions: { path: exceptions, rows: 11 } })
    const found = await csvIn('look.csv')
    expect(found[0]).toEqual((await csvIn('r.csv'))[0])
    expect(found.slice(1).map(([cell]) => cell)).toEqual(
      ALL.columns && (await listOf(ALL.rows())).filter(isException).map(({ cells }) => cells[0]),
    )
    expect(found.flat()).not.toContain('again')
    expect(found.slice(1).filter((cells) => cells[0] === 'APPROVED')).toEqual([])
  })

  test.each(['look.csv', 'look.xlsx', 'look.jsonl'])(
    'where there are none, are written again and again: %s',
    async (name) => {
      const one = readingOf(['c'], [rowOf({ state: 'APPROVED' })])
      for (let i = 0; i < 2; i++) {
        expect((await write(one, 'r.csv', { exceptions: at(name) })).exceptions).toEqual({ path: at(name), rows: 0 })
      }
      await write(ALL, 'r.csv', { exceptions: at(name) })
      await write(one, 'r.csv', { exceptions: at(name) })
    },
  )

  test('are never written over anything else, nor over the results', async () => {
    await writeFile(at('mine.csv'), 'mine')
    await expect(write(ALL, 'r.csv', { exceptions: at('mine.csv') })).rejects.toThrow('not a result of this program')
    await expect(write(ALL, 'r.csv', { exceptions: at('r.csv') })).rejects.toThrow(/where the results go/)
    await expect(write(ALL, 'r.csv', { exceptions: at('r.summary.csv') })).rejects.toThrow(/where the results go/)
    await expect(write(ALL, 'r.csv', { exceptions: at('in.csv'), inputPath: at('in.csv') })).rejects.toThrow(
      /input file/,
    )
    expect(await readdir(dir)).toEqual(['mine.csv'])
  })
})
