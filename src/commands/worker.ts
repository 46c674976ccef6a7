// tranche worker: works until SIGTERM, or with --until-idle until nothing can move without a person.

import { hostname } from 'node:os'
import { assertPolicyAgreed } from '../app/approvals.ts'
import { openLedger } from '../app/ledger.ts'
import { type SendingLock, takeLockToSend, workersNow } from '../app/locks.ts'
import { openRedis } from '../app/redis.ts'
import { startWork } from '../app/worker.ts'
import type { App } from '../app.ts'
import type { BatchView } from '../domain/batch.ts'
import { countIn, type Ending, endingOf, givenUp, settledIn } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import { createPatience, type GiveUpAfter } from '../domain/patience.ts'
import { livingWorkers, workerId } from '../domain/worker.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { EXIT, exitCodeOf } from '../present/exit-codes.ts'
import { startWarnings } from '../present/exposed.ts'
import { endingLines } from '../present/outcome.ts'
import { plural } from '../present/text.ts'
import { countsOf } from '../present/totals.ts'
import { workerLines } from '../present/workers.ts'
import { parseGiveUpAfter } from './durations.ts'
import { logEnding, viewOf } from './follow.ts'
import { leaveInTime } from './leaving.ts'
import { answersByMs, awaiting, openInterruption } from './signals.ts'
import type { Terminal } from './terminal.ts'

export interface WorkerArguments {
  readonly untilIdle?: boolean
  readonly giveUpAfter?: string
}

const LOOK_EVERY_MS = 500

export async function worker(app: App, given: WorkerArguments, terminal: Terminal): Promise<number> {
  if (app.config.merchants.size === 0) {
    throw new Fault(
      'config',
      'No merchant is configured, so nothing could be sent: set TRANCHE_GATEWAY_URL, TRANCHE_GATEWAY_USERNAME and TRANCHE_GATEWAY_PASSWORD, or TRANCHE_CONFIG.',
    )
  }
  const until = untilOf(given, terminal)
  for (const text of startWarnings(app.config)) app.log.warn({}, text)
  const ledger = await openLedger(app)
  const touched = new Set<BatchId>()
  const interruption = openInterruption(terminal, () =>
    awaiting({
      count: async () => sum(await ledger.batches('open'), 'SENDING'),
      overByMs: () => answersByMs(app),
    }),
  )
  const inTime = leaveInTime(app, ledger, interruption.signal, terminal)
  try {
    await assertPolicyAgreed(app, ledger)
    const lock = await takeLockToSend(app, ledger, 'worker')
    if (lock.kind === 'held') throw heldFault(lock.heldBy)
    const working = { lock, signal: interruption.signal, until, touched }
    const end = await workUntil(app, ledger, working, terminal).finally(lock.release)
    if (interruption.signal.aborted) return stopped(until !== null, terminal)
    return await leave(ledger, touched, end, app, terminal)
  } finally {
    interruption.close()
    await ledger.close()
    inTime.ended()
  }
}

function untilOf({ untilIdle, giveUpAfter }: WorkerArguments, terminal: Terminal): GiveUpAfter | null {
  if (untilIdle === true) return parseGiveUpAfter(giveUpAfter, terminal)
  if (giveUpAfter === undefined) return null
  throw new Fault('usage', '--give-up-after needs --until-idle: any other worker works until it is told to stop.')
}

function heldFault(holder: { pid: number; host: string; command: string } | null): Fault {
  const who =
    holder === null ? 'Another process' : `Process ${holder.pid} on ${holder.host} (tranche ${holder.command})`
  return new Fault(
    'stopped',
    `${who} works off this ledger already; two would send everything twice. Nothing was started. Stop that one first, or let it work.`,
  )
}

interface Working {
  readonly lock: SendingLock
  readonly signal: AbortSignal
  /** `--until-idle`: when it waits no longer; null: it works until it is told to stop. */
  readonly until: GiveUpAfter | null
  readonly touched: Set<BatchId>
}

async function workUntil(
  app: App,
  ledger: Ledger,
  { lock, signal, until, touched }: Working,
  terminal: Terminal,
): Promise<End | null> {
  const redis = await openRedis(app, lock)
  try {
    // What a dead worker was sending comes into doubt as work opens: the exit code must tell of it.
    const open = await ledger.batches('open')
    for (const batch of open) if (countIn(batch, 'SENDING') > 0) touched.add(batch.batchId)
    const unlogged = new Set<BatchId>()
    const work = await startWork(app, ledger, redis.address, {
      ...{ lock, only: null },
      onSettled: (row) => {
        touched.add(row.batchId)
        unlogged.add(row.batchId)
      },
    })
    const where = 'path' in redis.address ? `private Redis at ${redis.address.path}` : 'the Redis of TRANCHE_REDIS_URL'
    const messages = work.takesMessages
      ? `messages are taken from the queue tranche-intake on ${where}`
      : `no messages are taken, because the queue tranche-intake on ${where} belongs to another ledger`
    terminal.say(
      `Working off ${app.paths.ledger}; ${messages}. Ctrl-C or SIGTERM ends it gracefully.`,
      ...(await otherLines(app, ledger)),
    )
    terminal.object({ event: 'working', ledger: app.paths.ledger })
    const look = until === null ? async () => null : createEndWatch(ledger, app, until)
    try {
      let end = await look()
      while (!signal.aborted && end === null) {
        await app.clock.sleep(LOOK_EVERY_MS, signal)
        await goingOn(app, until, async () => {
          await logEndings(app, ledger, unlogged)
          end = await look()
        })
      }
      return end
    } finally {
      await work.stop()
      await goingOn(app, until, async () => {
        await logEndings(app, ledger, unlogged)
        // A row that expired, or no longer fits its order, came to its end without a request.
        for (const batch of open)
          if (settledIn(await viewOf(ledger, batch.batchId)) > settledIn(batch)) touched.add(batch.batchId)
      })
    }
  } finally {
    await redis.close()
  }
}

/** A worker that works until it is told to stop waits for its server however long that is away, and its tick tells of it. */
async function goingOn({ log }: App, until: GiveUpAfter | null, look: () => Promise<void>): Promise<void> {
  try {
    await look()
  } catch (error) {
    if (until !== null || !(error instanceof Fault) || error.code !== 'unavailable') throw error
    log.debug({ err: error }, 'the ledger cannot be read: which batches have ended is told later')
  }
}

/** Of a ledger on a server: who shares the work. */
async function otherLines(app: App, ledger: Ledger): Promise<string[]> {
  const here = workerId(hostname(), process.pid)
  const others = livingWorkers(await workersNow(app, ledger)).filter(({ id }) => id !== here)
  return others.length === 0
    ? []
    : [`${plural(others.length, 'other worker shares', 'other workers share')} the work:`, ...workerLines(others)]
}

/** Once for each time that a batch has nothing left to send. */
async function logEndings(app: App, ledger: Ledger, unlogged: Set<BatchId>): Promise<void> {
  for (const batchId of unlogged) {
    const batch = await viewOf(ledger, batchId)
    if (isOpen(batch)) continue
    unlogged.delete(batchId)
    await logEnding(app, ledger, batch)
  }
}

type End = 'idle' | { readonly gaveUpAfterMs: number }

/** Nothing can move within a minute without a person, or no row was settled for too long; null while neither is so. */
function createEndWatch(ledger: Ledger, app: App, until: GiveUpAfter): () => Promise<End | null> {
  const { clock } = app
  const patience = createPatience(until, clock.monotonicMs())
  return async () => {
    const open = await ledger.batches('open')
    const moving = open.filter((batch) => isServed(app, batch) && endingOf(batch, clock.nowMs()) === null)
    if (moving.length === 0) return 'idle'
    const settled = open.reduce((total, batch) => total + settledIn(batch), 0)
    const asksToWait = moving.every(({ gatewayHealth }) => gatewayHealth?.asksToWait === true)
    const look = { settled, sending: sum(open, 'SENDING'), asksToWait, nowMs: clock.monotonicMs() }
    const gaveUpAfterMs = patience.overAfterMs(look)
    return gaveUpAfterMs === null ? null : { gaveUpAfterMs }
  }
}

/** Rows of a merchant that is not configured here move nowhere; nor do those that need their file. */
function isServed(app: App, batch: BatchView): boolean {
  return app.config.merchants.has(batch.merchant) && !batch.needsFile
}

function isOpen(batch: BatchView): boolean {
  return countIn(batch, 'READY') + countIn(batch, 'SENDING') > 0
}

function sum(batches: readonly BatchView[], state: 'SENDING'): number {
  return batches.reduce((total, batch) => total + countIn(batch, state), 0)
}

function stopped(untilIdle: boolean, terminal: Terminal): number {
  terminal.say('Stopped. Every answer that came is recorded; what was not sent stays due.')
  // A service that is asked to stop has done its work; one that was to work until idle has not.
  const exit = untilIdle ? EXIT.interrupted : EXIT.approved
  terminal.object({ event: 'result', exit })
  return exit
}

/** Lists what is left, and the worst of what was worked on is the exit code. */
async function leave(
  ledger: Ledger,
  touched: ReadonlySet<BatchId>,
  end: End | null,
  app: App,
  terminal: Terminal,
): Promise<number> {
  let worst: number = EXIT.approved
  for (const batch of await ledger.batches()) {
    const ending = endingFor(app, batch, end)
    if (ending === null || !(touched.has(batch.batchId) || isOpen(batch))) continue
    const code = exitCodeOf(batch, ending)
    worst = Math.max(worst, code)
    terminal.data(`${batch.batchId}  ${batch.fileName ?? 'messages'}: ${said(batch)}`)
    terminal.object({ event: 'batch', batch: batch.batchId, counts: countsOf(batch), exit: code })
    terminal.say(...endingLines(batch, ending))
  }
  terminal.say(
    touched.size === 0 ? 'Nothing was due.' : `${plural(touched.size, 'batch was', 'batches were')} worked on.`,
  )
  terminal.object({ event: 'result', exit: worst })
  return worst
}

function said(batch: BatchView): string {
  return Object.entries(countsOf(batch))
    .map(([status, count]) => `${count} ${status.toLowerCase().replace('_', ' ')}`)
    .join(', ')
}

function endingFor(app: App, batch: BatchView, end: End | null): Ending | null {
  const served = isServed(app, batch)
  const ending = endingOf(batch, app.clock.nowMs(), served)
  if (served) return ending ?? (end === null || end === 'idle' ? null : givenUp(batch, end.gaveUpAfterMs))
  if (batch.needsFile) return ending
  return { kind: 'stuck', state: 'waiting', why: [{ code: 'not-configured', merchant: batch.merchant }] }
}
