// How long short commands take from their start to their end, against Node itself doing nothing. Compiled code is cached.

import { join } from 'node:path'
import type { Bench, Case, Line } from '../parts/case.ts'
import { ratiosOf } from '../parts/figures.ts'
import { writeRefunds } from '../parts/files.ts'
import { assertDone, startNode, startTranche } from '../parts/process.ts'

const ROWS = 10

export const start: Case = {
  name: 'start',
  async run(bench: Bench): Promise<readonly Line[]> {
    const { rounds, starts } = bench.sizes
    const office = await bench.office()
    const file = join(office.dir, 'ten.csv')
    writeRefunds(file, ROWS)
    await office.run(['submit', file, '--operation', 'REFUND', '--json'])
    const how = { ...office, bare: true }
    // `check` of a file that is recorded finds all of it again: it is asked about other rows.
    const fresh = join(office.dir, 'ten-more.csv')
    writeRefunds(fresh, ROWS, ROWS)
    const kinds = [
      ['node -e 0', () => startNode(['-e', '0'], how)],
      ['--help', () => startTranche(['--help'], how)],
      [`check of ${ROWS} rows`, () => startTranche(['check', fresh, '--operation', 'REFUND'], how)],
      ['status', () => startTranche(['status'], how)],
    ] as const
    const tookMs = new Map<string, number[]>(kinds.map(([name]) => [name, []]))
    // The first of all fills the cache.
    for (let i = 0; i <= rounds * starts; i++)
      for (const [name, begin] of kinds) {
        const ended = await begin().ended
        assertDone(ended.code === 0, `${name} failed`, ended)
        if (i > 0) tookMs.get(name)?.push(ended.seconds * 1000)
      }
    office.close()
    const [[node, nodeMs], ...ours] = [...tookMs] as [[string, number[]], ...[string, number[]][]]
    return ours.map(([what, figures]) => ({
      ...{ what, unit: 'ms', ours: figures, other: { name: node, figures: nodeMs } },
      ratios: ratiosOf(nodeMs, figures),
    }))
  },
}
