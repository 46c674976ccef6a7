// When a declined charge may be asked for once more, and under which reference.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { REASON_CATEGORIES } from '../../src/domain/reason-categories.ts'
import {
  type CardEvent,
  NETWORK_RULES,
  nextReference,
  PASSING,
  parsePassing,
  whyNotAsked,
} from '../../src/domain/reattempt.ts'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 10, 20)
const ASKED = { categories: ['funds', 'technical'] as const, reasonRules: [] }

const declines = (count: number, atMs: number, reason = 'Insufficient funds'): CardEvent[] =>
  Array.from({ length: count }, () => ({ kind: 'declined', atMs, reason, byPerson: 0 }))
const why = (reason: string | null, events: readonly CardEvent[] = [], tries = 0) =>
  whyNotAsked({ nowMs: NOW, declined: reason === null ? null : { atMs: NOW - DAY_MS, reason }, events, tries }, ASKED)

describe('a declined charge', () => {
  test.each([
    ['Insufficient funds', null],
    ['Issuer unavailable', null],
    ['Do not honor', 'other'],
    ['Expired card', 'card'],
    ['Stolen card', 'fraud'],
    ['Invalid amount', 'data'],
    ['funds', null], // what a purge left
    ['fraud', 'fraud'],
  ])('for "%s" is not asked for because of: %s', (reason, found) => {
    expect(why(reason)).toBe(found)
  })

  test('is not asked for once any charge of its card was declined for fraud', () => {
    expect(why('Insufficient funds', declines(1, NOW - 9 * DAY_MS, 'Lost or stolen'))).toBe('fraud')
  })

  test.each(NETWORK_RULES.map(({ network, declines, days }) => [network, declines, days] as const))(
    'is left after the declines that %s allows: %i in %i days',
    (_, most, days) => {
      const longAgo = NOW - days * DAY_MS
      expect(why('Insufficient funds', declines(most, longAgo + 1))).toBe('limit')
      expect(why('Insufficient funds', declines(Math.min(most, 9) - 1, longAgo + 1), 1)).toBeNull()
      expect(why('Insufficient funds', declines(most - 1, longAgo + 1), 1)).toBe('limit')
    },
  )

  test('has none of the declines of the card that was in its place', () => {
    const replaced: CardEvent = { kind: 'replaced', atMs: NOW - 3_600_000, reason: null, byPerson: 0 }
    const before = [...declines(40, NOW - DAY_MS), ...declines(1, NOW - DAY_MS, 'Stolen card')]
    expect(why('Stolen card', [...before, replaced])).toBeNull()
    expect(why('Stolen card', [...before, replaced, ...declines(1, NOW - 60_000, 'Stolen card')])).toBe('fraud')
    expect(why(null)).toBeNull()
  })

  test('is not read for fraud in the words of a person, and counts all the same', () => {
    const found = (count: number) => declines(count, NOW - 1, 'reported lost').map((one) => ({ ...one, byPerson: 1 }))
    expect(why(null, declines(1, NOW - 1, 'reported lost'))).toBe('fraud')
    expect(why(null, found(9))).toBeNull()
    expect(why(null, found(10))).toBe('limit')
  })

  test('is never asked for because of a reason that was not named or does not pass', () => {
    fc.assert(
      fc.property(fc.constantFrom(...REASON_CATEGORIES), fc.subarray([...PASSING]), (category, categories) => {
        const card = { nowMs: NOW, declined: { atMs: NOW - 1, reason: category }, events: [], tries: 0 }
        const isNamed = categories.some((asked) => asked === category)
        expect(whyNotAsked(card, { categories, reasonRules: [] })).toBe(isNamed ? null : category)
        if (isNamed) expect(parsePassing(category)).toBe(category)
      }),
    )
  })
})

test('each attempt has the reference of the first and its own number', () => {
  expect(nextReference('2026-11/sub-7', '2026-11/sub-7')).toBe('2026-11/sub-7~2')
  expect(nextReference('2026-11/sub-7~2', '2026-11/sub-7')).toBe('2026-11/sub-7~3')
  expect(nextReference('a~9~10', 'a~9')).toBe('a~9~11')
})
