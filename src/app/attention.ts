// Who works on the ledger now, and what waits for a person.

import type { App } from '../app.ts'
import { type Attention, attentionIn } from '../domain/attention.ts'
import type { BatchView } from '../domain/batch.ts'
import type { WorkerView } from '../domain/worker.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { workersNow } from './locks.ts'

export interface AttentionNow {
  readonly workers: readonly WorkerView[]
  readonly attention: readonly Attention[]
}

/** `batches`: all that there are. */
export async function attentionNow(app: App, ledger: Ledger, batches: readonly BatchView[]): Promise<AttentionNow> {
  const [alarm, accounts, workers] = [await ledger.alarm(), await ledger.accounts(), await workersNow(app, ledger)]
  return { workers, attention: attentionIn({ alarm, batches, accounts, workers }) }
}
