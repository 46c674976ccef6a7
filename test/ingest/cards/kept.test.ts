import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keptOfCard } from '../../../src/ingest/cards/kept.ts'
import { cardNumber, grouped, hasNumberInFront, masked } from './card-files.ts'

test('of a number the first six and the last four digits are kept, with as many signs as it has digits', () => {
  fc.assert(
    fc.property(cardNumber, fc.constantFrom('', ' ', '-', '\u00a0'), (number, sign) => {
      fc.pre(sign === '' || !hasNumberInFront(number))
      expect(keptOfCard('number', ` ${grouped(number, sign)} `)).toBe(masked(number))
    }),
  )
})

test.each([
  ['', ''],
  ['n/a', 'n/a'],
  ['411111******1111', '411111******1111'],
  ['4111 11** **** 1111', '411111******1111'],
  ['411111111111', '********1111'],
  ['12345678', '****5678'],
  ['1234567', '*******'],
  ['123', '***'],
  ['4111111111111111 123', '411111*************'],
  ['4111111111111112', '411111******1112'],
  ['4111111111111111 cvv', '****************'],
  ['4.11111E+15', '********'],
  ['４１１１１１１１１１１１１１１１', '****************'],
  ['ABCDEFGHIJKLMNOPQR', '*'],
])('of the bad number "%s" "%s" is kept', (written, kept) => {
  expect(keptOfCard('number', written)).toBe(kept)
})

test('of anything in the column of a number no more than ten digits are kept', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[\d xX*.-]{0,30}$/), (text) => {
      const kept = keptOfCard('number', text)
      expect(kept.replace(/\D/g, '').length).toBeLessThanOrEqual(10)
      const { length } = text.replace(/\D/g, '')
      if (length < 13 && !/[x*]/i.test(text)) expect(kept.replace(/\D/g, '').length).toBeLessThanOrEqual(4)
    }),
  )
})

test('of a code nothing is kept', () => {
  for (const code of ['123', '1234', 'n/a', '4111111111111111']) expect(keptOfCard('code', code)).toBe('')
})

test.each([
  ['expiry', '04/2031', '04/2031'],
  ['expiry', '1/20', '1/20'],
  ['expiry', '0431', '0431'],
  ['expiry', '123', '***'],
  ['expiry', '4111111111111111', '****************'],
  ['expiry', '04/2031 123', '*********'],
  ['month', '4', '4'],
  ['month', '123', '***'],
  ['year', '2031', '2031'],
  ['year', '123', '***'],
  ['year', '', ''],
] as const)('in the column of the %s "%s" is kept as "%s"', (part, written, kept) => {
  expect(keptOfCard(part, written)).toBe(kept)
})
