// The guard against formula injection: what it touches, what it never touches, and that it can be undone.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { guardCell, unguardCell } from '../../src/domain/formula-guard.ts'
import { toCsvText } from '../../src/results/formats.ts'
import { codePoint } from '../fixtures/code-points.ts'
import { cellsOf, couldRun, couldRunElsewhere, FORMULAS, SEPARATORS } from '../fixtures/formulas.ts'
import { tries } from '../fixtures/tries.ts'

/** Texts that are likely to begin dangerously. */
const cells = fc
  .tuple(
    fc.string({ unit: fc.constantFrom("'", ' ', '\t', '\r', '\n', '\0', '\u00A0', '\uFEFF', '\u200B'), maxLength: 3 }),
    fc.constantFrom('', '=', '+', '-', '@', '＝', '＋', '－', '＠'),
    fc.oneof(fc.string({ unit: codePoint }), fc.constantFrom('1', '12.50', '1+1', '')),
  )
  .map((parts) => parts.join(''))

describe('a cell that a spreadsheet could run gets one apostrophe', () => {
  test.each([
    '=1+1',
    '+SUM(A1)',
    '-A1',
    '@A1',
    '\rx',
    '\nx',
    '\0x',
    '＝1',
    '＋1',
    '－1',
    '＠x',
    '  =1',
    '\u00A0=1',
    '\uFEFF=1',
    '-',
    '+1-2',
    '-1e5',
    '-5 EUR',
    '＋12',
  ])('%j', (cell) => {
    expect(guardCell(cell)).toBe(`'${cell}`)
  })
})

test('every formula of the list gets it that has its danger in front', () => {
  const inFront = FORMULAS.filter(([, cell]) => couldRun(cell))
  expect(inFront.length).toBeGreaterThan(20)
  for (const [what, cell] of inFront) expect(guardCell(cell).startsWith(`'${cell.charAt(0)}`), what).toBe(true)
  for (const [what, cell] of FORMULAS) expect(couldRun(guardCell(cell)), what).toBe(false)
})

describe('a piece that another spreadsheet takes for a cell gets an apostrophe of its own', () => {
  test.each([
    ['thanks;=6*7;bye', "thanks;'=6*7;bye"],
    ['x\t=1', "x\t'=1"],
    ['\t=1', "'\t'=1"],
    ['x|@SUM(1)', "x|'@SUM(1)"],
    ['x\n=1', "x\n'=1"],
    ['x\r\n-cmd', "x\r\n'-cmd"],
    ['x; \u00A0=1', "x;' \u00A0=1"],
    ['x;"=1"', `x;'"=1"`],
    ['=1;=2', "'=1;'=2"],
    ["x;'=1", "x;''=1"],
    ['x;-5|+cmd', "x;'-5|'+cmd"],
    ['x\n-5;y', "x\n'-5;y"],
    ['-5;x', "'-5;x"],
  ])('%j is written %j', (cell, guarded) => {
    expect(guardCell(cell)).toBe(guarded)
    expect(unguardCell(guarded)).toBe(cell)
  })

  test.each([
    ...[
      'a;b',
      'a; b - c',
      'Rabatt; -5.00',
      'x;-5;y',
      'tel.; +49 30 123',
      'x\n-5\ny',
      'x\n12;-5.00',
      'a, -b',
      'a,=b',
      'x,-y;z',
      'a;b=c',
    ],
  ])('%j is written as it is', (cell) => {
    expect(guardCell(cell)).toBe(cell)
  })
})

describe('a cell that no spreadsheet runs is left as it is', () => {
  test.each(['', ' ', 'x', 'a=b', "O'Neil", "'t Hooft", '12.50', 'ord-1', '1=1', '#=1'])('%j', (cell) => {
    expect(guardCell(cell)).toBe(cell)
  })
})

describe('a plain number is never altered, whatever its sign', () => {
  test.each([
    '-12.50',
    '+12.50',
    '-1,234.50',
    '-1.234,50',
    '-.5',
    '-5.',
    "-1'234.50",
    '-1 234,50',
    ' -12.50 ',
    '+41446681800',
  ])('%j', (cell) => {
    expect(guardCell(cell)).toBe(cell)
  })

  test('in any notation: signs, groups of any size and separator, decimals by point or comma', () => {
    const digits = fc.bigInt({ min: 0n, max: 10n ** 20n }).map(String)
    const separator = fc.constantFrom('.', ',', "'", '’', ' ', '\u00A0', '\u2009', '\u202F')
    const notation = fc.record({
      before: fc.constantFrom('', ' ', '\u00A0'),
      sign: fc.constantFrom('', '+', '-'),
      first: digits,
      groups: fc.array(
        fc.tuple(separator, digits).map((parts) => parts.join('')),
        { maxLength: 4 },
      ),
      decimals: fc.option(fc.tuple(fc.constantFrom('.', ','), digits).map((parts) => parts.join(''))),
      after: fc.constantFrom('', ' ', '\u00A0', '.', ','),
    })
    fc.assert(
      fc.property(notation, ({ before, sign, first, groups, decimals, after }) => {
        const number = [before, sign, first, ...groups, decimals ?? '', after].join('')
        expect(guardCell(number)).toBe(number)
        expect(unguardCell(number)).toBe(number)
      }),
      { numRuns: 1000 },
    )
  })
})

test('a guarded cell begins with nothing dangerous, unless it is a plain number', () => {
  fc.assert(
    fc.property(cells, (cell) => {
      const guarded = guardCell(cell)
      // Whatever cannot be seen in front of it: digits and separators name no cell and no function.
      const looksLikeNumber = /^[\s\0\uFEFF\u200B]*[+-][\d.,'\s]+$/.test(guarded)
      expect(looksLikeNumber || !/^[\s\0\uFEFF\u200B]*[=+\-@＝＋－＠]|^[\t\r\n\0]/.test(guarded)).toBe(true)
    }),
    { numRuns: 1000 },
  )
})

const pieces = fc
  .array(
    fc.oneof(
      fc.constantFrom(...';\t|\r\n=+-@\'" ,\0\u00A0\uFEFF＝\u2212'),
      fc.constantFrom('1', '12.50', '-5', "'=", 'x', '1+1'),
      fc.string({ unit: codePoint, maxLength: 2 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

test('the guard adds apostrophes only, and taking them away gives the cell back', () => {
  fc.assert(
    fc.property(fc.oneof(cells, pieces), (cell) => {
      const guarded = guardCell(cell)
      expect(guarded.replaceAll("'", '')).toBe(cell.replaceAll("'", ''))
      expect(unguardCell(guarded)).toBe(cell)
    }),
    { numRuns: tries(20_000) },
  )
})

test('a cell without a separator gets at most one', () => {
  fc.assert(
    fc.property(fc.oneof(cells, pieces), (cell) => {
      fc.pre(!/[;\t|\r\n]/.test(cell))
      expect([cell, `'${cell}`]).toContain(guardCell(cell))
    }),
    { numRuns: 1000 },
  )
})

test('no spreadsheet runs a guarded cell, whichever separator it goes by', () => {
  fc.assert(
    fc.property(fc.array(pieces, { minLength: 1, maxLength: 4 }), (line) => {
      const file = toCsvText(
        [
          ['R-1', ...line.map(guardCell), 'APPROVED'],
          ['R-2', 'x'],
        ],
        false,
      )
      expect(cellsOf(file).filter(couldRun)).toEqual([])
      for (const separators of SEPARATORS) expect(cellsOf(file, separators).filter(couldRunElsewhere)).toEqual([])
    }),
    { numRuns: tries(5000) },
  )
})

test('a number behind a blank cell is guarded where a spreadsheet may take more for blank', () => {
  expect(guardCell(';\t-5\t1+1')).toBe(";\t'-5\t1+1")
  expect(guardCell(';\n \t-5\t1')).toBe(";\n \t'-5\t1")
  expect(guardCell('x\t-5\t1')).toBe('x\t-5\t1')
  expect(guardCell(';-5;1')).toBe(';-5;1')
  expect(guardCell(' \n-5\rx')).toBe(" \n'-5\rx")
  expect(guardCell(' \n-5')).toBe(' \n-5')
})

test('a cell that looks guarded gets an apostrophe of its own and reads back whole', () => {
  expect(guardCell("'=1")).toBe("''=1")
  expect(unguardCell("''=1")).toBe("'=1")
  expect(unguardCell("'tis")).toBe("'tis")
})
