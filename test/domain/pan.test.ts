import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { passesLuhn } from '../../src/domain/card-number.ts'
import { holdsPan, maskPans, mayHoldPan } from '../../src/domain/pan.ts'
import { candidatesIn, lookAt, type Meter } from '../../src/domain/pan-candidates.ts'
import { cardOf, ISSUED, OTHERS, seeded, WRITINGS } from '../fixtures/numbers.ts'
import { tries } from '../fixtures/tries.ts'

/** The numbers that the networks publish for tests. */
const TEST_NUMBERS = [
  '4111111111111111',
  '4012888888881881',
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

/** Every brand, beginning and length that is long enough to be sure. */
const CERTAIN = ISSUED.filter(({ length }) => length >= 14)

describe('every brand in every length', () => {
  test.each(WRITINGS)('%s is found, and no mask leaves it', (_, write) => {
    const below = seeded(7)
    for (const issuer of [...CERTAIN, ...CERTAIN, ...CERTAIN]) {
      const text = write(cardOf(issuer, below))
      expect(holdsPan(text), `${issuer.brand}: ${text}`).toBe(true)
      expect(holdsPan(`Ref ${text}, paid`), `${issuer.brand}: ${text} in a sentence`).toBe(true)
      const once = maskPans(text)
      expect(once.replace(/\D/g, ''), `${issuer.brand}: ${text}`).not.toContain(cardDigits(text))
      expect(maskPans(once)).toBe(once)
    }
  })

  test('of 12 or 13 digits may be one, and is masked', () => {
    const below = seeded(8)
    for (const issuer of ISSUED.filter(({ length }) => length < 14)) {
      let pan = cardOf(issuer, below)
      while (isArticleNumber(pan)) pan = cardOf(issuer, below)
      for (const text of [pan, `no ${pan}.`, grouped(pan, ' '), [...pan].join('-')]) {
        expect(holdsPan(text)).toBe(false)
        expect(candidatesIn(text).filter(({ fits }) => fits)).toMatchObject([{ writing: 'short', digits: pan }])
        expect(maskPans(text)).toContain(masked(pan))
      }
    }
  })
})

/** The digits of a number that has at least 14 of them one behind the other; else something that no text holds. */
function cardDigits(text: string): string {
  const digits = text.replace(/\D/g, '')
  return digits.length > 13 ? digits.slice(0, 14) : 'x'
}

function isArticleNumber(digits: string): boolean {
  const sum = [...digits].toReversed().reduce((all, digit, i) => all + Number(digit) * (i % 2 === 1 ? 3 : 1), 0)
  return sum % 10 === 0
}

describe('everyday numbers', () => {
  /** What may be a card number is masked; alone it refuses nothing. */
  const doubtful = ['phone without a plus', 'Shopify id (13 digits)', 'two ids of 8 digits']

  test.each(OTHERS)('%s: none of 5,000 is a card number', (name, make) => {
    const below = seeded(9)
    const texts = Array.from({ length: 5_000 }, () => make(below))
    expect(texts.filter(holdsPan)).toEqual([])
    if (!doubtful.includes(name)) expect(texts.filter((text) => maskPans(text) !== text)).toEqual([])
  })

  test.each([
    ['+4111111111111111', 'has more digits than a phone number'],
    ['1+4111111111111111', 'is a sum'],
    ['card=4111+1111+1111+1111', 'has plus signs between its groups'],
    ['+378282246310005', 'is longer than the phone numbers of Estonia, Latvia and their neighbours'],
    ['abc4111111111111111def', 'is between letters that digits of base 16 are written with'],
  ])('%s is a card number: it %s', (text) => {
    expect(holdsPan(text)).toBe(true)
  })

  test('an IBAN has check digits that fit: else its groups may be those of a card number', () => {
    expect(mayHoldPan('DE88 4111 1111 1111 1111 11')).toBe(true)
    expect(mayHoldPan('DE89 4111 1111 1111 1111 11')).toBe(false)
  })

  test('a UUID has a letter: else its groups may be those of a card number', () => {
    expect(mayHoldPan('41111111-1111-1111-1111-111111111111')).toBe(true)
    expect(mayHoldPan('41111111-1111-1111-1111-11111111111a')).toBe(false)
  })

  test('are found to be none beside a card number that is found', () => {
    const below = seeded(10)
    for (const [name, make] of OTHERS) {
      const text = `${make(below)}; 4111 1111 1111 1111; ${make(below)}`
      expect(holdsPan(text), name).toBe(true)
      expect(maskPans(text)).toContain('; 4111110000001111; ')
    }
  })
})

describe('odd groups', () => {
  test.each([
    '4111 1111 11111111',
    '41111111 11111111',
    '7001 4111 1111 1111 1111',
    '4111 1111 1111 1111 12 34 56 78',
    '4111-11111111-1111',
  ])('%s may be a card number, and is masked', (text) => {
    expect(holdsPan(text)).toBe(false)
    expect(mayHoldPan(text)).toBe(true)
    expect(maskPans(text)).toContain('4111110000001111')
  })

  test('are not made of a number that is found by itself', () => {
    expect(candidatesIn('4111 1111 1111 1111')).toHaveLength(1)
    expect(candidatesIn('12 4111111111111111 34')).toHaveLength(1)
  })

  test('what does not fit is told as well: it says what its column is', () => {
    expect(candidatesIn('4111111111111112')).toMatchObject([{ writing: 'piece', fits: false }])
    expect(holdsPan('4111111111111112')).toBe(false)
    expect(maskPans('4111111111111112')).toBe('4111111111111112')
  })
})

describe('masks of any text', () => {
  const pan = fc.tuple(fc.constantFrom(...CERTAIN), fc.nat()).map(([issuer, seed]) => cardOf(issuer, seeded(seed)))
  const written = fc.tuple(pan, fc.constantFrom(...WRITINGS)).map(([number, [, write]]) => write(number))
  const piece = fc.oneof(
    written,
    pan,
    fc.stringMatching(/^[0-9 -]{0,30}$/),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.tuple(fc.constantFrom(...OTHERS), fc.nat()).map(([[, make], seed]) => make(seeded(seed))),
  )
  const text = fc
    .tuple(fc.array(piece, { maxLength: 6 }), fc.constantFrom('', ' ', '-', ', '))
    .map(([all, sign]) => all.join(sign))

  test('leave nothing to mask', () => {
    fc.assert(
      fc.property(text, (each) => {
        const once = maskPans(each)
        expect(maskPans(once)).toBe(once)
      }),
      { numRuns: tries(3_000) },
    )
  })

  test('leave no card number whose middle can be read', () => {
    fc.assert(
      fc.property(text, (each) => {
        for (const { digits, writing } of candidatesIn(maskPans(each)).filter(({ fits }) => fits)) {
          expect(['piece', 'expiry', 'short']).toContain(writing)
          expect(digits).toBe(masked(digits))
        }
      }),
      { numRuns: tries(3_000) },
    )
  })

  test('put in digits, and take out what was between them, and change nothing else', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z ,.]{0,10}[a-z]$/),
        written,
        fc.stringMatching(/^[a-z][a-z ,.]{0,10}$/),
        (before, number, after) => {
          const once = maskPans(`${before}: ${number}: ${after}`)
          expect(once.startsWith(`${before}: `)).toBe(true)
          expect(once.endsWith(`: ${after}`)).toBe(true)
        },
      ),
    )
  })
})

describe('the work', () => {
  /** Each was a text that held the process up for seconds, or might. */
  const WORST = [
    ...['4 ', '4', '4-', '"', ' .-/', '41 ', '4111111111111111 ', '4111 1111 1111 1111 ', '4111 1111 1111 1112 '],
    ...[
      'DE00 ',
      '+',
      '+4',
      '+49 ',
      '%34',
      '&#52;',
      '\\u0034',
      '４',
      '75dd2312-4520-4678-9477-75dd23124520 ',
      '3f',
      '9 9 ',
    ],
  ]

  test.each(WORST)('of %j grows as the text does', (piece) => {
    const steps = (length: number) => {
      const meter: Meter = { steps: 0 }
      lookAt(piece.repeat(length / piece.length), 'all', meter)
      return meter.steps
    }
    const [some, twice] = [steps(16_384), steps(32_768)]
    expect(twice).toBeLessThanOrEqual(2 * some + 1_000)
    expect(twice).toBeLessThanOrEqual(24 * 32_768)
  })

  test.each([1_500, 6_000])('of %i card numbers in one run masks them all', (count) => {
    const pan = '4111111111111111'
    const run = (number: string) => Array.from({ length: count }, () => number).join(' ')
    expect(maskPans(run(pan))).toBe(run(masked(pan)))
  })
})
