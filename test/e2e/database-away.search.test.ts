// A PostgreSQL server that is away for five minutes, in the midst of a batch.

import { test } from 'vitest'
import { outage, ROWS } from '../fixtures/database-away.ts'

const MINUTES = 5

test.concurrent.for(['SIGINT', 'SIGQUIT'] as const)(
  'a worker outlives a server that is stopped by %s and away for five minutes',
  { timeout: 2 * MINUTES * 60_000 },
  async (stop, { expect }) => {
    expect(await outage(stop, MINUTES * 60)).toEqual({ received: ROWS, code: 0 })
  },
)
