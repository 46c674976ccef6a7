import { expect, test } from 'vitest'
import { didYouMean, similarTo } from '../../src/domain/similar.ts'

const KNOWN = ['rate', 'in_flight', 'timeout_ms', 'currency']

test.each([
  ['rte', 'rate'],
  ['raet', 'rate'],
  ['Rate', 'rate'],
  ['in_fligth', 'in_flight'],
  ['timeout', null],
  ['x', null],
  ['', null],
])('of the known words, "%s" is near %s', (word, meant) => {
  expect(similarTo(word, KNOWN)).toBe(meant)
})

test('what is near is offered, and nothing else is', () => {
  expect([didYouMean('curency', KNOWN), didYouMean('password', KNOWN)]).toEqual([' (did you mean currency?)', ''])
})
