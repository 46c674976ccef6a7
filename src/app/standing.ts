// How a batch stands now, with who works on it.

import type { App } from '../app.ts'
import type { BatchView } from '../domain/batch.ts'
import { type ServiceNow, type Standing, standingOf } from '../domain/batch-status.ts'
import { serviceOf, type WorkerView, workerFor } from '../domain/worker.ts'

/** `workers`: who works, as `workersNow` answered. */
export function standingNow(app: App, batch: BatchView, workers: readonly WorkerView[]): Standing {
  const worker = workerFor(workers, batch)
  const meant = worker === undefined ? 'served' : serviceOf(worker, batch)
  const service: ServiceNow = meant === 'served' && worker?.state === 'without-redis' ? 'without-redis' : meant
  return standingOf(batch, app.clock.nowMs(), worker !== undefined, service)
}
