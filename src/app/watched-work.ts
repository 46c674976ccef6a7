// What happens while rows are worked off, told to figures and traces. Nothing of it may hold the work up, or fail it.

import type { App } from '../app.ts'
import type { AccountId, BatchId } from '../domain/ids.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { AttemptSeen } from '../ports/attempts.ts'
import type { Slice } from '../ports/dispatch.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { DueRow, Settled } from '../ports/ledger/work.ts'
import type { RedisAddress } from '../queues/connection.ts'
import type { MerchantLane } from './lanes.ts'
import type { WorkingLedger } from './ledger.ts'
import { type Counting, NOT_WATCHED, openWatching } from './watching.ts'

export interface WatchedWork extends Pick<Counting, 'ticked' | 'messageTaken' | 'webhookAttempted'> {
  /** The lanes of this process, from now on. */
  begin(lanes: ReadonlyMap<AccountId, MerchantLane>): void
  slice(slice: Slice, work: () => Promise<number>): Promise<number>
  attempted(row: DueRow, verdict: Verdict, settled: Settled, seen: AttemptSeen): void
  close(): Promise<void>
}

export interface WatchedParts {
  readonly ledger: Ledger
  readonly working: Pick<WorkingLedger, 'maySend'>
  readonly redis: RedisAddress
  /** Of a run: it is over before anybody would look at its figures, and may stand beside a worker that has the port. */
  readonly only: BatchId | null
}

/** A monitor waits no longer. */
const REDIS_WAIT_MS = 1_000

export async function watchWork(app: App, { ledger, working, redis, only }: WatchedParts): Promise<WatchedWork> {
  const { clock, log } = app
  const spans = (await import('../observability/spans.ts')).createSpans(clock)
  let lastTickAtMs = clock.monotonicMs()
  const askRedis = async () => {
    const { assertReachable } = await import('../queues/reach.ts')
    await assertReachable(redis, app.config.redisPrefix, REDIS_WAIT_MS)
  }
  const sending = { lastTickAtMs: () => lastTickAtMs, maySend: working.maySend, askRedis }
  const { metrics, watch, close } = only === null ? await openWatching(app, ledger, sending) : NOT_WATCHED
  let lanes: ReadonlyMap<AccountId, MerchantLane> = new Map()
  return {
    begin(opened) {
      lanes = opened
      watch(opened)
    },
    ticked(tookMs) {
      lastTickAtMs = clock.monotonicMs()
      metrics?.ticked(tookMs)
    },
    slice(slice, work) {
      const ended = metrics?.sliceTaken() ?? (() => {})
      return spans.slice(slice, work).finally(ended)
    },
    attempted(row, verdict, settled, seen) {
      const merchant = lanes.get(row.accountId)?.merchant
      if (merchant === undefined) return
      try {
        metrics?.attempted(merchant, row, verdict, settled, seen)
        spans.attempted(merchant.name, row, verdict, seen)
      } catch (error) {
        log.debug({ err: error }, 'an attempt could not be measured')
      }
    },
    messageTaken: (result) => metrics?.messageTaken(result),
    webhookAttempted: (endpoint, result) => metrics?.webhookAttempted(endpoint, result),
    close,
  }
}
