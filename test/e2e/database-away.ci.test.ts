// A PostgreSQL server that is away, for a moment or longer than any command waits: workers go on when it is back, and end meanwhile
// when they are told to. Five minutes: `database-away.search`.

import { expect, test } from 'vitest'
import { openWorking, outage, ROWS } from '../fixtures/database-away.ts'

// Beside each other: nearly all of it is waiting.
test.concurrent.for([
  ['SIGINT', 5],
  ['SIGQUIT', 5],
  ['SIGINT', 30],
  ['SIGQUIT', 30],
] as const)(
  'a worker outlives a server that is stopped by %s and away for %d s',
  async ([stop, seconds], { expect }) => {
    expect(await outage(stop, seconds)).toEqual({ received: ROWS, code: 0 })
  },
)

test('a worker whose server is away ends when it is told to', async () => {
  await using working = await openWorking()
  const { cluster, worker, office, untilOver } = working
  cluster.kill()
  worker.kill('SIGTERM')
  const { code, stderr } = await worker.ended
  expect([code, stderr]).toEqual([75, expect.stringContaining('which does not answer. Answers that it does not have')])
  cluster.start()
  await untilOver(await office.worker())
  expect(office.sandbox.received()).toBeLessThanOrEqual(ROWS)
})
