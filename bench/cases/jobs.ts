// The worker with all it keeps, against one BullMQ job per row without anything durable.

import { type Bench, type Case, type Line, OPEN_REQUESTS } from '../parts/case.ts'
import { rates } from '../parts/lines.ts'
import { recordAndSend, sendByJobs } from '../parts/sending.ts'

export const jobs: Case = {
  name: 'jobs',
  async run(bench: Bench): Promise<readonly Line[]> {
    const rows = bench.sizes.sent
    const rounds = await bench.rounds({ ours: () => recordAndSend(bench, rows), other: () => sendByJobs(bench, rows) })
    return [rates(`${rows} rows, ${OPEN_REQUESTS} open, kept-alive`, 'one job per row', rounds, { atLeast: 2 })]
  },
}
