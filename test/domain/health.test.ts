import { expect, test } from 'vitest'
import { diskCheck, isHealthy, tickCheck } from '../../src/domain/health.ts'

const MIB = 1024 ** 2

test('more than 100 MiB must be free', () => {
  expect(diskCheck(100 * MIB)).toEqual({
    ...{ name: 'disk', ok: false },
    says: '100 MiB are free in the data directory: free some space, or nothing more is sent',
  })
  expect(diskCheck(101 * MIB)).toEqual({ name: 'disk', ok: true, says: '101 MiB are free in the data directory' })
})

test('rows must have been looked for within five seconds', () => {
  expect(tickCheck(4_999)).toMatchObject({ ok: true })
  expect(tickCheck(5_000)).toEqual({
    ...{ name: 'tick', ok: false },
    says: 'rows were last looked for 5.0 s ago: nothing new is being handed out',
  })
})

test('one check that fails is enough not to be healthy', () => {
  expect(isHealthy([diskCheck(200 * MIB), tickCheck(0)])).toBe(true)
  expect(isHealthy([diskCheck(200 * MIB), tickCheck(9_000)])).toBe(false)
})
