// Opens the ledger: one SQLite file, private to its owner, durable at every commit.

import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { BatchView } from '../../domain/batch.ts'
import { messageOf } from '../../domain/errors.ts'
import { Fault } from '../../domain/fault.ts'
import type { BatchId } from '../../domain/ids.ts'
import { takeLock } from '../../files/lock.ts'
import { openConnection } from '../../files/sqlite-file.ts'
import type { Disagreement } from '../../ports/ledger/audit.ts'
import type { ControlLedger } from '../../ports/ledger/control.ts'
import type { FileLedger, LedgerFile } from '../../ports/ledger/file.ts'
import type { Ledger } from '../../ports/ledger/ledger.ts'
import type { WorkLedger } from '../../ports/ledger/work.ts'
import { readLog } from './act-log.ts'
import { openActLedger, openActs } from './acts.ts'
import { audit, headOf } from './audit.ts'
import { viewOf } from './batch-view.ts'
import { openChain } from './chain.ts'
import { notingBoot, openSetForward } from './clock-steps.ts'
import {
  type Committer,
  NO_PLACE,
  openCommitter,
  type Place,
  SYSTEM_TIMING,
  type Timing,
  whyNotWritten,
} from './commit.ts'
import { createControl } from './control.ts'
import { type AdoptingLedger, openAdopting } from './copies/adopt.ts'
import { makeBackup } from './copies/backup.ts'
import { damageFault, explainDamage, inspect, isDamage } from './copies/damage.ts'
import { EPOCH_FILE, readEpoch } from './copies/epoch-file.ts'
import { refuseForeignLog } from './copies/foreign-log.ts'
import { refuseForeignCode } from './copies/foreign-schema.ts'
import { identify, identityIn, keepWhatSpeaksAgainst } from './copies/identity.ts'
import { openPlace } from './copies/place.ts'
import { openWitness, testimoniesOf, type Witness } from './copies/witness.ts'
import { openDoubts } from './doubts.ts'
import { type IntakeParts, openIntake } from './intake.ts'
import { openMoves, type RecordMove } from './moves.ts'
import { openPurging } from './purge.ts'
import { createQueries } from './queries.ts'
import { countUnbound } from './recorded.ts'
import { openRests } from './rests.ts'
import { migrate } from './schema.ts'
import { openSweeping } from './sweep.ts'
import { openTally } from './tally.ts'
import { openWork } from './work.ts'

/** Which file it is. */
export interface FileOptions {
  /** The file; null: a ledger in memory, for looking at a file where no ledger is yet. */
  readonly path: string | null
  /** Directories outside the data directory; see `witness.ts`. Absent: none. */
  readonly witnessDirs?: readonly string[]
}

export interface LedgerOptions extends FileOptions {
  /** The lock file that lets one submit at a time in; null with a ledger in memory. */
  readonly submitLockPath: string | null
  /** Ends the process after an error that leaves nothing to trust. */
  readonly die: (error: unknown) => never
  /** Absent: the system's. */
  readonly timing?: Timing
}

/** How long a command waits for the submit before it. */
const SUBMIT_WAIT_MS = 600_000
const OPEN_WAIT_MS = 2_000

export function openLedger(options: LedgerOptions): FileLedger {
  const { path, submitLockPath, timing = SYSTEM_TIMING } = options
  const die = (error: unknown) => options.die(path === null ? error : explainDamage(path, error))
  const { db, ledgerId, witness, alarmed } = openFile(options, false)
  const openReader = () => {
    if (path === null) throw new Error('bug: a ledger in memory has no second reader')
    return openConnection(path, { readOnly: true, timeout: OPEN_WAIT_MS })
  }
  const place = path === null ? NO_PLACE : openPlace({ db, path, ledgerId, witness, alarmed, openReader })
  const ledger = openLedgerOn({
    db,
    ledgerId,
    die,
    timing,
    place,
    newBatchId,
    lockSubmit: () => lockSubmit(submitLockPath),
    openReader,
    openCopies: (shared) => openCopies({ ...options, die }, witness, shared),
  })
  return {
    ...ledger,
    ...prepareFile(path, openReader),
    async close() {
      await ledger.close()
      witness.close()
    },
  }
}

/**
 * Makes the record where there is none. What is there already stays as it is: `made` tells. Nothing else makes one: where
 * a ledger is missing, a volume is not mounted, and a new one would send everything once more.
 */
export function makeLedger(options: FileOptions & { readonly path: string }): { ledgerId: string; made: boolean } {
  // What a restore on a full disk leaves, an empty file, is no ledger either.
  const made = !existsSync(options.path) || statSync(options.path).size === 0
  if (made) refuseAnother(options)
  const { db, ledgerId, witness } = openFile(options, true)
  witness.close()
  db.close()
  return { ledgerId, made }
}

/** Where one stood, an empty one would send what that one had sent. */
function refuseAnother({ path, witnessDirs = [] }: FileOptions & { readonly path: string }): void {
  const traces = tracesOf(path, witnessDirs)
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
      ? `There is no ledger at ${path}; nothing was sent. First use? Create it, once: tranche init. If you have used Tranche here before, do not: a new ledger would send everything again. Check that its volume is mounted and that the user and TRANCHE_DATA_DIR are right.`
      : `There is no ledger at ${path}, but there was one (${traces.join(', ')}). Nothing was sent. Mount its volume, or put the newest backup there and adopt it.`,
  )
}

/** A ledger and all it takes from the world around it. A simulation brings its own. */
export interface LedgerParts extends IntakeParts {
  /** Another connection to the same ledger, for a read transaction that outlives other work. */
  readonly openReader: () => DatabaseSync
  /** Its tables are there and up to date. */
  readonly db: DatabaseSync
  readonly ledgerId: string
  readonly die: (error: unknown) => never
  readonly timing: Timing
  readonly place: Place
  readonly openCopies: (shared: CopyParts) => AdoptingLedger
}

export function openLedgerOn(parts: LedgerParts): Ledger {
  const { db, ledgerId, die, timing, place, newBatchId, lockSubmit, openReader } = parts
  const committer = openCommitter(db, die, timing, place)
  const tally = openTally(db, committer)
  const boot = () => timing.boot?.() ?? null
  const record = notingBoot(db, openMoves(db, tally, openChain(db, committer)), boot)
  const act = openActs(db)
  const work = openWork(db, committer, tally, { record, timing })
  const control = createControl(db, committer, record)
  const working: WorkLedger & Pick<ControlLedger, 'controls'> = {
    ...work,
    async workable(...asked) {
      lookAt(place, die) // the tick asks this: an idle worker notices as well
      return work.workable(...asked)
    },
    ...openSweeping(db, committer, record),
    ...openRests(db, committer),
    controls: control.controls,
  }
  return {
    ledgerId,
    ...openDoubts(db, committer, record, openSetForward(db, boot)),
    ...openIntake(db, committer, tally, { newBatchId, lockSubmit }),
    ...createQueries(db, committer, openReader),
    ...control,
    ...openActLedger(db, committer, act, timing),
    ...openPurging(db, committer, { act, timing, isReconciled: (batchId) => isReconciled(viewOf(db, batchId)) }),
    log: (sinceMs) => readLog(db, sinceMs),
    ...dyingOfDamage(working, die),
    ...parts.openCopies({ db, committer, record, ledgerId }),
    audit: (head) => auditing(openReader, head),
    unbound: async () => countUnbound(db),
    head: async () => headOf(db),
    async close() {
      await committer.drained()
      place.close()
      db.close()
    },
  }
}

/** Batches of messages seldom have results written: their producers are told. */
function isReconciled({ source, resultsPath, resultsStale }: BatchView): boolean {
  return source === 'queue' || (resultsPath !== null && !resultsStale)
}

/** A worker tries again after every other error. From a damaged ledger it must send nothing more. */
function dyingOfDamage<T extends object>(part: T, die: (error: unknown) => never): T {
  const dying =
    (call: (...asked: unknown[]) => Promise<unknown>) =>
    async (...asked: unknown[]) => {
      try {
        return await call(...asked)
      } catch (error) {
        if (isDamage(error)) die(error)
        throw error
      }
    }
  return Object.fromEntries(Object.entries(part).map(([name, call]) => [name, dying(call)])) as T
}

interface CopyParts {
  readonly db: DatabaseSync
  readonly committer: Committer
  readonly record: RecordMove
  readonly ledgerId: string
}

const inMemory = () => Promise.reject(new Error('bug: a ledger in memory is no file'))

function openCopies({ path, submitLockPath, die }: LedgerOptions, witness: Witness, parts: CopyParts): AdoptingLedger {
  const { db, committer, ...rest } = parts
  if (path === null) {
    const none = { renewEpoch: inMemory, adopt: inMemory, moveAccount: inMemory }
    return { alarm: async () => null, lastRecordAtMs: async () => null, ...none }
  }
  return openAdopting(db, committer, { path, witness, ...rest, lockSubmit: () => lockSubmit(submitLockPath), die })
}

function prepareFile(path: string | null, openReader: () => DatabaseSync): LedgerFile {
  if (path === null) return { inspect: async () => ({ kind: 'sound', bytes: 0 }), backup: inMemory }
  return {
    inspect: async (howLarge) => inspect(openReader, howLarge),
    backup: (to, nowMs) => makeBackup(openReader, path, to, nowMs),
  }
}

async function* auditing(openReader: () => DatabaseSync, head: string | null): AsyncIterable<Disagreement> {
  const reader = openReader()
  try {
    yield* audit(reader, head)
  } finally {
    reader.close()
  }
}

function lookAt(place: Place, die: (error: unknown) => never): void {
  try {
    place.look()
  } catch (error) {
    die(error)
  }
}

/** No tables: SQLite made the file a moment ago, or somebody else did. */
function isEmpty(db: DatabaseSync): boolean {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version === 0
}

interface OpenedFile {
  readonly db: DatabaseSync
  readonly ledgerId: string
  readonly witness: Witness
  /** It may not be the one that sent last. */
  readonly alarmed: boolean
}

function openFile({ path, witnessDirs = [] }: FileOptions, make: boolean): OpenedFile {
  if (path === null) {
    const db = openConnection(':memory:')
    migrate(db)
    const ledgerId = ledgerIdOf(db)
    return { db, ledgerId, witness: openWitness([], ledgerId, ':memory:'), alarmed: false }
  }
  const isNew = !existsSync(path)
  if (isNew && !make) throw noLedgerFault(path, witnessDirs)
  if (!isNew) refuseForeignLog(path)
  const mask = process.umask(0o077)
  try {
    const db = openConnection(path, { timeout: OPEN_WAIT_MS })
    if (isNew) chmodSync(path, 0o600)
    // FULL: a commit has reached the disk when it returns. Without it a power cut could forget a claim.
    return patiently(() => {
      if (!make && isEmpty(db)) throw noLedgerFault(path, witnessDirs)
      db.exec(
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 8000; PRAGMA temp_store = FILE; PRAGMA foreign_keys = OFF; PRAGMA secure_delete = ON',
      )
      migrate(db)
      refuseForeignCode(db, path)
      const ledgerId = ledgerIdOf(db)
      const witness = openWitness(witnessDirs, ledgerId, path, identityIn(db)?.witnesses)
      identify(db, path, ledgerId, witness)
      const alarmed = keepWhatSpeaksAgainst(db, path, ledgerId, witness)
      // From here on waiting for a lock is done asynchronously: a blocked event loop would turn answers into doubts.
      db.exec('PRAGMA busy_timeout = 0')
      return { db, ledgerId, witness, alarmed }
    })
  } catch (error) {
    throw openFault(path, error)
  } finally {
    process.umask(mask)
  }
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
    return new Fault('full', `The disk of ${path} is full. Nothing was sent. Free some space and run it again.`, {
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

/** Date and five letters or digits without look-alikes: short to read out, and never all digits. */
function newBatchId(nowMs: number): BatchId {
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789'
  const random = [...randomBytes(5)].map((byte) => letters[byte % letters.length]).join('')
  return `${new Date(nowMs).toISOString().slice(2, 10).replaceAll('-', '')}-${random}` as BatchId
}

async function lockSubmit(path: string | null): Promise<() => void> {
  if (path === null) return () => {}
  const holder = { pid: process.pid, host: hostname(), command: 'submit', startedAtMs: Date.now() }
  const until = Date.now() + SUBMIT_WAIT_MS
  for (;;) {
    const lock = takeLock(path, holder, 0)
    if (lock.kind === 'taken') return () => lock.release()
    if (Date.now() > until) {
      throw new Fault(
        'stopped',
        'Another submit into this ledger is still under way. Nothing of this was recorded or sent. Run it again when the other has ended.',
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
