// From `submit` until the first request is at the gateway, with a worker that runs and has nothing else to do.

import { join } from 'node:path'
import type { Bench, Case, Line } from '../parts/case.ts'
import { writeRefunds } from '../parts/files.ts'
import type { BareGateway } from '../parts/gateway.ts'
import { momentMs } from '../parts/moment.ts'
import type { Office } from '../parts/office.ts'
import { assertDone } from '../parts/process.ts'

const ROWS = 10
const GOAL = { atMost: 500 }

interface First {
  readonly fromStartMs: number
  readonly fromAnswerMs: number
}

export const first: Case = {
  name: 'first',
  async run(bench: Bench): Promise<readonly Line[]> {
    const { rounds, starts } = bench.sizes
    const gateway = await bench.gateway()
    const office = await bench.office()
    const worker = office.start('worker', '--json')
    await worker.said('working')
    const seen: First[] = []
    for (let i = 0; i < rounds * starts; i++) seen.push(await worker.meanwhile(measure(gateway, office, i)))
    worker.kill('SIGTERM')
    const ended = await worker.ended
    assertDone(ended.code === 0, 'the worker did not end well', ended)
    office.close()
    return [
      { what: 'submit → first request', unit: 'ms', ours: seen.map(({ fromStartMs }) => fromStartMs), goal: GOAL },
      { what: 'end of submit → first request', unit: 'ms', ours: seen.map(({ fromAnswerMs }) => fromAnswerMs) },
    ]
  },
}

async function measure(gateway: BareGateway, office: Office, number: number): Promise<First> {
  const file = join(office.dir, `few-${number}.csv`)
  writeRefunds(file, ROWS, number * ROWS)
  const { last } = await gateway.begin(ROWS, { places: (number + 1) * ROWS })
  const startMs = momentMs()
  const { seconds } = await office.run(['submit', file, '--operation', 'REFUND', '--json'])
  await last
  const { firstMs, requests, distinct, strange } = await gateway.counted()
  assertDone(
    requests === ROWS && distinct === ROWS && strange === 0,
    `the gateway got ${requests} requests for ${distinct} of ${ROWS} rows`,
  )
  return { fromStartMs: firstMs - startMs, fromAnswerMs: firstMs - startMs - seconds * 1000 }
}
