// Working off a batch: in this process where no other works (the lock, then Redis, then the work), and following it until it ends.

import type { App } from '../app.ts'
import type { BatchId } from '../domain/ids.ts'
import type { Held } from '../files/lock.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { CardFile } from '../processors/execute-slice.ts'
import type { Followed, Following } from '../processors/follow-batch.ts'

export type { Followed, Following }

import { type SendingLock, takeLockToSend } from './locks.ts'
import { openRedis } from './redis.ts'
import { startWork, type WorkEvents } from './worker.ts'

/** Opened before anything is recorded. */
export interface OwnWork {
  /** Resolves to null where this process may work, to the one that works where another does. */
  tryToOpen(): Promise<Held | null>
  /** `cards`: of a file whose rows have card details. */
  start(batchId: BatchId, cards: CardFile | null): Promise<void>
  stopWork(): Promise<void>
  close(): Promise<void>
}

export function openOwnWork(app: App, ledger: Ledger, events: WorkEvents): OwnWork {
  let lock: SendingLock | null = null
  let redis: Awaited<ReturnType<typeof openRedis>> | null = null
  let work: Awaited<ReturnType<typeof startWork>> | null = null
  async function stopWork(): Promise<void> {
    await work?.stop()
    work = null
  }
  return {
    async tryToOpen() {
      if (lock !== null) return null
      const taken = await takeLockToSend(app, ledger, 'run')
      if (taken.kind === 'held') return taken
      lock = taken
      redis = await openRedis(app, taken)
      return null
    },
    async start(batchId, cards) {
      if (lock === null || redis === null || work !== null) return
      work = await startWork(app, ledger, redis.address, { lock, only: batchId, cards, ...events })
    },
    stopWork,
    async close() {
      await stopWork()
      await redis?.close()
      redis = null
      lock?.release()
    },
  }
}

export async function followBatch(batchId: BatchId, following: Following): Promise<Followed | null> {
  const { followBatch: follow } = await import('../processors/follow-batch.ts')
  return follow(batchId, following)
}
