// Folders of a command in the temporary directory. Its process holds a lock in each, so that a later one can remove what a process
// that was killed left behind, and nothing else.

import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
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
export function openTemporaryFolder(prefix: string, { TMPDIR, TMP, TEMP }: NodeJS.ProcessEnv): TemporaryFolder {
  const directory = TMPDIR || TMP || TEMP || '/tmp' // as `tmpdir` of Node has it, which knows only the environment of the process
  sweepFolders(directory, prefix)
  const path = mkdtempSync(join(directory, prefix))
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

function sweepFolders(directory: string, prefix: string): void {
  for (const name of readdirSync(directory).filter((found) => found.startsWith(prefix))) {
    const path = join(directory, name)
    try {
      const stat = lstatSync(path)
      const isOwn = stat.isDirectory() && stat.uid === process.getuid?.()
      if (!isOwn || Date.now() - stat.mtimeMs < LOCKED_WITHIN_MS) continue
      if (lockHeld(join(path, LOCK)) === null) rmSync(path, { recursive: true, force: true })
    } catch {} // another start is removing it
  }
}
