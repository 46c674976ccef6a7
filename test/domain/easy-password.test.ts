import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isEasyPassword } from '../../src/domain/easy-password.ts'

test.each(
  [
    'Password2026x footballfootball monkeymonkey12 Summer2026!! trustno1trustno1 qwertyuiop12 1q2w3e4r5t6y',
    'abcdefghijklmnop dragon123456 P@ssw0rd1234 changeme1234 zaq12wsxcde3 correcthorsebatterystaple',
    'passwordpassword 123456789012 aaaaaaaaaaaa welcome2026 qwertz123456 letmein!!!!! Winter-2026-Sommer',
  ].flatMap((line) => line.split(' ')),
)('%s is easy', (password) => {
  expect(isEasyPassword(password)).toBe(true)
})

test.each([
  'vorgartenzwerg-lila',
  'Kuh7Mond_Radio9',
  'q8#Lw2!vTz0p',
  'the ferry leaves at noon',
  '蓝色的马在月光下吃苹果派吗',
  'xkWq-Plm7-aTzR',
])('%s may be taken', (password) => expect(isEasyPassword(password)).toBe(false))

test('years, signs and capitals around an easy one leave it easy', () => {
  const around = fc.stringMatching(/^[0-9 !?#.-]{0,6}$/)
  fc.assert(
    fc.property(fc.constantFrom('football', 'Summer', 'PASSWORD'), around, around, (word, before, after) => {
      expect(isEasyPassword(`${before}${word}${after}${word}`)).toBe(true)
    }),
  )
})
