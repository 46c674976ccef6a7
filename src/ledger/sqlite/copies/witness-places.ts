// The directories outside the data directory in which a witness is kept, and a lock that lies in no copy.

import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errorCodeOf, messageOf } from '../../../domain/errors.ts'
import { Fault } from '../../../domain/fault.ts'
import { type Held, type Holder, type Lock, takeLock } from '../../../files/lock.ts'

/**
 * The directory that a person named, or one of our own within it where it belongs to another user (the volumes of
 * containers do). Faults where neither can be used: without a witness, a restored copy may not be noticed.
 */
export function placeIn(named: string, dataDir: string): string {
  const refuse = (why: string, remedy: string) =>
    new Fault(
      'config',
      `TRANCHE_WITNESS_DIR (${named}) cannot be used: ${why}. Nothing was sent and nothing was recorded, because without it a restored copy of the ledger could pay twice unnoticed. ${remedy}, or name another directory outside the data directory.`,
    )
  makeDirs(named)
  let place: string
  try {
    place = realpathSync(named)
    accessSync(place, constants.W_OK | constants.X_OK)
  } catch (error) {
    const code = errorCodeOf(error) ?? messageOf(error)
    const why = code === 'ENOENT' ? 'it is not there and cannot be made' : `this user cannot write there (${code})`
    throw refuse(why, 'Make it, for this user alone (mode 700)')
  }
  if (`${place}/`.startsWith(`${realPathOf(dataDir)}/`)) {
    throw refuse('it leads into the data directory, and would be restored along with the ledger', 'Move it out')
  }
  if (isOwn(place, false)) return place
  const found = statSync(place)
  if (!found.isDirectory()) throw refuse('it is not a directory', 'Move that away')
  if (found.uid === process.getuid?.()) {
    const mode = (found.mode & 0o777).toString(8)
    throw refuse(`other users can write to it (mode ${mode})`, `Take that right away (chmod go-w ${place})`)
  }
  const own = join(place, `tranche-${process.getuid?.() ?? 'user'}`)
  makeDir(own)
  // Where a volume is mounted for a group, its directories are opened to that group at every start.
  if (lstatSync(own, { throwIfNoEntry: false })?.uid === process.getuid?.()) attempt(() => chmodSync(own, 0o700))
  if (isOwn(own, true)) return own
  throw refuse(`it belongs to another user, and no ${own} can be made there`, 'Give it to this user')
}

/** However the data directory is called: links are resolved as far as there is something. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realPathOf(parent), basename(path))
  }
}

/** Keeps every copy of a ledger on this machine from sending at the same time: the worker lock lies within each copy. */
export function lockOutCopies(places: readonly string[], ledgerId: string, holder: Holder): Lock | Held {
  const locks: Lock[] = []
  for (const place of places.filter((one) => isOwn(one, true))) {
    const lock = lockIn(join(place, `${ledgerId}.lock`), holder)
    if (lock?.kind === 'held') {
      for (const taken of locks) taken.release()
      return lock
    }
    if (lock !== null) locks.push(lock)
  }
  return {
    kind: 'taken',
    startedAtMs: holder.startedAtMs,
    release: () => {
      for (const lock of locks) lock.release()
    },
  }
}

/** Another user must not have put it there: anyone can make a directory under /var/tmp. */
export function isOwn(place: string, make: boolean): boolean {
  try {
    if (make) for (const dir of [dirname(place), place]) makeDir(dir)
    const found = lstatSync(place)
    return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0
  } catch {
    return false
  }
}

function makeDirs(dir: string): void {
  if (existsSync(dir) || dirname(dir) === dir) return
  makeDirs(dirname(dir))
  makeDir(dir)
}

/** One level at a time: where a directory cannot be made, a recursive mkdir may never return. */
function makeDir(dir: string): void {
  try {
    mkdirSync(dir, { mode: 0o700 })
  } catch {
    // It is there, or cannot be: the next look tells.
  }
}

/** A place where no lock can be kept (a home on a network file system) is a place without a lock. */
function lockIn(path: string, holder: Holder): Lock | Held | null {
  try {
    return takeLock(path, holder, 0)
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

export function attempt(act: () => void): void {
  try {
    act()
  } catch {
    // A disk that can no longer be written. The next epoch tries again.
  }
}
