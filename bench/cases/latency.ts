// A gateway that takes 200 ms, with 256 requests open: how much of the ceiling, open requests ÷ latency, is reached from the
// moment at which all may be open until the last row is settled. The number of open requests begins at 1: with that ramp, from the first
// request on, it is shown as well, and has no goal.

import type { Bench, Case, Line } from '../parts/case.ts'
import { recordAndSend, type Sent } from '../parts/sending.ts'

const OPEN = 256
const LATENCY_MS = 200
const CEILING = OPEN / (LATENCY_MS / 1000)

export const latency: Case = {
  name: 'latency',
  async run(bench: Bench): Promise<readonly Line[]> {
    const { slow, minute } = bench.sizes
    return [
      ...(await measure(bench, slow, 'warm', 0.97)),
      ...(await measure(bench, slow, 'fresh', 0.93)),
      ...(await measure(bench, minute, 'warm', 0.97)),
      ...(await measure(bench, minute, 'fresh', 0.93)),
    ]
  },
}

async function measure(bench: Bench, rows: number, connections: 'warm' | 'fresh', atLeast: number): Promise<Line[]> {
  const sent: Sent[] = []
  for (let round = 1; round <= bench.sizes.rounds; round++) {
    const one = await recordAndSend(bench, rows, { open: OPEN, connections, latencyMs: LATENCY_MS })
    const isTrue = connections === 'warm' ? one.connections <= OPEN * 2 : one.connections >= rows
    if (!isTrue) throw new Error(`${connections}: ${one.connections} connections for ${rows} rows`)
    sent.push(one)
    bench.tell(`round ${round} of ${bench.sizes.rounds}`)
  }
  const what = `${rows} rows, ${OPEN} open, ${LATENCY_MS} ms, ${connections === 'warm' ? 'kept-alive' : 'fresh'}`
  const line = (from: string, figure: (one: Sent) => number): Line => {
    const ours = sent.map(figure)
    const ceiling = { name: 'ceiling', figures: ours.map(() => CEILING) }
    return { what: `${what}, ${from}`, unit: 'rows/s', ours, other: ceiling, ratios: ours.map((one) => one / CEILING) }
  }
  const open = { ...line('when all are open', ({ perSecondOpen }) => perSecondOpen), goal: { atLeast } }
  const all = line('from the first request', ({ perSecond }) => perSecond)
  // Where the machine is busy, the gateway is late and the ceiling is not where it is said to be.
  const held = { what: 'the gateway held each request', unit: 'ms', ours: sent.map(({ heldMs }) => heldMs) }
  return [open, all, held]
}
