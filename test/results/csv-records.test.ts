// The records of results as CSV: what the library would write, whatever is in them.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toCsvRecords, toCsvText } from '../../src/results/formats.ts'
import { codePoint } from '../fixtures/code-points.ts'

const sign = fc.constantFrom(
  '"',
  ',',
  '\r',
  '\n',
  '\r\n',
  ';',
  '\t',
  '|',
  '\uFEFF',
  '\0',
  '\u2028',
  "'",
  ' ',
  'a',
  '😀',
)
const cell = fc.oneof(
  fc.array(sign, { maxLength: 5 }).map((signs) => signs.join('')),
  fc.string({ unit: codePoint }),
  fc.constantFrom('', '12.50', '2026-05-04T09:00:00.003Z', 'Zoë "Z" O’Neill, Ltd; Köln'),
)

test('records are written as the library writes them', () => {
  fc.assert(
    fc.property(fc.array(fc.array(cell, { maxLength: 4 }), { maxLength: 4 }), (records) => {
      expect(toCsvRecords(records)).toBe(toCsvText(records, false))
    }),
    { numRuns: 5000 },
  )
})

test.each([
  ['a,b', '"a,b"'],
  ['a "b"', '"a ""b"""'],
  ['a;=b', '"a;=b"'],
  ['a\tb', '"a\tb"'],
  ['a|b', '"a|b"'],
  ['a\rb', '"a\rb"'],
  ['a\nb', '"a\nb"'],
  ['\uFEFFa', '"\uFEFFa"'],
  ['a\uFEFF', 'a\uFEFF'],
  ['', ''],
])('%j is written %j', (cell, written) => {
  expect(toCsvRecords([['x', cell]])).toBe(`x,${written}\r\n`)
})
