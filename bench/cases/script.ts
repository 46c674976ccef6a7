// The worker with all it keeps, against a throw-away script that keeps nothing: 64 requests open, kept-alive connections. Rows a second, and
// processor time for each row of the worker's process and of the script's; Redis and gateway are not counted.

import { type Bench, type Case, type Line, OPEN_REQUESTS } from '../parts/case.ts'
import { cpus, rates } from '../parts/lines.ts'
import { recordAndSend, sendByScript } from '../parts/sending.ts'

export const script: Case = {
  name: 'script',
  async run(bench: Bench): Promise<readonly Line[]> {
    const rows = bench.sizes.sent
    const rounds = await bench.rounds({
      ours: () => recordAndSend(bench, rows),
      other: () => sendByScript(bench, rows),
    })
    const what = `${rows} rows, ${OPEN_REQUESTS} open, kept-alive`
    return [
      rates(what, 'plain script', rounds, { atLeast: 1 }),
      cpus(what, 'plain script', rounds, { atMost: 0.25, of: 'ours' }),
      {
        ...{ what: 'the gateway meanwhile', unit: 'ms of processor a row' },
        ours: rounds.ours.map(({ gatewayMsPerRow }) => gatewayMsPerRow),
        other: { name: 'plain script', figures: rounds.other.map(({ gatewayMsPerRow }) => gatewayMsPerRow) },
      },
    ]
  },
}
