// A console that people use, beside a worker that sends at 200 ms: how long pages take, how much slower the worker is for it, and how soon a
// change is told to a thousand who watch.

import { type Asked as AskedOf, ask, askUntil, p95Of } from '../parts/asking.ts'
import { type Bench, type Case, type Line, OPEN_REQUESTS } from '../parts/case.ts'
import { FIRST_ORDER } from '../parts/files.ts'
import { rates } from '../parts/lines.ts'
import { recordAndSend, type Sent, sendByWorker } from '../parts/sending.ts'
import { signIn } from '../parts/visitors.ts'
import { type Watching, watch } from '../parts/watching.ts'

const PER_SECOND = 20
const WATCHING = 1_000
const OF_A_SESSION = 5
const ASKED_BEFORE = 30
const SLOW_MS = 200
const PAGE_MS = 15
const TOLD_MS = 1_200

type Asked = AskedOf<'overview' | 'batch' | 'rows' | 'found'>

interface Used {
  readonly sent: Sent
  readonly asked: Asked
  readonly watching: Watching
}

export const pages: Case = {
  name: 'console',
  async run(bench: Bench): Promise<readonly Line[]> {
    const rows = bench.sizes.slow
    const used: Used[] = []
    const { ours, other } = await bench.rounds<Sent, 'ours' | 'other'>({
      async ours() {
        const one = await sendBesideConsole(bench, rows)
        used.push(one)
        return one.sent
      },
      other: () => recordAndSend(bench, rows, { latencyMs: SLOW_MS }),
    })
    const what = `${rows} rows, ${OPEN_REQUESTS} open, ${SLOW_MS} ms, beside ${PER_SECOND} pages a second and ${WATCHING} who watch`
    const pages = (['overview', 'batch', 'rows', 'found'] as const).map((name) => ({
      ...{ what: `${name} page, p95`, unit: 'ms', ours: used.map(({ asked }) => p95Of(asked[name])) },
      goal: { atMost: PAGE_MS },
    }))
    return [
      rates(what, 'no server', { ours, other }, { atLeast: 0.97 }),
      ...pages,
      {
        ...{ what: `from one update to the next, p95 of ${WATCHING} who watch`, unit: 'ms' },
        ours: used.map(({ watching }) => p95Of(watching.gapsMs())),
        goal: { atMost: TOLD_MS },
      },
    ]
  },
}

async function sendBesideConsole(bench: Bench, rows: number): Promise<Used> {
  const office = await bench.office()
  try {
    const { last } = await office.run(['submit', bench.refunds(rows), '--operation', 'REFUND', '--json'])
    const cookies = await signIn(office, WATCHING / OF_A_SESSION)
    const server = office.start('serve', '--port', '0', '--json')
    const { url } = await server.said('listening')
    const paths = {
      overview: `${url}/`,
      batch: `${url}/batches/${last.batch}`,
      rows: `${url}/batches/${last.batch}/rows`,
      found: `${url}/find?q=${FIRST_ORDER}`,
    }
    const headers = { cookie: cookies[0] as string }
    for (let n = 0; n < ASKED_BEFORE; n++) for (const path of Object.values(paths)) await ask(path, headers)
    const asked: Asked = { overview: [], batch: [], rows: [], found: [] }
    const watching = await watch(`${url}/live?batch=${last.batch}`, cookies, OF_A_SESSION)
    const sent = await sendByWorker(await bench.gateway(), office, rows, {
      latencyMs: SLOW_MS,
      meanwhile: (isOver) => askUntil(isOver, { paths, headers, asked, perSecond: PER_SECOND }),
    })
    watching.close()
    server.kill('SIGTERM')
    await server.ended
    return { sent, asked, watching }
  } finally {
    office.close()
  }
}
