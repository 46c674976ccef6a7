// The worker with all it keeps, beside what else could send the same file: a throw-away script and queues, the same requests open over
// kept-alive connections to the same gateway. What each keeps is said in bench/README.md.

import { tmpdir } from 'node:os'
import { makeDirectory, openCluster } from '../../test/fixtures/postgres.ts'
import { type Bench, type Case, type Line, OPEN_REQUESTS } from '../parts/case.ts'
import { cpus, rates, servers } from '../parts/lines.ts'
import { recordAndSend, sendByGraphile, sendByJobs, sendByNaive, sendByScript } from '../parts/sending.ts'

const NAMES = {
  script: 'plain script',
  naive: 'script that commits before and after each row',
  jobs: 'one job per row',
  always: 'one job per row, Redis syncs always',
  graphile: 'graphile-worker, batched',
} as const

const GOALS = { script: 0.9, jobs: 1.8, naive: 1.15, always: 1.15, graphile: 1.15 } as const

export const worker: Case = {
  name: 'worker',
  async run(bench: Bench): Promise<readonly Line[]> {
    const rows = bench.sizes.sent
    const cluster = openCluster({ dir: makeDirectory(tmpdir()) })
    process.once('exit', cluster.remove)
    const rounds = await bench.rounds({
      ours: () => recordAndSend(bench, rows),
      script: () => sendByScript(bench, rows),
      naive: () => sendByNaive(bench, rows),
      jobs: () => sendByJobs(bench, rows, 'never'),
      always: () => sendByJobs(bench, rows, 'always'),
      graphile: () => sendByGraphile(bench, rows, cluster),
    })
    cluster.remove()
    const what = `${rows} rows, ${OPEN_REQUESTS} open, kept-alive`
    const lines = (['script', 'naive', 'jobs', 'always', 'graphile'] as const).flatMap((side) => {
      const pair = { ours: rounds.ours, other: rounds[side] }
      return [
        rates(what, NAMES[side], pair, { atLeast: GOALS[side] }),
        cpus(what, NAMES[side], pair, side === 'script' ? { atMost: 1.1 } : undefined),
        servers(what, NAMES[side], pair),
      ]
    })
    const gatewayMs = rounds.ours.map(({ gatewayMsPerRow }) => gatewayMsPerRow)
    return [...lines, { what: 'the gateway meanwhile', unit: 'ms of processor a row', ours: gatewayMs }]
  },
}
