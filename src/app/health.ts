// Whether this process, or another one on the same ledger, can do its work: for `/readyz`, and for people and orchestrators that ask.

import { statfs } from 'node:fs/promises'
import type { App } from '../app.ts'
import { messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import { type Check, diskCheck, tickCheck } from '../domain/health.ts'
import { livingWorkers } from '../domain/worker.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { explainDamage, openLedger } from './ledger.ts'
import { workersNow } from './locks.ts'

/** Of a process that sends. */
export interface Sending {
  /** Monotonic; when it began to work, before the first tick has ended. */
  readonly lastTickAtMs: () => number
  /** Whether what it claims is its own: it holds the worker lock, or a lease that others believe in. */
  readonly maySend: () => boolean
  /** Rejects where Redis does not answer. */
  readonly askRedis: () => Promise<void>
}

/** The same by a process that only looks. `withWorker`: some worker must live. */
export async function healthNow(app: App, withWorker: boolean): Promise<readonly Check[]> {
  try {
    const ledger = await openLedger(app, 'looks')
    try {
      return await healthOn(app, ledger, withWorker)
    } finally {
      await ledger.close()
    }
  } catch (error) {
    return [{ name: 'ledger', ok: false, says: ledgerTrouble(app, await explainDamage(app, error)) }]
  }
}

/** Of a ledger that is open. */
export async function healthOn(
  app: App,
  ledger: Pick<Ledger, 'alarm' | 'heartbeats'>,
  withWorker: boolean,
): Promise<readonly Check[]> {
  return [...(await ledgerChecks(app, ledger)), ...(withWorker ? [await workerCheck(app, ledger)] : [])]
}

/** What every process needs that reads and writes the ledger. */
export async function ledgerChecks(app: App, ledger: Pick<Ledger, 'alarm'>): Promise<Check[]> {
  return [await checkLedger(app, ledger), diskCheck(await freeBytesOf(app))]
}

export async function sendingChecks(app: App, sending: Sending): Promise<Check[]> {
  const lease = sending.maySend()
  return [
    {
      ...{ name: 'lease', ok: lease },
      says: lease ? 'this process may send' : 'the ledger has not answered in time: nothing is sent until it does',
    },
    tickCheck(app.clock.monotonicMs() - sending.lastTickAtMs()),
    await checkRedis(app, sending),
  ]
}

/** By the lock and the heartbeat: a worker on this ledger, in whatever process. */
async function workerCheck(app: App, ledger: Pick<Ledger, 'heartbeats'>): Promise<Check> {
  const workers = await workersNow(app, ledger)
  const living = livingWorkers(workers)
  if (living.length > 0) return { name: 'worker', ok: true, says: `${living.map(({ id }) => id).join(', ')} works` }
  const says = workers.length === 0 ? 'no worker is running' : `${workers.map(({ id }) => id).join(', ')} is silent`
  return { name: 'worker', ok: false, says: `${says}: nothing is being sent` }
}

async function checkLedger(app: App, ledger: Pick<Ledger, 'alarm'>): Promise<Check> {
  try {
    const alarm = await ledger.alarm()
    if (alarm === null) return { name: 'ledger', ok: true, says: 'it can be read, and no alarm is raised' }
    return { name: 'ledger', ok: false, says: `alarm (${alarm.kind}): nothing is sent until a person has adopted it` }
  } catch (error) {
    return { name: 'ledger', ok: false, says: ledgerTrouble(app, error) }
  }
}

/** Why it could not be read, in one line. */
function ledgerTrouble(app: App, error: unknown): string {
  return app.scrub(error instanceof Fault ? error.linesIn(app.spelling).join(' ') : messageOf(error))
}

async function checkRedis(app: App, { askRedis }: Sending): Promise<Check> {
  try {
    await askRedis()
    return { name: 'redis', ok: true, says: 'it answers' }
  } catch (error) {
    const says = 'rows are handed out without it, and no messages are taken'
    return { name: 'redis', ok: false, says: `${app.scrub(messageOf(error))} (${says})` }
  }
}

/** For whoever is not root. */
export async function freeBytesOf({ config: { dataDir } }: App): Promise<number> {
  const { bavail, bsize } = await statfs(dataDir)
  return bavail * bsize
}
