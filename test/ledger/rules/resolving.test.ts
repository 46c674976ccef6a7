import { describe, expect, test } from 'vitest'
import type { Resolution } from '../../../src/domain/doubt.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import { FINDINGS } from '../../../src/domain/resolution.ts'
import {
  movedMeanwhile,
  type Refusal,
  type RowToResolve,
  resolvingStep,
  rowFound,
  rowMeant,
  type SettledRow,
} from '../../../src/ledger/rules/resolving.ts'
import { personAt } from '../../fixtures/ledgers.ts'
import { saying } from '../../fixtures/words.ts'
import { given } from './given.ts'

const NOW = Date.UTC(2026, 4, 4, 9)
const REST_MS = 900_000
const CLERK = personAt('clerk')

const ROW: RowToResolve = {
  ...{ batchId: 'b1' as BatchId, rowNo: 2, merchant: 'shop', state: 'IN_DOUBT', attempt: 1 },
  ...{ claimedAtMs: NOW - 2 * REST_MS - 1, restoredAtMs: null },
  ...{ leftByMs: NOW - 2 * REST_MS, restMs: 0, hold: 'none', transactionId: null, executeAtMs: null },
  ...{ expiresAtMs: null, orderId: null },
  ...{ lastCause: 'doubt', moneyWarning: 0, wasJudged: 0, lastCauseBefore: null },
}
const ASKED: Resolution = {
  ...{ reference: 'A', merchant: null, attempt: null, row: null, finding: 'approved' },
  ...{ transactionId: null, reason: 'seen', restMs: REST_MS },
}

const row = (over: Partial<RowToResolve> = {}): RowToResolve => ({ ...ROW, ...over })
const resolve =
  (over: Partial<Resolution>, taken: SettledRow | null = null) =>
  (state: RowToResolve) =>
    resolvingStep(state, { ...ASKED, ...over }, { taken, actor: CLERK, nowMs: NOW })
const refused = (why: Refusal['why'], ...words: string[]): Refusal => ({
  kind: 'refused',
  why,
  reason: saying(new RegExp(words.join('.*'))),
})

describe('a row in doubt', () => {
  test.each([
    ['approved', 'APPROVED', 'approved by clerk', NOW],
    ['declined', 'DECLINED', 'declined by clerk', NOW],
    ['not-executed', 'FAILED', 'not-executed by clerk', NOW],
    ['send-again', 'READY', null, null],
  ] as const)('found %s becomes %s', (finding, to, reason, completedAtMs) => {
    const why = reason === null ? null : expect.stringMatching(new RegExp(`^${reason}.*: seen$`))
    given(row()).when(resolve({ finding })).then({ kind: 'move', to, reason: why, completedAtMs, dueAtMs: NOW })
  })

  test.each([
    [null, NOW],
    [NOW - 1, NOW],
    [NOW + 5, NOW + 5],
  ])('with execute_at %s that is sent again is due at %s', (executeAtMs, dueAtMs) => {
    given(row({ executeAtMs }))
      .when(resolve({ finding: 'send-again' }))
      .then({ kind: 'move', to: 'READY', reason: null, completedAtMs: null, dueAtMs })
  })

  test.each([
    ['approved', 1, 'move'],
    ['not-executed', 1, 'move'],
    ['approved', 2, 'refused'],
    ['not-executed', 2, 'refused'],
  ] as const)('at attempt 1, found %s of attempt %i: %s', (finding, attempt, kind) => {
    given(row())
      .when((state) => resolve({ finding, attempt })(state).kind)
      .then(kind)
  })

  test.each([
    ['approved', 'move'],
    ['declined', 'refused'],
    ['not-executed', 'refused'],
    ['send-again', 'refused'],
  ] as const)('at attempt 2, found %s of an attempt that was not named: %s', (finding, kind) => {
    given(row({ attempt: 2 }))
      .when((state) => resolve({ finding })(state).kind)
      .then(kind)
  })

  test('says of another attempt which one it is in doubt about', () => {
    given(row({ attempt: 3 }))
      .when(resolve({ attempt: 2 }))
      .then(refused('other-attempt', 'A \\(row 2 of batch b1\\) is in doubt about attempt 3, not about 2'))
    given(row({ attempt: 3 }))
      .when(resolve({ finding: 'not-executed' }))
      .then(refused('other-attempt', 'add --attempt 3'))
  })

  test.each([
    ['send-again', 'cancelled', 'refused'],
    ['not-executed', 'cancelled', 'move'],
    ['approved', 'cancelled', 'move'],
    ['send-again', 'paused', 'move'],
  ] as const)('found %s in a batch that is %s: %s', (finding, hold, kind) => {
    given(row({ hold }))
      .when((state) => resolve({ finding })(state).kind)
      .then(kind)
  })

  test.each([
    ['send-again', NOW, 'refused'],
    ['send-again', NOW + 1, 'move'],
    ['not-executed', NOW, 'move'],
    ['approved', NOW, 'move'],
  ] as const)('found %s where it expires at %i: %s', (finding, expiresAtMs, kind) => {
    given(row({ expiresAtMs }))
      .when((state) => resolve({ finding })(state).kind)
      .then(kind)
  })

  test.each([
    ['0500', '500', 'refused'],
    ['500', '501', 'move'],
    [null, '500', 'move'],
  ] as const)('of order %s, settled by transaction %s: %s', (orderId, transactionId, kind) => {
    given(row({ orderId }))
      .when((state) => resolve({ transactionId })(state).kind)
      .then(kind)
  })

  test('says which id is wanted, and how a row that expired is sent after all', () => {
    given(row({ orderId: '500' }))
      .when(resolve({ transactionId: '500' }))
      .then(refused('order-id', '500 is the id of the order', 'or leave it out'))
    given(row({ expiresAtMs: NOW }))
      .when(resolve({ finding: 'send-again' }))
      .then(refused('expired', 'expired at 2026-05-04', 'under a new reference, with a later expires_at'))
  })

  test.each([
    ['not-executed', REST_MS, 0, 'move'],
    ['not-executed', REST_MS - 1, 0, 'refused'],
    ['send-again', REST_MS - 1, 0, 'refused'],
    ['approved', 0, 0, 'move'],
    ['declined', 0, 0, 'move'],
    ['not-executed', REST_MS, 2 * REST_MS, 'refused'],
    ['not-executed', 2 * REST_MS, 2 * REST_MS, 'move'],
  ] as const)('found %s %i ms after it left, resting %i ms by its worker: %s', (finding, agoMs, restMs, kind) => {
    given(row({ leftByMs: NOW - agoMs, restMs }))
      .when((state) => resolve({ finding })(state).kind)
      .then(kind)
  })

  const claimedAtMs = NOW - 1
  test.each([
    ['declined', { attempt: 2 }, 'refused'],
    ['approved', { attempt: 2 }, 'move'],
    ['declined', { claimedAtMs, restoredAtMs: NOW - 2 }, 'move'],
    ['declined', { claimedAtMs, restoredAtMs: claimedAtMs }, 'refused'],
    ['declined', { claimedAtMs: null, restoredAtMs: NOW - 2 }, 'refused'],
    ['declined', { claimedAtMs: null, restoredAtMs: null }, 'move'],
  ] as const)(
    'found %s at once, of %o: %s, because the decline may be of an earlier request',
    (finding, over, kind) => {
      const found = row({ leftByMs: NOW, ...over })
      given(found)
        .when((state) => resolve({ finding, attempt: found.attempt })(state).kind)
        .then(kind)
    },
  )

  test('says from when on it can be called not executed', () => {
    given(row({ leftByMs: NOW }))
      .when(resolve({ finding: 'not-executed' }))
      .then(refused('too-early', 'left at 2026-05-04T09:00:00.000Z', 'not-executed from 2026-05-04T09:15:00.000Z on'))
  })

  test('takes no transaction that settled another row', () => {
    given(row())
      .when(resolve({ transactionId: '77' }, { reference: 'B', batchId: 'b0', rowNo: 9 }))
      .then(refused('transaction-taken', 'Transaction 77 settled B already \\(row 9 of batch b0\\)'))
  })

  test.each([
    [{ batchId: 'b1', rowNo: 2 }, 'move'],
    [{ batchId: 'b1', rowNo: 3 }, 'refused'],
    [{ batchId: 'b2', rowNo: 2 }, 'refused'],
  ] as const)('of batch b1, row 2 that was looked up as %o: %s', (shown, kind) => {
    given(row())
      .when((state) => resolve({ row: shown })(state).kind)
      .then(kind)
  })
})

describe('a row that is not in doubt', () => {
  test.each([
    ['APPROVED', 'approved', null, 'already'],
    ['APPROVED', 'approved', '077', 'already'],
    ['APPROVED', 'approved', '78', 'refused'],
    ['APPROVED', 'declined', null, 'refused'],
    ['DECLINED', 'declined', null, 'already'],
    ['FAILED', 'not-executed', null, 'already'],
    ['READY', 'send-again', null, 'already'],
    ['READY', 'approved', null, 'refused'],
    ['SENDING', 'approved', null, 'refused'],
  ] as const)('but %s, with transaction 77, found %s with %s: %s', (state, finding, transactionId, kind) => {
    given(row({ state, transactionId: '77' }))
      .when((one) => resolve({ finding, transactionId })(one).kind)
      .then(kind)
  })

  test('says what it is', () => {
    given(row({ state: 'SENDING' }))
      .when(resolve({}))
      .then(refused('not-in-doubt', 'A \\(row 2 of batch b1\\) is not in doubt: it is PENDING'))
  })

  test('moves by no finding', () => {
    for (const state of ['READY', 'SENDING', 'APPROVED', 'DECLINED', 'FAILED', 'CANCELLED'] as const)
      for (const finding of FINDINGS) expect(resolve({ finding })(row({ state })).kind).not.toBe('move')
  })
})

describe('the row that a reference means', () => {
  const doubt = row()
  const other = row({ merchant: 'store' })
  const settled = row({ state: 'APPROVED', merchant: 'store' })

  test.each([
    ['none', [], refused('unknown', 'no instruction "A" in this ledger')],
    ['one in doubt', [doubt], doubt],
    ['one settled', [settled], settled],
    ['one in doubt among settled ones', [settled, doubt], doubt],
    ['two in doubt', [doubt, other], refused('ambiguous', 'several merchants \\(shop, store\\)')],
    ['two settled', [settled, { ...settled }], refused('ambiguous', '\\(store, store\\)')],
  ])('of %s', (_which, rows, result) => {
    given(rows as readonly RowToResolve[])
      .when((all) => rowMeant(all, ASKED))
      .then(result)
  })

  test('names the merchant that was asked for', () => {
    given([] as RowToResolve[])
      .when((all) => rowMeant(all, { reference: 'A', merchant: 'shop' }))
      .then(refused('unknown', '"A" of merchant shop in'))
  })
})

describe('the row that a finding is about', () => {
  const found = { state: 'FAILED', lastCause: 'resolve', wasJudged: 1 } as const
  const unsent = { state: 'CANCELLED', lastCause: 'cancel', wasJudged: 0 } as const
  const refusedByGateway = { state: 'FAILED', lastCause: 'answer', wasJudged: 0 } as const

  test.each([
    ['the row itself', [found], 0],
    ['the one before a cancelled retry', [unsent, found], 1],
    ['the one before several cancelled retries', [unsent, unsent, found], 2],
    ['the retry, where a request of it may have left', [{ ...unsent, wasJudged: 1 }, found], 0],
    ['the retry, where one between them may have left', [unsent, { ...unsent, wasJudged: 1 }, found], 0],
    ['the retry, where the gateway refused the one before', [unsent, refusedByGateway, found], 0],
    ['the retry, where it waits', [{ ...unsent, state: 'READY', lastCause: null }, found], 0],
    ['the retry, where it was cancelled from the first', [unsent], 0],
  ] as const)('is %s', (_which, rows, at) => {
    expect(rowFound<(typeof rows)[number]>(rows)).toBe(rows[at as 0])
  })

  test('waits to be sent again: the correction waits until its batch is cancelled', () => {
    given(row({ state: 'READY', lastCause: null, lastCauseBefore: 'resolve' }))
      .when(resolve({ corrects: true }))
      .then(
        refused(
          'not-found-before',
          'Cancel batch b1 first',
          'tranche cancel b1 --reason TEXT',
          'then record what is right with --correct',
        ),
      )
  })

  test('waits to be sent again: a finding without a correction is told the same way', () => {
    given(row({ state: 'READY', lastCause: null, lastCauseBefore: 'resolve' }))
      .when(resolve({}))
      .then(
        refused(
          'not-in-doubt',
          'Cancel batch b1 first',
          'tranche cancel b1 --reason TEXT',
          'then record what is right with --correct',
        ),
      )
  })

  test('waits to be sent again, after a request that may have left: its batch is not to be cancelled for a correction', () => {
    given(row({ state: 'READY', lastCause: 'resolve', lastCauseBefore: 'resolve', wasJudged: 1 }))
      .when((state) => /cancel/i.test(JSON.stringify(resolve({ corrects: true })(state))))
      .then(false)
  })
})

test('a row that moved while it was resolved says so', () => {
  given(row())
    .when((state) => movedMeanwhile(state, ASKED))
    .then(refused('not-in-doubt', 'has just moved on'))
})
