import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openFile, readTextSync } from '../../src/files/open-file.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tf-'))
})
afterEach(() => rm(dir, { recursive: true }))

async function refusedBy(path: string): Promise<unknown[]> {
  const caught = (error: unknown) => (error as Error).message
  const now = () => {
    try {
      return readTextSync(path)
    } catch (error) {
      return caught(error)
    }
  }
  return [await openFile(path).then(() => 'opened', caught), now()]
}

test('a file is opened and read, by a link as well', async () => {
  await writeFile(join(dir, 'a'), 'text')
  await symlink(join(dir, 'a'), join(dir, 'link'))
  const file = await openFile(join(dir, 'link'))
  expect(await file.readFile('utf8')).toBe('text')
  await file.close()
  expect(readTextSync(join(dir, 'link'))).toBe('text')
})

test('a pipe without a writer, a folder, a device and a socket are refused at once', async () => {
  const pipe = join(dir, 'pipe')
  execFileSync('mkfifo', [pipe])
  const socket = join(dir, 'socket')
  const server = createServer().listen(socket)
  await new Promise((listening) => server.once('listening', listening))
  try {
    for (const [path, what] of [
      [pipe, 'a pipe'],
      [dir, 'a folder'],
      ['/dev/null', 'a device'],
      [socket, 'a socket or device'],
    ] as const)
      expect(await refusedBy(path)).toEqual(Array(2).fill(`${path} is ${what}, not a file`))
  } finally {
    server.close()
  }
})

test('what is not there keeps its own error', async () => {
  await expect(openFile(join(dir, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
  expect(() => readTextSync(join(dir, 'none'))).toThrow(expect.objectContaining({ code: 'ENOENT' }))
})
