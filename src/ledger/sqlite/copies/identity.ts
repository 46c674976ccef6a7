// Which file this ledger is. It remembers what no copy carries along: the inodes and the times of its own file and of the
// file with the epoch beside it, and this machine. The epoch is renewed while a worker sends, so that a state that is put
// back has an epoch that is over, here or with a witness outside the directory.

import type { DatabaseSync } from 'node:sqlite'
import type { Alarm } from '../../../domain/alarm.ts'
import { alarmIn, type MovedTo, type Testimony, type Traces, witnessAgainst } from '../../rules/alarming.ts'
import { EPOCH_FILE, epochFileOf, nextEpoch, readEpoch, stageEpoch } from './epoch-file.ts'
import {
  type FileIdentity,
  fileIdentityOf,
  isKnownToDiffer,
  isOtherFile,
  machineFor,
  timesAgree,
} from './file-identity.ts'
import { type Witness, witnessInside } from './witness.ts'

/** Kept as JSON in the ledger. null: not known, and so not compared. */
export interface Identity {
  readonly ledgerFile: FileIdentity | null
  readonly machine: string | null
  /** The one in the file beside the ledger, and the one that is about to be. */
  readonly epochs: readonly { readonly epoch: string; readonly file: FileIdentity | null }[]
  /** A person adopted it as an older state: the next renewal overrules what the register shows. */
  readonly overrules: boolean
  /** The files of the witness. A process whose witness is elsewhere writes these as well: one that fell behind would vouch. */
  readonly witnesses?: readonly string[]
  /** On this file system a file that was only ever written to was changed when it was last written to. */
  readonly timesAgree?: boolean
}

// ───────────────────────────────────────────────────────────── What it remembers

/** At every opening: a ledger that remembers nothing yet remembers this file. Never blocks: the caller tries again. */
export function identify(db: DatabaseSync, path: string, ledgerId: string, witness: Witness): void {
  if (isIdentified(db)) return
  db.exec('BEGIN IMMEDIATE')
  try {
    if (!isIdentified(db)) {
      // What stands there already stays: of a crash it is the epoch of this ledger, and another's tells that it stood here.
      const beside = readEpoch(path)
      const epoch = beside?.epoch ?? nextEpoch([])
      // The file before the commit: a crash between leaves a ledger that remembers nothing, and this is done again.
      if (beside === null) stageEpoch(path, { ledgerId, epoch }).put()
      remember(db, {
        ...currentIdentity(path, ledgerId),
        epochs: [{ epoch, file: epochFileOf(path) }],
        overrules: false,
        witnesses: witness.files(),
      })
      if (beside === null) witness.testify(epoch, prepareProgress(db)())
    }
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Inside a transaction. */
export function remember(db: DatabaseSync, identity: Identity): void {
  const set = db.prepare("INSERT INTO meta VALUES ('identity', ?) ON CONFLICT DO UPDATE SET value = excluded.value")
  set.run(JSON.stringify(identity))
  db.exec("DELETE FROM meta WHERE key IN ('copied_at', 'overtaken_by', 'moved_to')")
}

/** Makes a copy say that it is one: it then remembers no file and no epoch. */
export function markAsCopy(db: DatabaseSync, nowMs: number): void {
  db.exec("DELETE FROM meta WHERE key IN ('identity', 'copied_at', 'overtaken_by')")
  db.prepare("INSERT INTO meta VALUES ('copied_at', ?)").run(String(nowMs))
}

/** null: it remembers nothing, being new or a copy. */
export function identityIn(db: DatabaseSync): Identity | null {
  const said = metaIn(db).get('identity')
  return said === undefined ? null : (JSON.parse(said) as Identity)
}

/** When this copy was made as a backup; null: it is none, or was adopted. */
function copiedAtMs(db: DatabaseSync): number | null {
  const copiedAt = metaIn(db).get('copied_at')
  return copiedAt === undefined ? null : Number(copiedAt)
}

/** Where this ledger is since; null: here. */
export function prepareMovedTo(db: DatabaseSync): () => MovedTo | null {
  const read = db.prepare("SELECT value FROM meta WHERE key = 'moved_to'")
  return () => {
    const found = read.get() as { value: string } | undefined
    return found === undefined ? null : (JSON.parse(found.value) as MovedTo)
  }
}

function metaIn(db: DatabaseSync): ReadonlyMap<string, string> {
  const rows = db.prepare('SELECT key, value FROM meta').all() as Array<{ key: string; value: string }>
  return new Map(rows.map(({ key, value }) => [key, value]))
}

function isIdentified(db: DatabaseSync): boolean {
  return identityIn(db) !== null || copiedAtMs(db) !== null
}

/**
 * How far the record has come: grows with every move of a row, every act of a person, every file and every message that
 * was accepted, and never shrinks.
 */
export function prepareProgress(db: DatabaseSync): () => number {
  const read = db.prepare(`
    SELECT coalesce((SELECT max(id) FROM move), 0) + coalesce((SELECT max(id) FROM act), 0)
      + coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'accepted'), 0) AS progress`)
  return () => (read.get() as { progress: number }).progress
}

/**
 * At every opening. A ledger under an alarm writes no witness: what is done in a copy is no progress of the one that sends. What
 * a witness says against this ledger is kept in it: by acts of its own it could outgrow the testimony. Only an adoption
 * ends it. Returns whether there is an alarm.
 */
export function keepWhatSpeaksAgainst(db: DatabaseSync, path: string, ledgerId: string, witness: Witness): boolean {
  const testimonies = witness.testimonies() // before the ledger is read: see `lookForAlarm`
  const epochs = (identityIn(db)?.epochs ?? []).map(({ epoch }) => epoch)
  const progress = prepareProgress(db)()
  const against = witnessAgainst({ testimonies, epochs, progress })
  // Written once: a command that only looks must not wait for a lock, or for room on the disk.
  if (against !== null && overtakenBy(db) === null) {
    db.prepare("INSERT INTO meta VALUES ('overtaken_by', ?) ON CONFLICT DO NOTHING").run(JSON.stringify(against))
  }
  if (alarmOf(db, path, ledgerId, witness) === null) return false
  witness.leave()
  return true
}

// ───────────────────────────────────────────────────────────── The alarm

/** null: this is the ledger that it remembers to be. */
export function alarmOf(db: DatabaseSync, path: string, ledgerId: string, witness: Witness): Alarm | null {
  const epochNow = () => JSON.stringify([identityIn(db), readEpoch(path)])
  for (;;) {
    const before = epochNow()
    const alarm = lookForAlarm(db, path, ledgerId, witness)
    // A worker may have renewed the epoch between two of the looks that were compared.
    if (alarm === null || epochNow() === before) return alarm
  }
}

function lookForAlarm(db: DatabaseSync, path: string, ledgerId: string, witness: Witness): Alarm | null {
  // Before the ledger is read: it is written first, so it knows by then whatever a witness knew.
  const testimonies = witness.testimonies()
  const identity = identityIn(db)
  const known = identity?.epochs ?? []
  const beside = readEpoch(path)
  const inside = witnessInside(path, ledgerId)
  const mark = known.find(({ epoch }) => epoch === beside?.epoch)
  return alarmIn({
    ledgerId,
    epochFile: EPOCH_FILE,
    beside,
    epochs: known.map(({ epoch }) => epoch),
    progress: prepareProgress(db)(),
    overtakenBy: overtakenBy(db),
    testimonies,
    witnessInside: inside,
    restoring: metaIn(db).has('restoring'),
    copiedAtMs: copiedAtMs(db),
    movedTo: prepareMovedTo(db)(),
    ...filesDiffer(path, ledgerId, { identity, mark: mark?.file ?? null, inside }),
  })
}

/** What no copy carries along, held against what the ledger remembers of it. */
function filesDiffer(
  path: string,
  ledgerId: string,
  { identity, mark, inside }: { identity: Identity | null; mark: FileIdentity | null; inside: string },
): Pick<Traces, 'otherMachine' | 'otherFiles' | 'touched'> {
  if (identity === null) return { otherMachine: false, otherFiles: false, touched: false }
  const now = currentIdentity(path, ledgerId)
  const epochFile = epochFileOf(path)
  return {
    otherMachine: isKnownToDiffer(identity.machine, now.machine),
    otherFiles: isOtherFile(identity.ledgerFile, now.ledgerFile) || isOtherFile(mark, epochFile),
    // Not every copy touches the epoch: rsync leaves files alone that look the same. A witness within always looks another.
    touched:
      isKnownToDiffer(mark?.changedNs ?? null, epochFile?.changedNs ?? null) ||
      (identity.timesAgree === true && timesAgree(inside) === false),
  }
}

/** What spoke against it when it was opened before. */
function overtakenBy(db: DatabaseSync): Testimony | null {
  const said = metaIn(db).get('overtaken_by')
  return said === undefined ? null : (JSON.parse(said) as Testimony)
}

/** All of it but the epochs. Device numbers are no part of it: a remount or a reboot may change them. */
export function currentIdentity(path: string, ledgerId: string): Pick<Identity, 'ledgerFile' | 'machine'> {
  const file = fileIdentityOf(path)
  // When the ledger itself changed is SQLite's to decide, at every checkpoint.
  return { ledgerFile: file === null ? null : { ...file, changedNs: null }, machine: machineFor(ledgerId) }
}
