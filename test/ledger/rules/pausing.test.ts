import { describe, expect, test } from 'vitest'
import { Fault } from '../../../src/domain/fault.ts'
import { words } from '../../../src/domain/words.ts'
import {
  ACCOUNT_RESTARTED,
  batchRestarted,
  countedAnswer,
  holdForDoubts,
  holdReasonAfterPause,
  pauseAfterCanary,
  pauseForDeclines,
  pauseForMoney,
  steeringStep,
  WORKER_ENDED,
} from '../../../src/ledger/rules/pausing.ts'
import { given } from './given.ts'

describe('an account', () => {
  test.each([
    [1, null, null, null],
    [9, null, null, null],
    [9, null, WORKER_ENDED, null],
    [10, 'held', null, null],
    [
      10,
      null,
      null,
      'at least 10 rows came into doubt; everything of this account is paused until a person has looked',
    ],
    [
      11,
      null,
      WORKER_ENDED,
      'at least 11 rows came into doubt, the last ones because the worker ended while requests were open; everything of this account is paused until a person has looked',
    ],
  ])('with %i new doubts, held by %s and after %s', (newDoubts, heldReason, because, reason) => {
    given({ newDoubts, heldReason })
      .when((account) => holdForDoubts(account, because))
      .then(reason)
  })

  test('that a person resumes has no doubts, no hold and no wait', () => {
    expect(ACCOUNT_RESTARTED).toEqual({ newDoubts: 0, heldReason: null, waitUntilMs: null })
  })
})

describe('a batch', () => {
  const MONEY = 'row 7: another amount; the file may be wrong about every row like it'

  test.each([
    ['none', false, MONEY],
    ['none', true, null],
    ['paused', false, null],
    ['cancelled', false, null],
  ] as const)('whose hold is %s, warned of money before: %s', (hold, moneyWarned, reason) => {
    given({ hold, moneyWarned })
      .when((batch) => pauseForMoney(batch, 7, 'another amount'))
      .then(reason)
  })

  test('says of a warning without words that the answer differs', () => {
    given({ hold: 'none', moneyWarned: false } as const)
      .when((batch) => pauseForMoney(batch, 7, null))
      .then('row 7: the answer differs from what was asked; the file may be wrong about every row like it')
  })

  const DECLINES = 'more than 20 % of the last 100 answered rows were declined or refused'

  test.each([
    ['none', 21, true],
    ['none', 20, false],
    ['paused', 21, false],
    ['cancelled', 21, false],
  ] as const)('whose hold is %s pauses for %i declines in 100 where 20 %% may be: %s', (hold, declines, pauses) => {
    given('D'.repeat(declines))
      .when((answers) => pauseForDeclines(hold, answers, 20))
      .then(pauses ? DECLINES : null)
  })

  test.each([
    ['APPROVED', 'approved'],
    ['DECLINED', 'declined'],
    ['FAILED', 'declined'],
    ['IN_DOUBT', null],
    ['CANCELLED', null],
    ['READY', null],
  ] as const)('counts a row %s as %s', (to, counted) => {
    given(to).when(countedAnswer).then(counted)
  })

  test.each([
    [1, 'the first row was run as a canary: compare their results with what was expected'],
    [5, 'the first 5 rows were run as a canary: compare their results with what was expected'],
  ])('says after a canary of %i rows what to do', (rows, reason) => {
    given(rows).when(pauseAfterCanary).then(reason)
  })

  test.each([
    ['none', null, 'now'],
    ['none', 'old', 'now'],
    ['paused', 'lunch', 'lunch; now'],
    ['paused', null, 'now'],
    ['cancelled', 'enough', null],
  ] as const)('whose hold is %s for %s is held for %s once it is paused', (hold, reason, after) => {
    given({ hold, reason })
      .when((batch) => holdReasonAfterPause(batch, 'now'))
      .then(after)
  })

  test('that a person resumes counts declines, late answers and warnings from nothing', () => {
    const shortRefunds = '{"since":7,"at":[]}'
    expect(batchRestarted(7)).toEqual({ recentAnswers: '', shortRefunds, lateAnswers: 0, moneyWarned: 0 })
  })
})

describe('an order of a person', () => {
  const CANCELLED = new Fault(
    'usage',
    words`Batch b1 was cancelled; that cannot be undone. Submit its results with ${{ set: 'retry', to: 'cancelled' }}.`,
  )

  test.each([
    ['none', 0, 'paused', { act: 'pause', setsHold: true, restarts: false }],
    ['none', 0, 'none', { act: 'resume', setsHold: true, restarts: true }],
    ['paused', 0, 'none', { act: 'resume', setsHold: true, restarts: true }],
    ['paused', 2, 'none', { act: 'resume', setsHold: true, restarts: true }],
    ['none', 0, 'cancelled', { act: 'cancel', setsHold: true, restarts: false }],
    ['cancelled', 0, 'cancelled', { act: 'cancel', setsHold: true, restarts: false }],
    ['cancelled', 2, 'none', { act: 'resume', setsHold: false, restarts: true }],
    ['cancelled', 0, 'none', CANCELLED],
    ['cancelled', 0, 'paused', CANCELLED],
    ['cancelled', 2, 'paused', CANCELLED],
  ] as const)('to a batch %s with %i answers to look at, to make it %s', (hold, toLookAt, to, result) => {
    given({ batchId: 'b1', hold, toLookAt })
      .when((batch) => steeringStep(batch, to))
      .then(result)
  })
})
