// What is said of a batch whose worker can hand out no rows.

import { expect, test } from 'vitest'
import { standingNow } from '../../src/app/standing.ts'
import type { App } from '../../src/app.ts'
import { workerView } from '../../src/domain/worker.ts'
import { whyText } from '../../src/present/standing.ts'
import { toJsonWorker, workerText } from '../../src/present/workers.ts'
import { batchView } from '../fixtures/batches.ts'

const NOW = Date.UTC(2026, 10, 21, 20)

test('a batch and its worker name the Redis that is away; programs see a worker that waits', () => {
  const holder = { pid: 7, host: 'vm', command: 'worker', startedAtMs: NOW }
  const worker = workerView(
    holder,
    [
      {
        ...{ id: 'vm:7', host: 'vm', pid: 7, command: 'worker', sinceMs: NOW, batchId: null },
        ...{ beatAtMs: NOW, activity: 'without-redis' },
      },
    ],
    NOW,
  )
  const { state, why } = standingNow({ clock: { nowMs: () => NOW } } as App, batchView({ nextDueAtMs: NOW }), [worker])
  expect(state).toBe('waiting')
  for (const said of [whyText(why), workerText(worker)])
    expect(said).toContain('the Redis of TRANCHE_REDIS_URL cannot be used')
  expect(toJsonWorker(worker)).toMatchObject({ state: 'waiting' })
})
