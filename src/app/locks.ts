// Who may work. The submit lock is the ledger's own: one file is recorded at a time. The worker lock, in the data directory:
// one process sends. The ledger lock: the worker lock, and another beside the witness that keeps out the workers of copies on
// this machine. The inbox lock: one process takes the files of an inbox. The results lock: one process writes those of a batch.

import { hostname } from 'node:os'
import { join } from 'node:path'
import type { App } from '../app.ts'
import { stoppedBy } from '../domain/alarm.ts'
import { settledIn } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import { words } from '../domain/words.ts'
import { type Heartbeat, type WorkerView, workerView } from '../domain/worker.ts'
import type { Held, Holder, Lock } from '../files/lock.ts'
import type { Place } from '../ledger/postgres/ledger.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { ledgerExists } from './data-directory.ts'
import { takePlace } from './server-ledger.ts'
import { witnessDirsOf } from './witness.ts'

/** Nothing is being sent yet, so that two starters in the same instant can sort it out. */
const SIMULTANEOUS_START_MS = 100

/** The lock that one worker at a time holds; or who holds it. */
export async function takeWorkerLock(app: App, command: string): Promise<Lock | Held> {
  const { takeLock } = await import('../files/lock.ts')
  return takeLock(app.paths.workerLock, holderOf(app, command), SIMULTANEOUS_START_MS)
}

/** The lock that comes with the private Redis: the worker lock, or with a ledger on a server the first place of this machine. */
export async function takePrivateRedisLock(app: App, command: string): Promise<Lock | Held> {
  return app.config.ledgerServer === null
    ? takeWorkerLock(app, command)
    : takePlace(app, holderOf(app, command), 'only-first')
}

/** Whoever holds it may send. */
export interface SendingLock extends Lock {
  /** Of a worker of a ledger on a server; null: the lock alone keeps others out. */
  readonly place: Place | null
  /** Of several on this machine. */
  readonly isFirst: boolean
}

/**
 * The same for all copies of this ledger on this machine. Faults where another copy is being worked off. Of a ledger on a server, it is a
 * place beside others.
 */
export async function takeLedgerLock(
  app: App,
  ledger: Ledger,
  command: string,
  mayLockOut: () => Promise<void> = async () => {},
): Promise<SendingLock | Held> {
  if (app.config.ledgerServer !== null) {
    await mayLockOut()
    // Whoever has the private Redis works off every batch: a run beside it follows, as with a ledger in a file.
    const which = command === 'run' && app.config.redisUrl === null ? 'only-first' : 'any'
    return takePlace(app, holderOf(app, command), which)
  }
  const lock = await takeWorkerLock(app, command)
  if (lock.kind === 'held') return lock
  const copies = await lockOut(app, ledger, command, mayLockOut).catch((error: unknown) => {
    lock.release()
    throw error
  })
  return {
    ...lock,
    ...{ place: null, isFirst: true },
    release: () => {
      copies.release()
      lock.release()
    },
  }
}

async function lockOut(app: App, ledger: Ledger, command: string, mayLockOut: () => Promise<void>): Promise<Lock> {
  await mayLockOut()
  const { lockOutCopies } = await import('../ledger/sqlite/copies/witness-places.ts')
  const copies = lockOutCopies(await witnessDirsOf(app), ledger.ledgerId, holderOf(app, command))
  if (copies.kind === 'held') throw copyAtWork(app.paths.ledger, copies)
  return copies
}

function copyAtWork(path: string, { heldBy }: Held): Fault {
  const who = heldBy === null ? 'another process' : `process ${heldBy.pid} (tranche ${heldBy.command})`
  return new Fault(
    'stopped',
    `A copy of ${path} is being worked off by ${who}: two would send everything twice. Nothing was sent from this one.`,
  )
}

function holderOf(app: App, command: string): Holder {
  const holder = { pid: process.pid, host: hostname(), command, startedAtMs: app.clock.nowMs() }
  return command === 'worker' ? { ...holder, merchants: [...app.config.merchants.keys()] } : holder
}

/**
 * The ledger lock, for a caller that will send. Faults with `stopped` where the ledger may be a copy: before it keeps the
 * one out that may send, and again when nothing can change any more.
 */
export async function takeLockToSend(app: App, ledger: Ledger, command: string): Promise<SendingLock | Held> {
  const assertNoAlarm = async () => {
    const alarm = await ledger.alarm()
    if (alarm !== null) throw stoppedBy(alarm, app.paths.ledger)
  }
  const lock = await takeLedgerLock(app, ledger, command, assertNoAlarm)
  if (lock.kind === 'held') return lock
  await assertNoAlarm().catch((error: unknown) => {
    lock.release()
    throw error
  })
  return lock
}

/** The lock that one process at a time holds for an inbox. In the data directory: a share may keep no locks. */
export async function takeInboxLock(app: App, inboxId: string): Promise<Lock | Held> {
  const { takeLock } = await import('../files/lock.ts')
  return takeLock(join(app.config.dataDir, `inbox-${inboxId}.lock`), holderOf(app, 'inbox'), SIMULTANEOUS_START_MS)
}

/** Longer than writing takes, unless the writer is frozen. */
const RESULTS_WAIT_MS = 60_000
const RESULTS_POLL_MS = 50

/**
 * Held from the reading to the note in the ledger, so that the last file shown is also the last one noted: an older reading shown
 * over a newer one would pass for fresh. Faults where another process does not let go. A lock file cannot be removed safely,
 * and one for each batch would fill the directory: batches whose ids end alike share one.
 */
export async function holdResultsLock(app: App, batchId: BatchId): Promise<Lock> {
  const { takeLock } = await import('../files/lock.ts')
  const path = join(app.config.dataDir, `results-${batchId.at(-1)}.lock`)
  const giveUpAtMs = app.clock.monotonicMs() + RESULTS_WAIT_MS
  for (;;) {
    const lock = takeLock(path, holderOf(app, 'results'))
    if (lock.kind === 'taken') return lock
    if (app.clock.monotonicMs() > giveUpAtMs) throw resultsHeld(batchId, lock)
    await app.clock.sleep(RESULTS_POLL_MS)
  }
}

function resultsHeld(batchId: BatchId, { heldBy }: Held): Fault {
  const who = heldBy === null ? 'Another process' : `Another process (${heldBy.pid} on ${heldBy.host})`
  return new Fault(
    'stopped',
    words`${who} is writing results and does not come to an end, so those of batch ${batchId} were not written. The ledger is safe. Check whether that process hangs; then: ${{ act: 'write-results', batchId, as: 'any' }}`,
  )
}

/** Who works on this ledger at this moment, by the lock and the heartbeat; on a server, by the heartbeats alone. */
export async function workersNow(app: App, ledger: Pick<Ledger, 'heartbeats'>): Promise<readonly WorkerView[]> {
  const [beats, nowMs] = [await ledger.heartbeats(), app.clock.nowMs()]
  if (app.config.ledgerServer !== null) return beats.map((beat) => workerView(holderIn(beat), [beat], nowMs))
  const worker = await lockedBy(app)
  return worker === null ? [] : [workerView(worker.holder, beats, nowMs)]
}

/** Rows settled so far of the batch that a run works off alone: by that, one that waits for its turn sees that it moves. */
export async function settledAhead(app: App, ledger: Pick<Ledger, 'heartbeats' | 'batch'>): Promise<number> {
  const other = (await workersNow(app, ledger)).find(({ isLost, batchId }) => !isLost && batchId !== null)
  const batch = other?.batchId == null ? null : await ledger.batch(other.batchId)
  return batch === null ? 0 : settledIn(batch)
}

/** The process that works at this moment, of several the one that has done so for longest; null: none. */
export async function workerNow(
  app: App,
  ledger: Pick<Ledger, 'heartbeats'>,
): Promise<{ holder: Holder | null } | null> {
  if (app.config.ledgerServer === null) return lockedBy(app)
  const living = (await ledger.heartbeats()).filter(({ givenUp }) => givenUp !== true)
  const [first] = living.toSorted((one, other) => one.sinceMs - other.sinceMs)
  return first === undefined ? null : { holder: holderIn(first) }
}

async function lockedBy(app: App): Promise<{ holder: Holder | null } | null> {
  if (!ledgerExists(app)) return null
  const { lockHeld } = await import('../files/lock.ts')
  const held = lockHeld(app.paths.workerLock)
  return held === null ? null : { holder: held.heldBy }
}

/** As a beat tells who holds a place. */
function holderIn({ pid, host, command, sinceMs, merchants }: Heartbeat): Holder {
  return { pid, host, command, startedAtMs: sinceMs, ...(merchants !== undefined && { merchants }) }
}

/**
 * Whether the process that works sends for that merchant, or the batch of it. One that does not say, or does one batch only, is
 * believed to. A worker reads no files.
 */
export function sendsFor(holder: Holder | null, { merchant, needsFile = false }: Served): boolean {
  if (needsFile && holder?.command === 'worker') return false
  return holder?.merchants?.includes(merchant) ?? true
}

interface Served {
  readonly merchant: string
  readonly needsFile?: boolean
}
