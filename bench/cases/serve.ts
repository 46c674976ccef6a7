// How long GETs of the HTTP API take while a worker beside the server sends as fast as it can.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Case, Line } from '../parts/case.ts'
import { sendByWorker } from '../parts/sending.ts'

const PER_SECOND = 50
const GOAL_MS = 15

export const serve: Case = {
  name: 'serve',
  async run(bench: Bench): Promise<readonly Line[]> {
    const { sent, rounds } = bench.sizes
    const [batchMs, rowsMs, findMs]: [number[], number[], number[]] = [[], [], []]
    for (let round = 1; round <= rounds; round++) {
      const office = await bench.office()
      const { last } = await office.run(['submit', bench.refunds(sent), '--operation', 'REFUND', '--json'])
      const scope = 'batches:read,instructions:read'
      const made = await office.run(['keys', 'add', 'bench', '--scope', scope, '--json'])
      const server = office.start('serve', '--port', '0', '--json')
      const { url } = await server.said('listening')
      const asking = new AbortController()
      const asked = askUntil(asking.signal, url, made.last.key as string, [
        [`/v1/batches/${last.batch}`, batchMs],
        [`/v1/batches/${last.batch}/rows?limit=100`, rowsMs],
        ['/v1/instructions?order_id=70001', findMs],
      ])
      await sendByWorker(await bench.gateway(), office, sent)
      asking.abort()
      await asked
      server.kill('SIGTERM')
      await server.ended
      office.close()
      bench.tell(`round ${round} of ${rounds}`)
    }
    return [
      lineOf('GET a batch, p95', batchMs),
      lineOf('GET 100 rows, p95', rowsMs),
      lineOf('GET by order id, p95', findMs),
    ]
  },
}

function lineOf(what: string, tookMs: number[]): Line {
  const inOrder = tookMs.toSorted((one, other) => one - other)
  const p95 = inOrder[Math.floor(inOrder.length * 0.95)] ?? Number.NaN
  return { what: `${what} of ${inOrder.length}`, unit: 'ms', ours: [p95], goal: { atMost: GOAL_MS, of: 'ours' } }
}

/** At a steady pace, whatever an answer takes. */
async function askUntil(
  signal: AbortSignal,
  url: string,
  key: string,
  paths: readonly (readonly [string, number[]])[],
): Promise<void> {
  const open: Promise<void>[] = []
  for (let n = 0; !signal.aborted; n += 1) {
    const [path, tookMs] = paths[n % paths.length] as (typeof paths)[number]
    open.push(ask(`${url}${path}`, key, tookMs))
    await sleep(1000 / PER_SECOND)
  }
  await Promise.all(open)
}

async function ask(url: string, key: string, tookMs: number[]): Promise<void> {
  const begun = performance.now()
  const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  await answer.text()
  if (answer.status !== 200) throw new Error(`${url} was answered with ${answer.status}`)
  tookMs.push(performance.now() - begun)
}
