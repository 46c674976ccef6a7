import { describe, expect, test } from 'vitest'
import type { RowId } from '../../../src/domain/ids.ts'
import { canMove, STATES } from '../../../src/domain/states.ts'
import {
  isSameTransaction,
  type MakeMove,
  NO_FACTS,
  type RowToSettle,
  refusalOf,
  settlingStep,
  transactionIn,
} from '../../../src/ledger/rules/settling.ts'
import type { Settlement } from '../../../src/ports/ledger/work.ts'
import { factsWith, named, settlementOf } from '../../fixtures/ledgers.ts'
import { given } from './given.ts'

const SENDING: RowToSettle = {
  ...{ state: 'SENDING', attempt: 1, hold: 'none', warning: null, transactionId: null, wasFound: 0 },
}
const NOTHING = { kind: 'change-nothing' } as const
const TARGETS = ['APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT', 'READY'] as const

const row = (over: Partial<RowToSettle> = {}): RowToSettle => ({ ...SENDING, ...over })
const settlement = (to: Settlement['to'], over: Partial<Settlement> = {}) =>
  settlementOf({ rowId: 1 as RowId, attempt: 1, row: named('any') }, to, { reason: 'why', ...over })
const settle =
  (to: Settlement['to'], over: Partial<Settlement> = {}, isTaken = false) =>
  (state: RowToSettle) =>
    settlingStep(state, settlement(to, over), isTaken ? 'transaction' : null)

function moveTo(to: MakeMove['to'], cause: MakeMove['cause'], over: Partial<MakeMove> = {}): MakeMove {
  return {
    kind: 'move',
    ...{ to, cause, reason: 'why', keepsReason: true, facts: NO_FACTS, warning: null, moneyWarning: false },
    ...{ newDoubt: false, completed: true, waitsAgain: false },
    ...over,
  }
}

const late = (text: string, moneyWarning: boolean, warning = text) => ({
  kind: 'keep-late-answer' as const,
  ...{ text, warning, moneyWarning },
})
const lateText = (to: string, id: string) =>
  `attempt 1 was answered ${to} (transaction id ${id}) after the row had moved on`

describe('a row that is being sent', () => {
  test.each([
    ['APPROVED', moveTo('APPROVED', 'answer')],
    ['DECLINED', moveTo('DECLINED', 'answer')],
    ['FAILED', moveTo('FAILED', 'answer')],
    ['IN_DOUBT', moveTo('IN_DOUBT', 'doubt', { newDoubt: true })],
    ['READY', moveTo('READY', 'unsent', { keepsReason: false, completed: false, waitsAgain: true })],
  ] as const)('moves to %s as settled', (to, result) => {
    given(row()).when(settle(to)).then(result)
  })

  test('is cancelled where nothing was sent and its batch was cancelled meanwhile', () => {
    given(row({ hold: 'cancelled' }))
      .when(settle('READY'))
      .then(moveTo('CANCELLED', 'unsent'))
  })

  test.each(['none', 'paused'] as const)('waits again in a batch whose hold is %s', (hold) => {
    given(row({ hold }))
      .when((state) => settle('READY')(state).kind === 'move' && 'READY')
      .then('READY')
  })

  test.each(['APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT'] as const)('keeps %s in a cancelled batch', (to) => {
    given(row({ hold: 'cancelled' }))
      .when(settle(to))
      .then(settle(to)(row()))
  })

  test('takes what the answer said', () => {
    const facts = factsWith('77', { orderId: '1', amount: '10.00' })
    given(row())
      .when(settle('APPROVED', { facts }))
      .then(moveTo('APPROVED', 'answer', { facts }))
  })

  test.each(['', '0', '000'])('takes no transaction id of "%s"', (id) => {
    const facts = factsWith(id, { orderId: '1' })
    const taken = { ...facts, transactionId: null }
    given(row())
      .when(settle('APPROVED', { facts }))
      .then(moveTo('APPROVED', 'answer', { facts: taken }))
  })

  test('in doubt takes nothing from the answer, which may be that of another request', () => {
    const facts = factsWith('77', { orderId: '1', vaultId: '2' })
    given(row())
      .when(settle('IN_DOUBT', { facts }))
      .then(moveTo('IN_DOUBT', 'doubt', { newDoubt: true }))
  })

  test.each(['APPROVED', 'DECLINED'] as const)('comes into doubt where its transaction settled another (%s)', (to) => {
    const facts = factsWith('77', { orderId: '1' })
    given(row())
      .when(settle(to, { facts }, true))
      .then(
        moveTo('IN_DOUBT', 'doubt', {
          newDoubt: true,
          reason: 'the answer carries transaction id 77, which already settled another row; it may have been executed',
        }),
      )
  })

  test.each([
    ['APPROVED', true, true],
    ['APPROVED', false, false],
    ['DECLINED', true, false],
    ['IN_DOUBT', true, false],
  ] as const)('settled %s with a warning about money %s: money warning %s', (to, warnsOfMoney, moneyWarning) => {
    given(row())
      .when((state) => settle(to, { warning: 'odd', warnsOfMoney })(state) as MakeMove)
      .then(expect.objectContaining({ warning: 'odd', moneyWarning }))
  })

  test.each([
    [null, null, null],
    ['early', null, 'early'],
    [null, 'now', 'now'],
    ['early', 'now', 'early; now'],
  ])('that warned of %s and is settled with %s warns of %s', (earlier, now, both) => {
    given(row({ warning: earlier }))
      .when((state) => settle('APPROVED', { warning: now })(state) as MakeMove)
      .then(expect.objectContaining({ warning: both }))
  })
})

describe('a row that has moved on', () => {
  test.each([
    ['IN_DOUBT', 'APPROVED', moveTo('APPROVED', 'late-answer')],
    ['IN_DOUBT', 'DECLINED', moveTo('DECLINED', 'late-answer')],
    ['READY', 'APPROVED', moveTo('APPROVED', 'late-answer')],
    ['READY', 'DECLINED', moveTo('DECLINED', 'late-answer')],
    ['IN_DOUBT', 'READY', moveTo('READY', 'proof', { keepsReason: false, completed: false, waitsAgain: true })],
  ] as const)('to %s takes a true answer %s of the same attempt', (state, to, result) => {
    given(row({ state })).when(settle(to)).then(result)
  })

  test('takes no answer whose transaction settled another row, and says so', () => {
    given(row({ state: 'IN_DOUBT' }))
      .when(settle('APPROVED', { facts: factsWith('77') }, true))
      .then(late(lateText('APPROVED', '77'), true))
  })

  test.each([
    ['APPROVED', true],
    ['DECLINED', false],
  ] as const)('to a later attempt keeps %s as a warning; about money: %s', (to, moneyWarning) => {
    given(row({ attempt: 2 }))
      .when(settle(to, { facts: factsWith('77') }))
      .then(late(lateText(to, '77'), moneyWarning))
  })

  test('adds a late answer to what it warns of already', () => {
    const text = lateText('APPROVED', 'none')
    given(row({ state: 'FAILED', warning: 'odd' }))
      .when(settle('APPROVED'))
      .then(late(text, true, `odd; ${text}`))
  })

  test.each(['FAILED', 'IN_DOUBT', 'READY'] as const)('keeps nothing of %s, which is no true answer', (to) => {
    given(row({ attempt: 2 }))
      .when(settle(to))
      .then(NOTHING)
  })

  test.each([
    ['77', '0077', NOTHING],
    ['77', '78', late(lateText('APPROVED', '78'), true)],
    [null, '77', late(lateText('APPROVED', '77'), true)],
    ['77', null, late(lateText('APPROVED', 'none'), true)],
  ])('APPROVED with transaction %s and answered so with %s', (transactionId, answered, result) => {
    const facts = answered === null ? null : factsWith(answered)
    given(row({ state: 'APPROVED', transactionId }))
      .when(settle('APPROVED', { facts }))
      .then(result)
  })

  const confirmed = (to: 'APPROVED' | 'DECLINED', id: string) => moveTo(to, 'late-answer', { facts: factsWith(id) })
  test.each([
    ['with its transaction', 'APPROVED', 1, '77', '0077', confirmed('APPROVED', '0077')],
    ['with its transaction', 'DECLINED', 1, '77', '77', confirmed('DECLINED', '77')],
    ['of an earlier attempt, with its transaction', 'APPROVED', 2, '77', '77', confirmed('APPROVED', '77')],
    ['of the one attempt, where none was named', 'APPROVED', 1, null, '77', confirmed('APPROVED', '77')],
    ['of one of several, where none was named', 'APPROVED', 2, null, '77', late(lateText('APPROVED', '77'), true)],
    ['with another transaction', 'APPROVED', 1, '77', '78', late(lateText('APPROVED', '78'), true)],
    ['with no transaction', 'DECLINED', 1, '77', null, late(lateText('DECLINED', 'none'), false)],
  ] as const)('as a person found takes an answer that agrees: %s, %s', (_, to, attempt, named, answered, result) => {
    const facts = answered === null ? null : factsWith(answered)
    given(row({ state: to, attempt, transactionId: named, wasFound: 1 }))
      .when(settle(to, { facts }))
      .then(result)
  })

  test('as a person found keeps an answer whose vault id has another card', () => {
    given(row({ state: 'APPROVED', transactionId: '77', wasFound: 1 }))
      .when((state) => settlingStep(state, settlement('APPROVED', { facts: factsWith('77') }), 'vault-id'))
      .then(late(lateText('APPROVED', '77'), true))
  })
})

describe('a refusal because it was done already, or because an unexplained part of the balance is gone', () => {
  test.each([
    ['DECLINED', 'done', 'the gateway says that it was done already'],
    ['FAILED', 'done', 'the gateway says that it was done already'],
    ['DECLINED', 'balance', 'no refund, void or capture that is recorded here explains it'],
  ] as const)('%s (%s) leaves a row in doubt, and its transaction id free', (to, unproven, why) => {
    given(row())
      .when((state) => settlingStep(state, settlement(to, { facts: factsWith('77') }), unproven))
      .then(
        moveTo('IN_DOUBT', 'doubt', {
          newDoubt: true,
          reason: `${to} (why): ${why}; it may have been executed by this request or by someone else`,
        }),
      )
  })

  test('does not end a row that is in doubt already, and is kept', () => {
    given(row({ state: 'IN_DOUBT' }))
      .when((state) => settlingStep(state, settlement('DECLINED', { facts: factsWith('77') }), 'done'))
      .then(late(lateText('DECLINED', '77'), false))
  })

  test.each([
    ['CAPTURE', 'DECLINED', 'done', 'done'],
    ['REFUND', 'FAILED', 'done', 'done'],
    ['REFUND', 'APPROVED', 'done', null],
    ['VAULT_CREATE', 'DECLINED', 'done', null],
    ['CANCEL', 'DECLINED', 'balance', 'balance'],
    ['CAPTURE', 'DECLINED', 'balance', null],
    ['REFUND', 'DECLINED', 'funds', null],
    ['REFUND', 'DECLINED', null, null],
  ] as const)('%s settled %s for %s: %s', (operation, to, category, says) => {
    given(settlement(to, { category }))
      .when((settled) => refusalOf(operation, settled))
      .then(says)
  })
})

test('whatever the state, the attempt and the settlement, a move is one of the table', () => {
  for (const state of STATES)
    for (const to of TARGETS)
      for (const hold of ['none', 'paused', 'cancelled'] as const)
        for (const attempt of [1, 2])
          for (const isTaken of [false, true]) {
            const facts = isTaken ? factsWith('77') : null
            const step = settle(
              to,
              { facts },
              isTaken && (to === 'APPROVED' || to === 'DECLINED'),
            )({
              ...row({ state, hold, attempt }),
            })
            if (step.kind === 'move')
              expect([state, step.to, step.cause, canMove(state, step.to, step.cause)]).toContain(true)
            if (attempt === 2) expect(step.kind).not.toBe('move')
          }
})

test.each([
  ['APPROVED', '0077', '0077'],
  ['DECLINED', '77', '77'],
  ['IN_DOUBT', '77', null],
  ['FAILED', '77', null],
  ['APPROVED', '000', null],
] as const)('a settlement %s with transaction %s takes %s', (to, id, taken) => {
  given({ to, facts: factsWith(id) })
    .when(transactionIn)
    .then(taken)
})

test.each([
  ['1', '01', true],
  ['1', '10', false],
  ['0', '00', true],
  [null, null, false],
])('transaction ids %s and %s are one: %s', (one, other, isOne) => {
  given(one)
    .when((id) => isSameTransaction(id, other))
    .then(isOne)
})
