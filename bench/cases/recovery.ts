// A worker is killed with requests open and a large batch recorded. Told is how long the next one takes from its start to its
// first request. No row may be sent twice over all of them.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Case, Line } from '../parts/case.ts'
import { momentMs } from '../parts/moment.ts'
import { assertDone } from '../parts/process.ts'
import { runSubmit } from '../parts/runs.ts'

/** Long enough that many requests are open when the worker is killed. */
const LATENCY_MS = 50
const SENT_BEFORE = 200
const LOOK_EVERY_MS = 5

export const recovery: Case = {
  name: 'recovery',
  async run(bench: Bench): Promise<readonly Line[]> {
    const { large, rounds } = bench.sizes
    const gateway = await bench.gateway()
    const office = await bench.office()
    const { batch } = await runSubmit(bench, large, office)
    await gateway.begin(large, { latencyMs: LATENCY_MS })
    const ours: number[] = []
    // The first start is after no kill and is not told.
    for (let round = 0; round <= rounds; round++) {
      const { first } = await gateway.mark()
      const startMs = momentMs()
      const worker = office.start('worker', '--json')
      await worker.meanwhile(first)
      const { firstMs, requests } = await gateway.counted()
      if (round > 0) ours.push(firstMs - startMs)
      while ((await gateway.counted()).requests < requests + SENT_BEFORE) await worker.meanwhile(sleep(LOOK_EVERY_MS))
      worker.kill('SIGKILL')
      await worker.ended
      bench.tell(`killed ${round + 1} times`)
    }
    const { requests, distinct, strange } = await gateway.counted()
    assertDone(requests === distinct && strange === 0, `${requests} requests for ${distinct} rows`)
    const { counts } = (await office.run(['status', batch, '--json'])).last
    const rows = Object.values(counts as Record<string, number>).reduce((sum, count) => sum + count, 0)
    assertDone(
      rows === large && counts.IN_DOUBT > 0,
      `not every row is there, or none was open: ${JSON.stringify(counts)}`,
    )
    office.close()
    return [{ what: `kill -9 → first request, ${large} rows recorded`, unit: 'ms', ours }]
  },
}
