import { describe, expect, test } from 'vitest'
import type { BatchId } from '../../../src/domain/ids.ts'
import { whyNotAgain } from '../../../src/domain/message.ts'
import {
  answerForKnown,
  beyondCounting,
  MOST_MINOR,
  type RecordedRow,
  sourceOf,
  xtlTakenText,
} from '../../../src/ledger/rules/arriving.ts'
import { given } from './given.ts'

const BATCH = 'b1' as BatchId

describe('a message under a reference that is recorded', () => {
  const known: RecordedRow = {
    batchId: BATCH,
    rowNo: 2,
    state: 'APPROVED',
    content: 'same',
    stage: 'open',
    recordedAtMs: 7,
    moneyWarning: 'other amount',
  }

  test.each([
    [
      'open',
      'same',
      { kind: 'duplicate', batchId: BATCH, rowNo: 2, state: 'APPROVED', recordedAtMs: 7, moneyWarning: 'other amount' },
    ],
    [
      'open',
      'other',
      {
        kind: 'refused',
        reason: 'other_content: the reference is recorded with other content (row 2 of batch b1, APPROVED)',
      },
    ],
    ['draft', 'same', 'held-by-draft'],
    ['draft', 'other', 'held-by-draft'],
  ] as const)('in a batch that is %s, with %s content', (stage, content, result) => {
    given({ ...known, stage })
      .when((row) => answerForKnown(row, content))
      .then(result)
  })
})

describe('the amounts of a batch', () => {
  test.each([
    [0, null, true],
    [MOST_MINOR, null, true],
    [MOST_MINOR - 1e6, 1e6, true],
    [MOST_MINOR, 1e6, false],
  ])('that add up to %d before %s can be counted: %s', (sum, amount, fits) => {
    given(sum)
      .when((before) => beyondCounting(BATCH, before, amount) === null)
      .then(fits)
  })

  test('beyond counting say which batch to cancel', () => {
    given(2 * MOST_MINOR)
      .when((sum) => beyondCounting(BATCH, sum, 1))
      .then(expect.stringContaining('(batch b1): check their amounts. When they are wrong, cancel that batch'))
  })
})

test.each([
  ['2026-05-04T23:59:59.999Z', '2026-05-04'],
  ['2026-05-05T00:00:00.000Z', '2026-05-05'],
])('a message of %s is of the day %s', (moment, day) => {
  given(Date.parse(moment))
    .when((ms: number) => sourceOf('day', ms))
    .then(day)
})

test('an xtl_order_id that is taken names the row that has it', () => {
  given({ reference: 'A', rowNo: 2, batchId: 'b1', state: 'READY' })
    .when((row) => xtlTakenText('x7', row))
    .then(
      'xtl_order_id_taken: x7 is that of A (row 2 of batch b1, PENDING). Give each instruction one of its own, or leave it out',
    )
})

test.each([
  ['duplicate', 7, 8, true],
  ['repeated', 7, 8, true],
  ['duplicate', 7, 7, false],
  ['duplicate', 9, 7, false],
  ['accepted', 7, 8, false],
] as const)(
  '%s, recorded at %i, of a job that was due at %i is not done again: %s',
  (kind, recordedAtMs, dueAtMs, fails) => {
    const row = { batchId: BATCH, rowNo: 2, rows: 1, state: 'APPROVED', recordedAtMs } as const
    given({ ...row, kind })
      .when((taken) => whyNotAgain(taken, dueAtMs) !== null)
      .then(fails)
  },
)
