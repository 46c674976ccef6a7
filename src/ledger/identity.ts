// Which file this ledger is. It remembers its inode, and the epoch that stands in a file beside it and is renewed while
// somebody works: a copy has another inode, and a state that was put back has an epoch that is over.

import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Alarm } from '../domain/alarm.ts'

const EPOCH_FILE = 'ledger.epoch'

/** What stands in the file beside the ledger. */
export interface Epoch {
  readonly ledgerId: string
  readonly epoch: string
}

interface Remembered {
  /** As text: an inode may be larger than a JavaScript number holds. */
  readonly inode: string | null
  /** The one in the file, and the one that is about to be. */
  readonly epochs: readonly string[]
  /** When `tranche backup` made this copy; null: it is none, or was adopted. */
  readonly copiedAtMs: number | null
}

/** At every opening: a ledger that remembers nothing yet remembers this file. Waits for nobody: the caller tries again. */
export function identify(db: DatabaseSync, path: string, ledgerId: string): void {
  if (isIdentified(db)) return
  db.exec('BEGIN IMMEDIATE')
  try {
    if (!isIdentified(db)) {
      // What stands there already stays: of a crash it is the epoch of this ledger, and another's tells that it stood here.
      const beside = readEpoch(path)
      const epoch = beside?.epoch ?? newEpoch()
      // The file before the commit: a crash between leaves a ledger that remembers nothing, and this is done again.
      if (beside === null) writeEpoch(path, { ledgerId, epoch })
      remember(db, { inode: inodeOf(path) ?? '', epochs: [epoch, epoch] })
    }
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** null: this is the ledger that it remembers to be. */
export function alarmOf(db: DatabaseSync, path: string, ledgerId: string): Alarm | null {
  const { inode, epochs, copiedAtMs } = remembered(db)
  const beside = readEpoch(path)
  if (beside !== null && beside.ledgerId !== ledgerId) {
    return {
      kind: 'other',
      noticed: `${EPOCH_FILE} beside it belongs to another ledger, which stood here before, and what that one recorded is not in this one`,
    }
  }
  if (copiedAtMs !== null) {
    return { kind: 'backup', noticed: `it is a copy that tranche backup made at ${new Date(copiedAtMs).toISOString()}` }
  }
  if (beside === null) return { kind: 'unmarked', noticed: `${EPOCH_FILE}, which belongs beside it, is missing` }
  if (!epochs.includes(beside.epoch)) {
    return {
      kind: 'older',
      noticed: `it is an older state that was put back, for ${EPOCH_FILE} beside it shows that somebody has worked since`,
    }
  }
  if (inode !== inodeOf(path)) {
    return { kind: 'elsewhere', noticed: 'it is a copy, or was moved from another disk (its file is another one)' }
  }
  return null
}

/** Inside a transaction. `epochs`: the one in the file beside it, and the one that will be written there next. */
export function remember(
  db: DatabaseSync,
  { inode, epochs }: { inode: string; epochs: readonly [string, string] },
): void {
  const set = db.prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value')
  set.run('inode', inode)
  set.run('epochs', epochs.join(' '))
  db.exec("DELETE FROM meta WHERE key = 'copied_at'")
}

/** Makes a copy say that it is one: it then remembers no file and no epoch. */
export function markAsCopy(db: DatabaseSync, nowMs: number): void {
  db.exec("DELETE FROM meta WHERE key IN ('inode', 'epochs', 'copied_at')")
  db.prepare("INSERT INTO meta VALUES ('copied_at', ?)").run(String(nowMs))
}

function remembered(db: DatabaseSync): Remembered {
  const rows = db.prepare('SELECT key, value FROM meta').all() as Array<{ key: string; value: string }>
  const meta = new Map(rows.map(({ key, value }) => [key, value]))
  const copiedAt = meta.get('copied_at')
  return {
    inode: meta.get('inode') ?? null,
    epochs: meta.get('epochs')?.split(' ') ?? [],
    copiedAtMs: copiedAt === undefined ? null : Number(copiedAt),
  }
}

function isIdentified(db: DatabaseSync): boolean {
  const { inode, copiedAtMs } = remembered(db)
  return inode !== null || copiedAtMs !== null
}

/** Looks at the name only: opening the file here would drop SQLite's locks. */
export function inodeOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? null : String(found.ino)
}

export function newEpoch(): string {
  return randomBytes(12).toString('hex')
}

/** null: there is none. A file that says something else is nobody's epoch. */
export function readEpoch(ledgerPath: string): Epoch | null {
  try {
    const [ledgerId = '', epoch = ''] = readFileSync(epochPathOf(ledgerPath), 'utf8').trim().split(' ')
    return { ledgerId, epoch }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/** Whole or not at all, and on the disk when it returns. */
export function writeEpoch(ledgerPath: string, { ledgerId, epoch }: Epoch): void {
  const path = epochPathOf(ledgerPath)
  const unfinished = `${path}.${process.pid}.new`
  try {
    const file = openSync(unfinished, 'w', 0o600)
    try {
      writeSync(file, `${ledgerId} ${epoch}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(unfinished, path)
    syncDirectory(dirname(path))
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}

/** A name that was given or taken away is on the disk when its directory is. */
export function syncDirectory(dir: string): void {
  const handle = openSync(dir, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function epochPathOf(ledgerPath: string): string {
  return join(dirname(ledgerPath), EPOCH_FILE)
}
