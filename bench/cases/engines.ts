// The ledger on a PostgreSQL server, against the ledger in a file, on the same disk: a large file is recorded and a smaller one is sent.

import { tmpdir } from 'node:os'
import { makeDirectory, newSchemaName, openCluster } from '../../test/fixtures/postgres.ts'
import { type Bench, type Case, type Line, OPEN_REQUESTS } from '../parts/case.ts'
import { ratiosOf } from '../parts/figures.ts'
import type { Office } from '../parts/office.ts'
import { assertDone } from '../parts/process.ts'
import { runSubmit } from '../parts/runs.ts'

const SETTINGS = ['shared_buffers=256MB', 'max_wal_size=4GB', 'full_page_writes=on']

interface Measured {
  readonly recordedPerSecond: number
  readonly recordingMiB: number
  readonly sentPerSecond: number
}

export const engines: Case = {
  name: 'engines',
  async run(bench: Bench): Promise<readonly Line[]> {
    const { large, sent } = bench.sizes
    const cluster = openCluster({ dir: makeDirectory(tmpdir()), settings: SETTINGS })
    process.once('exit', cluster.remove)
    const onServer = () => ({ TRANCHE_LEDGER_URL: cluster.url, TRANCHE_LEDGER_SCHEMA: newSchemaName() })
    const { ours, other } = await bench.rounds({
      ours: () => measure(bench, onServer),
      other: () => measure(bench, () => ({})),
    })
    cluster.remove()
    const line = (what: string, unit: string, figure: (measured: Measured) => number) => {
      const [server, file] = [ours.map(figure), other.map(figure)]
      return { what, unit, ours: server, other: { name: 'file', figures: file }, ratios: ratiosOf(server, file) }
    }
    return [
      { ...line(`${large} rows recorded`, 'rows/s', (one) => one.recordedPerSecond), goal: { atLeast: 0.4 } },
      line('the most memory of that', 'MiB', (one) => one.recordingMiB),
      {
        ...line(`${sent} rows sent, ${OPEN_REQUESTS} open`, 'rows/s', (one) => one.sentPerSecond),
        goal: { atLeast: 0.7 },
      },
    ]
  },
}

async function measure(bench: Bench, environment: () => Record<string, string>): Promise<Measured> {
  const { large } = bench.sizes
  const recorded = await inOffice(bench, environment(), (office) => runSubmit(bench, large, office))
  const sentPerSecond = await inOffice(bench, environment(), (office) => send(bench, office))
  return { recordedPerSecond: large / recorded.seconds, recordingMiB: recorded.peakMiB, sentPerSecond }
}

async function inOffice<T>(bench: Bench, env: Record<string, string>, use: (office: Office) => Promise<T>): Promise<T> {
  const office = await bench.office({ env })
  try {
    return await use(office)
  } finally {
    office.close()
  }
}

/** Rows a second from the first request to the last answer. */
async function send(bench: Bench, office: Office): Promise<number> {
  const { sent: rows } = bench.sizes
  await office.run(['submit', bench.refunds(rows), '--operation', 'REFUND', '--json'])
  const gateway = await bench.gateway()
  await gateway.begin(rows)
  const ended = await office.start('worker', '--until-idle').ended
  const { firstMs, lastMs, requests, distinct } = await gateway.counted()
  const isSent = ended.code === 0 && requests === rows && distinct === rows
  assertDone(isSent, `the gateway got ${requests} requests for ${distinct} of ${rows} rows`, ended)
  return (rows * 1_000) / (lastMs - firstMs)
}
