// The ledger on a PostgreSQL server, against the ledger in a file, on the same disk: a large file is recorded and a smaller one is sent.

import { tmpdir } from 'node:os'
import { Client } from 'pg'
import { type Cluster, makeDirectory, newSchemaName, openCluster } from '../../test/fixtures/postgres.ts'
import { type Bench, type Case, type Line, OPEN_REQUESTS } from '../parts/case.ts'
import { ratiosOf } from '../parts/figures.ts'
import type { Office } from '../parts/office.ts'
import { runSubmit } from '../parts/runs.ts'
import { SETTLED, type Sent, sendByWorker } from '../parts/sending.ts'

const SETTINGS = ['shared_buffers=256MB', 'max_wal_size=4GB', 'full_page_writes=on']

interface Measured {
  readonly recordedPerSecond: number
  readonly recordingMiB: number
  readonly sent: Sent
}

export const engines: Case = {
  name: 'engines',
  async run(bench: Bench): Promise<readonly Line[]> {
    const { large, sent } = bench.sizes
    const cluster = openCluster({ dir: makeDirectory(tmpdir()), settings: SETTINGS })
    process.once('exit', cluster.remove)
    const onServer = () => ({ TRANCHE_LEDGER_URL: cluster.url, TRANCHE_LEDGER_SCHEMA: newSchemaName() })
    const { ours, other } = await bench.rounds({
      ours: () => measure(bench, onServer, cluster),
      other: () => measure(bench, () => ({}), null),
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
        ...line(`${sent} rows sent, ${OPEN_REQUESTS} open`, 'rows/s', (one) => one.sent.perSecond),
        goal: { atLeast: 0.8 },
      },
      line('of the worker meanwhile', 'ms of processor a row', (one) => one.sent.cpuMsPerRow),
      line('of PostgreSQL and Redis', 'ms of processor a row', (one) => one.sent.serverMsPerRow),
    ]
  },
}

async function measure(
  bench: Bench,
  environment: () => Record<string, string>,
  cluster: Cluster | null,
): Promise<Measured> {
  const { large, sent: rows } = bench.sizes
  const recorded = await inOffice(bench, environment(), (office) => runSubmit(bench, large, office))
  const env = environment()
  const sent = await inOffice(bench, env, async (office) => {
    await office.run(['submit', bench.refunds(rows), '--operation', 'REFUND', '--json'])
    const gateway = await bench.gateway()
    if (cluster === null) return sendByWorker(gateway, office, rows)
    const client = new Client(cluster.url)
    await client.connect()
    await client.query(`SET search_path = ${env.TRANCHE_LEDGER_SCHEMA}`)
    const settled = async () => Number((await client.query(SETTLED)).rows[0].settled)
    const one = await sendByWorker(gateway, office, rows, { settled, servers: [office.dir, cluster.dir] })
    await client.end()
    return one
  })
  return { recordedPerSecond: large / recorded.seconds, recordingMiB: recorded.peakMiB, sent }
}

async function inOffice<T>(bench: Bench, env: Record<string, string>, use: (office: Office) => Promise<T>): Promise<T> {
  const office = await bench.office({ env })
  try {
    return await use(office)
  } finally {
    office.close()
  }
}
