// Whether the files of an open ledger are still those that it opened, and still hold what this process wrote. Removed or
// replaced, they go on working for this process, but what it writes there is lost. Written over, they are an older state.

import { type BigIntStats, closeSync, openSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { errorCodeOf, messageOf } from '../../../domain/errors.ts'
import { Fault } from '../../../domain/fault.ts'
import { type Words, words } from '../../../domain/words.ts'
import { openConnection } from '../../../files/sqlite-file.ts'
import type { Place } from '../transaction.ts'
import { openContinuity } from './continuity.ts'
import { isDamage } from './damage.ts'
import { epochFileOf, nextEpoch, readEpoch, stageEpoch } from './epoch-file.ts'
import { type FileIdentity, inodeOf } from './file-identity.ts'
import { alarmOf, identityIn, prepareMovedTo, prepareProgress, remember } from './identity.ts'
import type { Witness } from './witness.ts'

/** The log and its index belong to the ledger: what was committed last stands in the log alone. */
const PARTS = ['', '-wal', '-shm']
/** Named in the last words, so that a person can look them up although no ledger may be left to ask. */
const OPEN_ROWS_NAMED = 500

export interface PlaceParts {
  readonly db: DatabaseSync
  readonly path: string
  readonly ledgerId: string
  readonly witness: Witness
  /** It may not be the one that sent last: nothing outside it says how far it came. */
  readonly alarmed: boolean
  readonly openReader: () => DatabaseSync
}

/** Costs some 60 µs a commit: less than the commit itself, which waits for the disk. */
export function openPlace({ db, path, ledgerId, witness, alarmed, openReader }: PlaceParts): Place {
  const inodes = PARTS.map((part) => lookAt(path + part)?.ino)
  const continuity = openContinuity(db, openReader)
  const progress = prepareProgress(db)
  const movedTo = prepareMovedTo(db)
  const movedBefore = movedTo() // a person who adopts a retired file may write to it
  let written = lookAt(path)?.mtimeNs
  let epochFile = epochFileOf(path)

  function assertInPlace(seen: readonly (BigIntStats | undefined)[]): void {
    const missing = PARTS.find((_, i) => seen[i]?.ino !== inodes[i])
    if (missing !== undefined) throw goneFault(db, path, ledgerId, path + missing)
  }

  const setBack = (noticed: string) => setBackFault(db, path, ledgerId, noticed)

  /** A copy that is put over an open file is written to it, and so is a checkpoint: the marks tell which it was. */
  function holds(now: bigint | undefined): boolean {
    const isWritten = now !== written
    written = now
    try {
      return continuity.holds() && (!isWritten || continuity.holdsWhole())
    } catch (error) {
      if (isDamage(error)) markAsOld(db, path, ledgerId) // pages of two states, mostly
      throw error
    }
  }

  /** Another file with another epoch: a directory is put back file by file, and this may be the first of them. */
  function lookAtEpoch(): void {
    const now = epochFileOf(path)
    if (alarmed || isSame(now, epochFile)) return
    epochFile = now
    const alarm = alarmOf(db, path, ledgerId, witness)
    // A worker that holds the lock and wrote the epoch itself is not stopped by less.
    if (alarm?.kind === 'older' || alarm?.kind === 'other') throw setBack(alarm.noticed)
  }

  function look(): void {
    const seen = PARTS.map((part) => lookAt(path + part))
    assertInPlace(seen)
    lookAtEpoch()
    if (!holds(seen[0]?.mtimeNs)) throw setBack(FORGOTTEN)
  }

  return {
    begun() {
      const moved = movedTo()
      if (moved !== null && moved.token !== movedBefore?.token) throw movedFault(path, moved.name)
      if (!continuity.advance()) throw setBack(FORGOTTEN)
      const ahead = witness.fileAhead(progress())
      if (ahead !== null) throw setBack(`${ahead} records more than is in it`)
    },
    committed() {
      continuity.committed()
      look()
      witness.progressed(progress())
    },
    look,
    close: () => continuity.close(),
  }
}

/** Looks at the name only: opening the ledger here would drop SQLite's locks. */
function lookAt(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })
}

const RESTORED = { act: 'adopt', as: 'restored' } as const
const FORGOTTEN = 'what was committed a moment ago is not in it any more'

function isSame(a: FileIdentity | null, b: FileIdentity | null): boolean {
  return a?.inode === b?.inode && a?.bornNs === b?.bornNs && a?.changedNs === b?.changedNs
}

/**
 * What stands there now would send again what was sent since. It gets an epoch beside it that it does not know, so that it
 * sends nothing at the next start.
 */
function setBackFault(db: DatabaseSync, path: string, ledgerId: string, noticed: string): Fault {
  markAsOld(db, path, ledgerId)
  return new Fault(
    'storage',
    words`An older state was put over the ledger ${path} while it was in use: ${noticed}. Nothing more is sent. Requests that were open may have been executed, and their answers are not recorded. End every other process of this program. Put the newest state there is in its place, then: ${RESTORED} (every unsettled row becomes IN_DOUBT)`,
  )
}

/** By a command that ran beside this one. Whoever opens it now is told before anything is done. */
function movedFault(path: string, to: string): Fault {
  return new Fault(
    'stopped',
    `The ledger ${path} was moved to ${to} a moment ago. This was not recorded, and nothing was sent for it. Do it again there.`,
  )
}

function markAsOld(db: DatabaseSync, path: string, ledgerId: string): void {
  try {
    const known = (identityIn(db)?.epochs ?? []).map(({ epoch }) => epoch)
    stageEpoch(path, { ledgerId, epoch: nextEpoch([...known, readEpoch(path)?.epoch ?? '']) }).put()
  } catch {
    // A ledger that cannot even be read, or a directory that cannot be written: the witness is left.
  }
}

function goneFault(db: DatabaseSync, path: string, ledgerId: string, missing: string): Fault {
  const open = openRows(db)
  const what = inodeOf(missing) === null ? 'was removed' : 'was replaced by another file'
  const doubt =
    open.length === 0
      ? 'No request was open.'
      : `These may have been executed and their answers are not recorded: ${open.join('; ')}.`
  return new Fault(
    'storage',
    words`${missing} ${what} while it was in use. Nothing more is sent. ${doubt} ${save(db, path, ledgerId)}`,
  )
}

function openRows(db: DatabaseSync): string[] {
  const rows = db
    .prepare(`
      SELECT i.reference, i.batch_id, i.row_no, i.operation, coalesce(i.order_id, i.vault_id, i.card, '') AS target, i.xtl_order_id
      FROM instruction i WHERE i.state = 'SENDING' LIMIT ${OPEN_ROWS_NAMED}`)
    .all()
  return rows.map(
    (row) =>
      `${row.reference} (${[row.operation, row.target, row.xtl_order_id].filter(Boolean).join(' ')}, row ${row.row_no} of batch ${row.batch_id})`,
  )
}

/**
 * SQLite still has the removed files open: what they hold is written to a new one. Only that one knows the new epoch, so
 * that whatever stands in the ledger's place at the next start, older, sends nothing.
 */
function save(db: DatabaseSync, path: string, ledgerId: string): Words {
  const before = (identityIn(db)?.epochs ?? []).map((known) => known.epoch)
  const epoch = nextEpoch([...before, readEpoch(path)?.epoch ?? ''])
  const saved = join(dirname(path), `ledger.saved-${process.pid}.db`)
  const isSaved = words`All that it held is saved in ${saved}. End every other process of this program, remove ${path}-wal and ${path}-shm, put ${saved} in the place of ${path}, then: ${{ act: 'adopt', as: 'moved' }}`
  try {
    // Made before it is filled, for its owner alone: a thread cannot set the mask of its process.
    closeSync(openSync(saved, 'wx', 0o600))
    db.prepare('VACUUM INTO ?').run(saved)
    const copy = openConnection(saved)
    const noFile = { inode: 'none', bornNs: null, changedNs: null }
    remember(copy, { ledgerFile: noFile, machine: null, epochs: [{ epoch, file: null }], overrules: false })
    copy.close()
    stageEpoch(path, { ledgerId, epoch }).put()
    return isSaved
  } catch (error) {
    // A second epoch would disown the copy of the first thread, and to end the process now would cut that copy short.
    if (errorCodeOf(error) === 'EEXIST' && isSavedByAnother(path, saved, before)) return isSaved
    const why = messageOf(error)
    try {
      stageEpoch(path, { ledgerId, epoch }).put()
    } catch {
      // The directory has gone as well: a new ledger there will be a new one.
    }
    return words`What it held could not be saved (${why}). Put the newest copy in the place of ${path}, then: ${RESTORED}`
  }
}

/** Longer than the copy of any ledger takes that people still wait for. */
const SAVED_WITHIN_MS = 60_000
const LOOK_AGAIN_MS = 20

/**
 * Whether another thread of this process, which noticed it first, has saved the ledger. It writes the epoch last, when its copy is whole:
 * before that nothing may be opened there. `before`: the epochs that the lost ledger knows.
 */
function isSavedByAnother(path: string, saved: string, before: readonly string[]): boolean {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  const untilMs = performance.now() + SAVED_WITHIN_MS
  for (;;) {
    const epoch = readEpoch(path)?.epoch
    if (epoch !== undefined && !before.includes(epoch)) return knowsEpoch(saved, epoch)
    if (performance.now() > untilMs) return false
    Atomics.wait(pause, 0, 0, LOOK_AGAIN_MS)
  }
}

function knowsEpoch(saved: string, epoch: string): boolean {
  try {
    const copy = openConnection(saved)
    const known = identityIn(copy)?.epochs ?? []
    copy.close()
    return known.some((one) => one.epoch === epoch)
  } catch {
    return false // it was cut short
  }
}
