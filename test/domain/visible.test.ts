import fc from 'fast-check'
import { expect, test } from 'vitest'
import { holdsControls, visible, visibleJson } from '../../src/domain/visible.ts'
import { codePoint } from '../fixtures/code-points.ts'

/** What a terminal obeys or hides. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u
const odd = fc.constantFrom(
  '\x1b',
  '\n',
  '\r',
  '\t',
  '\0',
  '\x7f',
  '\x9b',
  '\u2028',
  '\u202e',
  '\u2066',
  '\ufeff',
  '\u{e0041}',
)
const text = fc.array(fc.oneof(odd, fc.string({ unit: codePoint })), { maxLength: 8 }).map((parts) => parts.join(''))

test.each([
  ['\x1b[31m', '␛[31m'],
  ['a\nb', 'a␊b'],
  ['\x7f', '␡'],
  ['\x9b2K', '<U+009B>2K'],
  ['\u202eback', '<U+202E>back'],
  ['a\u2028b', 'a<U+2028>b'],
  ['Größe, नि\u200dया, مي\u200cخواهم, 👩\u200d👧', 'Größe, नि\u200dया, مي\u200cخواهم, 👩\u200d👧'],
])('%j is shown as %j', (given, shown) => {
  expect(visible(given)).toBe(shown)
})

test('any text is one line that a terminal only shows, and does not change again', () => {
  fc.assert(
    fc.property(text, (given) => {
      expect(visible(given)).not.toMatch(UNSEEN)
      expect(visible(visible(given))).toBe(visible(given))
      if (!UNSEEN.test(given)) expect(visible(given)).toBe(given)
    }),
    { numRuns: 2000 },
  )
})

test('JSON of any text says the same, and has nothing in it that a terminal obeys or hides', () => {
  fc.assert(
    fc.property(text, text, (name, given) => {
      const json = visibleJson(JSON.stringify({ [name]: [given] }))
      expect(json).not.toMatch(UNSEEN)
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify({ [name]: [given] })))
    }),
    { numRuns: 2000 },
  )
})

test('a line break is seen in whichever form, and a text of one line is let be', () => {
  for (const control of ['\n', '\r', '\x1b', '\x85', '\u2028', '\u2029'])
    expect(holdsControls(`a${control}b`)).toBe(true)
  for (const line of ['', 'looked it up, “found”', 'مي\u200cخواهم', '\u200fשלום'])
    expect(holdsControls(line)).toBe(false)
})
