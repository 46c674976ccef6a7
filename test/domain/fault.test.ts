import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { withoutNothingSent } from '../../src/domain/fault.ts'

test.each([
  ['It is locked. Nothing was sent. Try again.', 'It is locked. Try again.'],
  ['Two would send twice. Nothing was sent from this one.', 'Two would send twice.'],
  ['It is full. Nothing was recorded and nothing was sent. Free some space.', 'It is full. Free some space.'],
  ['It is not on PATH; nothing was sent: install it.', 'It is not on PATH: install it.'],
  [
    'If nothing was sent since from any other copy: adopt it. Nothing was sent.',
    'If nothing was sent since from any other copy: adopt it.',
  ],
  ['Nothing will be sent from it, because it may be older.', 'Nothing will be sent from it, because it may be older.'],
])('what "%s" says of nothing having been sent can be left out', (text, rest) => {
  expect(withoutNothingSent(text)).toBe(rest)
})

const SRC = fileURLToPath(new URL('../../src', import.meta.url))

test('so can it be of every sentence in the program', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const claims = files.flatMap((name) => claimsIn(readFileSync(`${SRC}/${name}`, 'utf8')))
  expect(claims.length).toBeGreaterThan(50)
  expect(claims.filter((claim) => /nothing (of it )?was sent(?! since)/i.test(withoutNothingSent(claim)))).toEqual([])
})

/** Every text with such a claim in it, without its quotation marks. */
function claimsIn(source: string): string[] {
  const code = source.split('\n').filter((line) => !/^\s*(\/\/|\*|\/\*)/.test(line) && !/\/\/ .*nothing/.test(line))
  return code.filter((line) => /nothing (of it )?was sent/i.test(line)).map((line) => line.replace(/['"`]|\$\{/g, ' '))
}
