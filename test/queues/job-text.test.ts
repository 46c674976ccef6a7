import fc from 'fast-check'
import { expect, test } from 'vitest'
import { whyUnread } from '../../src/queues/job-text.ts'

test('whatever JSON.stringify writes can be read', () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => whyUnread(JSON.stringify(value)) === null))
})

test.each([
  ['{"amount":"1.00","amount":"100.00"}'],
  ['{"amount":"1.00","\\u0061mount":"100.00"}'],
  ['{"a":{"b":1,"b":2}}'],
  ['[{"x":1},{"x":1,"x":1}]'],
  ['{"__proto__":1,"__proto__":2}'],
])('two values under one name are not read: %s', (text) => {
  expect(whyUnread(text)).toMatch(/^names a field twice/)
})

test.each([
  ['{"a":"\\"b\\":1","c":"\\\\"}'],
  ['{"a" : 1, "b"\n:\t2}'],
  ['{"__proto__":{"x":1}}'],
  ['"text: \\":\\""'],
  ['null'],
])('strings and blanks make no names: %s', (text) => {
  expect(whyUnread(text)).toBeNull()
})

test.each([[''], ['{'], ['undefined'], ['{"a":1}{'], ["{'a':1}"], ['NaN'], ['\u0000']])(
  'what is no JSON is not read: %j',
  (text) => {
    expect(whyUnread(text)).toBe('is not JSON')
  },
)

test('what is too large is not parsed, and depth is no danger', () => {
  expect(whyUnread(`"${'x'.repeat(4 * 1024 * 1024)}"`)).toMatch(/more than 4,194,304 characters/)
  expect(whyUnread('['.repeat(1_000_000) + ']'.repeat(1_000_000))).toBeNull()
})
