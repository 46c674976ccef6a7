import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseMoment } from '../../../src/domain/instant.ts'
import { isProblem } from '../../../src/domain/problem.ts'
import { parseGatewayId, parseXtlOrderId } from '../../../src/ingest/fields/identifier.ts'
import { parseReference, parseRunKey } from '../../../src/ingest/fields/reference.ts'
import { toXtlOrderId } from '../../../src/ingest/fields/xtl-order-id.ts'
import { codePoint } from '../../fixtures/code-points.ts'

const problemOf = (parsed: unknown) => (isProblem(parsed) ? parsed.problem : parsed)

describe('ids of the gateway', () => {
  test('are kept as written', () => {
    expect(parseGatewayId('000123')).toBe('000123')
    expect(parseGatewayId('1234567890123456')).toBe('1234567890123456')
    expect(parseGatewayId('100000000000000')).toBe('100000000000000')
  })

  test.each([
    ['1.23457E+12', 'was turned into a rounded number by a spreadsheet'],
    ['1,23457E12', 'was turned into a rounded number by a spreadsheet'],
    ['123.0', 'was turned into a decimal number by a spreadsheet'],
    ['1234567890123450', 'has only zeros after its 15th digit, as when a spreadsheet cut it off'],
    ['12345678901234500000', 'has only zeros after its 15th digit, as when a spreadsheet cut it off'],
    ['12a', 'is not digits only'],
    ["'123", "begins with an apostrophe, a spreadsheet's mark for text that was typed as a character"],
    ['12\u200b3', 'contains an invisible character (U+200B)'],
    ['12\u00ad3', 'contains an invisible character (U+00AD)'],
    ['12\u00a03', 'contains an invisible character (U+00A0)'],
    ['１２３', 'has digits that are not 0 to 9'],
    ['1O03', 'has the letter O where a zero seems to be meant'],
    ['1.234.567', 'has thousands separators, as when a spreadsheet took it for an amount'],
    ['1,23E+12', 'was turned into a rounded number by a spreadsheet'],
    ['123,', 'was turned into a decimal number by a spreadsheet'],
    ['=123', 'begins with a character that a spreadsheet takes for a formula, or with a control character'],
    ['-123', 'begins with a character that a spreadsheet takes for a formula, or with a control character'],
    ['000', 'is zero, which is no id'],
    ['1'.repeat(41), 'has more than 40 digits'],
  ])('%s: %s', (text, problem) => {
    expect(problemOf(parseGatewayId(text))).toBe(problem)
  })

  test('a damaged one says how to mend the column', () => {
    const damaged = parseGatewayId('1.23457E+12')
    expect(isProblem(damaged) && damaged.remedy).toContain('format the column as Text')
  })
})

test('a merchant order id is letters and digits', () => {
  expect(parseXtlOrderId('Inv42')).toBe('Inv42')
  for (const wrong of ['INV-42', 'a'.repeat(33), '=A1', 'ä']) expect(isProblem(parseXtlOrderId(wrong))).toBe(true)
})

describe('references', () => {
  test('are trimmed and NFC', () => {
    expect(parseReference('  Cafe\u0301 7 ')).toBe('Caf\u00e9 7')
  })

  test.each(['=1+1', '+4', '-4', '@x', 'a\u0000b', 'a\nb', 'a\u200bb', 'a\ufffdb', 'x'.repeat(201), '1.23457E+12'])(
    '%j is refused',
    (text) => {
      expect(isProblem(parseReference(text))).toBe(true)
    },
  )

  test('with characters that a person cannot see are refused, and so are all other identifiers', () => {
    const parsers = [parseReference, parseRunKey, parseGatewayId, parseXtlOrderId]
    const unseen = [
      ...[
        '\ufe0f',
        '\u3164',
        '\u034f',
        '\u17b4',
        '\u{e0100}',
        '\u2800',
        '\u115f',
        '\uffa0',
        '\u200d',
        '\u00ad',
        '\u180e',
      ],
      ...['\u00a0', '\u2007', '\u202f', '\u2003', '\u3000', '\u1680', '\u2028', '\u0085', '\ufeff', '\u{e0041}'],
      ...[
        '\ud800',
        '\udfff',
        '\ufffe',
        '\u{1fffe}',
        '\ue000',
        '\u{10fffd}',
        '\u0378',
        '\ufffc',
        '\u{1d159}',
        '\u{16fe4}',
      ],
    ]
    const taken = unseen.flatMap((one) =>
      parsers.filter((parse) => !isProblem(parse(`1${one}2`))).map(({ name }) => `${name} ${one.codePointAt(0)}`),
    )
    expect(taken).toEqual([])
  })

  test('of any living script are taken', () => {
    const texts = [
      'Rechnung 7',
      'Größe-ß',
      'Заказ №7',
      '注文書７',
      'הזמנה',
      'طلب',
      'คำสั่งซื้อ',
      'ক্রম',
      '€ 5',
      'a_b/c.d#1',
      '𝟟',
      '🧾7',
    ]
    for (const text of texts) expect(parseReference(text)).toBe(text.normalize('NFC'))
  })

  test('a code like 5E10 is a reference, not a rounded number', () => {
    expect(parseReference('5E10')).toBe('5E10')
  })

  test.each(['', '  ', '2026/12', '=x', 'a\nb', 'k'.repeat(65)])('the run key %j is refused', (text) => {
    expect(isProblem(parseRunKey(text))).toBe(true)
  })

  test('a run key is trimmed and NFC', () => {
    expect(parseRunKey(' 2026-12 ')).toBe('2026-12')
  })
})

describe('the order id that travels', () => {
  test('is the reference where the gateway takes it, else derived', () => {
    expect(toXtlOrderId('account', 'Inv42')).toBe('Inv42')
    expect(toXtlOrderId('account', '2026-12/Inv42')).toMatch(/^T[A-Z2-7]{19}$/)
  })

  test('is 1 to 32 letters and digits, the same only for the same account and reference', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: codePoint }),
        fc.string({ minLength: 1, unit: codePoint }),
        (account, reference) => {
          const id = toXtlOrderId(account, reference)
          expect(id).toMatch(/^[A-Za-z0-9]{1,32}$/)
          expect(toXtlOrderId(account, reference)).toBe(id)
          if (id !== reference) expect(toXtlOrderId(`${account}x`, reference)).not.toBe(id)
        },
      ),
    )
  })
})

describe('execute_at', () => {
  test.each([
    ['2026-12-01T09:00:00+01:00', '2026-12-01T08:00:00.000Z'],
    ['2026-12-01 09:00Z', '2026-12-01T09:00:00.000Z'],
    ['2028-02-29T23:59:59.1239-00:30', '2028-03-01T00:29:59.123Z'],
  ])('%s is %s', (text, moment) => {
    expect(parseMoment(text)).toBe(Date.parse(moment))
  })

  test('a time without an offset is refused with an example', () => {
    const parsed = parseMoment('2026-12-01T09:00:00')
    expect(isProblem(parsed) && `${parsed.remedy}`).toContain('+01:00')
  })

  test.each([
    '2026-02-29T09:00:00Z',
    '2026-13-01T09:00:00Z',
    '2026-04-31T09:00:00Z',
    '2026-12-01T24:00:00Z',
    '2026-12-01T09:60:00Z',
    '2026-12-01T09:00:60Z',
    '2026-12-01T09:00:00+15:00',
    '2026-12-01T09:00:00+01:75',
    '2026-12-01',
    '01.12.2026 09:00',
    'tomorrow',
  ])('%s is refused', (text) => {
    expect(isProblem(parseMoment(text))).toBe(true)
  })

  test('any moment written with any offset reads back', () => {
    const year2000 = Date.UTC(2000, 0, 1)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3e12 }), fc.integer({ min: -840, max: 840 }), (sinceMs, offsetMinutes) => {
        const atMs = year2000 + sinceMs
        const pad = (n: number) => String(n).padStart(2, '0')
        const size = Math.abs(offsetMinutes)
        const offset = `${offsetMinutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`
        const local = new Date(atMs + offsetMinutes * 60_000).toISOString().replace('Z', offset)
        expect(parseMoment(local)).toBe(atMs)
      }),
    )
  })
})
