// What an approver is told: nothing that is not so.

import { describe, expect, test } from 'vitest'
import type { ApprovalSheet } from '../../src/domain/approval.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { type Currency, parseCurrency } from '../../src/domain/money.ts'
import {
  faultOfTyped,
  meaningText,
  sheetLines,
  totalHint,
  totalsToType,
  withoutTotals,
} from '../../src/present/approval.ts'
import { interpretationText } from '../../src/present/interpretation.ts'

const EUR = parseCurrency('EUR') as Currency
const SHEET: ApprovalSheet = {
  ...{ needed: 1, given: 0, untilMs: 0, by: [], batchId: '261120-k7q2m' as BatchId },
  ...{ merchant: 'shop', url: 'https://gateway.example', username: 'shop-1', source: 'file', fileName: 'in.csv' },
  ...{ fileSha256: 'aa'.repeat(32), runKey: null, fingerprint: '' as ApprovalSheet['fingerprint'], rows: 2 },
  totals: [{ operation: 'REFUND', currency: EUR, state: 'READY', count: 2, amountMinor: 900n }],
  ...{ canaryRows: null, maxDeclinedPercent: null, lookalikesAllowed: 0, submittedBy: 'ann@desk', submittedAtMs: 0 },
  ...{
    rowsDigest: 'bb'.repeat(32),
    digest: 'cc'.repeat(32),
    largest: [],
    lookalikes: [],
    keys: [],
    accounts: [],
    earlier: [],
  },
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

describe('the totals that are typed', () => {
  const [eur] = SHEET.totals as [ApprovalSheet['totals'][number]]
  const ofCurrency = (code: string) => ({ ...eur, currency: parseCurrency(code) as Currency })
  const asked = (totals: ApprovalSheet['totals']) => totalsToType({ totals })
  const faultsOf = (typed: string, totals = SHEET.totals) => asked(totals).map((one) => faultOfTyped(typed, one))

  test.each(['9.00', '9,00', '9', 'EUR 9.00', '9.00  eur'])('%s is the total', (typed) => {
    expect(faultsOf(typed)).toEqual([null])
  })

  test('one that cannot be read is told otherwise than one that is another, and neither tells the right one', () => {
    expect(faultsOf('9.0.0')).toEqual([
      '“9.0.0” cannot be read as a total in EUR. Write it as in your list, such as 1.234,56 or 1,234.56.',
    ])
    for (const typed of ['9.01', '900', 'USD 9.00'])
      expect(faultsOf(typed)).toEqual([
        `You typed “${typed}”. That is another total in EUR than the one that would be sent.`,
      ])
    expect(faultsOf('1.234', [ofCurrency('KWD')])).toEqual([expect.stringContaining('can be read in two ways')])
  })

  test('what is left out of the list stands beside, unless it would tell the total', () => {
    const shown = (leftOut: bigint) => {
      const left = { ...eur, state: 'DUPLICATE' as const, amountMinor: leftOut }
      const sheet = { ...SHEET, totals: [...SHEET.totals, left] }
      return [sheetLines(withoutTotals(sheet), interpretationText).join('\n'), totalHint(sheet)]
    }
    expect(shown(500n)).toEqual([expect.stringMatching(/DUPLICATE +2 +5\.00/), expect.stringContaining('subtract')])
    expect(shown(900n)[0]).not.toContain('9.00')
    expect(shown(500n)[0]).not.toContain('9.00')
    expect(totalHint(SHEET)).not.toContain('subtract')
    const bad = { ...SHEET, totals: [...SHEET.totals, { ...eur, state: 'INVALID' as const }] }
    expect(totalHint(bad)).toMatch(/Bad rows \(INVALID\) are not sent: .*subtract what your list says of them/)
  })

  test('each currency is asked for, and each operation of one; rows without an amount are counted', () => {
    const left = { ...eur, state: 'INVALID' as const, count: 7 }
    const totals = [eur, left, ofCurrency('USD'), { ...ofCurrency('USD'), operation: 'CAPTURE' as const }]
    const voids = { ...eur, operation: 'CANCEL' as const, currency: '' as const, count: 5 }
    expect(asked([...totals, voids]).map(({ field, label }) => [field, label])).toEqual([
      ['total', 'the total in EUR'],
      ['total_2', 'the total in USD of the refunds'],
      ['total_3', 'the total in USD of the sales'],
      ['total_4', 'how many cancellations are to be sent'],
    ])
    const [, count] = asked([{ ...eur, operation: 'CANCEL' as const }, voids])
    expect(count?.label).toBe('how many cancellations without an amount are to be sent')
    expect(faultsOf('5', [voids])).toEqual([null])
    expect(faultsOf('4', [voids])).toEqual(['You typed “4”. That is not how many cancellations are to be sent.'])
  })
})

describe('the sheet', () => {
  test('names what a batch of a service is known by', () => {
    const fileSha256 = 'dd'.repeat(32)
    expect(told({})).toContain(`From in.csv, SHA-256 ${'aa'.repeat(32)}`)
    expect(told({ source: 'queue', fileName: 'payroll', fileSha256 })).toContain(
      `From messages of other services, batch "payroll", SHA-256 ${fileSha256}`,
    )
    const key = { id: 'k1', name: 'billing', createdBy: 'person max (p0)', makers: ['person:p0'] }
    expect(told({ source: 'queue', keys: [key] })).toContain('By key billing (k1), made by person max (p0)')
    expect(told({ source: 'queue', fileName: null, fileSha256: null })).toContain('From messages of other services\n')
  })

  test('tells of look-alikes that were allowed', () => {
    expect(told({ lookalikesAllowed: 2 })).toContain('2 look-alikes allowed')
    expect(told({})).not.toContain('look-alike')
    const like = { batchId: '261119-aaaaa', rowNo: 3, reference: 'A-3', state: 'APPROVED' } as const
    const one = told({ lookalikesAllowed: 2, lookalikes: [{ rowNo: 1, reference: 'B-1', like }] })
    expect(one).toContain('What was entered twice is executed twice: look at each of them.')
    expect(one).toContain('row 1 (B-1) looks like row 3 (A-3) of batch 261119-aaaaa, which is APPROVED\n  and 1 more')
    const own = { ...like, batchId: SHEET.batchId, state: 'READY' } as const
    expect(told({ lookalikesAllowed: 1, lookalikes: [{ rowNo: 4, reference: 'B-4', like: own }] })).toContain(
      'row 4 (B-4) looks like row 3 (A-3) of this batch, which is PENDING',
    )
  })
})
