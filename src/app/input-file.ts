// A file that a person names, opened to be read more than once.

import type { FileHandle } from 'node:fs/promises'
import { errorCodeOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import { NotAFile, openFile } from '../files/open-file.ts'

/** A fault says why it cannot be read. */
export async function openToRead(path: string): Promise<FileHandle> {
  try {
    return await openFile(path)
  } catch (error) {
    throw new Fault('usage', `${whyNotOpened(path, error)} Nothing was recorded and nothing was sent.`, {
      cause: error,
    })
  }
}

function whyNotOpened(path: string, error: unknown): string {
  if (error instanceof NotAFile)
    return `${error.message}${error.what === 'a folder' ? ': name the file in it.' : ': it is read more than once. Save it first.'}`
  const code = errorCodeOf(error)
  if (code === 'ENOENT') return `The file ${path} does not exist.`
  return code === 'EACCES'
    ? `The file ${path} may not be read by this user.`
    : `The file ${path} cannot be read (${code}).`
}
