// Files of the configuration: secrets from files of one line, and who else on this machine can read or change such a file.

import { readFileSync, statSync } from 'node:fs'
import { errorCodeOf, messageOf } from '../domain/errors.ts'
import { NotAFile } from '../files/open-file.ts'
import { ELLIPSIS, isEllipsis } from './limits.ts'

/** A file of the configuration that other users of the machine can get at. */
export interface ExposedFile {
  readonly path: string
  /** `read`: it holds a secret. `write`: it says where secrets are sent. */
  readonly by: 'read' | 'write'
}

/**
 * One line, without the line end that every editor adds. The only file that may be a pipe, and is waited for: a password
 * store hands a secret over by `<(…)` without leaving it on a disk.
 */
export function readSecretFile(
  path: string,
  complain: (problem: string) => void,
  exposed: ExposedFile[],
): string | undefined {
  let text: string
  try {
    noteReaders(path, exposed)
    text = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    complain(`names ${path}, which cannot be read (${errorCodeOf(error) ?? messageOf(error)})`)
    return undefined
  }
  if (text.trim() === '') complain(`names ${path}, which is empty`)
  else if (isEllipsis(text)) complain(`names ${path}, whose text ${ELLIPSIS}`)
  else if (/[\r\n]/.test(text)) complain(`names ${path}, which holds more than one line`)
  else return text
  return undefined
}

/** What such a file holds by now; null: nothing that could be a secret. Never of a pipe, which is empty when it is read again. */
export function readSecretAgain(path: string): string | null {
  try {
    if (!statSync(path).isFile()) return null
  } catch {
    return null
  }
  return readSecretFile(path, () => {}, []) ?? null
}

/** Not refused: in a container there are no other users, and its secrets are often readable by all. */
export function noteReaders(path: string, exposed: ExposedFile[]): void {
  const stat = statSync(path)
  if (stat.isFile() && (stat.mode & 0o044) !== 0) exposed.push({ path, by: 'read' })
}

export function noteWriters(path: string, exposed: ExposedFile[]): void {
  if ((statSync(path).mode & 0o022) !== 0) exposed.push({ path, by: 'write' })
}

export function whyNotRead(error: unknown): string {
  if (error instanceof NotAFile) return `is ${error.what}, not a file`
  return `cannot be read (${errorCodeOf(error) ?? messageOf(error)})`
}
