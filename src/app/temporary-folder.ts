// Folders of a command in the temporary directory. Its process holds a lock in each, so that a later one can remove what a process
// that was killed left behind, and nothing else.

import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockHeld, takeLock } from '../files/lock.ts'

export interface TemporaryFolder {
  readonly path: string
  /** Removes it. */
  close(): void
}

const LOCK = 'held.lock'

/** One whose process was killed before it took its lock stays so long. */
const LOCKED_WITHIN_MS = 600_000

/** For this user alone. `prefix`: of its name, and of the names of those that it removes. */
export function openTemporaryFolder(prefix: string): TemporaryFolder {
  sweepFolders(prefix)
  const path = mkdtempSync(join(tmpdir(), prefix))
  const lock = takeLock(join(path, LOCK), {
    ...{ pid: process.pid, host: hostname(), command: prefix, startedAtMs: Date.now() },
  })
  const remove = () => {
    if (lock.kind === 'taken') lock.release()
    rmSync(path, { recursive: true, force: true })
  }
  process.once('exit', remove)
  return {
    path,
    close() {
      process.off('exit', remove)
      remove()
    },
  }
}

function sweepFolders(prefix: string): void {
  for (const name of readdirSync(tmpdir()).filter((found) => found.startsWith(prefix))) {
    const path = join(tmpdir(), name)
    try {
      const stat = lstatSync(path)
      const isOwn = stat.isDirectory() && stat.uid === process.getuid?.()
      if (!isOwn || Date.now() - stat.mtimeMs < LOCKED_WITHIN_MS) continue
      if (lockHeld(join(path, LOCK)) === null) rmSync(path, { recursive: true, force: true })
    } catch {} // another start is removing it
  }
}
