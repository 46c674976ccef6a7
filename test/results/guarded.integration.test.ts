// Whatever is in a cell, no file that this program writes is a formula to a spreadsheet, and reading it back gives the cell.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toGuardedCsv } from '../../src/results/formats.ts'
import { writeRejects, writeWholeReject } from '../../src/results/rejects.ts'
import { writeResults } from '../../src/results/write.ts'
import { cellsOf, couldRun, couldRunElsewhere, FORMULAS, SEPARATORS } from '../fixtures/formulas.ts'
import { onePage } from '../fixtures/ledgers.ts'
import { readWhole } from '../ingest/table.ts'
import { NO_FACTS, readingOf, rowOf } from './reading.ts'

let dir: string
let path: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tranche-guard-'))
  path = join(dir, 'out.csv')
})
afterEach(() => rm(dir, { recursive: true }))

/** References stand in the first column. */
const PLAIN = { referencePlace: 0, runKey: null, delimiter: ',' }
const COLUMNS = ['reference', 'transaction_type', 'amount', 'note', 'last']
const cellsWith = (note: string) => ['R-1', 'REFUND', '1.00', note, note]

async function resultsWith(text: string, columns = COLUMNS): Promise<Buffer> {
  const facts = { ...NO_FACTS, orderId: text, amount: text, currency: text, transactionId: text }
  const row = rowOf({ cells: cellsWith(text), state: 'DECLINED', reason: text, warning: text, facts, reference: text })
  const reading = readingOf(columns, [row])
  await writeResults(reading, { out: path, inputPath: null, bom: false, sinceMs: null, reasonRules: [] })
  return readFile(path)
}

async function rejectsWith(text: string, columns = COLUMNS): Promise<Buffer> {
  const fault = { rowNo: 1, line: 2, column: text, value: text, problem: text, remedy: text }
  const reject = { rowNo: 1, line: 2, cells: cellsWith(text), reference: text, cameFrom: null, faults: [fault] }
  await rm(path, { force: true })
  await writeRejects(path, { columns, fedBack: false, ...PLAIN, rejects: onePage([reject]) })
  return readFile(path)
}

const FILES: readonly [string, (text: string) => Promise<Buffer>][] = [
  ['results', resultsWith],
  ['results under such a column', (text) => resultsWith('x', [...COLUMNS.slice(0, 4), text])],
  ['rejects', rejectsWith],
  ['rejects under such a column', (text) => rejectsWith('x', [...COLUMNS.slice(0, 4), text])],
  [
    'rejects of a file that is no table',
    async (text) => {
      await rm(path, { force: true })
      await writeWholeReject(path, { line: 1, column: text, problem: text, remedy: text })
      return readFile(path)
    },
  ],
  ['a worklist', async (text) => Buffer.from(toGuardedCsv(['reference', 'reason'], [[text, text]]))],
]

describe.each(FILES)('%s', (_, write) => {
  test.each(FORMULAS)('with %s have no cell that a spreadsheet runs', async (_what, text) => {
    const file = (await write(text)).toString()
    expect(cellsOf(file).filter(couldRun)).toEqual([])
    for (const separators of SEPARATORS)
      expect(cellsOf(file, separators).filter(couldRunElsewhere), JSON.stringify(separators)).toEqual([])
    // Nothing was torn apart either: a torn cell would leave the rest of a formula alone.
    expect(cellsOf(file).length).toBeGreaterThan(3)
  })
})

test('the reader of these tests sees formulas where there is no guard', () => {
  const unguarded = FORMULAS.filter(([what]) => !what.endsWith('alone'))
  for (const [what, text] of unguarded) {
    const files = SEPARATORS.map((separators) => cellsOf(`a${separators.slice(-1)}${text},b`, separators))
    expect(files.flat().some(couldRunElsewhere), what).toBe(true)
  }
  expect(cellsOf('a,x;=1+1\r\n').filter(couldRun)).toEqual(['=1+1'])
  expect(cellsOf('a,"x;=1+1"\r\n').filter(couldRun)).toEqual([])
  expect(cellsOf('-12.50,+1').filter(couldRun)).toEqual([])
  expect(cellsOf('a,"x;=1+1;y"\r\n', ';').filter(couldRun)).toEqual(['=1+1'])
  expect(cellsOf('a,"x\n=1+1"\r\n', ';').filter(couldRun)).toEqual(['=1+1"'])
})

describe('read back by this program', () => {
  const cell = fc
    .oneof(
      fc.constantFrom(...FORMULAS.map(([, text]) => text)),
      fc.string({
        unit: fc.constantFrom(
          "'",
          '=',
          '-',
          '+',
          '1',
          '.',
          ',',
          ';',
          '"',
          ' ',
          '\t',
          '\r',
          '\n',
          'ü',
          '\x1b',
          '\u202e',
        ),
      }),
    )
    .filter((text) => !text.includes('\0')) // a file with NUL in it is not read at all
  const columns = ['reference', 'transaction_type', 'amount', 'request_currency', 'note', "=it's"]

  test('rejects give every cell as it came', async () => {
    await fc.assert(
      fc.asyncProperty(cell, cell, async (note, other) => {
        const cells = ['R-1', 'REFUND', '1.00', 'EUR', note, other]
        const fault = { rowNo: 1, line: 2, column: null, value: null, problem: 'p', remedy: 'r' }
        await rm(path, { force: true })
        const reject = { rowNo: 1, line: 2, cells, reference: 'R-1', cameFrom: null, faults: [fault] }
        await writeRejects(path, { columns, fedBack: false, ...PLAIN, rejects: onePage([reject]) })
        const { survey, rows } = await readWhole(await readFile(path))
        expect(rows.map((row) => row.cells)).toEqual([cells])
        expect(survey.header.written.slice(0, columns.length)).toEqual(columns)
      }),
      { numRuns: 100 },
    )
  })

  test('results give every cell as it came', async () => {
    await fc.assert(
      fc.asyncProperty(cell, cell, fc.boolean(), async (note, other, bom) => {
        const cells = ['R-1', 'REFUND', '1.00', 'EUR', note, other]
        const reading = readingOf(columns, [rowOf({ cells, reference: 'R-1' })])
        await writeResults(reading, { out: path, inputPath: null, bom, sinceMs: null, reasonRules: [] })
        const { rows } = await readWhole(await readFile(path))
        expect(rows.map((row) => row.cells)).toEqual([cells])
      }),
      { numRuns: 100 },
    )
  })
})
