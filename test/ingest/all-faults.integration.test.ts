// What is wrong with a file as a whole is told in one round.

import { expect, test } from 'vitest'
import { refusalOf } from './table.ts'

const REFUND = { operation: 'REFUND' } as const

test('a card number, amounts of two ways and two decimal signs are told together, the card number first', async () => {
  const rows = ['-5,00;1001;x', '6.50;1002;4111111111111111', '7,50;1003;y']
  const fault = await refusalOf(['amount;order_id;note', ...rows, ''].join('\n'), REFUND)
  expect([fault.code, fault.problem]).toEqual(['card-data', expect.stringContaining('card number')])
  expect(fault.remedy).toMatch(/\. Also \(line 3\): amounts with a minus.*mixed with amounts without/)
  expect(fault.remedy).toMatch(/\. Also \(line 1\): the file has no column request_currency/)
  expect(fault.remedy).toMatch(/\. Also \(line 4\): line 3 writes decimals with a point and line 4 with a comma/)
})
