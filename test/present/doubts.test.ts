// The worklist on a screen.

import { expect, test } from 'vitest'
import type { DoubtRow } from '../../src/domain/doubt.ts'
import type { BatchId, RowId } from '../../src/domain/ids.ts'
import { type Doubt, doubtLines } from '../../src/present/doubts.ts'
import { refund } from '../fixtures/ledgers.ts'

const NOW = Date.UTC(2026, 10, 21, 20)
const SENT = Date.UTC(2026, 10, 21, 19, 57, 3)

const IN_A_PIPE = { columns: null, localTime: null }

const doubt = (reference: string, over: Partial<DoubtRow> = {}, restUntilMs = NOW): Doubt => ({
  row: {
    rowId: 1 as RowId,
    ...{ batchId: '261121-bsemz' as BatchId, rowNo: 1, merchant: 'default', attempt: 1, sentAtMs: SENT },
    ...{ claimedAtMs: SENT, leftByMs: SENT, restMs: 0, holdsUp: 0, reason: 'no answer; it may have been executed' },
    ...{ twoPeople: false, proposal: null },
    instruction: refund(reference, { xtlOrderId: null, orderId: '700' }),
    ...over,
  },
  restUntilMs,
})

test('a cause is told once, what its rows share once, and the rest in a table', () => {
  const lines = doubtLines(
    [doubt('A', { rowNo: 7 }), doubt('B-long', { rowNo: 12, sentAtMs: SENT + 1_000 })],
    NOW,
    IN_A_PIPE,
  )
  expect(lines).toEqual([
    '2 rows: no answer',
    '  all: operation REFUND, amount 10.00 EUR, order 700, merchant default, batch 261121-bsemz, attempt 1, sent 2026-11-21',
    '  reference  row  at (UTC)',
    '  A          7    19:57:03',
    '  B-long     12   19:57:04',
    '  They may be judged now.',
  ])
})

test('rows whose table does not fit the screen are told one by one, and lines fit that are wrapped', () => {
  const doubts = [doubt('A', { rowNo: 7 }), doubt('B-long', { rowNo: 12, sentAtMs: SENT + 1_000 })]
  expect(doubtLines(doubts, NOW, { columns: 29, localTime: null }).slice(2, 5)).toEqual([
    '  reference  row  at (UTC)',
    '  A          7    19:57:03',
    '  B-long     12   19:57:04',
  ])
  expect(doubtLines(doubts, NOW, { columns: 25, localTime: null }).slice(2, 6)).toEqual([
    '  A',
    '    row 7, at (UTC) 19:57:03',
    '  B-long',
    '    row 12, at (UTC) 19:57:04',
  ])
  const alone = doubtLines([doubt('A', { rowNo: 7 })], NOW, { columns: 80, localTime: null })
  expect(alone.slice(1, 3)).toEqual([
    '  A',
    '    operation REFUND, amount 10.00 EUR, order 700, merchant default, batch 261121-bsemz, row 7, attempt 1, sent 2026-11-21, at (UTC) 19:57:03',
  ])
})

test('causes that differ in ids or moments are one; a single row has all its words', () => {
  const at = (moment: string) => ({ reason: `claimed at ${moment}, ended; it may have been executed` })
  const lines = doubtLines(
    [
      doubt('C', { reason: 'TRANS_ORDER_ID is 123456, 654321 was sent' }),
      doubt('A', at('2026-11-21T19:57:03.144Z')),
      doubt('B', at('2026-11-21T19:57:04.144Z')),
    ],
    NOW,
    IN_A_PIPE,
  )
  expect(lines.filter((line) => /^\d+ rows?:/.test(line))).toEqual([
    '2 rows: claimed at …, ended',
    '1 row: TRANS_ORDER_ID is 123456, 654321 was sent',
  ])
})

test('what may still be executed is not to be judged yet', () => {
  const later = NOW + 60_000
  expect(doubtLines([doubt('A', {}, later), doubt('B')], NOW, IN_A_PIPE).at(-1)).toBe(
    '  Until 2026-11-21T20:01:00.000Z they may still be executed. Call them not-executed or send-again only after that.',
  )
  expect(doubtLines([doubt('A', { attempt: 2 }, later)], NOW, IN_A_PIPE).at(-1)).toContain(
    'it may still be executed. Call it declined, not-executed or',
  )
})

test('rows that others wait for say so, and local time stands beside UTC', () => {
  const lines = doubtLines([doubt('A', { holdsUp: 2 }), doubt('B', { rowNo: 2 })], NOW, {
    ...IN_A_PIPE,
    localTime: () => '20:57:03',
  })
  expect(lines).toContain('  A          1    2 rows')
  expect(lines.join('\n')).toContain('at (UTC) 19:57:03, here 20:57:03')
})

test('what was sent at an unknown time is told so', () => {
  const restored = doubt('A', { sentAtMs: null, claimedAtMs: null })
  expect(doubtLines([restored, restored], NOW, IN_A_PIPE)[1]).toContain('sent at an unknown time')
})
