// Says that this process lives and what it does, for those who watch it. It goes with the tick: one that hangs falls silent.

import { Fault } from '../domain/fault.ts'
import type { Activity, WorkerIdentity } from '../domain/worker.ts'
import type { Clock } from '../ports/clock.ts'
import type { WorkLedger } from '../ports/ledger/work.ts'
import type { Log } from '../ports/log.ts'

export interface HeartbeatParts {
  readonly ledger: Pick<WorkLedger, 'beat'>
  readonly worker: WorkerIdentity
  readonly clock: Clock
  readonly log: Log
}

/** Far below the time after which a worker passes for silent; and an idle ledger is hardly written to. */
const EVERY_MS = 5_000
/** What it does now is told sooner. */
const CHANGE_EVERY_MS = 2_000

export type KeepHeartbeat = (activity: Activity) => Promise<void>

/** Called at every tick; writes when it is time. */
export function createHeartbeat({ ledger, worker, clock, log }: HeartbeatParts): KeepHeartbeat {
  let isFull = false
  let last: { readonly activity: Activity; readonly atMs: number } | null = null
  return async (activity) => {
    const atMs = clock.monotonicMs()
    const everyMs = activity === last?.activity ? EVERY_MS : CHANGE_EVERY_MS
    if (last !== null && activity !== 'ending' && atMs - last.atMs < everyMs) return
    last = { activity, atMs }
    try {
      await ledger.beat({ ...worker, activity, beatAtMs: clock.nowMs() })
      if (isFull) log.info({}, 'the ledger can be written again')
      isFull = false
    } catch (error) {
      // Work does not wait for it. Claims and answers meet the same full disk; of a server that is away the tick tells.
      if (isFull || !(error instanceof Fault) || error.code !== 'full')
        return log.debug({ err: error }, 'the heartbeat could not be recorded')
      isFull = true
      log.warn({}, 'the ledger cannot be written, because its disk is full: nothing is sent, and answers wait for room')
    }
  }
}
