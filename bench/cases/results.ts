// `results` of a large batch, every row approved, against csv-stringify alone writing the same columns.

import type { Bench, Case, Line } from '../parts/case.ts'
import { versus } from '../parts/lines.ts'
import { runResults, runStringify } from '../parts/runs.ts'

export const results: Case = {
  name: 'results',
  async run(bench: Bench): Promise<readonly Line[]> {
    const rows = bench.sizes.large
    const settled = await bench.settled(rows)
    const rounds = await bench.rounds({
      ours: () => runResults(bench, rows, settled),
      other: () => runStringify(bench, rows, settled),
    })
    return versus(`results of ${rows} rows`, 'csv-stringify', rounds, { atLeast: 0.6 })
  },
}
