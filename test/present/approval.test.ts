// What an approver is told: nothing that is not so.

import { describe, expect, test } from 'vitest'
import type { ApprovalSheet } from '../../src/domain/approval.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { type Currency, parseCurrency } from '../../src/domain/money.ts'
import { isTotalTyped, meaningText, sheetLines, totalToType } from '../../src/present/approval.ts'
import { interpretationText } from '../../src/present/interpretation.ts'

const EUR = parseCurrency('EUR') as Currency
const SHEET: ApprovalSheet = {
  ...{ needed: 1, given: 0, untilMs: 0, by: [], batchId: '261120-k7q2m' as BatchId },
  ...{ merchant: 'shop', url: 'https://gateway.example', username: 'shop-1', source: 'file', fileName: 'in.csv' },
  ...{ fileSha256: 'aa'.repeat(32), runKey: null, fingerprint: '' as ApprovalSheet['fingerprint'], rows: 2 },
  totals: [{ operation: 'REFUND', currency: EUR, state: 'READY', count: 2, amountMinor: 900n }],
  ...{ canaryRows: null, maxDeclinedPercent: null, lookalikesAllowed: 0, submittedBy: 'ann@desk', submittedAtMs: 0 },
  ...{ rowsDigest: 'bb'.repeat(32), digest: 'cc'.repeat(32), largest: [], earlier: [] },
}
const told = (over: Partial<ApprovalSheet>) => sheetLines({ ...SHEET, ...over }, interpretationText).join('\n')

describe('the sentence before an approval', () => {
  test.each([
    [1, 0, 'sending begins at once'],
    [2, 0, 'one more person has approved it as well'],
    [3, 0, '2 more people have approved it as well'],
    [3, 1, 'one more person has approved it as well'],
    [3, 2, 'sending begins at once'],
  ])('of %d approvals with %d given says: %s', (needed, given, says) => {
    expect(meaningText({ ...SHEET, needed, given })).toContain(says)
  })
})

describe('the total that is typed', () => {
  const [eur] = SHEET.totals as [ApprovalSheet['totals'][number]]
  const dollars = { ...eur, currency: parseCurrency('USD') as Currency }
  test('of one sum is its amount, with or without the currency, and no other amount', () => {
    expect(totalToType(SHEET)).toBe('9.00')
    for (const typed of ['9.00', ' 9.00 ', 'EUR 9.00', '9.00  EUR'])
      expect(isTotalTyped(typed, SHEET), typed).toBe(true)
    for (const typed of ['', '9', '9.01', '9.00 USD', '900', '2', '2 rows', '9.00 EUR EUR'])
      expect(isTotalTyped(typed, SHEET), typed).toBe(false)
  })

  test('of several sums is how many rows there are, with or without the word', () => {
    const sheet = { totals: [eur, { ...dollars, count: 3 }, { ...eur, state: 'INVALID' as const, count: 7 }] }
    expect(totalToType(sheet)).toBe('5 rows')
    for (const typed of ['5 rows', '5']) expect(isTotalTyped(typed, sheet), typed).toBe(true)
    for (const typed of ['', '12', '4', '18.00', 'rows', '5 EUR']) expect(isTotalTyped(typed, sheet), typed).toBe(false)
  })
})

describe('the sheet', () => {
  test('names what a batch of a service is known by', () => {
    const fileSha256 = 'dd'.repeat(32)
    expect(told({})).toContain(`From in.csv, SHA-256 ${'aa'.repeat(32)}`)
    expect(told({ source: 'queue', fileName: 'payroll', fileSha256 })).toContain(
      `From messages of other services, batch "payroll", SHA-256 ${fileSha256}`,
    )
    expect(told({ source: 'queue', fileName: null, fileSha256: null })).toContain('From messages of other services\n')
  })

  test('tells of look-alikes that were allowed', () => {
    expect(told({ lookalikesAllowed: 2 })).toContain('2 look-alikes allowed')
    expect(told({})).not.toContain('look-alike')
  })
})
