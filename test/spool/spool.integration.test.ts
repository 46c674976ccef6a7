// The spool: what is kept, how much of it, and what a process that was killed left behind.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSpool, type Spool, type SpoolOptions } from '../../src/spool/spool.ts'

let dataDir: string
let nowMs: number
let spools: Spool[]
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'spool-'))
  nowMs = Date.now()
  spools = []
})
afterEach(() => {
  for (const spool of spools) spool.close()
  rmSync(dataDir, { recursive: true })
})

async function open(over: Partial<SpoolOptions> = {}): Promise<Spool> {
  const spool = await openSpool({ dataDir, bytesMost: 100, nowMs: () => nowMs, ...over })
  spools.push(spool)
  return spool
}
const names = () => readdirSync(join(dataDir, 'spool'))
async function put(spool: Spool, text: string, by = 'k') {
  const incoming = await spool.receive(by, null)
  await incoming.write(Buffer.from(text))
  return incoming.keep('a.csv', null)
}

test('a start removes what was on its way, what has no description, and what is past its day', async () => {
  const first = await open()
  const kept = await put(first, 'kept')
  const incoming = await first.receive('k', null)
  await incoming.write(Buffer.from('half'))
  await put(first, 'without')
  first.close()
  const lost = names().find((name) => name.endsWith('.json') && name !== `${kept.id}.json`) as string
  rmSync(join(dataDir, 'spool', lost))
  writeFileSync(join(dataDir, 'spool', 'stranger'), 'x')
  const second = await open()
  expect(names().toSorted()).toEqual([kept.id, `${kept.id}.json`].toSorted())
  expect(await second.upload(kept.id)).toMatchObject({ bytes: 4, by: 'k' })
  second.close()
  nowMs += 86_400_000
  await open()
  expect(names()).toEqual([])
})

test('a file is not there when its day is over, and no name but an id is looked up', async () => {
  const spool = await open()
  const { id } = await put(spool, 'a')
  expect(await spool.upload(id)).not.toBeNull()
  for (const other of ['..', `../spool/${id}`, `${id}.json`, '', id.toUpperCase()])
    expect(await spool.upload(other)).toBeNull()
  expect(spool.checkPath('../x')).toBeNull()
  nowMs += 86_400_000
  expect(await spool.upload(id)).toBeNull()
})

test('the quota counts everything, also what is on its way and what was found', async () => {
  const spool = await open({ quotaBytes: 1_000, bytesMost: 1_000 })
  const half = await spool.receive('k', null)
  await half.write(Buffer.alloc(600))
  await expect(spool.receive('k', 500)).rejects.toMatchObject({ why: 'no-room' })
  const other = await spool.receive('k', null)
  await expect(other.write(Buffer.alloc(500))).rejects.toMatchObject({ why: 'no-room' })
  await other.discard()
  await half.discard()
  expect(names()).toEqual([])
  const { path } = await spool.newCheck()
  mkdirSync(join(path, 'details'))
  writeFileSync(join(path, 'details', 'rows.jsonl'), Buffer.alloc(900))
  await spool.sweep()
  await expect(spool.receive('k', 200)).rejects.toMatchObject({ why: 'no-room' })
})

test('so many are on their way at once, of one caller and of all', async () => {
  const spool = await open({ incomingMost: 3, incomingMostOfOne: 2 })
  const [first] = [await spool.receive('a', null), await spool.receive('a', null)]
  await expect(spool.receive('a', null)).rejects.toMatchObject({ why: 'busy' })
  await spool.receive('b', null)
  await expect(spool.receive('b', null)).rejects.toMatchObject({ why: 'busy' })
  await first.discard()
  await first.discard()
  await spool.receive('a', null)
  await expect(spool.receive('c', null)).rejects.toMatchObject({ why: 'busy' })
})

test.each([
  ['too-large', 'x'.repeat(101), null, null],
  ['empty', '', null, null],
  ['cut', 'abc', 4, null],
  ['cut', 'abc', null, '0'.repeat(64)],
] as const)('%s: nothing is kept', async (why, text, announced, sha256) => {
  const spool = await open()
  const incoming = await spool.receive('k', announced)
  const kept = incoming.write(Buffer.from(text)).then(() => incoming.keep('a', sha256))
  await expect(kept).rejects.toMatchObject({ why })
  await incoming.discard()
  expect(names()).toEqual([])
})

test('only one process has the spool of a data directory', async () => {
  const first = await open()
  const second = await open()
  await expect(second.receive('k', null)).rejects.toThrow('Another server')
  await put(first, 'a')
  expect(statSync(join(dataDir, 'spool')).mode & 0o777).toBe(0o700)
})
