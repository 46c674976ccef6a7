import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { holdsCardSecret, maskCardData, maskCardSecrets } from '../../src/domain/card-secrets.ts'
import { maskPans } from '../../src/domain/pan.ts'

describe('a security code under its name is found and masked', () => {
  test.each([
    ['cvv 123', 'cvv 000'],
    ['CVV2: 1234.', 'CVV2: 0000.'],
    ['cvc=123', 'cvc=000'],
    ['{"card_cvv":"123"}', '{"card_cvv":"000"}'],
    ['{"cvv":123}', '{"cvv":000}'],
    ['&card_cvv=123&x=1', '&card_cvv=000&x=1'],
    ['<cvv2>123</cvv2>', '<cvv2>000</cvv2>'],
    ['cvv2123', 'cvv0000'],
    ['card 4111, CVC code is 987', 'card 4111, CVC code is 000'],
    ['security code 123', 'security code 000'],
    ['Security-Code: 1234', 'Security-Code: 0000'],
    ['Prüfziffer 123', 'Prüfziffer 000'],
    ['Die Kartenprüfnummer lautet 123', 'Die Kartenprüfnummer lautet 000'],
    ['Pruefnummer 123', 'Pruefnummer 000'],
    ['Sicherheitscode: 123', 'Sicherheitscode: 000'],
    ['cryptogramme visuel 123', 'cryptogramme visuel 000'],
    ['código de seguridad 123', 'código de seguridad 000'],
    ['codice di sicurezza: 123', 'codice di sicurezza: 000'],
    ['CVV (123)', 'CVV (000)'],
    ['CCV 737', 'CCV 000'],
    ['ccv=737', 'ccv=000'],
    ['CVV entered 737', 'CVV entered 000'],
    ['cvv result: 737', 'cvv result: 000'],
    ['CVV (3 digits): 737', 'CVV (3 digits): 000'],
    ['<cvv type="x">737</cvv>', '<cvv type="x">000</cvv>'],
    ['<cvv><v>737</v></cvv>', '<cvv><v>000</v></cvv>'],
    ['Kod bezpieczen\u0301stwa: 737', 'Kod bezpieczen\u0301stwa: 000'],
    ['安全码是737', '安全码是000'],
    ['cvv ١٢٣', 'cvv 000'],
  ])('%s', (text, masked) => {
    expect(holdsCardSecret(text)).toBe(true)
    expect(maskCardSecrets(text)).toBe(masked)
    expect(holdsCardSecret(masked)).toBe(false)
  })
})

describe('a security code or a track in an escaped text is found, and nothing of it is left', () => {
  test.each([
    ['cvv%3D737', 'cvv%0D0'],
    ['security+code+737', 'security+code+0'],
    ['security%20code%20737, order 81', 'security%0code%0, order 0'],
    ['CVC2&colon; 737', 'CVC0&colon; 0'],
    [String.raw`{"note":"\u0063vv=737","n":12}`, '{"note":" vv=0","n":0}'],
    ['%3B4111111111111112%3D28121010000', '%0B0%0D0'],
    [String.raw`security\ncode: 737`, null],
  ])('%s', (text, masked) => {
    expect(holdsCardSecret(text)).toBe(true)
    const left = maskCardSecrets(text)
    if (masked !== null) expect(left).toBe(masked)
    expect(holdsCardSecret(left)).toBe(false)
    expect(left).not.toMatch(/737|411111/)
  })

  test('where an escape is all there is, the text is let be', () => {
    for (const text of ['100% + 5', 'a&b', 'A&amp;B 737', '%20737', String.raw`C:\note\737`]) {
      expect(holdsCardSecret(text)).toBe(false)
      expect(maskCardSecrets(text)).toBe(text)
    }
  })
})

describe('a magnetic track is found and masked, whether or not its number passes a check', () => {
  test.each([
    ['%B4111111111111112^DOE/JANE^28121010000000?', '%B0000000000000000^DOE/JANE^00000000000000?'],
    ['%B 3400 000000 00009^DOE^2812101', null],
    ['x %b123456789012^a', 'x %b000000000000^a'],
    [';4111111111111112=28121010000000000?', ';0000000000000000=00000000000000000?'],
    ['note ;123456789012=', 'note ;000000000000='],
    ['4111111111111112=28121010000?', '0000000000000000=00000000000?'],
  ])('%s', (text, masked) => {
    expect(holdsCardSecret(text)).toBe(true)
    if (masked !== null) expect(maskCardSecrets(text)).toBe(masked)
    expect(holdsCardSecret(maskCardSecrets(text))).toBe(false)
  })
})

describe('what only looks so is let be', () => {
  test.each([
    ...[
      'cvv match',
      'CVV2 mismatch, code 05',
      'cvv 12',
      'cvv 12345',
      'cvv was not given: 123 rows',
      'CSC 101',
      '{"cvv":"","amount":1234}',
      'cvv=&amount=1234',
      '<cvv></cvv><amount>1234</amount>',
      'social security number 1234',
      'CID 1234',
    ],
    ...['discovered 123', 'security 123', 'verification code 1234', 'PIN 110001', 'security codes of 2024', 'prüf 123'],
    ...[
      'a=1;123456789012',
      '123456789012=1',
      'id=123456789012345',
      '%B2^x',
      'cvv\n123',
      'order 123 cvv',
      'cvv 000',
      'cvvx 123',
    ],
  ])('%s', (text) => {
    expect(holdsCardSecret(text)).toBe(false)
    expect(maskCardSecrets(text)).toBe(text)
  })
})

const piece = fc.oneof(
  fc.constantFrom(
    'cvv',
    'CVC2',
    'security code',
    'Prüfziffer',
    '安全码',
    ' entered ',
    ' 3 ',
    'code',
    ' is ',
    ': ',
    '%B',
    '^',
    ';',
    '=',
    '?',
    ' ',
    '\n',
    '"',
  ),
  fc.stringMatching(/^\d{1,19}$/),
  fc.constantFrom('4111111111111111', '4111111111111112', '123', '0000', '000000000000'),
  fc.string({ maxLength: 3 }),
)
const text = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''))

test('in any text nothing is found after the mask, and a second mask changes nothing', () => {
  fc.assert(
    fc.property(text, (given) => {
      const masked = maskCardData(given)
      expect(holdsCardSecret(masked)).toBe(false)
      expect(maskCardSecrets(masked)).toBe(masked)
      if (!holdsCardSecret(given) && !holdsCardSecret(maskPans(given))) expect(masked).toBe(maskPans(given))
    }),
    { numRuns: 5000, examples: [['38899859252 3 23=4111111111111111']] },
  )
})

// A pattern tells nothing of its steps, so only the time-out limits them: 40 ms in all where they grow as the text does, ten minutes
// where they grow with its square. The digits in front are what makes the pattern run at all.
test.each(['cvv ', 'cvv a', '3 digits on ', 'security code x', 'code de ', 'cvv        a        ', ' a'])(
  'a long text of %j is looked through to its end',
  (unit) => {
    expect(holdsCardSecret(`123 cvv${unit.repeat(200_000 / unit.length)}`)).toBe(false)
  },
)
