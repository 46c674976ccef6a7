import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { EXPONENTS, ISO_4217_PUBLISHED } from '../../src/domain/currencies.ts'

describe('the currency list', () => {
  test.each([
    ...['EUR', 'USD', 'HUF', 'IDR', 'COP', 'MGA', 'MRU', 'XCG', 'ZWG', 'SLE', 'TWD', 'LBP'].map((code) => [code, 2]),
    ...['JPY', 'KRW', 'ISK', 'CLP', 'PYG', 'VND', 'XAF', 'XOF', 'UGX'].map((code) => [code, 0]),
    ...['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'].map((code) => [code, 3]),
    ...['CLF', 'UYW'].map((code) => [code, 4]),
  ] as const)('%s has %i decimals', (code, exponent) => {
    expect(EXPONENTS[code]).toBe(exponent)
  })

  test.each(['ANG', 'BGN', 'CUC', 'HRK', 'SLL', 'ZWL'])('%s is withdrawn and not in it', (code) => {
    expect(EXPONENTS).not.toHaveProperty(code)
  })

  test.each(['XAU', 'XDR', 'XTS', 'XXX'])('%s has no minor unit and is not in it', (code) => {
    expect(EXPONENTS).not.toHaveProperty(code)
  })

  test('has as many codes per number of decimals as the list in force since its date', () => {
    const counts = Object.groupBy(Object.values(EXPONENTS), String)
    const sizes = Object.entries(counts).map(([exponent, codes]) => [exponent, codes?.length])
    expect(Object.fromEntries(sizes)).toEqual({ 0: 17, 2: 139, 3: 7, 4: 2 })
    expect(ISO_4217_PUBLISHED).toBe('2026-01-01')
  })

  test('is what its generator writes', () => {
    const generator = new URL('../../scripts/currencies.mjs', import.meta.url).pathname
    expect(() => execFileSync(process.execPath, [generator, '--check'], { stdio: 'pipe' })).not.toThrow()
  })
})
