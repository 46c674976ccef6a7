// The register of the newest epoch, on a real Redis.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type OpenedRegister, openEpochRegister } from '../../src/queues/epoch-register.ts'
import { openRedisServer, type RedisServer } from '../fixtures/redis.ts'

let dir: string
let redis: RedisServer
let registers: OpenedRegister[]
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tr-'))
  redis = await openRedisServer(join(dir, 's'))
  registers = []
})
afterEach(async () => {
  for (const register of registers) register.close()
  await redis.kill()
  rmSync(dir, { recursive: true, force: true })
})

function open(ledgerId = 'a'): OpenedRegister {
  const register = openEpochRegister({ path: redis.path }, 'bull', ledgerId)
  registers.push(register)
  return register
}

test('of two hosts that know the same epoch one replaces it, and each ledger has its own', async () => {
  const [here, there, other] = [open(), open(), open('b')]
  expect(await here.newest()).toBeNull()
  expect(await here.replace(null, '1-x')).toBe(true)
  expect(await there.newest()).toBe('1-x')
  const replaced = await Promise.all([here.replace('1-x', '2-h'), there.replace('1-x', '2-t')])
  expect(replaced.toSorted()).toEqual([false, true])
  expect(await other.newest()).toBeNull()
})

test('asked again, because the answer was lost on the way, it says the same', async () => {
  const register = open()
  expect(await register.replace(null, '1-x')).toBe(true)
  expect(await register.replace(null, '1-x')).toBe(true)
  expect(await register.newest()).toBe('1-x')
})

test('a Redis that was emptied after it was asked is no other host', async () => {
  const register = open()
  expect(await register.replace(null, '1-x')).toBe(true)
  expect(await register.newest()).toBe('1-x')
  await redis.flush()
  expect(await register.replace('1-x', '2-x')).toBe(true)
  expect(await register.newest()).toBe('2-x')
})
