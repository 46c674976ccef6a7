// Results files as they come back from people and their spreadsheets, through every room that reads them: whatever was done
// to the file, nothing runs again but what may, as it was recorded.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RetryStatus } from '../../src/domain/draft.ts'
import { Fault } from '../../src/domain/fault.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { plainId } from '../../src/domain/instruction.ts'
import { fingerprintOf } from '../../src/domain/interpretation.ts'
import type { State } from '../../src/domain/states.ts'
import type { InstructionFile, SubmitRequest } from '../../src/domain/submission.ts'
import { carriedColumns } from '../../src/ingest/header.ts'
import { surveyFile } from '../../src/ingest/inspect-file.ts'
import { readRows } from '../../src/ingest/rows.ts'
import { submitFile } from '../../src/processors/submit-file.ts'
import { writeResults } from '../../src/results/write.ts'
import { CLERK, claimNamed, dueIn, NOW, rowsIn, work } from '../fixtures/ledgers.ts'
import { tries } from '../fixtures/tries.ts'
import { accountId, ledger, sqlite, useSqliteLedger } from '../fixtures/use-ledger.ts'
import { encode, READING, toCsv, type Written, withFile } from '../ingest/table.ts'

const renew = useSqliteLedger()

const HEADER = ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id', 'größe', 'note']
const REFERENCES = [
  '000123',
  '007',
  '2026-12',
  'R-1',
  'A;B,"c"',
  'Zoë',
  '42',
  '0',
  '1234567890123456789',
  'S 9',
  'x',
  'y',
]
const NOTES = ['=1+1', "'quoted", '-5', 'two\r\nlines', '', '00012', '3-4', '@home', 'plain', "'=2", ' ', 'ä;ö']
const FATES = ['APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT', 'READY', 'SENDING', 'INVALID', 'CANCELLED'] as const
type Fate = (typeof FATES)[number]

/** What is submitted: one row per fate, each of an order of its own. */
function inputOf(fates: readonly Fate[]): string {
  const rows = fates.map((fate, i) => {
    const amount = fate === 'INVALID' ? '12.345' : `${1200 + i}.50`
    return [REFERENCES[i] as string, 'REFUND', amount, 'EUR', `00${70_000 + i}`, 'ü', NOTES[i] as string]
  })
  return toCsv([HEADER, ...rows], ',', '\r\n')
}

const request = (over: Partial<SubmitRequest>): SubmitRequest => ({
  ...{
    accountId,
    runKey: null,
    fingerprint: '',
    sandbox: false,
    retry: [],
    lookalikeDays: 20,
    captureTolerance: 0,
    dailyLimits: null,
    allowAboveLimit: 0,
    allowLookalikes: 0,
  },
  ...{ skipInvalid: true, expectCount: null, expectTotals: [], canaryRows: null, maxDeclinedPercent: null, nowMs: NOW },
  ...over,
})

/** Through survey, second reading, review and record, as `submit` does it. null: refused. */
async function hand(
  content: string | Uint8Array,
  retry: readonly RetryStatus[] = [],
  onlyNew = false,
): Promise<BatchId | null> {
  return withFile(content, async (handle) => {
    const survey = await surveyFile(handle, READING)
    if (survey.kind === 'refused') return null
    const file: InstructionFile = {
      ...{
        name: 'in.csv',
        sha256: survey.sha256,
        columns: carriedColumns(survey.header),
        fedBack: survey.fedBack,
        xtlOrderIdOf: (reference) => reference,
      },
      rows: () => readRows(handle, survey, READING),
    }
    try {
      // Whatever number of look-alikes there is, somebody says that they are meant: the worst case.
      for (let allowLookalikes = 0; ; allowLookalikes++) {
        const submitted = await submitFile(
          file,
          request({ retry, allowLookalikes, onlyNew, fingerprint: fingerprintOf({ retry }) }),
          CLERK,
          ledger,
        )
        if (submitted.kind !== 'refused') return submitted.batchId
        await submitted.reviewed.draft.discard()
        if (submitted.reviewed.refusals.some(({ kind }) => kind !== 'lookalikes')) return null
      }
    } catch (error) {
      if (error instanceof Fault && error.code === 'refused') return null
      throw error
    }
  })
}

/** A batch in which every row has met its fate. */
async function settled(fates: readonly Fate[], content = inputOf(fates)): Promise<BatchId> {
  const batchId = await hand(content)
  if (batchId === null) throw new Error('the input was refused')
  const rows = await rowsIn(ledger, batchId)
  for (const [i, fate] of fates.entries()) {
    const reference = rows[i]?.reference as string
    if (fate === 'SENDING') await claimNamed(ledger, batchId, reference)
    else if (fate !== 'READY' && fate !== 'INVALID' && fate !== 'CANCELLED')
      await work(ledger, batchId, reference, fate)
  }
  if (fates.includes('CANCELLED')) await ledger.cancel(batchId, 'enough', CLERK, NOW) // and READY with it
  return batchId
}

/** The same without references, as it is mended: its rows moved, some deleted, bad ones corrected. */
function mendedOf(fates: readonly Fate[], seed: number): string {
  const [header = [], ...rows] = parse(withoutReferences(inputOf(fates)), { relax_column_count: true }) as string[][]
  const mended = rows
    .map((row, i) => (fates[i] === 'INVALID' && (seed >> i) % 2 === 0 ? row.with(2, `${1200 + i}.50`) : row))
    .filter((_, i) => i === 0 || (seed >> i) % 5 !== 4)
  return toCsv([header, ...rotated(mended, seed)], ',', '\r\n')
}

function withoutReferences(input: string): string {
  const [header = [], ...rows] = parse(input, { relax_column_count: true }) as string[][]
  return toCsv([header, ...rows.map((row) => row.with(0, ''))], ',', '\r\n')
}

/** That file after it ran; what was new in it met fates of its own. */
async function corrected(fates: readonly Fate[], seed: number): Promise<BatchId> {
  const batchId = await hand(mendedOf(fates, seed), [], true)
  if (batchId === null) throw new Error('the mended file was refused')
  for (const [i, { instruction }] of (await dueIn(ledger, batchId)).entries()) {
    await work(ledger, batchId, instruction.reference, (['FAILED', 'APPROVED', 'DECLINED'] as const)[(seed + i) % 3]!)
  }
  return batchId
}

async function resultsOf(batchId: BatchId): Promise<string[][]> {
  const out = join(sqlite.dir, `${batchId}.csv`)
  const reading = await ledger.openReading(batchId, NOW)
  try {
    await writeResults(reading, { out, inputPath: null, bom: false, sinceMs: null, reasonRules: [] })
  } finally {
    await reading.close()
  }
  return parse(await readFile(out), { relax_column_count: true }) as string[][]
}

// ───────────────────────────────────────────────────────────── What is done to such a file

type Mangling = (table: string[][], seed: number) => string[][]

const body =
  (change: (cell: string, column: string) => string): Mangling =>
  ([header = [], ...rows]) => [
    header,
    ...rows.map((cells) => cells.map((cell, i) => change(cell, header[i] as string))),
  ]
const MANGLINGS: Readonly<Record<string, Mangling>> = {
  'zeros in front are lost': body((cell) => cell.replace(/^0+(?=\d+$)/, '')),
  'long numbers are rounded': body((cell) =>
    /^\d{16,}$/.test(cell) ? Number(cell).toExponential(5).replace('e', 'E') : cell,
  ),
  'decimals are written with a comma, and zeros at their end are lost': body((cell) =>
    /^\d+\.\d+$/.test(cell) ? String(Number(cell)).replace('.', ',') : cell,
  ),
  'apostrophes of the guard are gone': body((cell) => cell.replace(/^'(?=[=+\-@])/, '')),
  'what looks like a date became one': body((cell) =>
    /^\d{4}-\d\d$/.test(cell) ? `01.${cell.slice(5)}.${cell.slice(0, 4)}` : cell.replace(/^3-4$/, '03. Apr'),
  ),
  'times lost their form': body((cell) => cell.replace(/^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d).*$/, '$3.$2.$1 $4')),
  'every status says FAILED': body((cell, column) => (column === 'result_status' ? 'FAILED' : cell)),
  'rows stand in another order': ([header = [], ...rows], seed) => [header, ...rotated(rows.toReversed(), seed)],
  'rows were deleted': ([header = [], ...rows], seed) => [
    header,
    ...rows.filter((_, i) => i === 0 || (seed >> i) % 2 === 0),
  ],
  'rows were pasted in once more': ([header = [], ...rows], seed) => [
    header,
    ...rows,
    ...rows.slice(seed % rows.length),
  ],
  'one column was sorted without the others': ([header = [], ...rows], seed) => {
    const at = seed % header.length
    const cells = rotated(
      rows.map((row) => row[at] as string),
      1 + (seed % 3),
    )
    return [header, ...rows.map((row, i) => row.with(at, cells[i] as string))]
  },
  'batch and row were deleted': (table) => {
    const gone = ['result_batch', 'result_row'].map((name) => table[0]?.indexOf(name) ?? -1)
    return table.map((cells) => cells.filter((_, i) => !gone.includes(i)))
  },
  'columns stand in another order': (table, seed) => table.map((cells) => rotated(cells, seed)),
}

function rotated<T>(list: readonly T[], by: number): T[] {
  const at = list.length === 0 ? 0 : by % list.length
  return [...list.slice(at), ...list.slice(0, at)]
}

const MAY_RUN: Readonly<Record<RetryStatus, readonly State[]>> = {
  FAILED: ['FAILED'],
  CANCELLED: ['CANCELLED'],
  INVALID: ['INVALID'],
}
// ───────────────────────────────────────────────────────────── What holds

test('of a mangled results file, only rows that may run again do, once and as recorded', async () => {
  const trial = fc.record({
    fates: fc.shuffledSubarray([...FATES, ...FATES].slice(0, REFERENCES.length), { minLength: 3 }),
    manglings: fc.array(fc.constantFrom(...Object.keys(MANGLINGS)), { maxLength: 4 }),
    seed: fc.nat(9_999),
    encoding: fc.constantFrom<Written>('utf8', 'utf8-bom', 'utf16le-bom', 'windows-1252'),
    delimiter: fc.constantFrom(',', ';', '\t'),
    retry: fc.subarray<RetryStatus>(['FAILED', 'CANCELLED', 'INVALID']),
    // Of the first file, of that file mended, or of it after the first one's results were fed back.
    of: fc.constantFrom('first', 'mended', 'mended', 'mended and retried'),
  })
  // In few trials a row of the first file runs again by the results of the mended one: this is one of them.
  const MENDED_WHOLE: typeof trial extends fc.Arbitrary<infer Trial> ? Trial : never = {
    fates: [...FATES, ...FATES].slice(0, REFERENCES.length),
    manglings: [],
    seed: 1,
    encoding: 'utf8',
    delimiter: ',',
    retry: ['FAILED', 'CANCELLED', 'INVALID'],
    of: 'mended',
  }
  let ran = 0
  let ranOfFirst = 0
  let refused = 0
  await fc.assert(
    fc.asyncProperty(trial, async ({ fates, manglings, seed, encoding, delimiter, retry, of }) => {
      await renew()
      const first = await settled(fates, of === 'first' ? undefined : withoutReferences(inputOf(fates)))
      const given = of === 'first' ? first : await corrected(fates, seed)
      const ofFirst = await rowsIn(ledger, first)
      const isOfFirst = new Set(ofFirst.map(({ reference }) => reference))
      const before = first === given ? ofFirst : [...ofFirst, ...(await rowsIn(ledger, given))]
      const recorded = new Map(before.filter(({ state }) => state !== 'DUPLICATE').map((row) => [row.reference, row]))
      let table = await resultsOf(given)
      for (const mangling of manglings) table = MANGLINGS[mangling]?.(table, seed) as string[][]
      const bytes = encode(toCsv(table, delimiter, '\r\n'), encoding)

      const allowed = retry.flatMap((status) => MAY_RUN[status])
      const executed = new Set(before.filter(({ state }) => state === 'APPROVED').map(({ reference }) => reference))
      const paid = new Set(before.filter(({ state }) => state === 'APPROVED').map(({ cells }) => plainId(cells[4]!)))
      const feed = async (content: Uint8Array, asked: readonly RetryStatus[] = retry) => {
        const again = await hand(content, asked)
        if (again === null) refused++
        const due = again === null ? [] : await dueIn(ledger, again)
        for (const { instruction } of due) {
          const was = recorded.get(instruction.reference)
          expect(allowed).toContain(was?.state)
          expect(executed).not.toContain(instruction.reference)
          executed.add(instruction.reference)
          if (was?.state === 'INVALID') continue
          // One instruction, whatever it was called in each of the files.
          expect(paid).not.toContain(plainId(instruction.orderId as string))
          paid.add(plainId(instruction.orderId as string))
          const asked = [instruction.money?.amountMinor, plainId(instruction.orderId as string)]
          expect(asked).toEqual([was?.amountMinor, plainId(was?.cells[4] as string)])
        }
        for (const { instruction } of due) await work(ledger, again as BatchId, instruction.reference, 'APPROVED')
        ran += due.length
        if (of === 'mended') ranOfFirst += due.filter(({ instruction }) => isOfFirst.has(instruction.reference)).length
        return again
      }
      if (of === 'mended and retried') {
        const back = encode(toCsv(await resultsOf(first), ',', '\r\n'), 'utf8')
        await feed(
          back,
          retry.filter((status) => status !== 'INVALID'),
        )
      }
      // Its own results and the same file again: what ran has been approved since.
      const again = await feed(bytes)
      if (again !== null) await feed(encode(toCsv(await resultsOf(again), delimiter, '\r\n'), 'utf8'))
      await feed(bytes)
    }),
    { numRuns: tries(100), examples: [[MENDED_WHOLE]] },
  )
  expect(ran).toBeGreaterThan(3)
  expect(ranOfFirst).toBeGreaterThan(0)
  expect(refused).toBeLessThan(100)
})

test.each(Object.keys(MANGLINGS))('a results file to which this was done sends nothing by itself: %s', async (name) => {
  const first = await settled([...FATES, 'APPROVED', 'FAILED'])
  const table = MANGLINGS[name]?.(await resultsOf(first), 5) as string[][]
  const again = await hand(toCsv(table, ';', '\r\n'))
  expect(again === null ? [] : await dueIn(ledger, again)).toEqual([])
})

describe('results that LibreOffice has saved again', () => {
  const FIXTURES = new URL('../fixtures/mangled/', import.meta.url)
  const textOf = (name: string) => readFile(new URL(`${name}.csv`, FIXTURES), 'utf8')

  /** The batch of those results, its rows failed and approved by turns; its name stands in the files instead of the old one. */
  async function recorded(): Promise<{ batchId: BatchId; failed: string[] }> {
    const batchId = (await hand(await textOf('input'))) as BatchId
    const references = (await rowsIn(ledger, batchId)).map(({ reference }) => reference as string)
    for (const [i, reference] of references.entries()) {
      await work(ledger, batchId, reference, i % 2 === 0 ? 'FAILED' : 'APPROVED')
    }
    return { batchId, failed: references.filter((_, i) => i % 2 === 0) }
  }
  const namedAnew = (text: string, batchId: BatchId) => text.replaceAll('261121-sgca6', batchId)

  test('untouched by a spreadsheet, every failed row runs again', async () => {
    const { batchId, failed } = await recorded()
    const again = (await hand(namedAnew(await textOf('written'), batchId), ['FAILED'])) as BatchId
    expect((await dueIn(ledger, again)).map(({ instruction }) => instruction.reference)).toEqual(failed)
  })

  test.each(['standard', 'german'])(
    'with lost zeros failed rows run again, and damaged references refuse the file (%s)',
    async (name) => {
      const { batchId, failed } = await recorded()
      const text = namedAnew(await textOf(name), batchId)
      expect(await hand(text, ['FAILED'])).toBeNull()
      const [header = [], ...rows] = parse(text) as string[][]
      const intact = rows.filter(([reference]) => !/E\+|^100000$/.test(reference as string))
      expect(intact).toHaveLength(rows.length - 2)
      const again = (await hand(toCsv([header, ...intact], ',', '\r\n'), ['FAILED'])) as BatchId
      const due = (await dueIn(ledger, again)).map(({ instruction }) => instruction.reference)
      expect(due).toEqual(failed.filter((reference) => reference !== '1e5'))
      expect(due).toContain('00123')
    },
  )
})

test('a row with a bad reference runs under its own once mended, never from the results as well', async () => {
  const row = (reference: string) =>
    toCsv([HEADER, [reference, 'REFUND', '9.00', 'EUR', '70001', 'ü', '']], ',', '\r\n')
  const first = (await hand(row('1,5E+12'))) as BatchId
  const results = await resultsOf(first)
  const mended = (await hand(row('R-77'))) as BatchId
  await work(ledger, mended, 'R-77', 'APPROVED')
  const own = results[0]?.indexOf('reference') as number
  for (const reference of ['1,5E+12', 'R-77', '']) {
    const table = results.map((cells, i) => (i === 0 ? cells : cells.with(own, reference)))
    const bytes = toCsv(table, ',', '\r\n')
    expect(await hand(bytes)).not.toBeNull()
    const again = await hand(bytes, ['FAILED', 'CANCELLED', 'INVALID'])
    expect(again === null ? [] : await dueIn(ledger, again)).toEqual([])
  }
})
