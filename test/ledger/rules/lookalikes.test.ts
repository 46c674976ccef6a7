import { expect, test } from 'vitest'
import type { Actor } from '../../../src/domain/actor.ts'
import { STATES } from '../../../src/domain/states.ts'
import { judgeTarget, type TargetFact, type TargetRow } from '../../../src/ledger/rules/judge-target.ts'
import {
  COUNTS_ALWAYS,
  COUNTS_FOR_A_WHILE,
  COUNTS_IF_SENT_TWICE,
  isConstant,
  likenessText,
  lookalikeWindow,
} from '../../../src/ledger/rules/lookalikes.ts'
import { given } from './given.ts'

const NOW = Date.UTC(2026, 4, 31)

test('a row in doubt that was sent more than once counts however a person ended it', () => {
  expect(COUNTS_IF_SENT_TWICE).toEqual(['DECLINED', 'FAILED', 'CANCELLED'])
})

test.each([
  ['READY', 'always'],
  ['SENDING', 'always'],
  ['APPROVED', 'for a while'],
  ['DECLINED', 'never'],
  ['FAILED', 'never'],
  ['IN_DOUBT', 'for a while'],
  ['CANCELLED', 'never'],
  ['INVALID', 'never'],
  ['DUPLICATE', 'never'],
] as const)('a row that is %s counts as a look-alike: %s', (state, howLong) => {
  expect(STATES).toContain(state)
  given(state)
    .when((is) => (COUNTS_ALWAYS.includes(is) ? 'always' : COUNTS_FOR_A_WHILE.includes(is) ? 'for a while' : 'never'))
    .then(howLong)
})

test.each([
  [30, '2026-05-01T00:00:00.000Z'],
  [20, '2026-05-11T00:00:00.000Z'],
  [0, '2026-05-31T00:00:00.000Z'],
])('an approval counts for 30 days, and with %i days under another run key since %s', (days, otherSince) => {
  given(NOW)
    .when((nowMs) => lookalikeWindow(nowMs, days))
    .then({ approvedSinceMs: Date.UTC(2026, 4, 1), otherRunKeySinceMs: Date.parse(otherSince) })
})

test('a likeness names the row and says what to do', () => {
  given({ reference: 'A', batchId: 'b1', rowNo: 2, state: 'APPROVED' })
    .when(likenessText)
    .then('it looks like A (row 2 of batch b1, APPROVED): same operation, amount and target')
})

test.each([
  ['a person at a terminal', { terminal: 'pts/3' }, false],
  ['cron', { terminal: null }, true],
  ['a person of the console', { kind: 'person', id: 'p', name: 'Ann', address: null }, false],
  ['a key', { kind: 'key', id: 'k', name: 'billing', address: null }, true],
])('the number of %s may be a constant: %s', (_, over, isSo) => {
  const os = { name: 'ann', uid: 1, host: 'h', terminal: null, login: null, sudo: null, as: null }
  expect(isConstant(('kind' in over ? over : { ...os, ...over }) as Actor)).toBe(isSo)
})

const ROW: TargetRow = {
  ...{
    operation: 'REFUND',
    amountMinor: 1_000n,
    currency: 'EUR',
    orderKey: '7',
    vaultId: null,
    beside: null,
    customer: {},
  },
}
const AT = { id: 1, batchId: 'b1', rowNo: 2, reference: 'A' }
const RULES = { nowMs: NOW, authorizationDays: 7, saleDays: 30, lookalikeDays: 20 }
const whyOf = (row: Partial<TargetRow>, fact: TargetFact) => {
  const verdict = judgeTarget({ ...ROW, ...row }, fact, RULES)
  return verdict === 'fits' ? verdict : verdict.kind === 'asked' ? verdict.why : verdict.code
}

test.each([
  [
    'rma-72',
    ['RMA-72', 'rma72', 'rma-072', 'rma-72.', 'corrected-rma-72', 'Rma 72 (NEU)', 'rma-72-retry'],
    'correction',
  ],
  ['2026-12/inv-71', ['2026-12/corrected-inv-71', '2026-12/INV_71', '2026-12/inv-71-fix'], 'correction'],
  ['rma-72-fix', ['rma-72', 'rma-72-again'], 'correction'],
  ['rma-7-2', ['rma-72', 'rma-7-2-2', 'rma-7-20', 'rma-7+2', 'rma-7-2-upgrade', '2027-01/rma-7-2'], 'fits'],
])('beside the reference %s each of %j is: %s', (reference, owns, verdict) => {
  const others = [{ ...AT, reference }]
  expect(owns.map((own) => whyOf({}, { of: 'reference', own, others }))).toEqual(owns.map(() => verdict))
})

test.each([
  ['CAUTH', 123_000n, 1_230n, 'small'],
  ['REFUND', 123_049n, 1_230n, 'small'],
  ['REFUND', 123_050n, 1_230n, 'fits'],
  ['CAPTURE', 122_950n, 1_230n, 'small'],
  ['CAPTURE', 122_949n, 1_230n, 'fits'],
  ['CAPTURE', 49n, 0n, 'fits'],
  ['AUTH', 123n, 1_230n, 'large'],
  ['AUTH', 124n, 1_230n, 'fits'],
] as const)('a %s where the largest amount is %i that asks for %i: %s', (operation, largest, amountMinor, verdict) => {
  const orderKey = operation === 'CAPTURE' || operation === 'AUTH' ? null : '7'
  const fact = { of: 'largest', amountMinor: largest, currency: 'EUR', at: AT } as const
  expect(whyOf({ operation, orderKey, amountMinor }, fact)).toBe(verdict)
})

test.each([
  [1_000n, false, 9_999n, 'authorized'],
  [1_000n, false, 10_000n, 'fits'], // the card was only checked
  [1_000n, true, 10_000n, 'authorized'],
])('beside an open authorization of %i (equal: %s) a sale of %i: %s', (held, isEqual, amountMinor, verdict) => {
  const authorization = {
    ...{ at: AT, isEqual, amountMinor: held, currency: 'EUR', orderId: '8', sentAtMs: NOW },
    ...{ isVoided: false, isCaptured: false, isOfOtherRun: false },
  }
  const fact = { of: 'authorizations', authorizations: [authorization] } as const
  expect(whyOf({ operation: 'CAPTURE', orderKey: null, vaultId: '5', amountMinor }, fact)).toBe(verdict)
})
