// What was found out about earlier texts is what would be found out again.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { categoryOfRow } from '../../src/domain/reason-categories.ts'
import { STATES } from '../../src/domain/states.ts'
import { categoriesBy, remembering } from '../../src/results/remembered.ts'

const reason = fc.oneof(
  fc.constantFrom(null, '', 'Insufficient funds.', 'Konto gesperrt', 'expired card', 'x'.repeat(3_000)),
  fc.string({ maxLength: 3 }),
)

test('the answers are those of the function, however many texts there were', () => {
  fc.assert(
    fc.property(fc.array(reason, { minLength: 300, maxLength: 700 }), (texts) => {
      const twice = (text: string | null) => `${text}${text}`
      expect(texts.map(remembering(twice))).toEqual(texts.map(twice))
    }),
    { numRuns: 50 },
  )
})

test('a text that comes again is asked about once, and a long one each time', () => {
  const asked: (string | null)[] = []
  const lengthOf = remembering((text) => {
    asked.push(text)
    return text?.length ?? -1
  })
  const long = 'x'.repeat(2_001)
  expect(['', 'a', '', 'a', null, long, long].map(lengthOf)).toEqual([0, 1, 0, 1, -1, 2_001, 2_001])
  expect(asked).toEqual([null, '', 'a', long, long])
})

test('a row has the category that its own reason, state and purge give it, whatever rows came before it', () => {
  const rules = [{ match: 'Konto', category: 'card' as const }]
  const row = fc.record({
    state: fc.constantFrom(...STATES),
    reason,
    categoryKept: fc.constantFrom(null, 'fraud' as const, 'data' as const),
  })
  fc.assert(
    fc.property(fc.array(row, { maxLength: 30 }), (rows) => {
      expect(rows.map(categoriesBy(rules))).toEqual(rows.map((one) => categoryOfRow(one, rules)))
    }),
    { numRuns: 500 },
  )
})
