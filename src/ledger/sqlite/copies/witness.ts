// What lies outside the data directory and records how far its ledger had come. Putting the directory back from a copy
// does not bring this back. A later witness proves that another state worked; a missing or earlier one proves nothing.

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errorCodeOf, messageOf } from '../../../domain/errors.ts'
import { Fault } from '../../../domain/fault.ts'
import { type Held, type Holder, type Lock, takeLock } from '../../../files/lock.ts'
import type { Testimony } from '../../rules/alarming.ts'

export interface Witness {
  /** What each place says; nothing where there is no place, or it knows nothing of this ledger. */
  testimonies(): readonly Testimony[]
  /** A new epoch has begun. */
  testify(epoch: string, progress: number): void
  /** The first one that knows of more than there is in the ledger; null: none. Costs a read of 16 bytes a place. */
  fileAhead(progress: number): string | null
  /** After every commit: a read and a write of 16 bytes a place. */
  progressed(progress: number): void
  /** Until a new epoch begins every place keeps what it says, however far this ledger comes. */
  leave(): void
  /** Those that it writes, as the ledger shall remember them. */
  files(): readonly string[]
  close(): void
}

/** At the start of the record, so that it can be overwritten alone. */
const PROGRESS_DIGITS = 16

/**
 * `places`: directories of this user, each made when it is first needed; one that cannot be used is passed over.
 * The directory of the ledger is one of them: it is put back along with the ledger, but only where all of it is.
 * `remembered`: files in which processes with other places keep what they know of this ledger. None of them is made.
 */
export function openWitness(
  places: readonly string[],
  ledgerId: string,
  ledgerPath: string,
  remembered: readonly string[] = [],
): Witness {
  const outside = places.map((place) => join(place, `${ledgerId}.witness`))
  const own = ledgerPath === ':memory:' ? outside : [...outside, witnessInside(ledgerPath, ledgerId)]
  const others = remembered.filter(
    (file) => !own.includes(file) && basename(file) === `${ledgerId}.witness` && readTestimony(file) !== null,
  )
  const files = [...own, ...others]
  const realPath = realPathOf(ledgerPath)
  /** null: it is not written. */
  const handles = new Map<string, number | null>()
  let left = false

  function take(file: string, handle: number | null): number | null {
    const before = handles.get(file)
    if (typeof before === 'number') closeSync(before)
    handles.set(file, handle)
    return handle
  }

  function handleOf(file: string): number | null {
    const known = handles.get(file)
    return known === undefined ? take(file, isOwn(dirname(file), false) ? openFile(file, 'r+') : null) : known
  }

  /** One that can no longer be written would vouch for less than was done: it goes, and the ledger goes on. */
  function write(file: string, record: () => void): void {
    try {
      record()
    } catch {
      take(file, null)
      attempt(() => rmSync(file, { force: true }))
    }
  }

  return {
    testimonies: () => files.filter((file) => isOwn(dirname(file), false)).flatMap((file) => readTestimony(file) ?? []),

    testify(epoch, progress) {
      for (const file of files) {
        // By its name: if a directory of caches was cleared, the open file is gone.
        // What a copy took along is of another ledger: it wrote nothing there before it was adopted, and writes nothing then.
        if (left && others.includes(file)) continue
        const make = () => (own.includes(file) ? openFile(file, 'w+') : null)
        const handle = take(file, isOwn(dirname(file), true) ? (openFile(file, 'r+') ?? make()) : null)
        if (handle === null) continue
        write(file, () => {
          const text = `${digitsOf(progress)} ${epoch} ${realPath}\n`
          writeSync(handle, text, 0)
          ftruncateSync(handle, Buffer.byteLength(text))
        })
      }
    },

    fileAhead(progress) {
      return (
        files.find((file) => {
          const handle = handleOf(file)
          return handle !== null && progressIn(handle) > progress
        }) ?? null
      )
    },

    progressed(progress) {
      for (const file of files) {
        const handle = handleOf(file)
        if (handle === null) continue
        // Never back: what another copy of this ledger did must stay to be seen.
        write(file, () => {
          if (progress > progressIn(handle)) writeSync(handle, digitsOf(progress), 0)
        })
      }
    },

    leave() {
      left = true
      for (const file of files) take(file, null)
    },

    files: () => (left ? outside : [...outside, ...others]),

    close() {
      for (const file of files) take(file, null)
    },
  }
}

/** The file beside the ledger. It vouches for nothing. */
export function witnessInside(ledgerPath: string, ledgerId: string): string {
  return join(dirname(ledgerPath), `${ledgerId}.witness`)
}

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
function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realPathOf(parent), basename(path))
  }
}

/** Ledgers that stood at this path, as any place remembers them. */
export function testimoniesOf(places: readonly string[], ledgerPath: string): readonly Testimony[] {
  const realPath = realPathOf(ledgerPath)
  return places
    .filter((place) => isOwn(place, false))
    .flatMap((place) => readdirSync(place).map((name) => join(place, name)))
    .filter((file) => file.endsWith('.witness'))
    .flatMap((file) => readTestimony(file) ?? [])
    .filter((said) => said.ledgerPath === realPath)
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
    release: () => {
      for (const lock of locks) lock.release()
    },
  }
}

/** Another user must not have put it there: anyone can make a directory under /var/tmp. */
function isOwn(place: string, make: boolean): boolean {
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

/** null: nothing is there, or nothing that could be understood. Neither is evidence of anything. */
function readTestimony(file: string): Testimony | null {
  try {
    const [, progress, epoch, ledgerPath] = /^(\d{16}) (\S+) (.+)\n$/s.exec(readFileSync(file, 'utf8')) ?? []
    if (progress === undefined || epoch === undefined || ledgerPath === undefined) return null
    return { file, ledgerPath, epoch, progress: Number(progress) }
  } catch {
    return null
  }
}

function progressIn(handle: number): number {
  const bytes = Buffer.alloc(PROGRESS_DIGITS)
  readSync(handle, bytes, 0, PROGRESS_DIGITS, 0)
  return Number(bytes.toString('latin1'))
}

function digitsOf(progress: number): string {
  return String(progress).padStart(PROGRESS_DIGITS, '0')
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

function openFile(file: string, flags: 'r+' | 'w+'): number | null {
  try {
    return openSync(file, flags, 0o600)
  } catch {
    return null
  }
}

function attempt(act: () => void): void {
  try {
    act()
  } catch {
    // A disk that can no longer be written. The next epoch tries again.
  }
}
