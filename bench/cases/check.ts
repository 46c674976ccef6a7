// `check` of a large file, against csv-parse alone over the same file.

import type { Bench, Case, Line } from '../parts/case.ts'
import { versus } from '../parts/lines.ts'
import { runCheck, runParse } from '../parts/runs.ts'

export const check: Case = {
  name: 'check',
  async run(bench: Bench): Promise<readonly Line[]> {
    const rows = bench.sizes.large
    const rounds = await bench.rounds({ ours: () => runCheck(bench, rows), other: () => runParse(bench, rows) })
    return versus(`check of ${rows} rows`, 'csv-parse', rounds, { atLeast: 0.5 })
  },
}
