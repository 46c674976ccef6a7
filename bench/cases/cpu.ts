// Processor time for each row that is sent, of the worker's process and of the plain script's. Redis and gateway not counted.

import type { Bench, Case, Line, Rounds } from '../parts/case.ts'
import { cpus } from '../parts/lines.ts'
import { recordAndSend, type Sent, sendByScript } from '../parts/sending.ts'

export const cpu: Case = {
  name: 'cpu',
  async run(bench: Bench): Promise<readonly Line[]> {
    const rows = bench.sizes.sent
    const rounds = await bench.rounds({
      ours: () => recordAndSend(bench, rows),
      other: () => sendByScript(bench, rows),
    })
    const gateway = ({ ours, other }: Rounds<Sent>): Line => ({
      what: 'the bare gateway meanwhile',
      unit: 'ms of processor a row',
      ours: ours.map(({ gatewayMsPerRow }) => gatewayMsPerRow),
      other: { name: 'plain script', figures: other.map(({ gatewayMsPerRow }) => gatewayMsPerRow) },
    })
    return [cpus(`${rows} rows`, 'plain script', rounds, { atMost: 0.25, of: 'ours' }), gateway(rounds)]
  },
}
