// Works off what the ledger says is due, from the recovery of what a dead worker left to the last answer awaited. The
// order in which it starts and stops is what no row is sent twice by.

import type { AccountId, BatchId, RowId } from '../domain/ids.ts'
import type { WorkerIdentity } from '../domain/worker.ts'
import type { Clock } from '../ports/clock.ts'
import type { Dispatch, Slice } from '../ports/dispatch.ts'
import type { ApprovalLedger } from '../ports/ledger/approvals.ts'
import type { ControlLedger } from '../ports/ledger/control.ts'
import type { CopyLedger, SharedRegister } from '../ports/ledger/copies.ts'
import type { WorkLedger } from '../ports/ledger/work.ts'
import type { Log } from '../ports/log.ts'
import { SEND_WITHIN_MS } from '../throttle/send-deadline.ts'
import { atMost } from './at-most.ts'
import { type AccountLane, executeSlice, type SliceParts } from './execute-slice.ts'
import { openAccounts } from './keep-accounts.ts'
import { openEpoch } from './keep-epoch.ts'
import { createHeartbeat } from './keep-heartbeat.ts'
import { openTick, placesFor, type TickParts, tryCredentials } from './tick.ts'

export interface WorkOffParts<R extends AccountLane> {
  readonly ledger: WorkLedger &
    Pick<ControlLedger, 'controls'> &
    Pick<CopyLedger, 'renewEpoch'> &
    Pick<ApprovalLedger, 'expireApprovals'>
  readonly clock: Clock
  readonly log: Log
  readonly worker: WorkerIdentity
  /** Work off this batch only. */
  readonly only: BatchId | null
  /** What other hosts see of this ledger too; null: nothing is shared with any. */
  readonly register: SharedRegister | null
  /** How long a request in doubt may still be executed. */
  readonly doubtRestMs: number
  readonly openLanes: () => Promise<ReadonlyMap<AccountId, R>>
  /** `concurrency`: slices that run at the same time. */
  readonly openDispatch: (concurrency: number, work: (slice: Slice) => Promise<number>) => Promise<Dispatch>
  /** null: no messages are taken. */
  readonly openIntake: (lanes: ReadonlyMap<AccountId, R>) => Promise<{ close(withinMs: number): Promise<void> } | null>
  readonly onSettled: SliceParts['onSettled']
  readonly cards: SliceParts['cards']
  readonly onTrouble: TickParts['onTrouble']
  readonly onTicked?: TickParts['onTicked']
}

export interface Work {
  /** Nothing new starts; open requests are awaited as long as they may take. */
  stop(): Promise<void>
  readonly takesMessages: boolean
}

const BATCHES_AT_ONCE = 2
/** How long to wait, beyond the deadline of a request, for its answer to be recorded. */
const STOP_MARGIN_MS = 5_000
const REDIS_GOODBYE_MS = 2_000

/** Each account's batches have as many as its open requests need. */
function slicesAtOnce(lanes: ReadonlyMap<AccountId, AccountLane>): number {
  const places = Array.from(lanes.values(), placesFor)
  return BATCHES_AT_ONCE * Math.max(1, ...places)
}

/** The caller holds the worker lock until `stop` has resolved. */
export async function workOff<R extends AccountLane>(parts: WorkOffParts<R>): Promise<Work> {
  const { ledger, clock, log, only, register, doubtRestMs, onSettled, onTrouble, onTicked, cards } = parts
  await ledger.renewEpoch(register)
  // Before anything is claimed: what is SENDING now is a dead worker's, and cannot be told from ours later.
  const inDoubt = await ledger.sweep(clock.nowMs())
  if (inDoubt > 0) log.warn({ rows: inDoubt }, 'rows were being sent when the last worker ended: they are in doubt now')
  const startMs = clock.nowMs()
  await ledger.endOverlongRests(startMs, startMs)

  const lanes = await parts.openLanes()
  for (const [accountId, { dailyLimits }] of lanes) await ledger.applyLimits(accountId, dailyLimits, clock.nowMs())
  await ledger.keepDoubtRest(doubtRestMs) // of every account there is now: it may be a new one
  // Before anyone looks whether something can move.
  for (const [accountId, lane] of lanes)
    await tryCredentials(accountId, lane, await ledger.controls(accountId), { ledger, clock, log })
  const accounts = openAccounts({ ledger, lanes, clock, only, hasFile: cards !== null })
  const laneOf = (accountId: AccountId) => lanes.get(accountId)
  const inFlight = new Set<RowId>()
  const slice: SliceParts = { ledger, clock, laneOf, inFlight, onSettled, cards }
  // One switch for everything: from the moment it is thrown nothing new is sent, whatever else takes its time.
  const sending = new AbortController()
  const slicesRunning = new Set<Promise<number>>()
  // First: a start that fails for want of it says that nothing was sent, and other workers offer slices as soon as they can be taken.
  const intake = await parts.openIntake(lanes)
  const opening = parts.openDispatch(slicesAtOnce(lanes), (taken) => {
    const running = executeSlice(taken, slice, sending.signal)
    slicesRunning.add(running)
    return running.finally(() => slicesRunning.delete(running))
  })
  const dispatch = await opening.catch(async (error: unknown) => {
    await intake?.close(REDIS_GOODBYE_MS)
    throw error
  })
  const heartbeat = createHeartbeat({ ledger, worker: parts.worker, clock, log })
  const tick = openTick({
    heartbeat,
    ledger,
    dispatch,
    lanes,
    accounts,
    clock,
    log,
    inFlight,
    only,
    onTrouble,
    onTicked,
  })
  const epoch = openEpoch({ ledger, register, clock, log })
  return {
    takesMessages: intake !== null,
    async stop() {
      sending.abort()
      accounts.end()
      // A claim may be answered as late as a request may leave.
      const longestMs = Math.max(SEND_WITHIN_MS, ...[...lanes.values()].map((lane) => lane.timeoutMs)) + STOP_MARGIN_MS
      await atMost(clock, longestMs, Promise.allSettled(slicesRunning))
      // What is left speaks to Redis, which may be frozen: none of it may keep a person waiting.
      await atMost(clock, REDIS_GOODBYE_MS, tick.stop())
      await Promise.all([intake?.close(REDIS_GOODBYE_MS), dispatch.close(REDIS_GOODBYE_MS)])
      await Promise.all([...lanes.values()].map((lane) => lane.gateway.close()))
      await epoch.stop()
    },
  }
}
