import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { GUARDS, withoutGuard } from './guards.ts'

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

describe('the table of guards', () => {
  test.each(GUARDS.map((guard) => [guard.name, guard] as const))('%s stands where the table says', (_name, guard) => {
    const whole = readFileSync(at(guard.file), 'utf8')
    expect(whole.split(guard.guard)).toHaveLength(2)
    expect(withoutGuard(whole, guard)).not.toBe(whole)
    for (const test of guard.tests) expect(existsSync(at(test))).toBe(true)
  })

  test('names each guard once', () => {
    expect(new Set(GUARDS.map(({ name }) => name)).size).toBe(GUARDS.length)
  })
})
