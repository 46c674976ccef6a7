// How evenly and how fully a rate is used. The limit is kept where requests leave, as the ledger has it: where they arrive, a gateway
// process that gets no processor for 10 ms shows one more in a second.

import { DatabaseSync } from 'node:sqlite'
import type { Bench, Case, Line } from '../parts/case.ts'
import { sendByWorker } from '../parts/sending.ts'

const RATE = 50
const SECONDS = 120
const LATENCY_MS = 20

interface Paced {
  /** When the first byte of each request left. */
  readonly departuresMs: readonly number[]
  readonly claimedTwice: number
  readonly busiestAtGateway: number
}

export const pace: Case = {
  name: 'pace',
  async run(bench: Bench): Promise<readonly Line[]> {
    const paced: Paced[] = []
    for (let round = 1; round <= bench.sizes.rounds; round++) {
      paced.push(await sendAtRate(bench))
      bench.tell(`round ${round} of ${bench.sizes.rounds}`)
    }
    const line = (what: string, unit: string, figure: (one: Paced) => number) => ({
      ...{ what, unit, ours: paced.map(figure) },
    })
    const mostIn = (windowMs: number) => (one: Paced) => fullest(one.departuresMs, windowMs)
    return [
      {
        ...line(`${RATE}/s for ${SECONDS} s: the part that is used`, '%', ({ departuresMs }) => usedPart(departuresMs)),
        goal: { atLeast: 98 },
      },
      { ...line('the most that leave within a second', 'requests', mostIn(1_000)), goal: { atMost: RATE } },
      line('the most that leave within 100 ms', 'requests', mostIn(100)),
      line('the most that arrive within a second', 'requests', ({ busiestAtGateway }) => busiestAtGateway),
      line('claimed twice, because the rate held them back', 'rows', ({ claimedTwice }) => claimedTwice),
    ]
  },
}

async function sendAtRate(bench: Bench): Promise<Paced> {
  const rows = RATE * SECONDS
  const office = await bench.office({ connections: 'fresh', env: { TRANCHE_RATE: String(RATE) } })
  try {
    await office.run(['submit', bench.refunds(rows), '--operation', 'REFUND', '--json'])
    const gateway = await bench.gateway()
    await sendByWorker(gateway, office, rows, { latencyMs: LATENCY_MS })
    return { ...departuresIn(office.ledger), busiestAtGateway: (await gateway.counted()).busiest }
  } finally {
    office.close()
  }
}

function departuresIn(ledger: string): Pick<Paced, 'departuresMs' | 'claimedTwice'> {
  const db = new DatabaseSync(ledger, { readOnly: true })
  try {
    const rows = db.prepare('SELECT sent_at AS atMs, attempt FROM instruction ORDER BY sent_at').all() as {
      atMs: number
      attempt: number
    }[]
    return {
      departuresMs: rows.map(({ atMs }) => atMs),
      claimedTwice: rows.filter(({ attempt }) => attempt > 1).length,
    }
  } finally {
    db.close()
  }
}

function usedPart(sortedMs: readonly number[]): number {
  const spanSeconds = ((sortedMs.at(-1) as number) - (sortedMs[0] as number)) / 1_000
  return ((sortedMs.length - 1) / spanSeconds / RATE) * 100
}

/** The most moments in any window that begins at one of them; its end is excluded. */
function fullest(sortedMs: readonly number[], windowMs: number): number {
  let most = 0
  for (let from = 0, to = 0; from < sortedMs.length; from++) {
    while (to < sortedMs.length && (sortedMs[to] as number) < (sortedMs[from] as number) + windowMs) to++
    most = Math.max(most, to - from)
  }
  return most
}
