// The report beside the results: where it may be written, and that it is there with them or not at all.

import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ReportFacts } from '../../src/domain/report.ts'
import { reportPage } from '../../src/present/report.ts'
import { checkOutAndReport } from '../../src/results/report-file.ts'
import { writeResults } from '../../src/results/write.ts'
import { readingOf, rowOf } from './reading.ts'

let dir: string
let out: string
let report: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tranche-report-'))
  out = join(dir, 'r.results.csv')
  report = join(dir, 'r.html')
})
afterEach(() => rm(dir, { recursive: true }))

const READING = readingOf(['reference'], [rowOf({ rowNo: 1, cells: ['r-1'], state: 'APPROVED' })])
const page = async (facts: ReportFacts) =>
  reportPage({ ...facts, tops: [], lookUp: new Map(), account: null, by: 'ann@desk' })

const write = (path: string, over: Partial<Parameters<typeof writeResults>[1]> = {}, reading = READING) =>
  writeResults(reading, {
    ...{ out, inputPath: null, bom: false, sinceMs: null, reasonRules: [], report: { path, page } },
    ...over,
  })

const sandbox = (batchId = 'b-7') =>
  ({ ...READING, batch: { ...READING.batch, batchId, sandbox: true } }) as typeof READING

describe('a report', () => {
  test('is written with the results, for its owner alone, and written again over itself', async () => {
    const written = await write(report)
    expect(written.report).toBe(report)
    expect(await readFile(report, 'utf8')).toContain('1 row read, 1 in the results: 1 approved')
    expect((await stat(report)).mode & 0o777).toBe(0o600)
    expect((await readdir(dir)).sort()).toEqual(['r.html', 'r.results.csv', 'r.results.summary.csv'])
    await write(report)
  })

  test('that cannot be made leaves no results either', async () => {
    const failing = async () => {
      throw new Error('no page')
    }
    await expect(write(report, { report: { path: report, page: failing } })).rejects.toThrow('no page')
    expect(await readdir(dir)).toEqual([])
  })

  test('of a rehearsal has SANDBOX in its name, and may take the place of another rehearsal’s', async () => {
    const written = await write(report, {}, sandbox())
    expect(written.report).toBe(join(dir, 'r.SANDBOX.html'))
    expect(await readdir(dir)).not.toContain('r.html')
    await write(report, {}, sandbox('b-8'))
    expect(await readFile(join(dir, 'r.SANDBOX.html'), 'utf8')).toContain('b-8')
  })

  test.each([
    ['a page of someone else', '<!doctype html><p>mine</p>', /is not a report of this program/],
    ['nothing at all', '', /is not a report of this program/],
    [
      'the report on another batch',
      '<meta name="tranche-report" content="261122-other">',
      /is the report on batch 261122-other/,
    ],
  ])('is not written over %s', async (_, there, says) => {
    await writeFile(report, there)
    await expect(write(report)).rejects.toThrow(says)
    expect(await readFile(report, 'utf8')).toBe(there)
    expect(await readdir(dir)).toEqual(['r.html'])
  })

  test('is written nowhere but to a web page of its own', async () => {
    const ask = (path: string, over: object = {}) =>
      checkOutAndReport({ out, inputPath: null, batchId: null, sandbox: false, report: path, ...over })
    await expect(ask(join(dir, 'r.csv'))).rejects.toThrow(/Let the name end with \.html/)
    await expect(ask(join(dir, 'missing', 'r.html'))).rejects.toThrow(/directory does not exist/)
    await expect(ask(report, { out: report })).rejects.toThrow(/\.html|where the results go/)
    await expect(ask(report, { exceptions: report })).rejects.toThrow(/where the results go/)
    await writeFile(report, 'input')
    await expect(ask(report, { inputPath: report })).rejects.toThrow(/is the input file/)
    await symlink(report, join(dir, 'link.html'))
    await expect(ask(join(dir, 'link.html'), { inputPath: report })).rejects.toThrow(/is the input file/)
    expect(await readFile(report, 'utf8')).toBe('input')
  })
})

test('lists of a hundred thousand doubts hold fifty', async () => {
  const many = {
    length: 100_000,
    *[Symbol.iterator]() {
      for (let rowNo = 1; rowNo <= this.length; rowNo++) yield rowOf({ rowNo, state: 'IN_DOUBT', reason: 'lost' })
    },
  }
  let listed = 0
  const counted = async (facts: ReportFacts) => {
    listed = facts.doubts.rows.length
    expect(facts.doubts.count).toBe(many.length)
    return page(facts)
  }
  await write(
    report,
    { report: { path: report, page: counted } },
    readingOf([], many, { totals: [totalOf(many.length)] }),
  )
  expect(listed).toBe(50)
  expect((await stat(report)).size).toBeLessThan(50_000)
})

function totalOf(count: number) {
  const { operation, currency, amountMinor } = rowOf()
  return {
    ...{ operation: operation as 'REFUND', currency: currency ?? ('' as const), state: 'IN_DOUBT' as const, count },
    amountMinor: BigInt(count) * (amountMinor ?? 0n),
  }
}
