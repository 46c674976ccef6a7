// Measures how long a ledger takes to move from its file to a PostgreSQL server on the same disk, and whether all of it arrives: the real
// commands, a worker that is killed in the middle, and a gateway in another process that counts what it is asked for.
//
//   npx node bench/migration.ts [rows] [rows that are settled before]      default 1000000 300000

import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { makeDirectory, openCluster, query } from '../test/fixtures/postgres.ts'
import { openBench, QUICK } from './parts/bench.ts'
import { machineNow } from './parts/machine.ts'
import { assertDone, type Ended } from './parts/process.ts'

const [rows = 1_000_000, before = 300_000] = process.argv.slice(2).map(Number)
/** How many more the server works off before it is stopped. */
const AFTER = Math.min(20_000, Math.floor((rows - before) / 2))

const bench = openBench({ ...QUICK, large: rows }, () => {})
const cluster = openCluster({
  dir: makeDirectory(tmpdir()),
  settings: ['shared_buffers=256MB', 'max_wal_size=4GB', 'full_page_writes=on'],
})
const close = () => {
  bench.close()
  cluster.remove()
}
process.once('exit', close)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const gateway = await bench.gateway()
const office = await bench.office()
tell('submit', await office.run(['submit', bench.refunds(rows), '--operation', 'REFUND', '--quiet']))

const first = await gateway.begin(before, { places: rows })
const worker = office.start('worker')
await worker.meanwhile(first.last)
worker.kill('SIGKILL') // with requests open: they come into doubt
await worker.ended
const beforeCounts = inFile('SELECT state, count(*) AS n FROM instruction GROUP BY 1 ORDER BY 1')

const moved = await office.run(['migrate', '--to', cluster.url, '--json', '--yes'])
tell('migrate', moved)
say(`${(rows / moved.seconds / 1000).toFixed(1)} thousand rows a second`)
const [size] = await query<{ bytes: string }>(
  cluster.url,
  "SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c WHERE relnamespace = 'tranche'::regnamespace AND relkind = 'r'",
)
say(`file ${mib(statSync(office.ledger).size)}, server ${mib(Number(size?.bytes))}`)
say(`before ${beforeCounts}`)
say(`on the server ${await onServer()}`)
const refused = await office.start('worker', '--until-idle').ended
assertDone(refused.code === 6, 'the file was worked off once more', refused)

const next = await gateway.begin(AFTER, { places: rows })
const there = { ...office, env: { ...office.env, TRANCHE_LEDGER_URL: cluster.url } }
const { startTranche } = await import('./parts/process.ts')
const going = startTranche(['worker'], there)
await going.meanwhile(next.last)
going.kill('SIGTERM')
await going.ended
const counted = await gateway.counted()
say(`worked off there: ${counted.requests} requests for ${counted.distinct} orders; ${await onServer()}`)
if (counted.requests !== counted.distinct) throw new Error('an order was asked for twice')
const deep = await startTranche(['doctor', '--deep'], there).ended
say(deep.stdout.split('\n').find((line) => line.includes('record:')) ?? deep.stderr)
process.exit(0)

function inFile(sql: string): string {
  const db = new DatabaseSync(office.ledger, { readOnly: true })
  try {
    return db
      .prepare(sql)
      .all()
      .map((row) => Object.values(row).join(' '))
      .join(', ')
  } finally {
    db.close()
  }
}

async function onServer(): Promise<string> {
  const found = await query<{ state: string; n: string }>(
    cluster.url,
    'SELECT state, count(*) AS n FROM tranche.instruction GROUP BY 1 ORDER BY 1',
  )
  return found.map(({ state, n }) => `${state} ${n}`).join(', ')
}

function tell(what: string, { seconds, cpuMs, peakMiB }: Ended): void {
  if (what === 'submit') say(JSON.stringify(machineNow()))
  say(
    `${what} of ${rows} rows: ${seconds.toFixed(1)} s, ${(cpuMs / 1000).toFixed(1)} s of processor time, ${peakMiB.toFixed(0)} MiB at most`,
  )
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function mib(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(0)} MiB`
}
