// Which files of an inbox are complete: what two looks found unchanged for long enough, or what has a mark beside it. And which
// entries are never taken as they are, and why: trouble with one of them is its own and hides no other.

import { lstat, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCodeOf } from '../domain/errors.ts'
import type { InboxEntry } from '../domain/inbox.ts'
import type { Problem } from '../domain/problem.ts'
import type { Clock } from '../ports/clock.ts'
import { FOLDERS, MARK, PASSING, SPREADSHEET_ENDINGS, shownNameOf, TAKEN_ENDINGS } from './names.ts'
import { type Stat, statOf, toFingerprint } from './renames.ts'

interface Look {
  readonly unchanged: string
  readonly sinceMs: number
}

export function createLooks(path: string, stableMs: number, clock: Clock) {
  let seen = new Map<string, Look>()
  const isOwn = new Set<string>(FOLDERS)

  /** null: it is gone. */
  async function entryOf(raw: Buffer, name: string): Promise<{ entry: InboxEntry; look: Look | null } | null> {
    let stat: Stat
    try {
      stat = await lstat(Buffer.concat([Buffer.from(`${path}/`), raw]), { bigint: true })
    } catch (error) {
      const code = errorCodeOf(error)
      if (code === 'ENOENT') return null
      return { entry: { kind: 'unfit', name, fingerprint: String(code), ...cannotBeSeen(code) }, look: null }
    }
    // What is put into a folder changes nothing of it that counts here.
    const unchanged = stat.isDirectory()
      ? `folder:${stat.ino}`
      : `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}:${stat.blocks}`
    const before = seen.get(name)
    const look = before?.unchanged === unchanged ? before : { unchanged, sinceMs: clock.monotonicMs() }
    const stable = clock.monotonicMs() - look.sinceMs >= stableMs || (await isMarked(name, stat))
    if (!stable) return { entry: { kind: 'growing', name }, look }
    const wrong = whyUnfit(raw, name, stat)
    if (wrong !== null) return { entry: { kind: 'unfit', name, fingerprint: unchanged, ...wrong }, look }
    return { entry: { kind: 'complete', name, fingerprint: toFingerprint(stat) }, look }
  }

  /** A mark that is older than the last change was meant for an earlier file; one that cannot be looked at says nothing. */
  async function isMarked(name: string, stat: Stat): Promise<boolean> {
    const mark = await statOf(join(path, `${name}${MARK}`)).catch(() => null)
    return mark?.isFile() === true && mark.ctimeNs >= stat.ctimeNs
  }

  return {
    async look(): Promise<readonly InboxEntry[]> {
      const entries: InboxEntry[] = []
      const now = new Map<string, Look>()
      for (const raw of await readdir(path, { encoding: 'buffer' })) {
        const name = shownNameOf(raw)
        if (isOwn.has(name) || PASSING.test(name)) continue
        const looked = await entryOf(raw, name)
        if (looked === null) continue
        entries.push(looked.entry)
        if (looked.look !== null) now.set(name, looked.look)
      }
      seen = now
      return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    },
  }
}

function cannotBeSeen(code: string | null): Problem {
  return code === 'ENAMETOOLONG'
    ? { problem: 'its name is too long for this place', remedy: 'give it a shorter name' }
    : { problem: `it cannot be looked at (${code})`, remedy: 'put it in again' }
}

/** null: it is taken when it is complete. */
function whyUnfit(raw: Buffer, name: string, stat: Stat): Problem | null {
  if (stat.isDirectory())
    return {
      problem: 'it is a folder, and only files are taken',
      remedy: 'put its files beside it; to keep the folder here, give it a name that begins with a dot',
    }
  if (!stat.isFile())
    return { problem: 'it is a link, a pipe or a device, and only files are taken', remedy: 'put the file itself here' }
  if (!raw.equals(Buffer.from(name))) return { problem: 'its name is not UTF-8', remedy: 'rename it' }
  if (SPREADSHEET_ENDINGS.test(name))
    return {
      problem: 'files of this kind cannot be read',
      remedy: 'save the sheet as .xlsx or as "CSV UTF-8", and put that here',
    }
  if (!TAKEN_ENDINGS.test(name))
    return {
      problem: 'its name does not end in .csv, .txt, .tsv or .xlsx',
      remedy: 'rename it if it is such a file, else take it out',
    }
  return stat.size === 0n ? { problem: 'it is empty', remedy: 'write its rows into it, or take it out' } : null
}

export async function removeMark(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!['ENOENT', 'EISDIR', 'EPERM', 'ENAMETOOLONG'].includes(errorCodeOf(error) ?? '')) throw error
  })
}
