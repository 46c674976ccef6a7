import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { holdsPan, maskPans, passesLuhn } from '../../src/domain/pan.ts'

/** The numbers that the networks publish for tests. */
const TEST_NUMBERS = [
  '4111111111111111',
  '4012888888881881',
  '4222222222222',
  '5555555555554444',
  '5105105105105100',
  '2223003122003222',
  '378282246310005',
  '371449635398431',
  '30569309025904',
  '38520000023237',
  '6011111111111117',
  '6011000990139424',
  '3530111333300000',
  '3566002020360505',
  '6200000000000005',
  '6759649826438453',
]

/** First six and last four as they are, zeros between. */
function masked(pan: string): string {
  return pan.slice(0, 6) + '0'.repeat(pan.length - 10) + pan.slice(-4)
}

function grouped(pan: string, sign: string): string {
  return pan.replace(/(.{4})(?=.)/g, `$1${sign}`)
}

describe('known test numbers', () => {
  test.each(TEST_NUMBERS)('%s is found and masked, plain, spaced and dashed, in any text', (pan) => {
    for (const written of [pan, grouped(pan, ' '), grouped(pan, '-')]) {
      for (const [before, after] of [
        ['', ''],
        ['card ', ' declined'],
        ['"', '"'],
        ['x', 'y'],
        ['=', '&'],
        ['(', ')'],
        ['', '.'],
      ] as const) {
        expect(holdsPan(before + written + after)).toBe(true)
        expect(maskPans(before + written + after)).toBe(before + masked(pan) + after)
      }
    }
  })

  test.each(['\u00a0', '\u2007', '\u2009', '\u202f', '\u2010', '\u2011', '\u2013', '\u2212'])(
    'parted by %j, as it comes out of a document, it is found and masked',
    (separator) => {
      const text = `card ${['4111', '1111', '1111', '1111'].join(separator)} of May`
      expect(holdsPan(text)).toBe(true)
      expect(maskPans(text)).toBe('card 4111110000001111 of May')
    },
  )

  test.each(TEST_NUMBERS)('%s with one digit changed is none', (pan) => {
    const last = (Number(pan.at(-1)) + 1) % 10
    expect(holdsPan(pan.slice(0, -1) + last)).toBe(false)
  })

  test('several in one text are all masked', () => {
    for (const between of [', ', ' ', '\n']) {
      const [one, other] = ['4111111111111111', '378282246310005']
      expect(maskPans(one + between + other)).toBe(masked(one) + between + masked(other))
    }
  })

  describe('beside other digits', () => {
    test.each([
      '4111111111111111 123',
      '4111111111111111 12/28',
      '4111 1111 1111 1111 12/2028',
      '777 4111111111111111',
      '12-4111111111111111',
    ])('%s holds a card number', (text) => {
      expect(holdsPan(text)).toBe(true)
    })

    test('a card number behind a full stop is one', () => {
      expect(holdsPan('Card No.4111111111111111')).toBe(true)
    })
  })
})

/** A second and its thousand milliseconds. */
const TIMES_MS = Array.from({ length: 1_000 }, (_, i) => 1_763_600_000_000 + i)

describe('what is no card number', () => {
  test('times in milliseconds are not, though one in ten passes the check digit', () => {
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(2001, 8, 10), max: Date.UTC(2096, 0, 1) }), (ms) => {
        expect(holdsPan(`"ts":${ms}`)).toBe(false)
      }),
    )
    expect(TIMES_MS.filter((ms) => passesLuhn(String(ms)))).toHaveLength(100)
  })

  test.each([
    '',
    '411111111111',
    '41111111111111111111',
    '0000000000000000',
    '1234567890123456',
    '12.4111111111111111',
  ])('%j is none', (text) => {
    expect(holdsPan(text)).toBe(false)
    expect(maskPans(text)).toBe(text)
  })
})

describe('the mask', () => {
  const pan = fc.constantFrom(...TEST_NUMBERS)

  test('leaves JSON that can be read, and every other value as it was', () => {
    const other = fc.stringMatching(/^[a-z ,:{}]{0,20}$/)
    fc.assert(
      fc.property(pan, other, other, (number, before, after) => {
        const json = `{"before":${JSON.stringify(before)},"number":${number},"list":[${number},1],"text":"${number}","after":${JSON.stringify(after)}}`
        expect(JSON.parse(maskPans(json))).toEqual({
          before,
          number: Number(masked(number)),
          list: [Number(masked(number)), 1],
          text: masked(number),
          after,
        })
      }),
    )
  })

  test('never leaves the middle of a number that was found', () => {
    const telling = pan.filter((number) => masked(number) !== number)
    const noise = fc.stringMatching(/^[^0-9.-]*[a-z]$/)
    fc.assert(
      fc.property(telling, noise, noise, (number, before, after) => {
        expect(maskPans(`${before}${number}${after}`)).not.toContain(number)
      }),
    )
  })

  test('leaves text without card numbers as it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        if (!holdsPan(text)) expect(maskPans(text)).toBe(text)
      }),
    )
  })
})

// Looking from every digit to every other one took hours: a test that does not end has failed.
test('a long run of parted digits is looked through to its end', () => {
  expect(holdsPan('4 '.repeat(16_000))).toBe(false)
  expect(maskPans('4-'.repeat(16_000))).toHaveLength(32_000)
})

test.each([1_500, 60_000])('%i card numbers in one run are all masked', (count) => {
  const pan = '4111111111111111'
  const run = (number: string) => Array.from({ length: count }, () => number).join(' ')
  expect(maskPans(run(pan))).toBe(run(masked(pan)))
})
