// The one way to open a file that a person names or puts somewhere. A pipe without a writer would block the open forever,
// and the process with it; what was opened is looked at itself, so that nothing can be put in its place meanwhile.

import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { errorCodeOf } from '../domain/errors.ts'

/** Never blocks, and makes no terminal the controlling one of this process. */
const TO_READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/** There is something, and it is no regular file. */
export class NotAFile extends Error {
  override readonly name = 'NotAFile'
  readonly what: string

  constructor(path: string, stat: Stats | null) {
    const what = stat === null ? 'a socket or device' : kindOf(stat)
    super(`${path} is ${what}, not a file`)
    this.what = what
  }
}

function kindOf(stat: Stats): string {
  if (stat.isDirectory()) return 'a folder'
  return stat.isFIFO() ? 'a pipe' : 'a device'
}

/** Rejects with NotAFile for anything but a regular file. */
export async function openFile(path: string): Promise<FileHandle> {
  const handle = await open(path, TO_READ).catch((error: unknown) => {
    throw toNotAFile(path, error)
  })
  const stat = await handle.stat()
  if (stat.isFile()) return handle
  await handle.close()
  throw new NotAFile(path, stat)
}

/** The whole text. Throws NotAFile for anything but a regular file. */
export function readTextSync(path: string): string {
  let file: number
  try {
    file = openSync(path, TO_READ)
  } catch (error) {
    throw toNotAFile(path, error)
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new NotAFile(path, stat)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/** Sockets, and devices without a driver, do not even open. */
function toNotAFile(path: string, error: unknown): unknown {
  const code = errorCodeOf(error)
  return code === 'ENXIO' || code === 'ENODEV' ? new NotAFile(path, null) : error
}
