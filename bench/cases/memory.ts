// The most resident memory (VmHWM) with a large file, against a small one. What other cases of the same run saw counts too.

import type { Bench, Case, Line } from '../parts/case.ts'
import { runCheck, runResults, runSubmit, settle } from '../parts/runs.ts'

const GOAL = { atMost: 1.25 }
const BYTES = 2 ** 20

export const memory: Case = {
  name: 'memory',
  async run(bench: Bench): Promise<readonly Line[]> {
    const { rounds } = bench.sizes
    return [
      ...(await compare(bench, 'check', rounds, (rows) => runCheck(bench, rows))),
      ...(await compare(bench, 'submit', rounds, (rows) => submitAlone(bench, rows))),
      ...(await compare(bench, 'results', rounds, async (rows) => runResults(bench, rows, await bench.settled(rows)))),
      // To send a large file takes minutes, so it is sent once.
      ...(await compare(bench, 'worker', 1, (rows) => workerAlone(bench, rows))),
    ]
  },
}

async function compare(
  bench: Bench,
  what: string,
  times: number,
  run: (rows: number) => Promise<unknown>,
): Promise<Line[]> {
  const { small, large, rounds } = bench.sizes
  const smalls = await peaks(bench, what, small, rounds, run)
  const larges = await peaks(bench, what, large, times, run)
  const bytes = smalls.map((peak, i) => (((larges[i % larges.length] as number) - peak) * BYTES) / (large - small))
  const ratio = {
    what: `${what}, ${large} rows over ${small}`,
    unit: 'MiB',
    ours: larges,
    other: { name: `${small} rows`, figures: smalls },
    ratios: smalls.map((peak, i) => (larges[i % larges.length] as number) / peak),
    goal: GOAL,
  }
  return [ratio, { what: `${what}, what a row adds`, unit: 'bytes', ours: bytes }]
}

async function peaks(bench: Bench, what: string, rows: number, times: number, run: (rows: number) => Promise<unknown>) {
  const seen = () => bench.peaks.get(`${what} ${rows}`) ?? []
  while (seen().length < times) {
    await run(rows)
    bench.tell(`${what} of ${rows} rows: ${seen().at(-1)?.toFixed(0)} MiB`)
  }
  return seen().slice(0, times)
}

async function submitAlone(bench: Bench, rows: number): Promise<void> {
  const office = await bench.office()
  await runSubmit(bench, rows, office)
  office.close()
}

async function workerAlone(bench: Bench, rows: number): Promise<void> {
  const { office } = await settle(bench, rows)
  office.close()
}
