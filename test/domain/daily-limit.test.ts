import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DailyLimits, directionOf, limitedBy } from '../../src/domain/daily-limit.ts'
import type { AccountId } from '../../src/domain/ids.ts'
import { dayOf } from '../../src/domain/instant.ts'
import type { Operation } from '../../src/domain/instruction.ts'
import type { Currency } from '../../src/domain/money.ts'
import { EUR, NOW, refund } from '../fixtures/ledgers.ts'

const HOUR_MS = 3_600_000
const iso = (ms: number) => new Date(ms).toISOString()
const dayIn = (zone: string, at: string) => {
  const { startsAtMs, endsAtMs } = dayOf(Date.parse(at), zone)
  return [iso(startsAtMs), iso(endsAtMs), (endsAtMs - startsAtMs) / HOUR_MS]
}

describe('a day', () => {
  test.each([
    ['UTC', '2026-12-31T23:59:59.999Z', '2026-12-31T00:00:00.000Z', '2027-01-01T00:00:00.000Z', 24],
    ['Europe/Berlin', '2026-05-04T22:00:00Z', '2026-05-04T22:00:00.000Z', '2026-05-05T22:00:00.000Z', 24],
    ['Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z', 23],
    ['Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z', 25],
    ['Asia/Kathmandu', '2026-05-04T18:14:59Z', '2026-05-03T18:15:00.000Z', '2026-05-04T18:15:00.000Z', 24],
    ['Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-23T22:00:00.000Z', '2026-04-24T21:00:00.000Z', 23], // it begins at one o'clock
    ['America/Havana', '2026-11-01T04:30:00Z', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z', 25], // its first hour comes twice
    ['Pacific/Apia', '2011-12-29T20:00:00Z', '2011-12-29T10:00:00.000Z', '2011-12-30T10:00:00.000Z', 24], // the 30th never came
  ])('of %s at %s', (zone, at, from, to, hours) => {
    expect(dayIn(zone, at)).toEqual([from, to, hours])
  })

  test('has its moments, and no other day has them', () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/Havana', 'Africa/Cairo', 'Australia/Lord_Howe', 'America/Nuuk']
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2030, 0) }),
        (zone, at) => {
          const { startsAtMs, endsAtMs } = dayOf(at, zone)
          expect([startsAtMs <= at, at < endsAtMs]).toEqual([true, true])
          expect(dayOf(endsAtMs, zone).startsAtMs).toBe(endsAtMs)
          expect(dayOf(startsAtMs - 1, zone).endsAtMs).toBe(startsAtMs)
        },
      ),
    )
  })
})

test('refunds leave, sales and captures come, and nothing else moves money', () => {
  const moves: readonly (readonly [Operation | '', string | null])[] = [
    ...([
      ['REFUND', 'out'],
      ['CAPTURE', 'in'],
      ['CAUTH', 'in'],
      ['AUTH', null],
      ['CANCEL', null],
    ] as const),
    ...([
      ['VAULT_CREATE', null],
      ['', null],
    ] as const),
  ]
  for (const [operation, direction] of moves) expect(directionOf(operation), operation).toBe(direction)
})

describe('what a claim counts', () => {
  const limits: DailyLimits = { amounts: new Map([[EUR, 5_000n]]), timeZone: 'UTC' }
  const accountId = 7 as AccountId

  test('is its amount, in the limit of its currency and on the day of the claim', () => {
    expect(limitedBy(limits, { accountId, instruction: refund('A', { amountMinor: 70n }) }, NOW)).toEqual({
      ...{ accountId, direction: 'out', currency: 'EUR', amountMinor: 70n, limitMinor: 5_000n, timeZone: 'UTC' },
      day: { startsAtMs: Date.UTC(2026, 4, 4), endsAtMs: Date.UTC(2026, 4, 5) },
    })
  })

  test.each([
    ['without limits', null, refund('A')],
    ['of another currency', limits, refund('A', { money: { amountMinor: 1n, currency: 'USD' as Currency } })],
    ['that moves no money', limits, refund('A', { operation: 'AUTH' })],
    ['without an amount', limits, refund('A', { operation: 'CANCEL', money: null })],
  ])('is nothing for one %s', (_, of, instruction) => {
    expect(limitedBy(of, { accountId, instruction }, NOW)).toBeNull()
  })
})
