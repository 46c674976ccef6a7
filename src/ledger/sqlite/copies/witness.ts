// What lies outside the data directory and records how far its ledger had come. Putting the directory back from a copy
// does not bring this back. A later witness proves that another state worked; a missing or earlier one proves nothing.

import { closeSync, ftruncateSync, openSync, readdirSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Testimony } from '../../rules/alarming.ts'
import { attempt, isOwn, realPathOf } from './witness-places.ts'

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
  const { take, handleOf, write } = openHandles()
  let left = false
  const close = () => {
    for (const file of files) take(file, null)
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
        if (handle !== null) write(file, () => writeWhole(handle, `${digitsOf(progress)} ${epoch} ${realPath}\n`))
      }
    },

    fileAhead(progress) {
      const isAhead = (handle: number | null) => handle !== null && progressIn(handle) > progress
      return files.find((file) => isAhead(handleOf(file))) ?? null
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
      close()
    },

    files: () => (left ? outside : [...outside, ...others]),
    close,
  }
}

/** The files as they are open, each from when it is first asked for. */
function openHandles() {
  /** null: it is not written. */
  const handles = new Map<string, number | null>()

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

  return { take, handleOf, write }
}

/** The file beside the ledger. It vouches for nothing. */
export function witnessInside(ledgerPath: string, ledgerId: string): string {
  return join(dirname(ledgerPath), `${ledgerId}.witness`)
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

function writeWhole(handle: number, text: string): void {
  writeSync(handle, text, 0)
  ftruncateSync(handle, Buffer.byteLength(text))
}

function openFile(file: string, flags: 'r+' | 'w+'): number | null {
  try {
    return openSync(file, flags, 0o600)
  } catch {
    return null
  }
}
