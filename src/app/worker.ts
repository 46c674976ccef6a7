// Working off: what the ledger says is due, handed out over Redis and sent through the lanes.

import { hostname } from 'node:os'
import type { App } from '../app.ts'
import type { Actor } from '../domain/actor.ts'
import type { AccountId, BatchId } from '../domain/ids.ts'
import type { MessageResult } from '../domain/message.ts'
import type { Verdict } from '../domain/verdict.ts'
import { type Heartbeat, workerId } from '../domain/worker.ts'
import type { SharedRegister } from '../ports/ledger/copies.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { DueRow, Settled } from '../ports/ledger/work.ts'
import type { CardFile } from '../processors/execute-slice.ts'
import type { Narrator } from '../processors/narrate.ts'
import type { BatchParts } from '../processors/take-batch.ts'
import type { Work } from '../processors/work-off.ts'
import type { RedisAddress } from '../queues/connection.ts'
import type { SlicesOptions } from '../queues/slices.ts'
import { type MerchantLane, openLanes } from './lanes.ts'
import { openWorkingLedger } from './ledger.ts'
import type { SendingLock } from './locks.ts'
import { addresseesIn, messageAccountOf } from './message-door.ts'
import { otherLedgers } from './other-ledgers.ts'
import { openRegister } from './redis.ts'
import { cancelUnder } from './steering.ts'
import { type WatchedWork, watchWork } from './watched-work.ts'

/** What a person watching wants to hear while rows are worked off. */
export interface WorkEvents {
  readonly onSettled?: (row: DueRow, verdict: Verdict, settled: Settled) => void
  /** Once when no work can be handed out, and once with null when it can be again. */
  readonly onTrouble?: (error: unknown) => void
  /** Once when Redis takes nothing and this process will do without it, and once with null when it can be used again. */
  readonly onRedisAway?: (error: unknown) => void
}

export interface WorkOptions extends WorkEvents {
  /** What lets this process send, and since when. */
  readonly lock: Pick<SendingLock, 'startedAtMs' | 'place'>
  /** Work off this batch only, and take no messages. */
  readonly only: BatchId | null
  /** Of that batch. */
  readonly cards?: CardFile | null
}

/** In the log and by doctor alone: a second ledger may be meant. */
async function tellOtherLedgers(app: App, ledgerId: string, lanes: Map<AccountId, MerchantLane>): Promise<void> {
  const of = Array.from(lanes.values(), ({ merchant }) => merchant)
  for (const { merchant, says } of await otherLedgers(app, ledgerId, { keeps: true, of }))
    app.log.warn({ merchant }, `Another ledger is used for the account of this merchant: ${says}`)
}

/** Starts to work. The caller holds the worker lock and has opened Redis, and closes both after `stop`. */
export async function startWork(app: App, ledger: Ledger, redis: RedisAddress, options: WorkOptions): Promise<Work> {
  const [{ workOff }, { createNarrator }] = await Promise.all([
    import('../processors/work-off.ts'),
    import('../processors/narrate.ts'),
  ])
  const { config, clock, log } = app
  const register = await openRegister(app, ledger)
  const working = await openWorkingLedger(app, ledger, options.lock.place)
  const close = async () => {
    register?.close()
    await working.close()
  }
  const watched = await watchWork(app, { ledger, working, redis, only: options.only }).catch(async (error: unknown) => {
    await close()
    throw error
  })
  const narrator = createNarrator({ ledger, clock, log })
  const telling = keepTelling(app, narrator)
  const work = await workOff({
    ledger: working,
    clock,
    log,
    worker: identityOf(app, options),
    only: options.only,
    cards: options.cards ?? null,
    register,
    onTrouble: options.onTrouble,
    onTicked: watched.ticked,
    doubtRestMs: config.doubtRestMs,
    openLanes: async () => {
      const lanes = await openLanes(app, ledger, options.only)
      await tellOtherLedgers(app, ledger.ledgerId, lanes)
      telling.begin(lanes)
      watched.begin(lanes)
      return lanes
    },
    openDispatch: (concurrency, work) =>
      openDispatch(app, redis, {
        ...{ ledger: working, ledgerId: ledger.ledgerId, place: options.lock.place?.id ?? null },
        ...{ register, concurrency, onAway: options.onRedisAway },
        work: (slice) => {
          narrator.sliceTaken(slice.batchId)
          return watched.slice(slice, () => work(slice))
        },
      }),
    openIntake: async (lanes) =>
      options.only === null ? openIntake(app, ledger, working, lanes, redis, { narrator, watched }) : null,
    onSettled: (row, verdict, settled, seen) => {
      narrator.settled(row, verdict, settled)
      watched.attempted(row, verdict, settled, seen)
      log.debug({ batch: row.batchId, row: row.rowNo, attempt: row.attempt + 1, state: settled.state }, verdict.kind)
      options.onSettled?.(row, verdict, settled)
    },
  }).catch(async (error: unknown) => {
    await Promise.all([watched.close(), close()])
    throw error
  })
  let delivery: Delivery | null = null
  const stop = async () => {
    await work.stop().finally(() => register?.close())
    // What the last rows came to is told as well.
    await Promise.all([delivery?.stop(), telling.stop(), watched.close(), working.close()])
  }
  try {
    // Only now: a ledger that may be an older state has stopped this process by then.
    if (options.only === null) delivery = await openDelivery(app, watched)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    takesMessages: work.takesMessages,
    stop,
  }
}

type Delivery = Awaited<ReturnType<typeof openDelivery>>

async function openDelivery(app: App, { webhookAttempted: onAttempt }: WatchedWork) {
  const { startDelivery } = await import('./delivery.ts')
  return startDelivery(app, { onAttempt })
}

interface DispatchParts extends Pick<SlicesOptions, 'ledgerId' | 'concurrency' | 'work'> {
  readonly ledger: Pick<Ledger, 'isShared'>
  /** Where this process works; null: the only place of its ledger. */
  readonly place: string | null
  readonly register: SharedRegister | null
  readonly onAway: WorkEvents['onRedisAway']
}

async function openDispatch({ config, clock, log }: App, address: RedisAddress, parts: DispatchParts) {
  const [{ openSlices }, { feedItself }] = await Promise.all([
    import('../queues/slices.ts'),
    import('../processors/feed-itself.ts'),
  ])
  const { ledger, ledgerId, place, register, concurrency, work, onAway } = parts
  const queue = await openSlices({
    ...{ address, prefix: config.redisPrefix, ledgerId, place, concurrency, work, clock, log },
  })
  // A ledger in a file may be copied to another host, and a shared Redis is what tells the two apart: without it nothing more is sent.
  const mayDoWithout = register === null || ledger.isShared
  return mayDoWithout ? feedItself({ queue, concurrency, work, clock, log, onAway }) : queue
}

const TELL_EVERY_MS = 1_000

/** Looks again and again, and once more at the end: what happened last is told as well. */
function keepTelling({ clock, log }: App, narrator: Narrator) {
  const stopping = new AbortController()
  let lanes: ReadonlyMap<AccountId, MerchantLane> = new Map()
  let telling = Promise.resolve()
  const look = () =>
    narrator
      .look((accountId) => lanes.get(accountId)?.limiter.health() ?? null)
      .catch((error: unknown) => log.debug({ err: error }, 'what there is to tell could not be read'))
  async function keep(): Promise<void> {
    while (!stopping.signal.aborted) {
      await look()
      await clock.sleep(TELL_EVERY_MS, stopping.signal)
    }
    await look()
  }
  return {
    begin(opened: typeof lanes): void {
      lanes = opened
      telling = keep()
    },
    async stop(): Promise<void> {
      stopping.abort()
      await telling
    },
  }
}

function identityOf({ config }: App, { lock, only }: WorkOptions): Omit<Heartbeat, 'activity' | 'beatAtMs'> {
  const { pid } = process
  const host = hostname()
  return {
    id: workerId(host, pid),
    host,
    pid,
    command: only === null ? 'worker' : 'run',
    sinceMs: lock.startedAtMs,
    batchId: only,
    ...(only === null && { merchants: [...config.merchants.keys()] }),
  }
}

async function openIntake(
  app: App,
  ledger: Pick<
    Ledger,
    | ('accounts' | 'queueOwner' | 'keepQueueOwner' | 'ledgerId' | 'find' | 'cancelRow' | 'heldBy' | 'duplicatesIn')
    | 'rowsAfter'
  > &
    BatchParts['ledger'],
  recording: Pick<Ledger, 'recordMessage' | 'recordRefusal'>,
  lanes: ReadonlyMap<AccountId, MerchantLane>,
  address: RedisAddress,
  { narrator, watched }: { readonly narrator: Narrator; readonly watched: WatchedWork },
) {
  const [{ openIntakeQueue }, { takeMessage }, { createTurns }, { toXtlOrderId }, ...parsers] = await Promise.all([
    import('../queues/intake.ts'),
    import('../processors/take-message.ts'),
    import('../processors/take-batch.ts'),
    import('../ingest/fields/xtl-order-id.ts'),
    import('../ingest/message.ts'),
    import('../ingest/batch-message.ts'),
    import('../ingest/cancel-message.ts'),
  ])
  const [{ parseMessage }, { parseBatch }, { parseCancel }] = parsers
  const { config, clock, log } = app
  const accounts = new Map(
    Array.from(lanes, ([accountId, { merchant }]) => {
      return [merchant.name, messageAccountOf(merchant, accountId, toXtlOrderId)]
    }),
  )
  const parts = {
    ledger: recording,
    clock,
    log,
    parse: parseMessage,
    batches: { parse: parseBatch, ledger, actor: app.actor, turns: createTurns() },
    cancelling: {
      parse: parseCancel,
      cancel: (reference: string, merchant: string, reason: string, by: Actor) =>
        cancelUnder(ledger, { reference, merchant, reason }, by, clock.nowMs()),
    },
    addressees: addresseesIn(accounts, null),
    knows: async (name: string) => (await ledger.accounts()).some((account) => account.name === name),
    comesAgain: true,
  }
  return openIntakeQueue({
    address,
    prefix: config.redisPrefix,
    ledgerId: ledger.ledgerId,
    owners: { last: ledger.queueOwner, keep: ledger.keepQueueOwner },
    async stateOf(batch, row) {
      const [found] = await ledger.rowsAfter(batch as BatchId, row - 1, 1)
      return found?.rowNo === row ? found.state : null
    },
    log,
    take: async (handed) => {
      const taken = await takeMessage(handed, parts)
      if (handed.isAwaited !== true) watched.messageTaken(toMessageResult(taken.kind))
      if (taken.kind === 'refused') narrator.refused(taken.reasons)
      return withHold(
        'rows' in taken ? { ...taken, duplicates: await ledger.duplicatesIn(taken.batchId) } : taken,
        ledger,
      )
    },
  })
}

/** Who hands in what cannot be sent yet is told so at once. */
async function withHold(taken: MessageResult, ledger: Pick<Ledger, 'heldBy'>): Promise<MessageResult> {
  if (taken.kind === 'refused' || taken.kind === 'cancelled' || ('state' in taken && taken.state !== 'READY'))
    return taken
  const held = await ledger.heldBy(taken.batchId)
  return held === null ? taken : { ...taken, held }
}

/** A batch is counted as one message. */
function toMessageResult(taken: MessageResult['kind']) {
  switch (taken) {
    case 'recorded':
    case 'cancelled':
      return 'accepted'
    case 'repeated':
      return 'duplicate'
    case 'accepted':
    case 'duplicate':
    case 'refused':
      return taken
  }
}
