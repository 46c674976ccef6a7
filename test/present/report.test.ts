// The page that a person gets of a batch.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BatchView } from '../../src/domain/batch.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import type { Currency } from '../../src/domain/money.ts'
import type { ReconciliationRow } from '../../src/domain/reconciliation.ts'
import { REPORT_ROWS_MOST } from '../../src/domain/report.ts'
import { type ReportPage, reportPage } from '../../src/present/report.ts'
import { createReportCollector } from '../../src/results/report-rows.ts'
import { createTally } from '../../src/results/summary.ts'
import { batchView } from '../fixtures/batches.ts'
import { codePoint } from '../fixtures/code-points.ts'
import { AT_MS, NO_FACTS, rowOf } from '../results/reading.ts'

interface Given {
  readonly rows: readonly Partial<ReconciliationRow>[]
  readonly batch?: Partial<BatchView>
  readonly page?: Partial<ReportPage>
}

function pageOf({ rows, batch = {}, page = {} }: Given): string {
  const [tally, listed] = [createTally(), createReportCollector()]
  for (const [i, row] of rows.entries()) {
    tally.add(rowOf({ rowNo: i + 1, ...row }))
    listed.add(rowOf({ rowNo: i + 1, ...row }))
  }
  return reportPage({
    batch: batchView({ batchId: '261122-abcde' as BatchId, rows: rows.length, counts: {}, ...batch }),
    written: {
      ...{ path: '/home/ann/out.csv', summaryPath: '/home/ann/out.summary.csv', rows: rows.length, carried: [] },
      ...{ rowsRead: rows.length, atMs: AT_MS, exceptions: null },
      ...{ summary: tally.lines(), reasons: tally.reasons(), submittedAgain: tally.submittedAgain() },
      differences: tally.differences(),
    },
    ...listed.found(),
    ...{
      tops: [],
      account: { url: 'https://gateway.example', username: 'shop-api-user' },
      by: 'ann@desk',
      lookUp: new Map(),
      ...page,
    },
  })
}

/** What is shown: tags taken away, white space as a browser has it. */
const shown = (page: string) =>
  page
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')

const tags = (page: string) => page.match(/<[!/a-zA-Z][^>]*>/g)?.map((tag) => /^<[!/]?\w*/.exec(tag)?.[0]) ?? []

const MIXED: readonly Partial<ReconciliationRow>[] = [
  { state: 'APPROVED', amountMinor: 1000n, facts: { ...NO_FACTS, amount: '10.0000', currency: 'EUR' } },
  {
    state: 'APPROVED',
    amountMinor: 508n,
    warning: 'another amount',
    facts: { ...NO_FACTS, amount: '6.0800', currency: 'EUR' },
  },
  { state: 'DECLINED', amountMinor: 300n, reason: 'Insufficient funds' },
  { state: 'IN_DOUBT', amountMinor: 503n, reason: 'no answer', sentAtMs: AT_MS },
  { state: 'READY', amountMinor: 400n },
]

describe('a report', () => {
  test('has the figures of the results: outcomes, sums, reasons, doubts, what was approved with a warning', () => {
    const tops = [{ status: 'DECLINED', reason: 'Insufficient funds', category: 'funds', count: 1 }] as const
    const text = shown(pageOf({ rows: MIXED, batch: { counts: { READY: 1, IN_DOUBT: 1 } }, page: { tops } }))
    expect(text).toContain('APPROVED 2 40.0 % The gateway approved it.')
    expect(text).toContain('REFUND EUR APPROVED 2 15.08 16.0800 EUR')
    expect(text).toContain('5 rows read, 5 in the results: 2 approved, 1 declined (1 funds), 1 in doubt, 1 pending')
    expect(text).toContain('Insufficient funds funds DECLINED 1')
    expect(text).toContain('4 r-4 REFUND 5.03 EUR 2026-01-31 12:00:00 UTC no answer')
    expect(text).toContain('2 r-2 REFUND 5.08 EUR 6.0800 EUR another amount')
    expect(text).toContain('tranche in-doubt resolve --file doubts.csv')
    expect(text).toContain('Not finished: 1 row has no outcome yet')
    expect(text).toContain('shop…er at https://gateway.example')
    expect(text).toContain('Results out.csv')
    expect(text).not.toContain('SANDBOX')
    expect(text).not.toContain('/home/ann')
  })

  test('of a rehearsal says so first, and names no command for real money', () => {
    const page = pageOf({ rows: MIXED, batch: { sandbox: true, counts: { READY: 1 } } })
    expect(page).toContain('<title>SANDBOX: ')
    expect(page).toContain('<meta name="tranche-report" content="SANDBOX-261122-abcde">')
    expect(shown(page)).toMatch(/recorded at \S+ \S+ UTC SANDBOX A rehearsal/)
    expect(shown(page)).not.toContain('tranche ')
  })

  test('has of a row in doubt the ids by which it is looked up', () => {
    const row = MIXED.findIndex(({ state }) => state === 'IN_DOUBT') + 1
    const ids = { orderId: '700000042', vaultId: '99001', xtlOrderId: 'R-4' }
    const text = shown(pageOf({ rows: MIXED, page: { lookUp: new Map([[row, ids]]) } }))
    expect(text).toContain('4 r-4 REFUND 5.03 EUR 700000042 99001 R-4 2026-01-31 12:00:00 UTC no answer')
  })

  test('of a finished batch without doubts has no banner', () => {
    expect(pageOf({ rows: [{ state: 'APPROVED' }], batch: { counts: { APPROVED: 1 } } })).not.toContain('class="banner')
  })

  test('of a batch without a row is a page all the same', () => {
    expect(shown(pageOf({ rows: [] }))).toContain('The file has no row.')
  })

  test('draws every outcome wide enough to be seen, and the widths fill the bar', () => {
    const rows = [
      { state: 'IN_DOUBT' } as const,
      ...Array.from({ length: 4000 }, () => ({ state: 'APPROVED' }) as const),
    ]
    const widths = [...pageOf({ rows }).matchAll(/<rect class="[\w-]+" x="[\d.]+" y="0" width="([\d.]+)"/g)].map(
      ([, w]) => Number(w),
    )
    expect(widths).toHaveLength(2)
    expect(Math.min(...widths)).toBeGreaterThan(5)
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeCloseTo(1000, 0)
    expect(shown(pageOf({ rows }))).toContain('IN DOUBT 1 &lt; 0.1 %')
  })

  test('lists fifty doubts at most, and says how many more there are', () => {
    const rows = Array.from({ length: REPORT_ROWS_MOST + 7 }, () => ({ state: 'IN_DOUBT', reason: 'lost' }) as const)
    const page = pageOf({ rows })
    expect(page.match(/>r-\d+</g)).toHaveLength(REPORT_ROWS_MOST)
    expect(shown(page)).toContain('… and 7 more. The results have all of them.')
  })

  test('loads nothing and runs nothing: no script, no address, and a policy that forbids both', () => {
    const page = pageOf({ rows: MIXED })
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`)
    expect(page).not.toMatch(/<(script|link|img|iframe|object|embed|form|base)\b|\son\w+=|url\(|@import/i)
    expect(page.match(/(href|src)="[^"]*"/g) ?? []).toEqual(['href="#doubts"'])
  })

  test('masks card numbers in every text that comes from outside', () => {
    const number = '4111111111111111'
    const page = pageOf({
      rows: [
        { state: 'IN_DOUBT', reason: `refused ${number}`, reference: `R ${number}` },
        { state: 'APPROVED', warning: `saw ${number}` },
      ],
      batch: { fileName: `${number}.csv`, hold: 'paused', holdReason: `about ${number}`, counts: { READY: 1 } },
      page: { tops: [{ status: 'DECLINED', reason: `no ${number}`, category: 'card', count: 1 }] },
    })
    expect(page).not.toContain(number)
    expect(page.match(/4111110000001111/g)?.length).toBeGreaterThanOrEqual(5)
  })
})

const mean = fc.constantFrom(
  '</title><script>alert(1)</script>',
  '"><img src=x>',
  "' onload='",
  '</style>',
  '&amp;',
  '\n',
  '\ud800',
  '<!--',
)
const anyText = fc
  .array(fc.oneof(mean, fc.string({ unit: codePoint, maxLength: 10 })), { maxLength: 4 })
  .map((parts) => parts.join(''))

test('no text from a file, a gateway or a person adds or ends an element', () => {
  const pageWith = (texts: readonly string[]) => {
    const text = (i: number) => texts[i] ?? ''
    const facts = { ...NO_FACTS, amount: text(0), currency: text(1) }
    return pageOf({
      rows: [
        { state: 'IN_DOUBT', reference: text(2), reason: text(3), sentAtMs: AT_MS, currency: 'EUR' as Currency },
        { state: 'APPROVED', reference: text(4), warning: text(5), facts },
      ],
      batch: {
        ...{ fileName: text(6), runKey: text(7), merchant: text(8), createdBy: text(9) },
        ...{ hold: 'paused', holdReason: text(10), counts: { READY: 1 } },
      },
      page: {
        tops: [{ status: 'DECLINED', reason: text(11), category: 'other', count: 1 }],
        account: { url: text(12), username: text(13) },
        by: text(14),
      },
    })
  }
  const plain = tags(pageWith(Array(15).fill('text')))
  expect(plain.length).toBeGreaterThan(100)
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 15, maxLength: 15 }), (texts) => {
      expect(tags(pageWith(texts))).toEqual(plain)
    }),
    { numRuns: 300 },
  )
})
