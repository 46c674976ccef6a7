// An API that is asked all the time, beside a worker that sends: how long its answers take, and how much slower the worker is for it. Once
// with a gateway that answers at once, where everything wants the same processors, and once with one that takes 200 ms.

import { type Asked as AskedOf, ask, askUntil, p95Of } from '../parts/asking.ts'
import { type Bench, type Case, type Line, OPEN_REQUESTS } from '../parts/case.ts'
import { FIRST_ORDER } from '../parts/files.ts'
import { rates } from '../parts/lines.ts'
import { recordAndSend, type Sent, sendByWorker } from '../parts/sending.ts'

const PER_SECOND = 50
/** Of each path, before anything is measured: a server that is asked all the time has compiled what answers. */
const ASKED_BEFORE = 30
const GOAL_MS = 15
const SLOW_MS = 200
const COSTS = { atLeast: 0.97 }

export const serve: Case = {
  name: 'serve',
  async run(bench: Bench): Promise<readonly Line[]> {
    const { sent, slow } = bench.sizes
    return [...(await measure(bench, sent, 0)), ...(await measure(bench, slow, SLOW_MS))]
  },
}

async function measure(bench: Bench, rows: number, latencyMs: number): Promise<Line[]> {
  const asked: Asked[] = []
  const { ours, other } = await bench.rounds<Sent>({
    async ours() {
      const beside = await sendBesideServer(bench, rows, latencyMs)
      asked.push(beside.asked)
      return beside.sent
    },
    other: () => recordAndSend(bench, rows, { latencyMs }),
  })
  const how = `${rows} rows, ${OPEN_REQUESTS} open, ${latencyMs} ms`
  return [
    rates(`${how}, beside ${PER_SECOND} GETs a second`, 'no server', { ours, other }, COSTS),
    lineOf(`GET a batch, p95, gateway of ${latencyMs} ms`, asked, 'batch'),
    lineOf(`GET 100 rows, p95, gateway of ${latencyMs} ms`, asked, 'rows'),
    lineOf(`GET by order id, p95, gateway of ${latencyMs} ms`, asked, 'found'),
  ]
}

/** How long each answer took, by what was asked for. */
type Asked = AskedOf<'batch' | 'rows' | 'found'>

function lineOf(what: string, asked: readonly Asked[], name: keyof Asked): Line {
  return { what, unit: 'ms', ours: asked.map((one) => p95Of(one[name])), goal: { atMost: GOAL_MS } }
}

async function sendBesideServer(bench: Bench, rows: number, latencyMs: number): Promise<{ sent: Sent; asked: Asked }> {
  const office = await bench.office()
  try {
    const { last } = await office.run(['submit', bench.refunds(rows), '--operation', 'REFUND', '--json'])
    const made = await office.run(['keys', 'add', 'bench', '--scope', 'batches:read,instructions:read', '--json'])
    const server = office.start('serve', '--port', '0', '--json')
    const { url } = await server.said('listening')
    const paths = {
      batch: `${url}/v1/batches/${last.batch}`,
      rows: `${url}/v1/batches/${last.batch}/rows?limit=100`,
      found: `${url}/v1/instructions?order_id=${FIRST_ORDER}`,
    }
    const headers = { authorization: `Bearer ${made.last.key}` }
    for (let n = 0; n < ASKED_BEFORE; n++) for (const path of Object.values(paths)) await ask(path, headers)
    const asked: Asked = { batch: [], rows: [], found: [] }
    const sent = await sendByWorker(await bench.gateway(), office, rows, {
      latencyMs,
      meanwhile: (isOver) => askUntil(isOver, { paths, headers, asked, perSecond: PER_SECOND }),
    })
    server.kill('SIGTERM')
    await server.ended
    return { sent, asked }
  } finally {
    office.close()
  }
}
