// Files that are whole and on the disk, or not there: written under a temporary name beside their own, synced, renamed.

import { closeSync, fsyncSync, openSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCodeOf } from '../domain/errors.ts'
import { shareAsBefore, temporaryPathFor } from './unfinished.ts'

/** `write` fills the new file. What was at the path before stays until all of it is on the disk, and if `write` fails. */
export async function writeDurably(path: string, write: (file: FileHandle) => void | Promise<void>): Promise<void> {
  const unfinished = temporaryPathFor(path)
  try {
    const file = await open(unfinished, 'wx', 0o600)
    try {
      await write(file)
      await file.sync()
    } finally {
      await file.close()
    }
    await putInPlace(unfinished, path)
    await syncDirectory(dirname(path))
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

/** Of a file that is too long to be held at once. */
export type Chunks = AsyncIterable<string>

/**
 * Makes a folder, for its owner alone, with these files by name: all of them whole and on the disk, or no folder. Rejects with EEXIST,
 * ENOTEMPTY or ENOTDIR where something is there by then.
 */
export async function makeFolderDurably(path: string, files: Readonly<Record<string, Chunks>>): Promise<void> {
  const unfinished = temporaryPathFor(path)
  await mkdir(unfinished, { mode: 0o700 })
  try {
    for (const [name, chunks] of Object.entries(files)) await fill(join(unfinished, name), chunks)
    await syncDirectory(unfinished)
    await rename(unfinished, path)
    await syncDirectory(dirname(path))
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
}

async function fill(path: string, chunks: Chunks): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of chunks) await file.appendFile(chunk)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The rename of a file that is on the disk. It is durable itself when its directory is synced. */
export async function putInPlace(unfinished: string, path: string): Promise<void> {
  await shareAsBefore(unfinished, path)
  await rename(unfinished, path)
}

/** What file systems answer that cannot sync a directory: network shares, some of FUSE. The file is whole there all the same. */
const CANNOT_SYNC = ['EINVAL', 'ENOTSUP', 'EBADF', 'EACCES', 'EPERM']

/** Makes the renames in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } catch (error) {
    throwUnlessImpossible(error)
  } finally {
    await directory.close()
  }
}

/** The same, for what must not let anything happen in between. */
export function syncDirectorySync(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } catch (error) {
    throwUnlessImpossible(error)
  } finally {
    closeSync(directory)
  }
}

function throwUnlessImpossible(error: unknown): void {
  const code = errorCodeOf(error) ?? ''
  if (!CANNOT_SYNC.includes(code)) throw error
}
