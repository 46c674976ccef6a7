import { expect, test } from 'vitest'
import { attentionIn, type Seen } from '../../src/domain/attention.ts'
import type { BatchView } from '../../src/domain/batch.ts'
import type { LimitReached } from '../../src/domain/daily-limit.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import type { Currency } from '../../src/domain/money.ts'
import type { WorkerView } from '../../src/domain/worker.ts'
import { attentionText, exitCodeOfAttention } from '../../src/present/attention.ts'

const batch = (over: Partial<BatchView>) =>
  ({
    ...{ batchId: 'b', counts: {}, hold: 'none', holdReason: null, approval: null, lateAnswers: 0, limitReached: null },
    leftOut: [],
    ...over,
  }) as BatchView
const unapproved = (counts: BatchView['counts']) =>
  batch({ counts, totals: [], fileName: null, approval: { needed: 1, given: 0, untilMs: 0, by: [] } })
const worker = (state: WorkerView['state']): WorkerView => ({
  ...{
    id: 'vm:7',
    host: 'vm',
    pid: 7,
    command: 'worker',
    sinceMs: 0,
    batchId: null,
    merchants: null,
    lastBeatMs: 0,
    state,
    isLost: false,
  },
})
const seen = (over: Partial<Seen>): Seen => ({
  alarm: null,
  batches: [],
  accounts: [],
  workers: [],
  nowMs: 900_010,
  ...over,
})
const free = {
  limitReached: null,
  accountHeld: null,
  accountStopped: null,
  accountWaitsUntilMs: null,
  clockHold: null,
  gatewayHealth: null,
  blockedDue: 0,
}
const limitReached: LimitReached = {
  ...{ direction: 'in', currency: 'EUR' as Currency, limitMinor: 100n },
  ...{ timeZone: 'UTC', untilMs: 2_000_000, holdsAbove: false, holdsExpiring: false, isAnyLeft: true },
}
const due = batch({ counts: { READY: 3 }, ...free, nextDueAtMs: 10, nextExecuteAtMs: null, merchant: 'shop' })
const runOf = (batchId: string | null) => ({ ...worker('working'), command: 'run', batchId }) as WorkerView
const shop = { name: 'shop', stopped: null, held: null }

test('a Redis that is away is told by what the ledger is', () => {
  const says = (stops: boolean) => attentionText({ code: 'redis', stops }, '/d/ledger.db').says
  expect(says(true)).toMatch(/Nothing is sent until it does/)
  expect(says(false)).toMatch(/take their rows from the ledger and go on; messages wait/)
})

test.each<readonly [string, Seen, readonly string[], number]>([
  ['a batch that goes on', seen({ batches: [batch({ counts: { READY: 3, APPROVED: 1 } })], accounts: [shop] }), [], 0],
  [
    'bad rows, rows that expired and refunds of too much that nobody has looked at, and files that an inbox refused',
    seen({
      batches: [
        batch({ fileName: null, badRows: 2, expired: 0, shortRefunds: 0 }),
        batch({ fileName: null, badRows: 0, expired: 3, shortRefunds: 10, moneyUnseen: 1 }),
        batch({ fileName: null, badRows: 0, expired: 3, shortRefunds: 0, hold: 'cancelled' }),
        batch({ fileName: null, moneyUnseen: 1, hold: 'paused', counts: { APPROVED: 1 } }),
        batch({ fileName: null, leftOut: [{ batchId: 'y1' as BatchId, rows: 3 }] }),
      ],
      refused: [
        { folder: '/in', files: 1 },
        { folder: '/other', files: 0 },
      ],
    }),
    ['bad-rows', 'expired', 'short-refunds', 'other-money', 'other-money', 'left-out', 'refused-files'],
    3,
  ],
  [
    'refunds of too much that paused their batch',
    seen({ batches: [batch({ shortRefunds: 3, moneyUnseen: 1, hold: 'paused', counts: { READY: 1 } })] }),
    ['paused'],
    6,
  ],
  [
    'rows in doubt of two batches',
    seen({ batches: [batch({ counts: { IN_DOUBT: 2 } }), batch({ counts: { IN_DOUBT: 3 } })] }),
    ['in-doubt'],
    5,
  ],
  ['rows that a dead worker was sending', seen({ batches: [batch({ counts: { SENDING: 2 } })] }), ['left-open'], 5],
  [
    'rows that a worker is sending',
    seen({ batches: [batch({ counts: { SENDING: 2 } })], workers: [worker('working')] }),
    [],
    0,
  ],
  ['late answers', seen({ batches: [batch({ lateAnswers: 1 })] }), ['late-answers'], 5],
  [
    'a clock that is not believed',
    seen({ accounts: [{ ...shop, clockAheadMs: 400_000, clockAheadAtMs: 1 }] }),
    ['clock'],
    6,
  ],
  ['a stopped account', seen({ accounts: [{ ...shop, stopped: '401' }] }), ['stopped'], 6],
  ['an account that is held', seen({ accounts: [{ ...shop, held: 'ten doubts' }] }), ['held'], 6],
  ['a paused batch', seen({ batches: [batch({ hold: 'paused', counts: { READY: 1 } })] }), ['paused'], 6],
  ['a paused batch that is over', seen({ batches: [batch({ hold: 'paused', counts: { APPROVED: 1 } })] }), [], 0],
  ['a batch that waits for approval', seen({ batches: [unapproved({ READY: 1 })] }), ['awaiting-approval'], 4],
  ['a batch without approval that has nothing left to send', seen({ batches: [unapproved({ APPROVED: 1 })] }), [], 0],
  ['a silent worker', seen({ workers: [worker('silent')] }), ['silent'], 6],
  ['due rows, and no worker', seen({ batches: [due] }), ['unsent'], 6],
  ['due rows beside the batch of a run', seen({ batches: [due], workers: [runOf('c')] }), ['unsent'], 6],
  ['due rows of the batch of a run', seen({ batches: [due], workers: [runOf('b')] }), [], 0],
  ['due rows and a run that has just begun', seen({ batches: [due], workers: [runOf(null)] }), [], 0],
  ['due rows that a worker sends', seen({ batches: [due], workers: [worker('idle')] }), [], 0],
  [
    'due rows of a merchant that the worker does not know',
    seen({ batches: [due], workers: [{ ...worker('idle'), merchants: ['hotel'] }] }),
    ['unsent'],
    6,
  ],
  [
    'rows that are due for less than a quarter of an hour, and no worker',
    seen({ batches: [{ ...due, nextDueAtMs: 11 }] }),
    [],
    0,
  ],
  ['due rows that are held', seen({ batches: [{ ...due, hold: 'paused' }] }), ['paused'], 6],
  [
    'rows that wait for the next day',
    seen({ batches: [{ ...due, nextDueAtMs: 2_000_000, limitReached }] }),
    ['daily-limit'],
    6,
  ],
  [
    'rows that waited for a day that has begun',
    seen({ batches: [{ ...due, nextDueAtMs: 900_000, limitReached: { ...limitReached, untilMs: 900_010 } }] }),
    [],
    0,
  ],
  ['a disk that is nearly full', seen({ freeBytes: 100 * 1024 ** 2 }), ['disk'], 6],
  ['a disk with room', seen({ freeBytes: 100 * 1024 ** 2 + 1 }), [], 0],
  ['outcomes that nobody has told for a minute', seen({ untoldSinceMs: 840_010 }), ['outcomes'], 6],
  ['outcomes of a moment ago', seen({ untoldSinceMs: 840_011 }), [], 0],
  ['a ledger that may be a copy', seen({ alarm: { kind: 'backup', noticed: 'it is a backup' } }), ['alarm'], 6],
  [
    'a stop before doubts',
    seen({ batches: [batch({ counts: { IN_DOUBT: 1 } })], accounts: [{ ...shop, stopped: '401' }] }),
    ['in-doubt', 'stopped'],
    6,
  ],
])('%s', (_what, all, codes, exit) => {
  const found = attentionIn(all)
  expect(found.map(({ code }) => code)).toEqual(codes)
  expect(exitCodeOfAttention(found)).toBe(exit)
  for (const one of found) expect(attentionText(one, '/d/ledger.db').says).not.toMatch(/undefined|null/)
})
