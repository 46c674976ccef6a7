// What a person may say of a row in doubt.

import { expect, test } from 'vitest'
import { transactionIdProblem } from '../../src/domain/resolution.ts'

test.each(['99', '0099', '7'.padStart(40, '0')])(
  'a transaction id is its digits, with zeros in front or without: %s',
  (id) => {
    expect(transactionIdProblem(id, 'approved')).toBeNull()
    expect(transactionIdProblem(id, 'not-executed')).not.toBeNull()
  },
)

test.each(['', '0', '0000', '12x', '-99', '1e5', '99 ', '1'.repeat(41), '٣'])('and nothing else: %j', (id) => {
  expect(transactionIdProblem(id, 'approved')?.problem).toBe('it is not a transaction id')
})
