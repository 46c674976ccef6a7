// The file of a ledger: made once, opened with what makes every commit durable, told from one that is missing or another's.

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../domain/errors.ts'
import { Fault } from '../../domain/fault.ts'
import { words } from '../../domain/words.ts'
import { makeOwnFile, openConnection } from '../../files/sqlite-file.ts'
import { damageFault, isDamage } from './copies/damage.ts'
import { EPOCH_FILE, readEpoch } from './copies/epoch-file.ts'
import { refuseForeignLog } from './copies/foreign-log.ts'
import { refuseForeignCode } from './copies/foreign-schema.ts'
import { identify, identityIn, keepWhatSpeaksAgainst } from './copies/identity.ts'
import { openWitness, testimoniesOf, type Witness } from './copies/witness.ts'
import { hasTables, makeTables } from './make-tables.ts'
import { whyNotWritten } from './transaction.ts'

/** Which file it is. */
export interface FileOptions {
  /** The file; null: a ledger in memory, for looking at a file where no ledger is yet. */
  readonly path: string | null
  /** Directories outside the data directory; see `witness.ts`. Absent: none. */
  readonly witnessDirs?: readonly string[]
}

export const OPEN_WAIT_MS = 2_000

export interface OpenedFile {
  readonly db: DatabaseSync
  readonly ledgerId: string
  readonly witness: Witness
  /** It may not be the one that sent last. */
  readonly alarmed: boolean
  /** There was none before. */
  readonly made: boolean
}

/** `make`: where there is none. What stands there already stays as it is. */
export function openFile({ path, witnessDirs = [] }: FileOptions, make: boolean): OpenedFile {
  if (path === null) {
    const db = openConnection(':memory:')
    makeTables(db)
    const ledgerId = ledgerIdOf(db)
    return { db, ledgerId, witness: openWitness([], ledgerId, ':memory:'), alarmed: false, made: true }
  }
  const isNew = !existsSync(path)
  if (isNew && !make) throw noLedgerFault(path, witnessDirs)
  // Read before it is known whether there are tables: whoever makes them leaves its traces after them.
  const traces = make ? tracesOf(path, witnessDirs) : []
  if (isNew) refuseAnother(path, traces)
  if (!isNew) refuseForeignLog(path)
  if (isNew) makeOwnFile(path)
  try {
    if (!isNew) refuseOtherVersion(path)
    const db = openConnection(path, { timeout: OPEN_WAIT_MS })
    const open = () => {
      // A file without tables is no ledger, whatever its size: an empty one of a restore on a full disk, or one that an init left that was killed.
      if (!hasTables(db)) {
        if (!make) throw noLedgerFault(path, witnessDirs)
        refuseAnother(path, traces)
      }
      db.exec(SETTINGS)
      const made = makeTables(db)
      refuseForeignCode(db, path)
      const ledgerId = ledgerIdOf(db)
      const witness = openWitness(witnessDirs, ledgerId, path, identityIn(db)?.witnesses)
      identify(db, path, ledgerId, witness)
      const alarmed = keepWhatSpeaksAgainst(db, path, ledgerId, witness)
      // From here on waiting for a lock is done asynchronously: a blocked event loop would turn answers into doubts.
      db.exec('PRAGMA busy_timeout = 0')
      return { db, ledgerId, witness, alarmed, made }
    }
    return closedIfFailed(db, () => patiently(open))
  } catch (error) {
    throw openFault(path, error)
  }
}

/** By a connection that cannot write: any other one that closes last brings what is in the log into the file. */
function refuseOtherVersion(path: string): void {
  const db = openConnection(path, { readOnly: true })
  try {
    hasTables(db)
  } catch (error) {
    if (error instanceof Fault) throw error // whatever else is wrong, the connection that writes meets it too
  } finally {
    db.close()
  }
}

function closedIfFailed<T>(db: DatabaseSync, run: () => T): T {
  try {
    return run()
  } catch (error) {
    db.close()
    throw error
  }
}

/** FULL: a commit has reached the disk when it returns. Without it a power cut could forget a claim. */
const SETTINGS =
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 8000; PRAGMA temp_store = FILE; PRAGMA foreign_keys = OFF; PRAGMA secure_delete = ON'

/**
 * For another thread of a process that has the ledger open and has told it from its copies. Nothing is read here but by
 * SQLite: closing any other handle to the file would drop the locks of the whole process.
 */
export function openFileAgain({ path, witnessDirs = [] }: FileOptions): OpenedFile {
  if (path === null) throw new Error('bug: a ledger in memory has no second connection')
  const db = openConnection(path, { timeout: OPEN_WAIT_MS })
  db.exec(SETTINGS)
  const ledgerId = ledgerIdOf(db)
  const witness = openWitness(witnessDirs, ledgerId, path, identityIn(db)?.witnesses)
  db.exec('PRAGMA busy_timeout = 0')
  // With an alarm no epoch is renewed, and without that nothing is asked of this thread.
  return { db, ledgerId, witness, alarmed: false, made: false }
}

/** Of processes that make the ledger at the same moment SQLite refuses some at once, whatever the time-out says. */
function patiently<T>(run: () => T): T {
  const untilMs = Date.now() + OPEN_WAIT_MS
  for (;;) {
    try {
      return run()
    } catch (error) {
      if (whyNotWritten(error) !== 'busy' || Date.now() > untilMs) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

function openFault(path: string, error: unknown): Fault {
  if (error instanceof Fault) return error
  const why = whyNotWritten(error)
  if (why === 'full') {
    return new Fault('full', `The disk of ${path} is full. Nothing was sent. Free some space and try again.`, {
      cause: error,
    })
  }
  if (why === 'busy') {
    return new Fault(
      'storage',
      `The ledger ${path} is locked by another program. Nothing was sent. Try again in a moment.`,
      { cause: error },
    )
  }
  const message = messageOf(error)
  if (isDamage(error)) return damageFault(path, message, error)
  return new Fault(
    'storage',
    `The ledger ${path} cannot be opened (${message}). Nothing was sent. Check the file, its directory and their owner.`,
    {
      cause: error,
    },
  )
}

function ledgerIdOf(db: DatabaseSync): string {
  const read = db.prepare("SELECT value FROM meta WHERE key = 'ledger_id'")
  const known = read.get() as { value: string } | undefined
  if (known !== undefined) return known.value
  db.prepare("INSERT INTO meta VALUES ('ledger_id', ?) ON CONFLICT DO NOTHING").run(randomBytes(8).toString('hex'))
  return (read.get() as { value: string }).value
}

/**
 * Makes the record where there is none. What is there already stays as it is: `made` tells. Nothing else makes one: where
 * a ledger is missing, a volume is not mounted, and a new one would send everything once more.
 */
export function makeLedger(options: FileOptions & { readonly path: string }): { ledgerId: string; made: boolean } {
  const { db, ledgerId, witness, made } = openFile(options, true)
  witness.close()
  db.close()
  return { ledgerId, made }
}

/** Where one stood, an empty one would send what that one had sent. */
function refuseAnother(path: string, traces: readonly string[]): void {
  if (traces.length === 0) return
  throw new Fault(
    'usage',
    `There was a ledger at ${path} (${traces.join(', ')}). No new one was made: it would send everything again. Mount its volume, or put the newest backup there and adopt it. To start with an empty record all the same, first remove ${traces.join(' and ')}.`,
  )
}

/** Files that a ledger at this path left behind. */
function tracesOf(path: string, witnessDirs: readonly string[]): string[] {
  const beside = readEpoch(path) === null ? [] : [join(dirname(path), EPOCH_FILE)]
  return [...beside, ...testimoniesOf(witnessDirs, path).map(({ file }) => file)]
}

export function noLedgerFault(path: string, witnessDirs: readonly string[]): Fault {
  const traces = tracesOf(path, witnessDirs)
  return new Fault(
    'config',
    traces.length === 0
      ? words`There is no ledger at ${path}; nothing was sent. First use? Create it, once: ${{ act: 'init' }}. If you have used Tranche here before, do not: a new ledger would send everything again. Check that its volume is mounted and that the user and TRANCHE_DATA_DIR are right.`
      : `There is no ledger at ${path}, but there was one (${traces.join(', ')}). Nothing was sent. Mount its volume, or put the newest backup there and adopt it.`,
  )
}
