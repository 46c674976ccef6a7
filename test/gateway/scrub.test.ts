import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scrubOf } from '../../src/gateway/scrub.ts'

test('a secret does not survive in any of the spellings in which a server echoes it', () => {
  const secret = 'p&"<s> ü\\x'
  const scrub = scrubOf(['name', secret])
  const form = new URLSearchParams({ p: secret }).toString().slice(2)
  const spellings = [secret, form, encodeURIComponent(secret), JSON.stringify(secret), 'p&amp;&quot;&lt;s&gt; ü\\x']
  for (const spelling of spellings) expect(scrub(`<${spelling}>`)).toMatch(/^<"?\*\*\*"?>$/)
})

test('a secret that begins with the other leaves no tail', () => {
  expect(scrubOf(['abc', 'abcdef'])('abcdef abc')).toBe('*** ***')
})

test('empty secrets change nothing', () => {
  expect(scrubOf(['', ''])('as it was')).toBe('as it was')
})

test('whatever the secret and the text around it, the secret is gone and one line is left', () => {
  // Letters only: a secret of asterisks is hidden by asterisks.
  const secret = fc.stringMatching(/^[A-Za-z.+(\\]{4,20}$/)
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), (hidden, before, after) => {
      const clean = scrubOf([hidden])(`${before}${hidden}\n${after}`)
      expect(clean).not.toContain(hidden)
      expect(clean).not.toMatch(/[\r\n]/)
    }),
  )
})

test('a card number broken over two lines is masked', () => {
  expect(scrubOf([])('4111 1111\r\n1111 1111')).toBe('4111110000001111')
})
