// A copy of a ledger in a file of its own: whole, of one moment, checked, and marked as a copy. Of a ledger in SQLite by SQLite's own means,
// of any other table by table.

import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, linkSync, openSync, realpathSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { backup, type DatabaseSync } from 'node:sqlite'
import { errorCodeOf, messageOf } from '../../../domain/errors.ts'
import { Fault } from '../../../domain/fault.ts'
import { syncDirectorySync } from '../../../files/durable.ts'
import { makeOwnFile, openConnection } from '../../../files/sqlite-file.ts'
import type { Backup } from '../../../ports/ledger/copies.ts'
import { whyNotWritten } from '../transaction.ts'
import { isDamage } from './damage.ts'
import { markAsCopy } from './identity.ts'

/** Names that SQLite or this program gives a meaning beside a ledger. */
const TAKEN = /^(ledger\.(db|epoch)|(worker|submit)\.lock)/

/** All pages in one step: with several, every commit of a writer in between would restart it. */
const PAGES_PER_STEP = 0x7fff_ffff

/**
 * Reads by a connection of its own: writers go on meanwhile, and the log grows until it is done. Checking the copy blocks
 * this process, so it is no work for one that sends.
 */
export function makeBackup(
  openReader: () => DatabaseSync,
  ledgerPath: string,
  to: string,
  nowMs: number,
): Promise<Backup> {
  return makeCopy(ledgerPath, to, nowMs, async (unfinished) => {
    const reader = openReader()
    try {
      await backup(reader, unfinished, { rate: PAGES_PER_STEP })
    } finally {
      reader.close()
    }
  })
}

/** `fill` writes the file that it is given. `ledgerPath`: of the ledger in SQLite, or where one would be. */
export async function makeCopy(
  ledgerPath: string,
  to: string,
  nowMs: number,
  fill: (unfinished: string) => Promise<void>,
): Promise<Backup> {
  const path = targetOf(ledgerPath, to)
  const unfinished = join(dirname(path), `.${basename(path)}.tmp-${randomBytes(6).toString('hex')}`)
  try {
    makeOwnFile(unfinished) // it holds what the ledger holds
    await fill(unfinished)
    const counts = finish(unfinished, nowMs)
    syncFile(unfinished)
    linkSync(unfinished, path) // unlike a rename, it refuses a name that was taken meanwhile
    rmSync(unfinished)
    syncDirectorySync(dirname(path))
    return { path, atMs: nowMs, ...counts, bytes: statSync(path).size }
  } catch (error) {
    for (const part of ['', '-journal', '-wal', '-shm']) rmSync(unfinished + part, { force: true })
    throw toFault(error, path)
  }
}

function targetOf(ledgerPath: string, to: string): string {
  const named = resolve(to)
  let path: string
  try {
    path = join(realpathSync(dirname(named)), basename(named))
  } catch (error) {
    throw new Fault('usage', `${dirname(named)} is not a directory that could be found. No copy was made.`, {
      cause: error,
    })
  }
  if (dirname(path) === realpathSync(dirname(ledgerPath)) && TAKEN.test(basename(path))) {
    throw new Fault('usage', `${path} belongs to the ledger itself. No copy was made. Name another file.`)
  }
  if (existsSync(path)) throw takenFault(path)
  return path
}

function takenFault(path: string, cause?: unknown): Fault {
  return new Fault('usage', `${path} exists already and stays as it is. No copy was made. Name another file.`, {
    cause,
  })
}

/** A copy that was not read proves nothing: every page and index is checked against the others. */
function finish(path: string, nowMs: number): { rows: number; batches: number } {
  const copy = openConnection(path)
  try {
    // One file, with no log beside it that could be left behind.
    copy.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL')
    markAsCopy(copy, nowMs)
    const [said] = copy.prepare('PRAGMA integrity_check(1)').all()
    if (said?.integrity_check !== 'ok') throw damagedFault(String(said?.integrity_check))
    return copy
      .prepare("SELECT count(*) AS batches, coalesce(sum(rows), 0) AS rows FROM batch WHERE stage = 'open'")
      .get() as { rows: number; batches: number }
  } finally {
    copy.close()
  }
}

function damagedFault(how: string, cause?: unknown): Fault {
  return new Fault(
    'storage',
    `The copy is damaged (${how}), and so may be the ledger. No copy was kept. Send nothing from this ledger until someone has checked its disk.`,
    { cause },
  )
}

function syncFile(path: string): void {
  const file = openSync(path, 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function toFault(error: unknown, path: string): unknown {
  if (error instanceof Fault) return error
  const code = errorCodeOf(error)
  if (code === 'EEXIST') return takenFault(path, error)
  if (code === 'ENOSPC' || whyNotWritten(error) === 'full') {
    return new Fault('full', `There is no room for ${path}. No copy was made; the ledger itself is untouched.`, {
      cause: error,
    })
  }
  const message = messageOf(error)
  if (isDamage(error)) return damagedFault(message, error)
  return new Fault('usage', `${path} could not be written (${message}). No copy was made. Name another file.`, {
    cause: error,
  })
}
