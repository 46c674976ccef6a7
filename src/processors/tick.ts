// Looks into the ledger for what is due and offers it as slices. The ledger is the only clock.

import { Fault } from '../domain/fault.ts'
import type { AccountId, BatchId, RowId } from '../domain/ids.ts'
import { createToldTrouble, shownOf } from '../domain/trouble.ts'
import type { Activity } from '../domain/worker.ts'
import type { Clock } from '../ports/clock.ts'
import type { Dispatch } from '../ports/dispatch.ts'
import type { ApprovalLedger } from '../ports/ledger/approvals.ts'
import type { AccountControls, ControlLedger } from '../ports/ledger/control.ts'
import type { WorkableBatch, WorkLedger } from '../ports/ledger/work.ts'
import type { Log } from '../ports/log.ts'
import type { AccountLane } from './execute-slice.ts'
import type { Accounts } from './keep-accounts.ts'
import type { KeepHeartbeat } from './keep-heartbeat.ts'

const EVERY_MS = 250
/** Rows in one slice. */
export const ROWS_PER_SLICE = 100
/** Of one batch in the queue at a time: few, so that batches take turns. */
const FEWEST_PLACES = 4
/** So many rows in hand for each request that may be open: a slice gives its place back when its last row is over. */
const IN_HAND_PER_REQUEST = 3
/** Places go round, as long for each as a slice starts rows: what a place holds up, by a slow request, is reached by another. */
const TURN_MS = 2_000

/** Places of one batch: enough to keep the window full. */
export function placesFor({ limiter: { inFlightMax } }: Pick<AccountLane, 'limiter'>): number {
  return Math.max(FEWEST_PLACES, Math.ceil((IN_HAND_PER_REQUEST * inFlightMax) / ROWS_PER_SLICE))
}

export interface TickParts {
  readonly ledger: Pick<
    WorkLedger,
    | 'workable'
    | 'finishCancelling'
    | 'cancelExpired'
    | 'sweepForgotten'
    | 'sweepLost'
    | 'endOverlongRests'
    | 'recordHealth'
    | 'tryCredentials'
    | 'isShared'
  > &
    Pick<ControlLedger, 'controls'> &
    Pick<ApprovalLedger, 'expireApprovals'>
  readonly dispatch: Pick<Dispatch, 'offer' | 'onFreed'>
  readonly lanes: ReadonlyMap<AccountId, AccountLane>
  readonly accounts: Accounts
  readonly clock: Clock
  readonly log: Log
  /** Rows that some slice of this process has in hand. */
  readonly inFlight: ReadonlySet<RowId>
  /** Work off this batch only. */
  readonly only: BatchId | null
  readonly heartbeat: KeepHeartbeat
  /** Told once when no work can be handed out, with the reason, and once with null when it can be again. */
  readonly onTrouble?: ((error: unknown) => void) | undefined
  /** Told of every look that came to its end, with its length. */
  readonly onTicked?: ((tookMs: number) => void) | undefined
}

export interface Tick {
  /** Resolves when the step under way has ended; none follows. */
  stop(): Promise<void>
}

export function openTick(parts: TickParts): Tick {
  const { dispatch, clock, log, heartbeat, onTrouble, onTicked } = parts
  const stopping = new AbortController()
  const seen = new Map<AccountId, AccountControls>()
  const saying = createSaying(parts)
  const watching = createClockWatch(parts)
  const trouble = createToldTrouble()
  /** What it waits for where no work can be handed out. */
  let failing: Activity | null = null

  async function beat(): Promise<void> {
    while (!stopping.signal.aborted) {
      const begunAtMs = clock.monotonicMs()
      try {
        await heartbeat(activityOf(parts, failing))
        await saying()
        await watching()
        await step(parts, seen)
        onTicked?.(clock.monotonicMs() - begunAtMs)
        if (failing !== null) {
          log.info({}, 'work is being handed out again')
          onTrouble?.(null)
        }
        failing = null
        trouble.over()
      } catch (error) {
        // What is due stays due: the next beat finds it again.
        if (trouble.isNew(error)) log.warn(shownOf(error), 'no work could be handed out; trying again')
        if (failing === null) onTrouble?.(error)
        failing = isRedisAway(error, parts) ? 'without-redis' : 'waiting'
      }
      await clock.sleep(EVERY_MS, stopping.signal)
    }
  }

  // A slice that found nothing leaves its place to the next beat: filling it at once would spin.
  dispatch.onFreed((batchId, rows) => {
    if (rows > 0 && !stopping.signal.aborted) offerOf(parts, batchId).catch(() => {})
  })
  const beating = beat()
  return {
    async stop() {
      stopping.abort()
      await beating
      await heartbeat('ending')
    },
  }
}

/** The server of a ledger may be unavailable as well; a ledger in a file has none. */
function isRedisAway(error: unknown, { ledger }: TickParts): boolean {
  return !ledger.isShared && error instanceof Fault && error.code === 'unavailable'
}

function activityOf({ lanes, inFlight }: TickParts, failing: Activity | null): Activity {
  if (failing !== null) return failing
  if ([...lanes.values()].some(({ limiter }) => !limiter.isOpen())) return 'waiting'
  return inFlight.size > 0 ? 'working' : 'idle'
}

async function step(parts: TickParts, seen: Map<AccountId, AccountControls>): Promise<void> {
  const { ledger, lanes, accounts, clock, only, log } = parts
  await ledger.expireApprovals(clock.nowMs())
  await ledger.finishCancelling(clock.nowMs())
  await ledger.cancelExpired(clock.nowMs())
  await sweepLeft(parts)
  for (const [accountId, lane] of lanes) {
    const controls = await ledger.controls(accountId)
    const before = seen.get(accountId)
    if (before !== undefined && controls.resumes > before.resumes) {
      lane.credentials.renew()
      lane.limiter.reset()
    }
    await tryCredentials(accountId, lane, controls, parts)
    if (controls.ratePerSecond !== (before?.ratePerSecond ?? null)) setRateOverride(lane, controls, log)
    seen.set(accountId, controls)
  }
  const batches = await dueIn(parts, only)
  await accounts.keep(new Set(batches.map(({ accountId }) => accountId)))
  await offer(parts, batches)
}

/** Where those of a stopped account changed, it goes on with one open request, and is stopped again if that one is refused. */
export async function tryCredentials(
  accountId: AccountId,
  { credentials, limiter }: AccountLane,
  { triedCredentials }: AccountControls,
  { ledger, clock, log }: { readonly ledger: Pick<WorkLedger, 'tryCredentials'> } & Pick<TickParts, 'clock' | 'log'>,
): Promise<void> {
  if (triedCredentials === null) return
  credentials.renew()
  const digest = credentials.current().digest()
  if (triedCredentials.includes(digest)) return
  limiter.reset()
  if (await ledger.tryCredentials(accountId, digest, clock.nowMs()))
    log.info({}, 'the credentials of a stopped account changed: one request shows whether they are accepted')
}

async function sweepLeft({ ledger, clock, inFlight, log }: TickParts): Promise<void> {
  const forgotten = await ledger.sweepForgotten(clock.nowMs(), inFlight)
  if (forgotten > 0) log.error({ rows: forgotten }, 'rows were claimed and lost track of: they are in doubt now')
  const lost = await ledger.sweepLost(clock.nowMs())
  if (lost > 0) log.warn({ rows: lost }, 'rows were being sent when another worker was lost: they are in doubt now')
}

/** Due times are by the wall clock. When that is set back, the rows must not wait until it has caught up. */
function createClockWatch({ ledger, clock, log }: TickParts): () => Promise<void> {
  let latestMs = clock.nowMs()
  return async () => {
    const nowMs = clock.nowMs()
    if (nowMs < latestMs) {
      const rows = await ledger.endOverlongRests(nowMs, latestMs)
      log.warn(
        { rows, byMs: latestMs - nowMs },
        'the clock was set back; rows that would rest too long by it are due now',
      )
    }
    latestMs = nowMs
  }
}

/** Tells the ledger how each road is whenever that has changed, so that a status can tell it without asking this process. */
function createSaying({ ledger, lanes, accounts, log }: TickParts): () => Promise<void> {
  const said = new Map<AccountId, string>()
  return async () => {
    for (const [accountId, { limiter }] of lanes) {
      if (!accounts.isMine(accountId)) {
        said.delete(accountId) // its sender says it
        continue
      }
      const condition = limiter.health()
      const text = JSON.stringify(condition)
      if (said.get(accountId) === text) continue
      try {
        await ledger.recordHealth(accountId, condition)
        said.set(accountId, text)
      } catch (error) {
        // A full disk, mostly. It is for people to read: work does not wait for it, and the next beat says it again.
        log.debug({ err: error }, 'how the road is could not be told')
      }
    }
  }
}

/** Before anything is offered: what a person set holds for the first request of a worker as well. */
function setRateOverride(lane: AccountLane, { name, ratePerSecond }: AccountControls, log: Log): void {
  const rate = lane.limiter.setRateOverride(ratePerSecond)
  const now = rate === null ? 'not limited' : `${rate}/s`
  const why = ratePerSecond === null ? 'as configured' : 'as a person set it, until it is turned back'
  log.info({ merchant: name, ratePerSecond: rate }, `the rate is now ${now}, ${why}`)
}

/** Of all accounts, whoever sends for them. */
function dueIn({ ledger, lanes, clock }: TickParts, only: BatchId | null): Promise<readonly WorkableBatch[]> {
  const countTo = ROWS_PER_SLICE * Math.max(...Array.from(lanes.values(), placesFor), 0)
  return ledger.workable(clock.nowMs(), countTo, only ?? undefined)
}

async function offerOf(parts: TickParts, only: BatchId): Promise<void> {
  await offer(parts, await dueIn(parts, only))
}

async function offer(parts: TickParts, batches: readonly WorkableBatch[]): Promise<void> {
  const { dispatch, lanes, accounts, clock } = parts
  for (const { batchId, accountId, due } of batches) {
    const lane = lanes.get(accountId)
    if (lane?.limiter.isOpen() !== true || !accounts.isMine(accountId)) continue
    const most = placesFor(lane)
    const turn = Math.floor(clock.nowMs() / TURN_MS)
    const count = Math.min(most, Math.ceil(due / ROWS_PER_SLICE))
    await dispatch.offer(
      Array.from({ length: count }, (_, i) => ({ batchId, rows: ROWS_PER_SLICE, place: (i + turn) % most })),
    )
  }
}
