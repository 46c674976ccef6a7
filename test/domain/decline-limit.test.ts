import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isOverLimit, noteAnswer, type RecentAnswers } from '../../src/domain/decline-limit.ts'

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
