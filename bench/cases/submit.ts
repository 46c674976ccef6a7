// `submit` of a large file, against csv-parse alone over the same file. Three times what `check` may take: a sixth of its speed.

import type { Bench, Case, Line } from '../parts/case.ts'
import { versus } from '../parts/lines.ts'
import { runParse, runSubmit } from '../parts/runs.ts'

export const submit: Case = {
  name: 'submit',
  async run(bench: Bench): Promise<readonly Line[]> {
    const rows = bench.sizes.large
    const ours = async () => {
      const office = await bench.office()
      const took = await runSubmit(bench, rows, office)
      office.close()
      return took
    }
    const rounds = await bench.rounds({ ours, other: () => runParse(bench, rows) })
    return versus(`submit of ${rows} rows`, 'csv-parse', rounds, { atLeast: 1 / 6 })
  },
}
