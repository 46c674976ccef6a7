import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createScrub, DISGUISED, REPEATED, visible } from '../../src/gateway/scrub.ts'
import { codePoint } from '../fixtures/code-points.ts'
import { canariesIn, escapesIn, KINDS, PASSWORD, saidIn, USERNAME, WRITINGS, writtenAs } from '../hostile/canaries.ts'

const scrub = createScrub({ username: USERNAME, secrets: [PASSWORD] })
const plain = createScrub({ username: '', secrets: [] })

test('what is visible is the same whether it is looked at as a whole or sign by sign', () => {
  const signs = fc.constantFrom(
    'a',
    'Z',
    '~',
    '!',
    ' ',
    '  ',
    '\t',
    '\n',
    '\u00a0',
    '\u200b',
    '\u2028',
    '\0',
    'é',
    '\u202e',
  )
  fc.assert(
    fc.property(fc.array(signs, { maxLength: 12 }), (chosen) => {
      const shown = chosen
        .filter((sign) => !'\u200b\u202e'.includes(sign))
        .map((sign) => (/[a-zA-Zé~!]/.test(sign) ? sign : ' '))
      expect(visible(chosen.join(''))).toBe(shown.join('').replace(/ +/g, ' ').trim())
    }),
  )
})

describe('a password', () => {
  test.each(WRITINGS)('is found as %s writes it, and nothing is kept of the line', (writing) => {
    for (const around of ['', 'the beginning ', 'ä'.repeat(7)]) {
      const text = `${around}${saidIn(writing, 'credentials')} and so on`
      expect(scrub.repeats(text)).toBe(true)
      expect(scrub.line(text)).toBe(REPEATED)
    }
  })

  test.each(WRITINGS)('is found alone as %s writes it, whatever stands around it', (writing) => {
    const secret = fc.stringMatching(/^[!-~]{8,24}$/)
    const around = fc.stringMatching(/^[g-zG-Z ,;]{0,12}$/)
    fc.assert(
      fc.property(secret, around, around, (hidden, before, behind) => {
        const written = writtenAs(writing, hidden)
        expect(createScrub({ username: 'name', secrets: [hidden] }).repeats(`${before} ${written} ${behind}`)).toBe(
          true,
        )
      }),
    )
  })

  test.each([
    ['in other letter case', PASSWORD.toUpperCase()],
    ['in full width', PASSWORD.replace(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0))],
    ['with invisible characters', [...PASSWORD].join('\u200b')],
    ['in base64 behind a name of any length', Buffer.from(`u:${PASSWORD}`).toString('base64')],
    ['in base64 for addresses', Buffer.from(`??>${PASSWORD}`).toString('base64url')],
    [
      'in base64 over lines',
      Buffer.from(`${'x'.repeat(50)}${PASSWORD}`)
        .toString('base64')
        .replace(/.{20}/g, '$&\r\n'),
    ],
    ['in percent signs of percent signs', encodeURIComponent(encodeURIComponent(PASSWORD))],
    [
      'as Python writes bytes',
      [...Buffer.from(PASSWORD)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
    ],
  ])('is found %s', (_, text) => {
    expect(scrub.repeats(`x ${text} y`)).toBe(true)
  })

  test('of digits is no part of a longer number, for every id would hold a short one', () => {
    const digits = createScrub({ username: '', secrets: ['1234'] })
    expect(digits.repeats('id 70012345')).toBe(false)
    expect(digits.repeats('pw=1234&')).toBe(true)
  })

  test('that is itself written with escapes is found as it is and resolved', () => {
    const odd = createScrub({ username: '', secrets: ['50%25 &amp; \\u0041'] })
    for (const text of ['50%25 &amp; \\u0041', '50%25 & A', encodeURIComponent('50%25 &amp; \\u0041')])
      expect(odd.repeats(text), text).toBe(true)
  })

  test('is not seen where it is not', () => {
    expect(scrub.repeats('ab/cd+ef is no password: {"TRANS_REQUEST_ID":12345678901234567890}')).toBe(false)
    expect(plain.repeats('anything')).toBe(false)
  })
})

test('a username is masked and no alarm', () => {
  expect(scrub.line(`no merchant ${USERNAME} or ${USERNAME.toUpperCase()}`)).toBe('no merchant *** or ***')
  expect(scrub.repeats(USERNAME)).toBe(false)
  expect(createScrub({ username: '', secrets: [] }).line('as it was')).toBe('as it was')
})

describe('card data', () => {
  test.each(WRITINGS)('as %s writes it is masked, or the line withheld', (writing) => {
    for (const kind of KINDS) {
      const line = scrub.line(`card ${saidIn(writing, kind)} was refused`)
      expect(canariesIn(line)).toEqual([])
      expect(escapesIn(line)).toEqual([])
    }
  })

  test('is masked where it stands, and the words around it are kept', () => {
    expect(plain.line('card 4111 1111\r\n1111 1111, CVV: 737')).toBe('card 4111110000001111, CVV: ***')
    const track = 'stripe %B4111111111111112^DOE/JANE^28121010000? or ;4111111111111112=28121010000?'
    expect(plain.line(track)).toBe('stripe %B0000000000000000^DOE/JANE^00000000000? or ;0000000000000000=00000000000?')
    expect(plain.line('{"card_cvv":"737","pmt_key":737}')).toBe('{"card_cvv":"***","pmt_key":***}')
    expect(plain.line('security code is 7371')).toBe('security code is ***')
  })

  test.each([
    ...['ccv=737', 'Verification number 737', 'código de verificación: 737', 'CVV entered 737', 'cvv result: 737'],
    ...[
      '<cvv type="x">737</cvv>',
      '<cvv><v>737</v></cvv>',
      'SecCode 737',
      '3-digit code: 737',
      '安全码:737',
      'PINs 7371',
    ],
  ])('%s shows no security code', (text) => {
    expect(plain.line(text)).toBe(text.replace(/(?<=\D)737\d?/, '***'))
  })

  test('of an empty code does not reach the field behind it', () => {
    for (const text of ['{"cvv":"","amount":1234}', 'cvv=&amount=1234', '<cvv></cvv><amount>1234</amount>'])
      expect(plain.line(text)).toBe(text)
  })

  test('is not seen in codes of errors, ids and amounts', () => {
    for (const text of ['incident 403', 'shipping 123', 'HTTP 503, code 1234', 'Ref id 7001234567', 'csv 404'])
      expect(plain.line(text)).toBe(text)
  })

  test('in base64 or hexadecimal withholds the line', () => {
    expect(plain.line(`ref ${Buffer.from('pan 4111111111111111').toString('base64')}`)).toBe(DISGUISED)
    expect(plain.line(`ref ${Buffer.from('cvv=737').toString('hex')}`)).toBe(DISGUISED)
  })

  test('at the end of what is kept does not leave its beginning', () => {
    for (let before = 1_700; before < 2_100; before++) {
      const line = plain.line(`${'x'.repeat(before)} 4111 1111 1111 1111 behind it`)
      expect(line).not.toMatch(/4111 ?1111/)
      expect(line.length).toBeLessThanOrEqual(2_000)
    }
    // Blanks become one, and what was cut moves to the front.
    for (let before = 2_300; before < 2_500; before++)
      expect(plain.line(`x${' '.repeat(before)}4111 1111 1111 1111 behind it`)).not.toMatch(/4111 ?1111/)
  })
})

test('whatever comes, one visible line of bounded length is left', () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoint, maxLength: 3_000 }), fc.nat(100), (text, most) => {
      const line = plain.line(text, most)
      expect(line === DISGUISED || line.length <= most).toBe(true)
      expect(line).not.toMatch(/[\r\n\u2028\u2029]|\p{Cc}|\p{Cf}/u)
      expect(line.isWellFormed()).toBe(true)
    }),
  )
})

test.each([
  ['digits and blanks', '4 '],
  ['percent signs', '%25'],
  ['escapes', '\\u0034'],
  ['letters that may be packed', 'MTIz'],
  ['entities', '&#52;'],
])('of 256 KiB of %s a line looks at what may be kept alone', (_, unit) => {
  const text = unit.repeat((256 * 1024) / unit.length)
  expect(scrub.line(`${text}${PASSWORD}`)).toBe(scrub.line(text.slice(0, 3_000)))
  // All of it is looked at here, and only the time-out limits that.
  expect(scrub.repeats(text)).toBe(false)
  expect(scrub.repeats(`${text}${PASSWORD}`)).toBe(true)
})
