// The SQLite ledger, put together: every contract from the file that keeps it.

import { hostname } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { assertNotInterrupted } from '../../domain/draft.ts'
import { Fault } from '../../domain/fault.ts'
import { takeLock } from '../../files/lock.ts'
import { openConnection } from '../../files/sqlite-file.ts'
import type { Disagreement } from '../../ports/ledger/audit.ts'
import type { ControlLedger } from '../../ports/ledger/control.ts'
import type { CopyLedger } from '../../ports/ledger/copies.ts'
import type { FileLedger, LedgerFile } from '../../ports/ledger/file.ts'
import type { WaitingToSubmit } from '../../ports/ledger/intake.ts'
import type { Ledger } from '../../ports/ledger/ledger.ts'
import type { WorkLedger } from '../../ports/ledger/work.ts'
import { newBatchId } from '../batch-id.ts'
import { approvalsOn } from '../texts/approving/approvals.ts'
import { keysOn } from '../texts/doors/keys.ts'
import { peopleOn } from '../texts/doors/people.ts'
import { providedOn } from '../texts/doors/provided.ts'
import { requestsOn } from '../texts/doors/requests.ts'
import { sessionsOn } from '../texts/doors/sessions.ts'
import type { Engine } from '../texts/engine.ts'
import { deliveriesOn } from '../texts/events/deliveries.ts'
import { endpointsOn } from '../texts/events/endpoints.ts'
import { eventsOn } from '../texts/events/events.ts'
import { openDraftOn } from '../texts/intake/draft.ts'
import { type IntakeParts, intakeOn } from '../texts/intake/intake.ts'
import { purgingOn } from '../texts/purge.ts'
import { queriesOn } from '../texts/reading/queries.ts'
import { headOf } from '../texts/record/chain.ts'
import { actsOn } from '../texts/work/acts.ts'
import { ALONE } from '../texts/work/alone.ts'
import { controlOn } from '../texts/work/control.ts'
import { doubtsOn } from '../texts/work/doubts.ts'
import { heartbeatsOn } from '../texts/work/heartbeats.ts'
import { looksBy } from '../texts/work/looks.ts'
import { workingOn } from '../texts/work/working.ts'
import { audit } from './audit.ts'
import { clearLog } from './clear-log.ts'
import { setForwardSince } from './clock-steps.ts'
import { type Committer, createCommitter, SYSTEM_TIMING, type Timing } from './commit.ts'
import { createAdopting } from './copies/adopt.ts'
import { makeBackup } from './copies/backup.ts'
import { explainDamage, inspect, isDamage } from './copies/damage.ts'
import { openPlace } from './copies/place.ts'
import type { Witness } from './copies/witness.ts'
import { draftEngineOn } from './draft.ts'
import { engineOn, readerOn } from './engine.ts'
import { type FileOptions, OPEN_WAIT_MS, type OpenedFile, openFile, openFileAgain } from './open-file.ts'
import { prepareRunning, type Run } from './run-script.ts'
import { NO_PLACE, type Place } from './transaction.ts'

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
/** What is over before this is not worth a word. */
const SUBMIT_WORTH_MS = 1_500

export function openLedger(options: LedgerOptions): FileLedger {
  return openOn(openFile(options, false), options)
}

/** See `thread/work-thread.ts`. */
export function openLedgerAgain(options: LedgerOptions): FileLedger {
  return openOn(openFileAgain(options), options)
}

function openOn({ db, ledgerId, witness, alarmed }: OpenedFile, options: LedgerOptions): FileLedger {
  const { path, submitLockPath, timing = SYSTEM_TIMING } = options
  const die = (error: unknown) => options.die(path === null ? error : explainDamage(path, error))
  const openReader = () => {
    if (path === null) throw new Error('bug: a ledger in memory has no second reader')
    return openConnection(path, { readOnly: true, timeout: OPEN_WAIT_MS })
  }
  const place = path === null ? NO_PLACE : openPlace({ db, path, ledgerId, witness, alarmed, openReader })
  const ledger = openLedgerOn({
    db,
    ledgerId,
    name: path ?? 'in memory',
    die,
    timing,
    place,
    newBatchId,
    lockSubmit: (waiting) => lockSubmit(submitLockPath, waiting),
    openReader,
    openCopies: (shared) => createCopies({ ...options, die }, { witness, openReader, ...shared }),
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

/** A ledger and all it takes from the world around it. A simulation brings its own. */
export interface LedgerParts extends Omit<IntakeParts, 'openDraft'> {
  /** Another connection to the same ledger, for a read transaction that outlives other work. */
  readonly openReader: () => DatabaseSync
  /** Its tables are there and up to date. */
  readonly db: DatabaseSync
  readonly ledgerId: string
  /** For people. */
  readonly name: string
  readonly die: (error: unknown) => never
  readonly timing: Timing
  readonly place: Place
  readonly openCopies: (shared: CopyParts) => CopyLedger
}

export function openLedgerOn(parts: LedgerParts): Ledger {
  const { db, ledgerId, die, timing, place, newBatchId, lockSubmit, openReader } = parts
  const committer = createCommitter(db, die, timing, place)
  const run = prepareRunning(db)
  const boot = () => timing.boot?.() ?? null
  const engine = engineOn(db, committer, run, boot)
  const clock = () => timing.nowMs()
  const work = workingOn(engine, clock)
  const copies = parts.openCopies({ db, committer, engine, run, ledgerId })
  const looks = looksBy(copies, parts.name)
  const control = controlOn(engine, looks)
  const { beat, heartbeats } = heartbeatsOn(engine)
  const working: WorkLedger & Pick<ControlLedger, 'controls'> = {
    ...work,
    claim: claimingOn(work.claim),
    async workable(...asked) {
      lookAt(place, die) // the tick asks this: an idle worker notices as well
      return work.workable(...asked)
    },
    controls: control.controls,
    beat,
  }
  const setForward = setForwardSince(boot)
  const intake: IntakeParts = {
    ...{ newBatchId, lockSubmit },
    openDraft: async (header, release) =>
      openDraftOn(draftEngineOn(db, engine, header), header, { newBatchId, release }),
  }
  return {
    ledgerId,
    ...doubtsOn(engine, setForward, looks),
    ...intakeOn(engine, intake),
    ...keysOn(engine),
    ...peopleOn(engine),
    ...sessionsOn(engine),
    ...providedOn(engine),
    ...requestsOn(engine, { looks, setForward, intake, ledgerId }),
    ...queriesOn(engine, async () => readerOn(openReader())),
    heartbeats,
    ...control,
    ...approvalsOn(engine, ledgerId, looks),
    ...actsOn(engine, clock),
    ...eventsOn(engine, ledgerId),
    ...endpointsOn(engine, ledgerId),
    ...deliveriesOn(engine, ledgerId),
    holdDelivery: async () => ({ isHeld: () => true, release: () => {} }), // whoever opens a file takes its lock
    ...purgingOn(engine),
    clearLog: () => clearLog(db, timing),
    ...dyingOfDamage(working, die),
    ...ALONE, // these promise nothing
    ...copies,
    audit: (head) => auditing(openReader, head),
    head: () => engine.read(headOf),
    async close() {
      await committer.drained()
      place.close()
      db.close()
    },
  }
}

/** Of tables that a newer program has changed nothing is claimed. The renewal of the epoch says so, every 30 s. */
function claimingOn(claim: WorkLedger['claim']): WorkLedger['claim'] {
  return async (asked) => {
    try {
      return await claim(asked)
    } catch (error) {
      if (error instanceof Fault && error.code === 'config') return { kind: 'not-free' }
      throw error
    }
  }
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
  readonly engine: Engine
  readonly run: Run
  readonly ledgerId: string
}

const inMemory = () => Promise.reject(new Error('bug: a ledger in memory is no file'))

function createCopies(
  { path, submitLockPath, die }: LedgerOptions,
  parts: CopyParts & { readonly witness: Witness; readonly openReader: () => DatabaseSync },
): CopyLedger {
  const { db, committer, openReader, ...rest } = parts
  if (path === null) {
    const none = { renewEpoch: inMemory, adopt: inMemory, backup: inMemory }
    return { alarm: async () => null, lastSentAtMs: async () => null, ...none }
  }
  return {
    ...createAdopting(db, committer, { path, ...rest, lockSubmit: () => lockSubmit(submitLockPath), die }),
    backup: (to, nowMs) => makeBackup(openReader, path, to, nowMs),
  }
}

function prepareFile(path: string | null, openReader: () => DatabaseSync): LedgerFile {
  if (path === null) return { inspect: async () => ({ kind: 'sound', bytes: 0 }) }
  return { inspect: async (howLarge) => inspect(openReader, howLarge) }
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

async function lockSubmit(path: string | null, { signal, onWait }: WaitingToSubmit = {}): Promise<() => void> {
  if (path === null) return () => {}
  const holder = { pid: process.pid, host: hostname(), command: 'submit', startedAtMs: Date.now() }
  const until = Date.now() + SUBMIT_WAIT_MS
  let isTold = onWait === undefined
  for (;;) {
    const lock = takeLock(path, holder, 0)
    if (lock.kind === 'taken') return () => lock.release()
    assertNotInterrupted(signal)
    if (!isTold && Date.now() > until - SUBMIT_WAIT_MS + SUBMIT_WORTH_MS) {
      isTold = true
      onWait?.(lock.heldBy)
    }
    if (Date.now() > until) {
      throw new Fault(
        'stopped',
        'Another submit into this ledger is still under way. Nothing was recorded or sent. Try again when the other has ended.',
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
