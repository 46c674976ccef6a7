// Which files of an inbox are complete: what two looks found unchanged for long enough, or what has a mark beside it.

import type { Dirent } from 'node:fs'
import { readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { InboxEntry } from '../domain/inbox.ts'
import type { Clock } from '../domain/ports.ts'
import { codeOf, statOf, toFingerprint } from './file-moves.ts'
import { FOLDERS, MARK, PASSING, SPREADSHEET_ENDINGS, TAKEN_ENDINGS } from './inbox-names.ts'

interface Look {
  readonly unchanged: string
  readonly sinceMs: number
}

export function openLooks(path: string, stableMs: number, clock: Clock) {
  let seen = new Map<string, Look>()
  const isOwn = new Set<string>(FOLDERS)

  async function entryOf(found: Dirent): Promise<{ entry: InboxEntry; look: Look | null } | null> {
    const { name } = found
    const ignored = (why: string, fingerprint = why) => ({
      entry: { kind: 'ignored' as const, name, why, fingerprint },
      look: null,
    })
    if (name.includes('\ufffd')) return ignored('its name is not UTF-8: rename it')
    const stat = await statOf(join(path, name))
    if (stat === null) return null
    if (stat.isDirectory()) return ignored('it is a folder: only files are taken')
    if (!stat.isFile()) return ignored('it is no regular file: links and devices are never taken')
    if (!TAKEN_ENDINGS.test(name))
      return ignored(
        SPREADSHEET_ENDINGS.test(name)
          ? 'spreadsheets of this kind are not taken: save the sheet as .xlsx or as "CSV UTF-8"'
          : 'only .csv, .txt, .tsv and .xlsx files are taken: rename it if it is one',
      )
    const unchanged = `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}:${stat.blocks}`
    const before = seen.get(name)
    const look = before?.unchanged === unchanged ? before : { unchanged, sinceMs: clock.monotonicMs() }
    const mark = await statOf(join(path, `${name}${MARK}`))
    // A mark that is older than the last change was meant for an earlier file.
    const marked = mark?.isFile() === true && mark.ctimeNs >= stat.ctimeNs
    const stable = marked || clock.monotonicMs() - look.sinceMs >= stableMs
    if (!stable) return { entry: { kind: 'growing', name }, look }
    const fingerprint = toFingerprint(stat)
    if (stat.size === 0n) return { ...ignored('it is empty: it is taken when something is in it', fingerprint), look }
    return { entry: { kind: 'complete', name, fingerprint }, look }
  }

  return {
    async look(): Promise<readonly InboxEntry[]> {
      const entries: InboxEntry[] = []
      const now = new Map<string, Look>()
      for (const found of await readdir(path, { withFileTypes: true })) {
        if (isOwn.has(found.name) || PASSING.test(found.name)) continue
        const looked = await entryOf(found)
        if (looked === null) continue
        entries.push(looked.entry)
        if (looked.look !== null) now.set(found.name, looked.look)
      }
      seen = now
      return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    },
  }
}

export async function removeMark(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!['ENOENT', 'EISDIR', 'EPERM'].includes(codeOf(error) ?? '')) throw error
  })
}
