import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shortUsername } from '../../src/domain/username.ts'

test.each([
  ['shop', 's…'],
  ['ab', '…'],
  ['merchant', 'me…'],
  ['merchant-one', 'merc…ne'],
  ['live_4f9a3b77e01c', 'live…1c'],
])('%s is told as %s', (username, told) => {
  expect(shortUsername(username)).toBe(told)
})

test('half of a username is never told', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (username) => {
      expect([...shortUsername(username)].length - 1).toBeLessThanOrEqual([...username].length / 2)
    }),
  )
})
