// A worker as others see it: who holds the worker lock, and what its heartbeat tells.

import type { BatchId } from './ids.ts'

export interface WorkerIdentity {
  /** Host and process, as `vm:21973`. */
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly command: string
  /** When it took the worker lock: to the millisecond what its holder says there. */
  readonly sinceMs: number
  /** The one that it works off; null: all. */
  readonly batchId: BatchId | null
}

/**
 * `waiting`: for the gateway or the server of the ledger. `without-redis`: Redis takes no rows, and it may not do without. `ending`: its
 * work is over, and it writes down what became of it.
 */
export type Activity = 'working' | 'idle' | 'waiting' | 'without-redis' | 'ending'

export interface Heartbeat extends WorkerIdentity {
  /** Those that it sends for. Absent: where a lock says it. */
  readonly merchants?: readonly string[]
  /** It has not beaten for so long that others wait for it no more. */
  readonly givenUp?: boolean
  readonly activity: Activity
  readonly beatAtMs: number
}

/** Who holds the worker lock, as far as it could be read. */
interface LockHolder {
  readonly pid: number
  readonly host: string
  readonly command: string
  readonly startedAtMs: number
  /** Of a worker: those that it sends for. Absent: it did not say. */
  readonly merchants?: readonly string[]
}

export interface WorkerView {
  readonly id: string
  readonly host: string | null
  readonly pid: number | null
  readonly command: string | null
  readonly sinceMs: number | null
  /** The only one that it works off, as far as it has said; null: all, or not known. */
  readonly batchId: BatchId | null
  /** Those that it sends for; null: all, as far as it has said. */
  readonly merchants: readonly string[] | null
  /** null: none of it is known. */
  readonly lastBeatMs: number | null
  /** `silent`: its heartbeat is missing, and as far as can be told it has not ended. */
  readonly state: Activity | 'silent'
  /** Its lease is over: it sends nothing, and others wait for it no more. What it was sending may still be open. */
  readonly isLost: boolean
}

/** Several beats: one that waits for a slow disk is no silence. */
const SILENT_AFTER_MS = 30_000
/** Results of a million rows are written in that time, without a tick. */
const ENDING_AT_MOST_MS = 600_000

export function workerId(host: string, pid: number): string {
  return `${host}:${pid}`
}

/** The process that holds the lock. Beats of other processes are those of the dead. */
export function workerView(holder: LockHolder | null, beats: readonly Heartbeat[], nowMs: number): WorkerView {
  const beat = holder === null ? beats.at(-1) : beats.find((one) => isOf(one, holder))
  const heardAtMs = [holder?.startedAtMs, beat?.beatAtMs].filter((atMs) => atMs !== undefined)
  return {
    id: beat?.id ?? (holder === null ? 'unknown' : workerId(holder.host, holder.pid)),
    host: holder?.host ?? beat?.host ?? null,
    pid: holder?.pid ?? beat?.pid ?? null,
    command: holder?.command ?? beat?.command ?? null,
    sinceMs: holder?.startedAtMs ?? beat?.sinceMs ?? null,
    batchId: beat?.batchId ?? null,
    merchants: holder?.merchants ?? null,
    lastBeatMs: beat?.beatAtMs ?? null,
    isLost: beat?.givenUp === true,
    state: beat?.givenUp === true ? 'silent' : stateOf(beat?.activity ?? 'idle', heardAtMs, nowMs),
  }
}

/**
 * What the process that works does for a batch: `unserved` is one that a worker does not send, `other-run` one beside that of a run,
 * `unsaid` one of which it is not known, as the run has begun a moment ago.
 */
export type Service = 'served' | 'unserved' | 'other-run' | 'unsaid'

interface Served {
  readonly batchId: BatchId | null
  readonly merchant: string
  readonly needsFile?: boolean
}

/** Best first. */
const SERVICES: readonly Service[] = ['served', 'unsaid', 'other-run', 'unserved']

/** Of all that work, the one that does most for the batch; undefined: none works. */
export function workerFor(workers: readonly WorkerView[], batch: Served): WorkerView | undefined {
  const rank = (worker: WorkerView) => SERVICES.indexOf(serviceOf(worker, batch))
  return workers.filter(({ isLost }) => !isLost).toSorted((one, other) => rank(one) - rank(other))[0]
}

/** A worker reads no files, and a run sends no batch but its own. */
export function serviceOf({ command, batchId, merchants }: WorkerView, batch: Served): Service {
  if (command === 'run') return batchId === null ? 'unsaid' : batchId === batch.batchId ? 'served' : 'other-run'
  if (command !== 'worker') return 'unsaid'
  if (batch.needsFile === true) return 'unserved'
  return (merchants?.includes(batch.merchant) ?? true) ? 'served' : 'unserved'
}

/** A container that starts again has the host and the pid of the one before. */
function isOf(beat: Heartbeat, holder: LockHolder): boolean {
  return beat.host === holder.host && beat.pid === holder.pid && beat.sinceMs === holder.startedAtMs
}

/** Either way round: where the clock was set back, a beat from the future shows no life. */
function stateOf(activity: Activity, heardAtMs: readonly number[], nowMs: number): WorkerView['state'] {
  const allowedMs = activity === 'ending' ? ENDING_AT_MOST_MS : SILENT_AFTER_MS
  return heardAtMs.some((atMs) => Math.abs(nowMs - atMs) <= allowedMs) ? activity : 'silent'
}

/** Those that are heard from: of the others nothing new is sent. */
export function livingWorkers(workers: readonly WorkerView[]): readonly WorkerView[] {
  return workers.filter(({ state }) => state !== 'silent')
}
