import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { isRoundedPan } from '../../src/domain/card-number.ts'
import { ISSUER_RANGES } from '../../src/domain/issuer-ranges.ts'

describe('the ranges of issuers', () => {
  test('are what their generator writes', () => {
    const generator = new URL('../../scripts/issuer-ranges.mjs', import.meta.url).pathname
    expect(() => execFileSync(process.execPath, [generator, '--check'], { stdio: 'pipe' })).not.toThrow()
  })

  test('are in order and apart, so that each number has one', () => {
    for (const [i, [from, to, lengths]] of ISSUER_RANGES.entries()) {
      expect(from).toBeGreaterThan(ISSUER_RANGES[i - 1]?.[1] ?? 0)
      expect(to).toBeGreaterThanOrEqual(from)
      expect(lengths).toBeGreaterThan(0)
    }
  })
})

test.each([
  ['411111111111110', false],
  ['4111111111111100', true],
  ['3782822463100050000', false],
])('%s may be a card number that a spreadsheet rounded: %s', (text, may) => {
  expect(isRoundedPan(text)).toBe(may)
})
