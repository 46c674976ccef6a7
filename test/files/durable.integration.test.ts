import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeFolderDurably, syncDirectory, syncDirectorySync, writeDurably } from '../../src/files/durable.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'durable-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

test('a file that is written is whole, for its owner alone, and nothing else is left', async () => {
  const path = join(dir, 'a')
  await writeDurably(path, (file) => file.writeFile('one\n'))
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777, readdirSync(dir)]).toEqual(['one\n', 0o600, ['a']])
})

test('a file that is replaced keeps the readers that its owner gave it', async () => {
  const path = join(dir, 'a')
  writeFileSync(path, 'old')
  chmodSync(path, 0o644)
  await writeDurably(path, (file) => file.writeFile('new'))
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['new', 0o644])
})

test('where writing fails, what was there stays, and nothing else is left', async () => {
  const path = join(dir, 'a')
  writeFileSync(path, 'old')
  const failing = writeDurably(path, async (file) => {
    await file.writeFile('half of it')
    throw new Error('no room')
  })
  await expect(failing).rejects.toThrow('no room')
  expect([readFileSync(path, 'utf8'), readdirSync(dir)]).toEqual(['old', ['a']])
})

test('a directory that is not there cannot be synced', async () => {
  await expect(syncDirectory(join(dir, 'none'))).rejects.toThrow('ENOENT')
  expect(() => syncDirectorySync(join(dir, 'none'))).toThrow('ENOENT')
})

async function* chunks(...texts: readonly (string | Error)[]) {
  for (const text of texts) {
    if (text instanceof Error) throw text
    yield text
  }
}

test('a folder has all of its files, for its owner alone', async () => {
  const path = join(dir, 'f')
  await makeFolderDurably(path, { a: chunks('1\n', '2\n'), b: chunks() })
  expect([readFileSync(join(path, 'a'), 'utf8'), readFileSync(join(path, 'b'), 'utf8')]).toEqual(['1\n2\n', ''])
  expect([statSync(path).mode & 0o777, statSync(join(path, 'a')).mode & 0o777]).toEqual([0o700, 0o600])
  expect(readdirSync(dir)).toEqual(['f'])
})

test('a folder is not there where one of its files fails, or where something was put meanwhile', async () => {
  const path = join(dir, 'f')
  await expect(makeFolderDurably(path, { a: chunks('1'), b: chunks('2', new Error('no room')) })).rejects.toThrow(
    'no room',
  )
  expect(readdirSync(dir)).toEqual([])
  writeFileSync(path, 'other')
  await expect(makeFolderDurably(path, { a: chunks('1') })).rejects.toThrow('ENOTDIR')
  expect([readdirSync(dir), readFileSync(path, 'utf8')]).toEqual([['f'], 'other'])
})
