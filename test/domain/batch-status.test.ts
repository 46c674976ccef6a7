import { describe, expect, test } from 'vitest'
import type { BatchView } from '../../src/domain/batch.ts'
import { endingOf as endingIn, standingOf as standingIn } from '../../src/domain/batch-status.ts'
import type { LimitReached } from '../../src/domain/daily-limit.ts'
import type { AccountId, BatchId } from '../../src/domain/ids.ts'
import type { Currency } from '../../src/domain/money.ts'
import { exitCodeOf } from '../../src/present/exit-codes.ts'
import { stuckText, whyText } from '../../src/present/standing.ts'

const NOW = Date.UTC(2026, 10, 21, 9)

/** With its words: what a person is told is part of what a batch means. */
function standingOf(...asked: Parameters<typeof standingIn>) {
  const { why, ...standing } = standingIn(...asked)
  return { ...standing, reason: whyText(why) }
}

function endingOf(...asked: Parameters<typeof endingIn>) {
  const ending = endingIn(...asked)
  return ending?.kind === 'stuck' ? { ...ending, reason: stuckText(ending) } : ending
}

const batchOf = (over: Partial<BatchView> = {}): BatchView => ({
  ...{ batchId: '261121-abcde' as BatchId, source: 'file', accountId: 1 as AccountId, merchant: 'shop' },
  ...{ fileName: 'r.csv', fileSha256: null, runKey: null, fingerprint: '', sandbox: false, createdAtMs: NOW },
  ...{ createdBy: 'ann@desk', purgedAtMs: null, needsFile: false },
  ...{
    hold: 'none',
    holdReason: null,
    approval: null,
    accountStopped: null,
    accountHeld: null,
    environment: null,
    limitReached: null,
  },
  ...{ accountWaitsUntilMs: null, gatewayHealth: null },
  ...{ rows: 3, counts: { READY: 3 }, totals: [], moneyWarnings: 0, duplicateMoneyWarnings: 0, duplicateOf: {} },
  duplicatesChanged: 0,
  ...{
    doneLongAgo: null,
    numberBefore: null,
    clockHold: null,
    badRows: 0,
    expired: 0,
    shortRefunds: 0,
    moneyUnseen: 0,
  },
  openOriginals: [],
  leftOut: [],
  ...{ nextDueAtMs: NOW, nextExecuteAtMs: null, blocked: 0, blockedDue: 0, lateAnswers: 0 },
  ...{ resultsPath: null, resultsStale: false },
  ...over,
})

const outage = { sinceMs: NOW - 60_000, why: 'connection refused', asksToWait: false, failures: 9, openMost: 1 }

test('a batch whose worker is without Redis says so, and what is due later or stopped says that', () => {
  const { state, reason } = standingOf(batchOf(), NOW, true, 'without-redis')
  expect([state, reason]).toEqual(['waiting', expect.stringContaining('the Redis of TRANCHE_REDIS_URL cannot be used')])
  const at = NOW + 3_600_000
  const later = batchOf({ nextDueAtMs: at, nextExecuteAtMs: at })
  expect(standingOf(later, NOW, true, 'without-redis').reason).toContain('the next row is due at')
  expect(standingOf(batchOf({ accountStopped: 'no' }), NOW, true, 'without-redis').state).toBe('stopped')
})

test('a batch whose next row is due within a minute is running, and says when', () => {
  const at = NOW + 11_000
  const batch = batchOf({ nextDueAtMs: at, nextExecuteAtMs: at })
  expect(standingOf(batch, NOW, true)).toEqual({
    state: 'running',
    reason: 'the next row is due at 2026-11-21T09:00:11.000Z',
  })
  expect(endingOf(batch, NOW)).toBeNull()
  expect(standingOf(batch, at, true).reason).toBeNull()
})

test.each([
  ['rows to send', 'awaiting_approval', { READY: 1, SENDING: 1 }],
  ['only open requests', 'running', { SENDING: 1 }],
  ['only doubts', 'needs_attention', { IN_DOUBT: 1 }],
] as const)('a batch that lacks approvals and has %s is %s', (_has, state, counts) => {
  const approval = { needed: 1, given: 0, untilMs: NOW, by: [] }
  expect(standingOf(batchOf({ counts, approval }), NOW, true).state).toBe(state)
})

describe('a batch whose gateway is in trouble', () => {
  test('waits, and says since when, why, what happens next, and that it goes on by itself', () => {
    const batch = batchOf({ gatewayHealth: { ...outage, backoffUntilMs: NOW + 15_000 } })
    const { state, reason } = standingOf(batch, NOW, true)
    expect(state).toBe('waiting')
    expect(reason).toBe(
      'trouble at the gateway since 2026-11-21T08:59:00.000Z (connection refused); nothing is sent until ' +
        '2026-11-21T09:00:15.000Z, then one row is tried. It goes on by itself',
    )
    expect(endingOf(batch, NOW)).toBeNull()
  })

  test('tries one row when the rest is over, and tells how it opens when answers come again', () => {
    const tried = batchOf({ gatewayHealth: { ...outage, backoffUntilMs: null } })
    expect(standingOf(tried, NOW, true).reason).toContain('one row at a time is tried until it answers')
    const opening = batchOf({ gatewayHealth: { ...outage, failures: 0, openMost: 4, backoffUntilMs: null } })
    expect(standingOf(opening, NOW, true).reason).toContain('up to 4 requests are open at a time')
  })

  test('is told for what it is when no worker runs: what the last one said says nothing about now', () => {
    const batch = batchOf({ gatewayHealth: { ...outage, backoffUntilMs: NOW + 15_000 } })
    expect(standingOf(batch, NOW, false).reason).toBe('no worker is running. Start one: tranche worker')
  })

  test('that is paused or stopped says that: no answer would move it', () => {
    const gatewayHealth = { ...outage, backoffUntilMs: null }
    expect(standingOf(batchOf({ gatewayHealth, hold: 'paused', holdReason: 'lunch' }), NOW, true).state).toBe('paused')
    expect(standingOf(batchOf({ gatewayHealth, accountStopped: 'no' }), NOW, true).state).toBe('stopped')
  })

  test('that is settled is over all the same', () => {
    const batch = batchOf({ gatewayHealth: { ...outage, backoffUntilMs: null }, counts: { APPROVED: 3 } })
    expect(standingOf(batch, NOW, true).state).toBe('done')
  })
})

describe('a batch of an account whose clock differs from the gateway', () => {
  const clockHold = { aheadMs: 3_600_000, atMs: NOW, nextDueAtMs: null }
  const later = { nextExecuteAtMs: NOW + 3_600_000, nextDueAtMs: NOW + 3_600_000 }

  test.each([
    ['due', { nextExecuteAtMs: NOW - 1, nextDueAtMs: NOW }],
    ['due later', later],
  ])('waits for a person where all that is left has an execute_at and is %s, and ends a run', (_, due) => {
    for (const workerRuns of [true, false])
      expect(standingOf(batchOf({ ...due, clockHold }), NOW, workerRuns)).toEqual({
        state: 'waiting',
        reason:
          'this machine’s clock is 60 min ahead of the gateway of merchant shop, by its last answer, and rows with an execute_at wait. ' +
          'Correct the clock. If it is right, or they still wait then: tell Tranche so (tranche resume --merchant shop --clock-is-right --reason TEXT).',
      })
    const behind = { ...clockHold, aheadMs: -3_600_000 }
    expect(endingOf(batchOf({ ...due, clockHold: behind }), NOW)).toMatchObject({
      ...{ kind: 'stuck', state: 'waiting', reason: expect.stringContaining('60 min behind the gateway') },
    })
  })

  test('goes on where a row has no execute_at: its answer may end it', () => {
    const free = batchOf({ nextExecuteAtMs: NOW - 1, clockHold: { ...clockHold, nextDueAtMs: NOW } })
    expect(endingOf(free, NOW)).toBeNull()
    expect(standingOf(free, NOW, true)).toEqual({ state: 'running', reason: null })
  })

  test('tells of the rows behind a doubt as well', () => {
    const { state, reason } = standingOf(batchOf({ blockedDue: 2, clockHold }), NOW, true)
    expect(state).toBe('needs_attention')
    expect(reason).toMatch(/^2 rows wait behind .*clock is 60 min ahead/)
  })

  test('goes on once the clock was set back', () => {
    const setBack = { ...clockHold, atMs: NOW + 60_001 }
    expect(endingOf(batchOf({ nextExecuteAtMs: NOW - 1, clockHold: setBack }), NOW)).toBeNull()
    expect(endingOf(batchOf({ ...later, clockHold: setBack }), NOW)).toMatchObject({ kind: 'later' })
    expect(standingOf(batchOf({ clockHold: { ...setBack, atMs: NOW + 60_000 } }), NOW, true).state).toBe('waiting')
  })
})

describe('a batch whose merchant the running worker was started without', () => {
  test('waits, says why and what to do, and ends a run that follows that worker', () => {
    const batch = batchOf({ merchant: 'hotel' })
    expect(standingOf(batch, NOW, true, 'unserved')).toEqual({
      state: 'waiting',
      reason:
        'the running worker was started without merchant hotel and sends none of its rows. ' +
        'Restart that worker with the configuration that names hotel; it sends them then',
    })
    expect(endingOf(batch, NOW, false)).toMatchObject({ kind: 'stuck', reason: expect.stringContaining('hotel') })
    const later = batchOf({ nextExecuteAtMs: NOW + 3_600_000, nextDueAtMs: NOW + 3_600_000 })
    expect(endingOf(later, NOW, false)).toMatchObject({ kind: 'stuck' })
  })

  test('is told for what it is where it is paused, in doubt or over', () => {
    const held = batchOf({ hold: 'paused', holdReason: 'lunch' })
    const over = batchOf({ counts: { APPROVED: 3 } })
    const blocked = batchOf({ nextDueAtMs: null, blocked: 3 })
    const states = [held, over, blocked].map((batch) => standingOf(batch, NOW, true, 'unserved').state)
    expect(states).toEqual(['paused', 'done', 'needs_attention'])
  })
})

test('a batch beside that of another run waits, where anything of it is due, and says what to do', () => {
  const due = standingOf(batchOf({}), NOW, true, 'other-run')
  expect(due).toEqual({ state: 'waiting', reason: expect.stringContaining('a run sends no batch but its own') })
  const later = { nextExecuteAtMs: NOW + 3_600_000, nextDueAtMs: NOW + 3_600_000 }
  expect(standingOf(batchOf(later), NOW, true, 'other-run').reason).toContain('the next row is due at')
  const cards = standingOf(batchOf({ needsFile: true, fileName: 'in.csv' }), NOW, true, 'other-run')
  expect(cards.reason).toContain('Run in.csv again')
  expect(standingOf(batchOf({}), NOW, true, 'unsaid').state).toBe('running')
})

test('a batch that was stopped says that its waiting rows were not executed', () => {
  const batch = batchOf({ counts: { APPROVED: 2, READY: 1 }, accountStopped: 'the gateway refuses the password' })
  const { state, reason } = standingOf(batch, NOW, true)
  expect([state, reason]).toEqual([
    'stopped',
    'the gateway refuses the password. The rows that wait were not executed. Correct it: with other credentials the account ' +
      'goes on by itself, and a running worker reads a password file again. Otherwise: tranche resume --merchant shop --reason TEXT',
  ])
  expect(endingOf(batch, NOW)).toMatchObject({ kind: 'stuck', reason })
})

describe('a batch with a request open', () => {
  const counts = { APPROVED: 1, SENDING: 1 }
  const left =
    '1 row was being sent when the worker ended and may have been executed. No worker is running: start one ' +
    '(tranche worker), or run the same file again, to bring it into doubt'

  test.each([
    ['waits', {}, 'waiting', left],
    ['waits, though it was cancelled', { hold: 'cancelled' as const }, 'waiting', `being cancelled; ${left}`],
    ['is paused', { hold: 'paused' as const, holdReason: 'lunch' }, 'paused', `lunch; ${left}`],
    ['is stopped', { accountStopped: 'no' }, 'stopped', expect.stringMatching(/^no\. .*; 1 row was being sent/)],
  ])('that no worker waits for %s and says that it may have been executed', (_, over, state, reason) => {
    expect(standingOf(batchOf({ counts, ...over }), NOW, false)).toEqual({ state, reason })
  })

  test('that a worker waits for is running, cancelled or not', () => {
    expect(standingOf(batchOf({ counts }), NOW, true)).toEqual({ state: 'running', reason: null })
    const cancelled = standingOf(batchOf({ counts, hold: 'cancelled' }), NOW, true)
    expect(cancelled).toEqual({ state: 'running', reason: 'being cancelled' })
  })
})

describe('a batch in which nothing is open', () => {
  test('and a row is in doubt needs attention, never done', () => {
    const batch = batchOf({ counts: { APPROVED: 2, IN_DOUBT: 1 } })
    expect(standingOf(batch, NOW, true)).toMatchObject({ state: 'needs_attention' })
    expect(exitCodeOf(batch, { kind: 'finished' })).toBe(5)
  })

  test('and an answer came late needs attention until a person has looked', () => {
    const batch = batchOf({ counts: { FAILED: 3 }, lateAnswers: 1, moneyWarnings: 1 })
    const { state, reason } = standingOf(batch, NOW, true)
    expect(state).toBe('needs_attention')
    expect(reason).toContain('tranche resume 261121-abcde')
    expect(exitCodeOf(batch, { kind: 'finished' })).toBe(5)
    expect(exitCodeOf({ ...batch, lateAnswers: 0 }, { kind: 'finished' })).toBe(3)
  })
})

test('a batch whose last rows wait for a doubt needs a person', () => {
  const batch = batchOf({ counts: { APPROVED: 1, IN_DOUBT: 1, READY: 1 }, nextDueAtMs: null, blocked: 1 })
  const { state, reason } = standingOf(batch, NOW, true)
  expect([state, reason]).toEqual(['needs_attention', expect.stringContaining('1 row waits behind')])
  const ending = endingOf(batch, NOW)
  expect(ending).toMatchObject({ kind: 'stuck' })
  expect(exitCodeOf(batch, ending!)).toBe(6)
})

describe('a batch with one row that waits for a person and one for its execute_at', () => {
  const nextYear = { nextDueAtMs: NOW + 400 * 86_400_000, nextExecuteAtMs: NOW + 400 * 86_400_000 }

  test.each([null, NOW + 30_000, NOW + 90_000])(
    'needs attention, and is not merely due later (the gateway asked to wait until %s)',
    (accountWaitsUntilMs) => {
      const counts = { APPROVED: 1, READY: 2 }
      const batch = batchOf({ counts, ...nextYear, blocked: 2, blockedDue: 1, accountWaitsUntilMs })
      const { state, reason } = standingOf(batch, NOW, true)
      expect(state).toBe('needs_attention')
      expect(reason).toMatch(/^1 row waits behind.*; what else is left is due later, the next row at 2027-12-26T/)
      const ending = endingOf(batch, NOW)
      expect(ending).toMatchObject({ kind: 'stuck', reason })
      expect(exitCodeOf(batch, ending!)).toBe(6)
    },
  )

  test('goes on as long as a third can be sent', () => {
    const batch = batchOf({ nextDueAtMs: NOW, nextExecuteAtMs: null, blocked: 1, blockedDue: 1 })
    expect(endingOf(batch, NOW)).toBeNull()
  })

  test('is due later where the row that is held up is so itself', () => {
    const batch = batchOf({ ...nextYear, blocked: 1, blockedDue: 0 })
    expect(endingOf(batch, NOW)).toMatchObject({ kind: 'later' })
  })
})

describe('a batch whose gateway asked to wait', () => {
  const nextHourMs = NOW + 3_600_000

  test('ends as due later where its rows are, though the account waits until a moment before', () => {
    for (const waitMs of [30_000, 90_000]) {
      const batch = batchOf({ nextDueAtMs: nextHourMs, nextExecuteAtMs: nextHourMs, accountWaitsUntilMs: NOW + waitMs })
      const ending = endingOf(batch, NOW)
      expect(ending).toEqual({ kind: 'later', nextDueAtMs: nextHourMs })
      expect(exitCodeOf(batch, ending!)).toBe(0)
    }
  })

  test('cannot go on with rows that are due later by the clock, without an execute_at', () => {
    const batch = batchOf({ nextDueAtMs: nextHourMs, nextExecuteAtMs: null, accountWaitsUntilMs: NOW + 90_000 })
    expect(endingOf(batch, NOW)).toMatchObject({ kind: 'stuck', reason: expect.stringContaining('asked to wait') })
  })

  test('for longer than a minute cannot go on with what is due', () => {
    const batch = batchOf({ accountWaitsUntilMs: NOW + 90_000 })
    const ending = endingOf(batch, NOW)
    expect(ending).toMatchObject({ kind: 'stuck' })
    expect(exitCodeOf(batch, ending!)).toBe(6)
  })
})

describe('a batch whose next row is due in two hours', () => {
  const dueMs = NOW + 7_200_000

  test('by its execute_at ends as due later', () => {
    const batch = batchOf({ nextDueAtMs: dueMs, nextExecuteAtMs: dueMs })
    expect(standingOf(batch, NOW, true)).toMatchObject({
      state: 'waiting',
      reason: expect.stringMatching(/is due at 2026/),
    })
    expect(endingOf(batch, NOW)).toEqual({ kind: 'later', nextDueAtMs: dueMs })
  })

  test.each([null, NOW - 1, NOW + 60_000])(
    'although its execute_at (%s) asks for no such wait has not ended: the clock was set back',
    (nextExecuteAtMs) => {
      const batch = batchOf({ nextDueAtMs: dueMs, nextExecuteAtMs })
      expect(standingOf(batch, NOW, true)).toEqual({ state: 'running', reason: null })
      expect(endingOf(batch, NOW)).toBeNull()
    },
  )
})

describe('a batch whose rows wait for the next day', () => {
  const untilMs = NOW + 7_200_000
  const limitReached: LimitReached = {
    ...{ direction: 'out', currency: 'EUR' as Currency, limitMinor: 5_000_000n },
    ...{ timeZone: 'Europe/Berlin', untilMs, holdsAbove: false, holdsExpiring: false, isAnyLeft: true },
  }

  test.each([null, untilMs + 60_000])('cannot go on now, and says until when (execute_at %s)', (nextExecuteAtMs) => {
    const batch = batchOf({ limitReached, nextDueAtMs: untilMs + 60_000, nextExecuteAtMs })
    const reason =
      'the limit of 50000.00 EUR a day for refunds is reached. It goes on at 2026-11-21T11:00:00.000Z, when the next day begins in Europe/Berlin, or once daily_limit is raised and the worker or run is started again'
    expect(standingOf(batch, NOW, true)).toEqual({ state: 'waiting', reason })
    expect(endingOf(batch, NOW)).toEqual(expect.objectContaining({ kind: 'stuck', state: 'waiting', reason }))
    expect(exitCodeOf(batch, endingIn(batch, NOW)!)).toBe(6)
  })

  test('says so, too, of rows that nobody accepted', () => {
    const batch = batchOf({ limitReached: { ...limitReached, holdsAbove: true }, nextDueAtMs: untilMs })
    expect(standingOf(batch, NOW, true).reason).toContain(
      'a row above 50000.00 EUR by itself, which nobody has accepted',
    )
  })

  test('promises the next day to no row that expires before', () => {
    const told = (over: Partial<LimitReached>) =>
      standingOf(batchOf({ limitReached: { ...limitReached, ...over }, nextDueAtMs: untilMs }), NOW, true).reason
    expect(told({ holdsExpiring: true })).toMatch(/what expires before the next day is not sent, .*It goes on at 2026/)
    expect(told({ holdsExpiring: true, isAnyLeft: false })).toMatch(/\. It goes on once daily_limit is raised/)
  })

  test('goes on while others of its rows are due, and waits for midnight where that is near', () => {
    expect(standingOf(batchOf({ limitReached }), NOW, true).state).toBe('running')
    const near = batchOf({ limitReached: { ...limitReached, untilMs: NOW + 50_000 }, nextDueAtMs: NOW + 50_000 })
    expect([standingOf(near, NOW, true).state, endingOf(near, NOW)]).toEqual(['running', null])
  })

  test('is no longer held by a day that is over', () => {
    const batch = batchOf({ limitReached: { ...limitReached, untilMs: NOW }, nextDueAtMs: NOW })
    expect(standingOf(batch, NOW, true).state).toBe('running')
  })
})
