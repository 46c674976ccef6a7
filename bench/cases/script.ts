// The worker with all it keeps, against a throw-away script that keeps nothing: 64 requests open, kept-alive connections.

import { type Bench, type Case, type Line, OPEN_REQUESTS } from '../parts/case.ts'
import { rates } from '../parts/lines.ts'
import { recordAndSend, sendByScript } from '../parts/sending.ts'

export const script: Case = {
  name: 'script',
  async run(bench: Bench): Promise<readonly Line[]> {
    const rows = bench.sizes.sent
    const rounds = await bench.rounds({
      ours: () => recordAndSend(bench, rows),
      other: () => sendByScript(bench, rows),
    })
    return [rates(`${rows} rows, ${OPEN_REQUESTS} open, kept-alive`, 'plain script', rounds, { atLeast: 1 })]
  },
}
