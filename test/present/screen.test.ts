// What a line becomes on a screen: wrapped at words, moments with local time, statuses in colour.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inColour, toScreen, wrap } from '../../src/present/screen.ts'

const plain = { columns: 80, coloured: false, localTime: null }

test('a long line is wrapped at words, and goes on where it began', () => {
  const line = '  Only if every one of them is meant, add --allow-lookalikes 390 to the same command.'
  expect(wrap(line, 40)).toEqual([
    '  Only if every one of them is meant,',
    '  add --allow-lookalikes 390 to the same',
    '  command.',
  ])
})

test('a command on a line of its own is broken so that a shell reads on when it is pasted', () => {
  expect(wrap('  $ tranche run refunds.csv --operation REFUND --out refunds.results.csv', 50)).toEqual([
    '  $ tranche run refunds.csv --operation REFUND \\',
    '      --out refunds.results.csv',
  ])
})

test('an option, a path or an id is never broken, however narrow the screen is', () => {
  const word = fc.stringMatching(/^[-\w/.…×]{1,60}$/)
  const line = fc.tuple(fc.nat(4), fc.array(fc.tuple(word, fc.integer({ min: 1, max: 5 })), { maxLength: 12 }))
  fc.assert(
    fc.property(line, fc.integer({ min: 20, max: 100 }), ([indent, words], columns) => {
      const text = ' '.repeat(indent) + words.map(([one, blanks]) => one + ' '.repeat(blanks)).join('')
      const lines = wrap(text, columns)
      expect(lines.flatMap((shown) => shown.split(/ +/).filter((one) => one !== ''))).toEqual(words.map(([one]) => one))
      for (const shown of lines)
        if (text.length > columns && shown.trim().includes(' ')) expect(shown.length).toBeLessThanOrEqual(columns)
    }),
  )
})

test('what fits stays as it is, and so does everything where the width is not known', () => {
  for (const [line, columns] of [
    ['a  b   c ', 9],
    ['x '.repeat(100), null],
    ['', 20],
  ] as const)
    expect(wrap(line, columns)).toEqual([line])
})

test('a moment has the local time beside it', () => {
  const localTime = (atMs: number) => new Date(atMs + 3_600_000).toISOString().slice(11, 19)
  expect(toScreen('nothing is sent until 2026-11-21T20:24:53.000Z, then', { ...plain, localTime })).toEqual([
    'nothing is sent until 2026-11-21T20:24:53.000Z (21:24:53 here), then',
  ])
})

test.each([
  ['20 rows are IN DOUBT: look', '20 rows are <31>IN DOUBT</>: look'],
  ['  CAPTURE  IN_DOUBT  20', '  CAPTURE  <31>IN_DOUBT</>  20'],
  [
    '12 in doubt · 613 ok · 6 decl. · 1 failed',
    '<31>12 in doubt</> · <32>613 ok</> · <33>6 decl.</> · <31>1 failed</>',
  ],
  ['4 approved, 1 declined, 55 pending', '<32>4 approved</>, <33>1 declined</>, <33>55 pending</>'],
  ['Batch 261121-a: stopped (401)', 'Batch 261121-a: <31>stopped</> (401)'],
  ['25.21 in doubt', '25.21 in doubt'],
  ['No row is in doubt.', 'No row is in doubt.'],
  ['0 in doubt', '0 in doubt'],
])('%s', (line, coloured) => {
  const marked = [31, 32, 33].reduce(
    (text, code) => text.replaceAll(`\u001b[${code}m`, `<${code}>`),
    inColour(line).replaceAll('\u001b[39m', '</>'),
  )
  expect(marked).toBe(coloured)
})
