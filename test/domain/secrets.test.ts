import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createReplacer, spellingsOf } from '../../src/domain/secrets.ts'
import { createTextScrub } from '../../src/domain/text-scrub.ts'
import { createScrub, REPEATED } from '../../src/gateway/scrub.ts'

const SECRET = 'ab/cd+ef<gh>é"x&1 y\\z'

describe('a secret in any of its spellings', () => {
  test.each(spellingsOf(SECRET))('%s is hidden in the log, on the screen and in answers', (spelling) => {
    for (const written of [spelling, spelling.toUpperCase(), spelling.toLowerCase()]) {
      const text = `before ${written} behind`
      expect(createTextScrub({ secrets: [SECRET], usernames: [] })(text)).toBe('before [secret] behind')
      expect(createScrub({ username: 'u', secrets: [SECRET] }).line(text)).toBe(REPEATED)
      expect(createScrub({ username: SECRET, secrets: [] }).line(text)).toBe('before *** behind')
    }
  })
})

test('nothing of a word is left where another word is a part of it', () => {
  const hide = createReplacer([
    { word: 'shop', instead: '1' },
    { word: 'shop & more', instead: '2' },
  ])
  expect(hide('shop, SHOP &amp; MORE, shop+%26+more, shop%20%26%20more')).toBe('1, 2, 2, 2')
})

test('a text without the words stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string(), (word, text) => {
      fc.pre(!spellingsOf(word).some((spelling) => text.toLowerCase().includes(spelling.toLowerCase())))
      expect(createReplacer([{ word, instead: '***' }])(text)).toBe(text)
    }),
  )
})

test('no word hides nothing', () => {
  expect(createReplacer([])('text')).toBe('text')
  expect(createReplacer([{ word: '', instead: '***' }])('text')).toBe('text')
})
