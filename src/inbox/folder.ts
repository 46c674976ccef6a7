// The folder of an inbox. It is looked at again and again, because network shares do not tell when something changes, and
// all that is remembered is where a file stands and what it is called there.

import { createHash } from 'node:crypto'
import { lstat, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { errorCodeOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import type { InboxFolder } from '../domain/inbox.ts'
import { openFile } from '../files/open-file.ts'
import { sweepUnfinished } from '../files/unfinished.ts'
import type { Clock } from '../ports/clock.ts'
import { createClaims } from './claimed.ts'
import { createLeftReports } from './left-reports.ts'
import { createLooks } from './looks.ts'
import { FOLDERS } from './names.ts'
import { bind } from './owner.ts'
import { createPuttingAway } from './put-away.ts'
import { mkdirUnlessThere, statOf, tryToMove } from './renames.ts'

export interface OpenedInbox extends InboxFolder {
  /** Absolute, symbolic links resolved. */
  readonly path: string
  /** Folders that were not there before. */
  readonly made: readonly string[]
  /** Ties the folder to one ledger for good. Resolves to the id of the inbox; faults where it is tied to another. */
  bind(ledgerId: string): Promise<string>
}

export interface InboxOptions {
  readonly path: string
  /** A file must have stood unchanged for so long. */
  readonly stableMs: number
  readonly clock: Clock
}

/** Faults with `usage` where files could not be taken from there. */
export async function openInbox({ path: given, stableMs, clock }: InboxOptions): Promise<OpenedInbox> {
  const { path, made } = await prepare(given)
  const looks = createLooks(path, stableMs, clock)
  const opened = await identitiesOf(path)
  return {
    path,
    made,
    async assertUnmoved() {
      const now = await identitiesOf(path)
      const moved = ['', ...FOLDERS].find((_, i) => now[i] !== opened[i])
      if (moved === undefined) return
      throw new Error(
        `${join(path, moved)} was moved, or another folder or a link was put in its place: nothing is taken or written until it is back; if that was meant, start the inbox again`,
      )
    },
    bind: (ledgerId) => bind(path, ledgerId),
    look: () => looks.look(),
    pathOf: (name) => join(path, name),
    ...createClaims(path, clock),
    ...createLeftReports(path),
    ...createPuttingAway(path),

    async sha256Of(path) {
      const hash = createHash('sha256')
      await pipeline((await openFile(path)).createReadStream(), hash)
      return hash.digest('hex')
    },
  }
}

async function prepare(given: string): Promise<{ path: string; made: readonly string[] }> {
  const made: string[] = []
  const refuse = (what: string, error: unknown) =>
    new Fault('usage', `The inbox ${given} ${what}. Nothing was taken and nothing was sent.`, { cause: error })
  try {
    const path = await realpath(given)
    if (!(await lstat(path)).isDirectory())
      throw refuse('is not a folder: name the folder that files are put into', null)
    for (const folder of FOLDERS) {
      if (await mkdirUnlessThere(join(path, folder))) made.push(join(path, folder))
      // Results are known by their path, which a link would hide.
      if (!(await lstat(join(path, folder))).isDirectory())
        throw refuse(`has ${folder} in it, which is not a folder`, null)
      await tryToMove(path, join(path, folder))
      await sweepUnfinished(join(path, folder), null)
    }
    return { path, made }
  } catch (error) {
    if (error instanceof Fault) throw error
    switch (errorCodeOf(error)) {
      case 'ENOENT':
        throw refuse('does not exist: make it first, or correct the name', error)
      case 'ENOTDIR':
        throw refuse('is not a folder: name the folder that files are put into', error)
      case 'EXDEV':
        throw refuse(
          'has a folder of its own (claimed, archive, rejected or results) on another file system: files are moved there by rename, so put it on the same one',
          error,
        )
      case 'EACCES':
      case 'EPERM':
      case 'EROFS':
        throw refuse(
          'may not be written by this user: files are moved out of it and into its folders claimed, archive, rejected and results',
          error,
        )
      default:
        throw refuse(`cannot be used (${errorCodeOf(error) ?? String(error)})`, error)
    }
  }
}

/** What each of the folders is, whatever its name leads to. */
async function identitiesOf(path: string): Promise<readonly string[]> {
  const stats = await Promise.all(['', ...FOLDERS].map((folder) => statOf(join(path, folder))))
  return stats.map((stat) => (stat?.isDirectory() === true ? `${stat.dev}:${stat.ino}` : 'none'))
}
