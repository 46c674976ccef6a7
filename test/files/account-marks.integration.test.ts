// The marks by which users of one machine learn of each other's ledgers.

import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { markAccount, otherMarks } from '../../src/files/account-marks.ts'

let temp: string
let umask: number

beforeEach(async () => {
  temp = await mkdtemp(join(tmpdir(), 'marks-'))
  umask = process.umask(0o077) // as every command sets it
})
afterEach(async () => {
  process.umask(umask)
  await rm(temp, { recursive: true })
})

test('every user may read a mark, and none but its owner may change it', async () => {
  const dir = join(temp, 'marks')
  await markAccount(dir, 'ab', '01', '/home/ann/ledger')
  expect((await stat(dir)).mode & 0o7777).toBe(0o1777)
  expect((await stat(join(dir, 'ab.01'))).mode & 0o777).toBe(0o644)
  expect(await otherMarks(dir, 'ab', '02')).toMatchObject([{ ledgerId: '01', where: '/home/ann/ledger' }])
})
