// What an error says about the transaction that met it.

import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import {
  isDamage,
  isLost,
  isTaken,
  LostConnection,
  throwAsFault,
  UnsureCommit,
  whyNotWritten,
} from '../../../src/ledger/postgres/errors.ts'

function errorWith(code: string): DatabaseError {
  return Object.assign(new DatabaseError('said', 4, 'error'), { code })
}

test.each([
  ['08006', 'the way broke'],
  ['57P01', 'the server is shut down'],
  ['25P03', 'the transaction stood still'],
  ['28000', 'the role may not log in'],
  ['28P01', 'the password is another'],
  ['3D000', 'the database is not there'],
  ['53300', 'the server is full of connections'],
])('%s: %s, which is waited out as a lost connection', (code) => {
  expect([isLost(errorWith(code)), whyNotWritten(errorWith(code))]).toEqual([true, 'busy'])
})

test.each(['40001', '40P01', '55P03', '53200', '57014', '25006'])(
  '%s is waited out, and the connection stays',
  (code) => {
    expect([isLost(errorWith(code)), whyNotWritten(errorWith(code))]).toEqual([false, 'busy'])
  },
)

test('a full disk is told as one', () => {
  expect(whyNotWritten(errorWith('53100'))).toBe('full')
})

test('a server that lacks memory is told as a busy one, in its own words', () => {
  const lacking = Object.assign(new DatabaseError('out of memory', 4, 'error'), { code: '53200' })
  expect(() => throwAsFault(lacking)).toThrow(
    expect.objectContaining({
      code: 'unavailable',
      message: expect.stringContaining('(out of memory). Nothing was recorded'),
    }),
  )
})

test('what has no answer is lost, and a commit that a standby may not have is asked for again', () => {
  expect(isLost(new LostConnection(new Error('reset')))).toBe(true)
  expect([isLost(new UnsureCommit('x')), whyNotWritten(new UnsureCommit('x'))]).toEqual([false, 'busy'])
})

test('a bug is waited out by nobody', () => {
  for (const error of [errorWith('42601'), new TypeError('x')])
    expect([isLost(error), whyNotWritten(error), isDamage(error), isTaken(error)]).toEqual([false, null, false, false])
})

test('damage and a key that is taken are known', () => {
  expect([isDamage(errorWith('XX001')), isDamage(errorWith('58030')), isTaken(errorWith('23505'))]).toEqual([
    true,
    true,
    true,
  ])
})
