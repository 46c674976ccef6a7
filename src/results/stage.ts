// Files that are complete or not there: filled under a temporary name beside their target, made durable, then renamed.

import { type FileHandle, open } from 'node:fs/promises'
import { temporaryPathFor } from './out.ts'

/** Fills a temporary file beside the target and makes it durable, so that a rename can only show a whole file. */
export async function stage<T>(path: string, staged: string[], bom: boolean, fill: (file: FileHandle) => Promise<T>) {
  const temporary = temporaryPathFor(path)
  const file = await open(temporary, 'wx')
  staged.push(temporary)
  try {
    if (bom) await file.appendFile('\uFEFF')
    const filled = await fill(file)
    await file.sync()
    return filled
  } finally {
    await file.close()
  }
}

/** Makes the renames themselves durable. Some file systems cannot; the files are whole there all the same. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw error
  } finally {
    await directory.close()
  }
}
