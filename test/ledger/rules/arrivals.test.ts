// What a batch of messages took by the hour.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Currency, parseCurrency } from '../../../src/domain/money.ts'
import { arrivedSince, hourBefore, noteArrival } from '../../../src/ledger/rules/arrivals.ts'

const EUR = parseCurrency('EUR') as Currency
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

test('the last 24 hours have everything in them that came then, and nothing that came an hour before', () => {
  const arrivals = fc.array(
    fc.record({ atMs: fc.integer({ min: 0, max: 100 * HOUR_MS }), amountMinor: fc.bigInt(0n, 10n ** 15n) }),
    { minLength: 1, maxLength: 60 },
  )
  fc.assert(
    fc.property(arrivals, (unordered) => {
      const came = unordered.toSorted((one, other) => one.atMs - other.atMs)
      const nowMs = came.at(-1)!.atMs
      let noted: string | null = null
      for (const one of came) noted = noteArrival(noted, { ...one, operation: 'REFUND', currency: EUR })
      const sumFrom = (sinceMs: number) =>
        came.reduce((sum, { atMs, amountMinor }) => (atMs >= sinceMs ? sum + amountMinor : sum), 0n)
      const told = arrivedSince(noted, nowMs - DAY_MS).reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
      expect(told).toBe(sumFrom(hourBefore(nowMs - DAY_MS)))
      expect(Object.keys(JSON.parse(noted as string)).length).toBeLessThanOrEqual(26)
    }),
  )
})

test('a clock that is set back loses nothing of the hours that are kept', () => {
  const first = noteArrival(null, { atMs: 10 * HOUR_MS, operation: 'CAPTURE', currency: EUR, amountMinor: 5n })
  const second = noteArrival(first, { atMs: 9 * HOUR_MS, operation: 'CANCEL', currency: '', amountMinor: 0n })
  expect(arrivedSince(second, 9 * HOUR_MS)).toEqual([
    { operation: 'CANCEL', currency: '', amountMinor: 0n },
    { operation: 'CAPTURE', currency: 'EUR', amountMinor: 5n },
  ])
  expect(arrivedSince(null, 0)).toEqual([])
})
