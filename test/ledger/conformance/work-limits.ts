// The limit of a day: what is claimed keeps within it, whoever claims, and what was certainly not executed is given back.

import { describe, expect, test } from 'vitest'
import { type DailyLimits, limitedBy } from '../../../src/domain/daily-limit.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { Currency } from '../../../src/domain/money.ts'
import type { IntakeMessage } from '../../../src/ports/ledger/intake.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import type { DueRow, Settlement } from '../../../src/ports/ledger/work.ts'
import {
  CLERK,
  type Claimed,
  claim,
  claimNamed,
  DAY_MS,
  dueIn,
  dueRow,
  EUR,
  factsWith,
  faultyRow,
  findingOn,
  headerOf,
  inAttempt,
  messageOf,
  NOW,
  openAccount,
  refund,
  reviewOnly,
  sale,
  settle,
  statesIn,
  submit,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'

const USD = 'USD' as Currency
/** In Berlin, where the day of NOW ends at 22:00 UTC. */
const of = (amountMinor: bigint): DailyLimits => ({
  amounts: new Map([[EUR, amountMinor]]),
  timeZone: 'Europe/Berlin',
})
const LIMITS = of(10_000n)
const MIDNIGHT = Date.UTC(2026, 4, 4, 22)
const NEXT_DAY = MIDNIGHT + 60_000

const amount = (amountMinor: bigint, currency = EUR) => ({ money: { amountMinor, currency } })

function claimDue(from: Ledger, due: DueRow, nowMs = NOW, limits: DailyLimits | null = LIMITS) {
  return claim(from, { ...due, limited: limitedBy(limits, due, nowMs) }, nowMs)
}

async function claimOf(batchId: BatchId, reference: string, nowMs = NOW, limits: DailyLimits | null = LIMITS) {
  return (await claimDue(ledger, await dueRow(ledger, batchId, reference, nowMs), nowMs, limits)).kind
}

const dueNow = async (batchId: BatchId, nowMs: number) =>
  (await dueIn(ledger, batchId, nowMs)).map(({ instruction }) => instruction.reference)

/** Claimed within the limit, and settled. */
async function workLimited(batchId: BatchId, reference: string, to: Settlement['to'], over: Partial<Settlement> = {}) {
  const due = await dueRow(ledger, batchId, reference)
  const answer = await claimDue(ledger, due)
  const row: Claimed = inAttempt(due, answer.kind === 'claimed' ? answer.attempt : 0)
  await settle(ledger, row, to, { limited: true, ...over })
  return row
}

export function describeLimits(): void {
  describe('claim: the limit of a day', () => {
    test('is never exceeded; what does not fit waits for the next day, what fits goes on', async () => {
      const batchId = await submit(ledger, accountId, [
        refund('A', amount(6_000n)),
        refund('B', amount(5_000n)),
        refund('C', amount(4_000n)),
        refund('D', amount(1n)),
      ])
      expect(await claimOf(batchId, 'A')).toBe('claimed')
      expect(await claimOf(batchId, 'B')).toBe('not-free')
      expect(await dueNow(batchId, MIDNIGHT - 1)).toEqual(['C', 'D'])
      expect(await claimOf(batchId, 'C')).toBe('claimed')
      expect(await claimOf(batchId, 'D')).toBe('not-free')
      expect(await dueNow(batchId, NEXT_DAY - 1)).toEqual([])
      expect(await claimOf(batchId, 'B', NEXT_DAY)).toBe('claimed')
      expect(await claimOf(batchId, 'D', NEXT_DAY)).toBe('claimed')
      expect(await statesIn(ledger, batchId)).toEqual(['SENDING', 'SENDING', 'SENDING', 'SENDING'])
    })

    test('holds all rows of the batch that do not fit with the first one, and no others', async () => {
      const batchId = await submit(ledger, accountId, [
        refund('A', amount(9_000n)),
        refund('B', amount(2_000n)),
        refund('C', amount(3_000n)),
        refund('D', amount(1_000n)),
        refund('E', amount(3_000n, USD)),
        sale('F', '7001', amount(3_000n)),
      ])
      expect(await claimOf(batchId, 'A')).toBe('claimed')
      expect(await claimOf(batchId, 'B')).toBe('not-free')
      expect(await dueNow(batchId, NOW)).toEqual(['D', 'E', 'F'])
      expect(await dueNow(batchId, NEXT_DAY)).toEqual(['D', 'E', 'F', 'B', 'C'])
    })

    test('counts what leaves and what comes apart, each account and each currency by itself', async () => {
      const second = await openAccount(ledger, 'second')
      const own = await submit(ledger, accountId, [
        refund('A', amount(10_000n)),
        sale('B', '7001', amount(10_000n)),
        refund('C', amount(10_000n, USD)),
        refund('D', { operation: 'CAUTH', ...amount(1n) }),
      ])
      const others = await submit(ledger, second, [refund('E', amount(10_000n))])
      for (const reference of ['A', 'B', 'C']) expect(await claimOf(own, reference), reference).toBe('claimed')
      expect(await claimOf(others, 'E')).toBe('claimed')
      expect(await claimOf(own, 'D')).toBe('not-free')
    })

    test.each([
      ['APPROVED', 'not-free'],
      ['IN_DOUBT', 'not-free'],
      ['DECLINED', 'claimed'],
      ['FAILED', 'claimed'],
      ['READY', 'claimed'],
    ] as const)('of a row that became %s: another one of the same amount is %s', async (to, expected) => {
      const batchId = await submit(ledger, accountId, [refund('A', amount(6_000n)), refund('B', amount(5_000n))])
      await workLimited(batchId, 'A', to, { dueAtMs: NOW + DAY_MS })
      expect(await claimOf(batchId, 'B')).toBe(expected)
    })

    test('gives back to the day of the claim and to no other', async () => {
      const batchId = await submit(ledger, accountId, [refund('A', amount(6_000n)), refund('B', amount(5_000n))])
      const a = await dueRow(ledger, batchId, 'A')
      await claimDue(ledger, a)
      expect(await claimOf(batchId, 'B', NEXT_DAY)).toBe('claimed')
      await settle(ledger, inAttempt(a, 1), 'DECLINED', { limited: true, atMs: NEXT_DAY })
      const later = await submit(ledger, accountId, [refund('C', amount(6_000n)), refund('D', amount(10_000n))])
      expect(await claimOf(later, 'D', NOW)).toBe('claimed')
      expect(await claimOf(later, 'C', NEXT_DAY)).toBe('not-free')
    })

    test('takes back what a person found not to be executed, and counts what they found approved after all', async () => {
      const batchId = await submit(ledger, accountId, [
        refund('A', amount(6_000n)),
        refund('B', amount(5_000n)),
        refund('C', amount(5_000n)),
      ])
      await workLimited(batchId, 'A', 'IN_DOUBT')
      await ledger.resolve(findingOn('A', { finding: 'not-executed' }), CLERK, NOW + 400)
      expect(await claimOf(batchId, 'B')).toBe('claimed')
      await ledger.resolve(
        findingOn('A', { finding: 'approved', transactionId: '77', corrects: true }),
        CLERK,
        NOW + 500,
      )
      expect(await claimOf(batchId, 'C')).toBe('not-free')
    })

    test('counts an answer that came late, and gives back by one', async () => {
      const batchId = await submit(ledger, accountId, [
        refund('A', amount(6_000n)),
        refund('B', amount(6_000n)),
        refund('C', amount(6_000n)),
      ])
      const a = await workLimited(batchId, 'A', 'IN_DOUBT')
      await settle(ledger, a, 'DECLINED', { limited: true, facts: factsWith('901') })
      expect(await statesIn(ledger, batchId)).toEqual(['DECLINED', 'READY', 'READY'])
      const b = await workLimited(batchId, 'B', 'READY', { dueAtMs: NOW + DAY_MS })
      await settle(ledger, b, 'APPROVED', { limited: true, facts: factsWith('902') })
      expect(await statesIn(ledger, batchId)).toEqual(['DECLINED', 'APPROVED', 'READY'])
      expect(await claimOf(batchId, 'C')).toBe('not-free')
    })

    test('counts an approval that came after a person had found that it was not executed', async () => {
      const batchId = await submit(ledger, accountId, [refund('A', amount(6_000n)), refund('B', amount(1_000n))])
      const a = await workLimited(batchId, 'A', 'IN_DOUBT')
      await ledger.resolve(findingOn('A', { finding: 'not-executed' }), CLERK, NOW + 400)
      expect(await claimOf(batchId, 'B')).toBe('claimed')
      await settle(ledger, a, 'APPROVED', { limited: true, facts: factsWith('903') })
      expect(await statesIn(ledger, batchId)).toEqual(['FAILED', 'SENDING'])
      const later = await submit(ledger, accountId, [refund('C', amount(4_000n)), refund('D', amount(3_000n))])
      expect([await claimOf(later, 'C'), await claimOf(later, 'D')]).toEqual(['not-free', 'claimed'])
    })

    test('counts what an older state brings into doubt, on the day on which it was put back', async () => {
      await submit(ledger, accountId, [refund('A', amount(6_000n))])
      await ledger.adopt('restored', 'disk failed', CLERK, NOW)
      const batchId = await submit(ledger, accountId, [refund('B', amount(5_000n)), refund('C', amount(4_000n))])
      expect([await claimOf(batchId, 'B'), await claimOf(batchId, 'C')]).toEqual(['not-free', 'claimed'])
      await ledger.resolve(findingOn('A', { finding: 'not-executed' }), CLERK, NOW + 400)
      const later = await submit(ledger, accountId, [refund('D', amount(6_000n))])
      expect(await claimOf(later, 'D')).toBe('claimed')
      expect(await claimOf(batchId, 'B', NEXT_DAY)).toBe('claimed')
    })

    test('counts what was sent that day before there was a limit, and nothing of the day before', async () => {
      const batchId = await submit(ledger, accountId, [
        refund('A', amount(9_000n)),
        refund('B', amount(6_000n)),
        refund('C', amount(1_000n)),
        refund('D', amount(5_000n)),
        refund('E', amount(4_000n)),
      ])
      const yesterday = MIDNIGHT - DAY_MS - 1
      await claim(ledger, await dueRow(ledger, batchId, 'A', NOW), NOW)
      const nextDay = NEXT_DAY + 1_000
      await claim(ledger, await dueRow(ledger, batchId, 'B', nextDay), nextDay)
      const declined = await claimNamed(ledger, batchId, 'C', nextDay)
      await settle(ledger, declined, 'DECLINED')
      expect(yesterday).toBeLessThan(NOW)
      expect(await claimOf(batchId, 'D', nextDay)).toBe('not-free')
      expect(await claimOf(batchId, 'E', nextDay)).toBe('claimed')
    })

    test('adds up any number of earlier rows, exactly, also beyond 2^53', async () => {
      const largest = 999_999_999_999_999n
      const rows = Array.from({ length: 700 }, (_, i) => refund(`R-${i}`, amount(i < 10 ? largest : 1n)))
      const batchId = await submit(ledger, accountId, [...rows, refund('Y', amount(1n)), refund('Z', amount(1n))])
      const all = (await dueIn(ledger, batchId)).slice(0, 700)
      await Promise.all(all.map((row) => claim(ledger, row)))
      const limits = of(10n * largest + 690n + 1n)
      expect(await claimOf(batchId, 'Y', NOW, limits)).toBe('claimed')
      expect(await claimOf(batchId, 'Z', NOW, limits)).toBe('not-free')
    })

    test('holds for claims that come together, judged one after another', async () => {
      const rows = Array.from({ length: 40 }, (_, i) => refund(`R-${i}`, amount(1_000n)))
      const batchId = await submit(ledger, accountId, rows)
      const due = await dueIn(ledger, batchId)
      const answers = await Promise.all(due.map((row) => claimDue(ledger, row)))
      expect(answers.map(({ kind }) => kind)).toEqual(due.map((_, i) => (i < 10 ? 'claimed' : 'not-free')))
      for (const row of await dueIn(ledger, batchId)) expect((await claimDue(ledger, row)).kind).toBe('not-free')
      expect((await ledger.batch(batchId))?.counts).toEqual({ SENDING: 10, READY: 30 })
      expect(await dueNow(batchId, MIDNIGHT)).toEqual([])
    })

    test('holds for the claims of several workers together', async () => {
      const workers = [ledger, place.open(), place.open()]
      const rows = Array.from({ length: 60 }, (_, i) => refund(`R-${i}`, amount(700n)))
      const batchId = await submit(ledger, accountId, rows)
      const due = await dueIn(ledger, batchId)
      await Promise.all(due.map((row, i) => claimDue(workers[i % 3] as Ledger, row)))
      for (const row of await dueIn(ledger, batchId)) await claimDue(workers[1] as Ledger, row)
      expect((await ledger.batch(batchId))?.counts).toEqual({ SENDING: 14, READY: 46 })
    })

    test('a claim that is refused for another reason counts for nothing', async () => {
      const batchId = await submit(ledger, accountId, [refund('A', amount(6_000n)), refund('B', amount(6_000n))])
      const a = await dueRow(ledger, batchId, 'A')
      expect((await claimDue(ledger, { ...a, attempt: 4 })).kind).toBe('not-free')
      expect(await claimOf(batchId, 'B')).toBe('claimed')
    })

    test('a row above the whole limit that nobody accepted waits on every day, and others go on', async () => {
      const batchId = await submit(ledger, accountId, [refund('A', amount(10_001n)), refund('B', amount(9_000n))])
      expect(await claimOf(batchId, 'A')).toBe('not-free')
      expect(await claimOf(batchId, 'B')).toBe('claimed')
      expect(await claimOf(batchId, 'A', NEXT_DAY)).toBe('not-free')
      expect((await ledger.batch(batchId))?.limitReached).toMatchObject({ holdsAbove: true, limitMinor: 10_000n })
      expect(await claimOf(batchId, 'A', NEXT_DAY + DAY_MS, of(10_001n))).toBe('claimed')
    })

    test('one that a person accepted has a day to itself, from its beginning', async () => {
      const rows = [refund('A', amount(1n)), refund('B', amount(20_000n)), refund('C', amount(10_000n))]
      const batchId = await submit(ledger, accountId, rows, { dailyLimits: LIMITS })
      for (const [reference, answer] of [
        ['A', 'claimed'],
        ['B', 'not-free'],
      ] as const)
        expect(await claimOf(batchId, reference)).toBe(answer)
      expect(await dueNow(batchId, MIDNIGHT - 1)).toEqual([])
      expect(await dueNow(batchId, MIDNIGHT)).toEqual(['B'])
      expect(await claimOf(batchId, 'B', MIDNIGHT)).toBe('claimed')
      expect(await claimOf(batchId, 'C', NEXT_DAY)).toBe('not-free')
      expect(await claimOf(batchId, 'C', NEXT_DAY + DAY_MS)).toBe('claimed')
    })

    test('what a person accepted is of one row, and of the limit that they were asked about', async () => {
      const rows = [refund('A', amount(20_000n)), refund('B', amount(9_000n))]
      const batchId = await submit(ledger, accountId, rows, { dailyLimits: LIMITS })
      for (const reference of ['A', 'B']) expect(await claimOf(batchId, reference, NOW, of(8_000n))).toBe('not-free')
      expect((await ledger.batch(batchId))?.limitReached).toMatchObject({ holdsAbove: true, limitMinor: 8_000n })
      await ledger.applyLimits(accountId, LIMITS, NOW + 1)
      expect(await dueNow(batchId, NOW + 1)).toEqual(['A', 'B'])
      expect(await claimOf(batchId, 'A', NOW + 1)).toBe('claimed')
      await ledger.applyLimits(accountId, of(8_500n), NEXT_DAY)
      const others = await submit(ledger, accountId, [refund('C', amount(8_600n)), refund('D', amount(9_100n))], {
        dailyLimits: of(9_000n),
      })
      const tomorrow = NEXT_DAY + DAY_MS
      for (const reference of ['C', 'D'])
        expect(await claimOf(others, reference, tomorrow, of(8_500n)), reference).toBe('not-free')
      expect(await claimOf(others, 'D', tomorrow + DAY_MS, of(9_050n))).toBe('claimed')
    })

    test('is shown with the batch whose rows wait for it, and with no other', async () => {
      const batchId = await submit(ledger, accountId, [refund('A', amount(6_000n)), refund('B', amount(5_000n))])
      const other = await submit(ledger, accountId, [sale('C', '7001', { executeAtMs: NEXT_DAY })])
      await claimOf(batchId, 'A')
      expect((await ledger.batch(batchId))?.limitReached).toBeNull()
      await claimOf(batchId, 'B')
      expect((await ledger.batch(batchId))?.limitReached).toEqual({
        ...{ direction: 'out', currency: 'EUR', limitMinor: 10_000n, timeZone: 'Europe/Berlin' },
        ...{ untilMs: MIDNIGHT, holdsAbove: false, holdsExpiring: false, isAnyLeft: true },
      })
      expect((await ledger.batch(other))?.limitReached).toBeNull()
    })

    test('is no promise for a row that expires before the next day', async () => {
      const batchId = await submit(ledger, accountId, [
        refund('A', amount(6_000n)),
        refund('B', { ...amount(5_000n), expiresAtMs: MIDNIGHT }),
      ])
      for (const reference of ['A', 'B']) await claimOf(batchId, reference)
      expect((await ledger.batch(batchId))?.limitReached).toMatchObject({ holdsExpiring: true, isAnyLeft: false })
    })

    test('a later row of the order of a row that waits is blocked by it', async () => {
      const nowMs = Date.now()
      const first = await submit(ledger, accountId, [refund('A', { orderId: '77', ...amount(10_001n) })], { nowMs })
      const second = await submit(ledger, accountId, [refund('B', { orderId: '77', ...amount(1n) })], { nowMs })
      expect((await ledger.batch(second))?.nextDueAtMs).toBeLessThanOrEqual(nowMs)
      expect(await claimOf(first, 'A', nowMs)).toBe('not-free')
      expect((await ledger.batch(second))?.nextDueAtMs).toBeNull()
    })
  })

  describe('what is handed in above the limit of a whole day', () => {
    const limits = { amounts: new Map([[EUR, 10_000n]]), timeZone: 'UTC' }
    const above = (over: Partial<IntakeMessage> = {}) =>
      ledger.recordMessage(messageOf(accountId, refund('M', amount(10_001n)), { dailyLimits: limits, ...over }))

    test('is counted by a review: by direction and currency, good rows alone', async () => {
      const rows = [
        refund('A', amount(10_000n)),
        refund('B', amount(10_001n)),
        refund('C', amount(30_000n)),
        refund('D', amount(30_000n, USD)),
        sale('E', '7001', amount(20_000n)),
        refund('F', { operation: 'AUTH', ...amount(20_000n) }),
        faultyRow(7, 'G'),
      ]
      const { review } = await reviewOnly(ledger, headerOf(accountId, { dailyLimits: limits }), rows)
      expect(review.aboveLimit).toEqual([
        { direction: 'out', currency: 'EUR', limitMinor: 10_000n, rows: 2, firstLine: 3, largestMinor: 30_000n },
        { direction: 'in', currency: 'EUR', limitMinor: 10_000n, rows: 1, firstLine: 6, largestMinor: 20_000n },
      ])
      expect((await reviewOnly(ledger, headerOf(accountId), rows)).review.aboveLimit).toEqual([])
    })

    test('is refused as a message, by its code, unless it is meant; then it is sent alone on a day', async () => {
      expect(await above()).toEqual({
        kind: 'refused',
        reason:
          'above_limit: 100.01 EUR is above the limit of 100.00 EUR a day for refunds. If it is meant, hand it in again with accept: ["above_limit"]',
      })
      expect(await above({ accept: ['execute_at', 'above_limit'] })).toMatchObject({
        kind: 'refused',
        reason: expect.stringContaining('accept: execute_at is not asked about this instruction'),
      })
      const answer = await above({ accept: ['above_limit'] })
      expect(answer).toMatchObject({ kind: 'accepted' })
      const batchId = (answer as { batchId: BatchId }).batchId
      expect(await claimOf(batchId, 'M')).toBe('claimed')
      expect(await above()).toMatchObject({ kind: 'duplicate' })
    })
  })

  describe('applyLimits: on start', () => {
    const reached = async () => {
      const batchId = await submit(ledger, accountId, [refund('A', amount(9_000n)), refund('B', amount(8_000n))])
      await claimOf(batchId, 'A')
      await claimOf(batchId, 'B')
      expect(await dueNow(batchId, NOW)).toEqual([])
      return batchId
    }

    test.each([
      ['a higher limit', of(20_000n)],
      ['no limit', null],
      ['another time zone', { ...LIMITS, timeZone: 'UTC' }],
    ])('%s lets what waited go on now', async (_, limits) => {
      const batchId = await reached()
      await ledger.applyLimits(accountId, limits, NOW + 1)
      expect((await ledger.batch(batchId))?.limitReached).toBeNull()
      expect(await dueNow(batchId, NOW + 1)).toEqual(['B'])
      expect(await claimOf(batchId, 'B', NOW + 1, limits)).toBe(limits?.timeZone === 'UTC' ? 'not-free' : 'claimed')
    })

    test('the same limit leaves what waits for it, as does whatever ends rests that are too long', async () => {
      const batchId = await reached()
      expect(await ledger.endOverlongRests(NOW + 1, NOW + 1)).toBe(0)
      await ledger.applyLimits(accountId, LIMITS, NOW + 1)
      expect(await dueNow(batchId, NOW + 1)).toEqual([])
      expect((await ledger.batch(batchId))?.limitReached).not.toBeNull()
    })

    test('counts again what was sent without a limit in between', async () => {
      const batchId = await submit(ledger, accountId, [
        refund('A', amount(1_000n)),
        refund('B', amount(8_000n)),
        refund('C', amount(8_000n)),
      ])
      await claimOf(batchId, 'A')
      await claimNamed(ledger, batchId, 'B')
      await ledger.applyLimits(accountId, LIMITS, NOW)
      expect(await claimOf(batchId, 'C')).toBe('not-free')
    })
  })
}
