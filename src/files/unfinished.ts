// Files that are being written, under a temporary name beside their own: what they are called, who may read them, and what
// becomes of those whose writer was killed.

import { randomBytes } from 'node:crypto'
import { chmod, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

const UNFINISHED = /^\.(?<name>.+)\.tmp-[0-9a-f]{12}$/s

/** Beside the target and hidden: a rename within one directory is atomic. */
export function temporaryPathFor(path: string): string {
  return join(dirname(path), `.${basename(path)}.tmp-${randomBytes(6).toString('hex')}`)
}

/** A writer writes every few milliseconds; one that has not for so long is dead, whichever host it ran on. */
const DEAD_AFTER_MS = 10 * 60_000

/** Removes what writers of files in this directory left behind when they were killed. `name`: of this file only. */
export async function sweepUnfinished(directory: string, name: string | null): Promise<void> {
  const names = await readdir(directory).catch(() => [])
  for (const found of names) {
    const of = UNFINISHED.exec(found)?.groups?.name
    if (of === undefined || (name !== null && of !== name)) continue
    const path = join(directory, found)
    const stood = await stat(path).catch(() => null)
    if (stood !== null && Date.now() - stood.mtimeMs > DEAD_AFTER_MS) await rm(path, { force: true }).catch(() => {})
  }
}

const SET_GROUP_ID = 0o2000

/**
 * Makes what was written as open as what it replaces. Something new is for its owner alone, or also for the group's readers
 * where the directory is set up for a group (its set-group-ID bit), as an inbox for several people is.
 */
export async function shareAsBefore(written: string, path: string): Promise<void> {
  const before = await stat(path).catch(() => null)
  const directory = before === null ? await stat(dirname(path)) : null
  const shared = directory !== null && (directory.mode & SET_GROUP_ID) !== 0
  const mode = before === null ? 0o600 | (shared ? directory.mode & 0o040 : 0) : before.mode & 0o666
  await chmod(written, mode).catch(() => {}) // a file system without modes
}

/** The same for a directory that was just made. */
export async function shareDirectory(made: string): Promise<void> {
  const { mode } = await stat(dirname(made))
  if ((mode & SET_GROUP_ID) !== 0) await chmod(made, SET_GROUP_ID | 0o700 | (mode & 0o070)).catch(() => {})
}
