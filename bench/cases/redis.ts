// What Redis holds for each row that waits, beside what an idle worker needs: ours, and one BullMQ job per row.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Bench, Case, Line } from '../parts/case.ts'
import { assertDone } from '../parts/process.ts'
import { usedMemory } from '../parts/redis-memory.ts'
import { runSubmit } from '../parts/runs.ts'
import { waitAsJobs } from '../parts/sending.ts'

/** Longer than the case takes: no request is answered, so all rows but one wait. */
const NEVER_MS = 3_600_000
const LOOKS = 20
const LOOK_EVERY_MS = 100

export const redis: Case = {
  name: 'redis',
  async run(bench: Bench): Promise<readonly Line[]> {
    const { waiting } = bench.sizes
    const rounds = await bench.rounds({
      ours: () => waitingWithUs(bench, waiting),
      other: async () => (await waitAsJobs(bench, waiting)) / waiting,
    })
    return [
      {
        what: `Redis for each of ${waiting} waiting rows`,
        unit: 'B',
        ours: rounds.ours,
        other: { name: 'one job per row', figures: rounds.other },
        ratios: rounds.ours.map((bytes, i) => bytes / (rounds.other[i] as number)),
        goal: { atMost: 20, of: 'ours' },
      },
    ]
  },
}

async function waitingWithUs(bench: Bench, rows: number): Promise<number> {
  const gateway = await bench.gateway()
  const office = await bench.office()
  const { first } = await gateway.begin(rows, { latencyMs: NEVER_MS })
  const worker = office.start('worker', '--json')
  await worker.said('working')
  const asking = new Redis({ path: office.redisSocket })
  try {
    const idleBytes = await mostIn(asking)
    await runSubmit(bench, rows, office)
    await worker.meanwhile(first)
    const waitingBytes = await mostIn(asking)
    const { requests, strange } = await gateway.counted()
    assertDone(requests < rows / 10 && strange === 0, `${requests} of ${rows} rows did not wait`)
    return (waitingBytes - idleBytes) / rows
  } finally {
    asking.disconnect()
    worker.kill('SIGKILL')
    await worker.ended
    office.close()
  }
}

/** Over eight ticks. */
async function mostIn(asking: Redis): Promise<number> {
  let most = 0
  for (let look = 0; look < LOOKS; look++) {
    most = Math.max(most, await usedMemory(asking))
    await sleep(LOOK_EVERY_MS)
  }
  return most
}
