// Who a provider says is there: which roles their groups have, what they are called here, and how fresh its word is.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { numberedName, personNameFrom, proofOf, rolesOf } from '../../src/domain/identity.ts'
import { parsePersonName, STEP_UP_MS } from '../../src/domain/person.ts'
import { HOSTILE_TEXTS } from '../fixtures/hostile-texts.ts'

test.each([
  ['Ann.Smith@shop.example', 'ann.smith@shop.example'],
  ['Åsa Öberg', 'asa-oberg'],
  ['  x  ', 'x'],
  ['--ann--', 'ann'],
  ['<b>ann</b>', 'b-ann-b'],
  ['a'.repeat(80), 'a'.repeat(64)],
])('%s is called %s', (given, name) => {
  expect(personNameFrom([given])).toBe(name)
})

test('the first name that has a letter or digit is taken', () => {
  expect(personNameFrom(['山田', '…', 'yamada', 'u1'])).toBe('yamada')
  expect(personNameFrom(['山田'])).toBeNull()
  expect(personNameFrom([])).toBeNull()
})

test('whatever is made of a text is a name that a person may have, also with a number', () => {
  const texts = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 90 }), fc.constantFrom(...HOSTILE_TEXTS))
  fc.assert(
    fc.property(texts, fc.integer({ min: 2, max: 99_999 }), (text, n) => {
      const name = personNameFrom([text])
      if (name === null) return
      for (const one of [name, numberedName(name, n)]) expect(parsePersonName(one)).toBe(one)
    }),
  )
})

test('groups have the roles of the table, each once, and unknown ones have none', () => {
  const table = new Map([
    ['a', ['viewer', 'approver']],
    ['b', ['approver']],
  ] as const)
  expect(rolesOf(['b', 'x', 'a', 'a'], table)).toEqual(['approver', 'viewer'])
  expect(rolesOf(['constructor', '__proto__', 'A'], table)).toEqual([])
})

const NOW = 1_800_000_000_000

test.each([
  [null, { kind: 'unsaid' }],
  [NOW, { kind: 'proved', atMs: NOW }],
  [NOW - STEP_UP_MS, { kind: 'proved', atMs: NOW - STEP_UP_MS }],
  [NOW - STEP_UP_MS - 1, { kind: 'old' }],
  [NOW + 30_000, { kind: 'proved', atMs: NOW }],
  [NOW + 30_001, { kind: 'ahead' }],
])('a sign-in at %s is %j', (authTimeMs, proof) => {
  expect(proofOf({ authTimeMs }, NOW)).toEqual(proof)
})
