import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  isOverLimit,
  noteAnswer,
  noteShortRefund,
  type RecentAnswers,
  type ShortRefunds,
  whyTooShort,
} from '../../src/domain/decline-limit.ts'

const after = (answers: readonly ('approved' | 'declined')[]): RecentAnswers => answers.reduce(noteAnswer, '')
const answers = fc.array(fc.constantFrom('approved' as const, 'declined' as const), { maxLength: 260 })

test('the share is over its limit once more of the last hundred were declined than it allows', () => {
  fc.assert(
    fc.property(answers, fc.integer({ min: 0, max: 99 }), (all, percent) => {
      const declined = all.slice(-100).filter((one) => one === 'declined').length
      expect(isOverLimit(after(all), percent)).toBe(declined > percent)
    }),
  )
})

test('what is kept never grows beyond the hundred that count', () => {
  fc.assert(fc.property(answers, (all) => after(all).length <= 100))
})

test('a limit of nothing is passed by the first decline, and by no approval', () => {
  expect(isOverLimit(after(['approved', 'approved']), 0)).toBe(false)
  expect(isOverLimit(after(['approved', 'declined']), 0)).toBe(true)
})

const shortAt = (since: number, ...numbers: readonly number[]) =>
  numbers.reduce<ShortRefunds>(noteShortRefund, { since, at: [] })

test.each([
  [[1, 2], 2, null],
  [[1, 2, 3], 3, '3 of the first 3 refunds'],
  [[4, 11, 20], 20, '3 of the first 20 refunds'],
  [[4, 11, 21], 21, null],
  [[1, 12, 23, 34, 45, 56, 67, 78, 89, 100], 100, '10 of the last 100 refunds'],
  [[1, 12, 23, 34, 45, 56, 67, 78, 89, 101], 101, null],
  [[21, 22, 23, 24, 25, 26, 27, 28, 29, 30], 30, '10 of the last 30 refunds'],
] as const)('refunds %j of the first %i that were declined for their balance: %s', (numbers, answered, why) => {
  expect(whyTooShort(shortAt(0, ...numbers), answered)).toBe(why)
  const later = numbers.map((number) => number + 30)
  expect(whyTooShort(shortAt(30, ...later), answered + 30)).toBe(why === null ? null : `${why} since it was resumed`)
})
