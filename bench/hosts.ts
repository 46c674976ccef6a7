// Measures several workers on one PostgreSQL: what a second worker adds where the gateway is slow, whether four keep to one rate and use it,
// how soon they share it again when one joins or is gone, and how long it takes to find what is due while a long transaction keeps all that was settled since.
//
//   npx node bench/hosts.ts [rounds]      default 5

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import type { BatchId } from '../src/domain/ids.ts'
import { WHOLE } from '../src/domain/part.ts'
import { makeDirectory, newSchemaName, openCluster, query } from '../test/fixtures/postgres.ts'
import { placeAt } from '../test/fixtures/postgres-places.ts'
import { openRedisServer } from '../test/fixtures/redis.ts'
import { openBench, QUICK } from './parts/bench.ts'
import type { BareGateway, Counted } from './parts/gateway.ts'
import { machineNow } from './parts/machine.ts'
import type { Office } from './parts/office.ts'
import { assertDone, type Running, startTranche } from './parts/process.ts'

const [rounds = 5] = process.argv.slice(2).map(Number)
const LATENCY_MS = 200
const PLACES = 256
const SLOW_ROWS = 20_000
const RATE = 100
const PACED_ROWS = 12_000
/** More than are sent while workers come and go. */
const LASTING_ROWS = 20_000
const LOOK_EVERY_MS = 100
const WAITING = 20_000
const SETTLED = 80_000
/** Every worker has its share of the account by then. */
const SHARES_MS = 12_000

const bench = openBench(QUICK, () => {})
const settings = ['shared_buffers=256MB', 'max_wal_size=4GB', 'full_page_writes=on']
const cluster = openCluster({ dir: makeDirectory(tmpdir()), settings })
const redis = await openRedisServer(join(bench.root, 'redis.sock'))
process.once('exit', () => {
  bench.close()
  cluster.remove()
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

say(JSON.stringify(machineNow()))
const ratios: number[] = []
for (let round = 0; round < rounds; round++) {
  const one = perSecond(await sendWith(1, SLOW_ROWS, { TRANCHE_IN_FLIGHT: String(PLACES) }, LATENCY_MS), SLOW_ROWS)
  const two = perSecond(await sendWith(2, SLOW_ROWS, { TRANCHE_IN_FLIGHT: String(2 * PLACES) }, LATENCY_MS), SLOW_ROWS)
  ratios.push(two / one)
  say(`round ${round + 1}: one worker ${one.toFixed(0)}/s, two ${two.toFixed(0)}/s`)
}
say(`two workers over one, ${LATENCY_MS} ms, ${PLACES} open requests each: ${spread(ratios)}`)
const paced = await sendWith(4, PACED_ROWS, { TRANCHE_RATE: String(RATE), TRANCHE_IN_FLIGHT: '64' }, 50)
const used = perSecond(paced, PACED_ROWS) / RATE
say(`four workers, ${RATE}/s: ${used.toFixed(3)} of it used, ${paced.busiest} in the busiest second`)
const { joined, died, left } = await sharingAgain()
say(`one rate is shared again after a worker joined, was killed, left: ${joined} / ${died} / ${left} s`)
say(`due rows beside ${SETTLED} that were settled under a pinned snapshot: ${await findingDue()} ms`)
await redis[Symbol.asyncDispose]()
process.exit(0)

/** Workers that live before there is anything to send. */
async function sendWith(workers: number, rows: number, env: NodeJS.ProcessEnv, latencyMs: number): Promise<Counted> {
  const schema = newSchemaName()
  const hosts = await Promise.all(Array.from({ length: workers }, () => bench.office({ made: false })))
  const start = (host: Office, ...args: readonly string[]) =>
    startTranche(args, { ...host, env: envOf(host, schema, env) })
  const [first] = hosts as [Office]
  const running: Running[] = []
  try {
    await done(start(first, 'init'))
    for (const host of hosts) running.push(start(host, 'worker'))
    await sleep(SHARES_MS)
    const gateway = await bench.gateway()
    const { last } = await gateway.begin(rows, { latencyMs })
    await done(start(first, 'submit', bench.refunds(rows), '--operation', 'REFUND', '--json'))
    await last
    const counted = await gateway.counted()
    if (counted.requests !== rows || counted.distinct !== rows)
      throw new Error(`${counted.requests} requests for ${rows} rows`)
    return counted
  } finally {
    for (const worker of running) worker.kill('SIGTERM')
    await Promise.all(running.map(({ ended }) => ended))
    for (const host of hosts) host.close()
  }
}

/** In seconds: until a second worker may use a part of the rate, and until the other sends with all of it once that one is gone. */
async function sharingAgain(): Promise<{ readonly joined: string; readonly died: string; readonly left: string }> {
  const schema = newSchemaName()
  const hosts = await Promise.all([bench.office({ made: false }), bench.office({ made: false })])
  const [first, second] = hosts
  const start = (host: Office, ...args: readonly string[]) =>
    startTranche(args, { ...host, env: envOf(host, schema, { TRANCHE_RATE: String(RATE), TRANCHE_IN_FLIGHT: '64' }) })
  const sharing = async (workers: number) => {
    const text = `SELECT count(*) AS n FROM ${schema}.share WHERE rate > 0.9 * ${RATE / workers} AND rate < 1.1 * ${RATE / workers}`
    const found = async () => ((await query(cluster.url, text)) as [{ n: number }])[0].n
    while (Number(await found()) !== workers) await sleep(LOOK_EVERY_MS)
  }
  await done(start(first, 'init'))
  const gateway = await bench.gateway()
  const staying = start(first, 'worker')
  const { first: begun } = await gateway.begin(LASTING_ROWS, { latencyMs: 50 })
  await done(start(first, 'submit', bench.refunds(LASTING_ROWS), '--operation', 'REFUND', '--json'))
  await begun
  await staying.meanwhile(sharing(1))
  const gone = async (worker: Running, signal: NodeJS.Signals) => {
    const fromMs = performance.now()
    worker.kill(signal)
    const wholeMs = await staying.meanwhile(wholeRateFrom(gateway, fromMs))
    await worker.ended
    return seconds(wholeMs - fromMs)
  }
  const joiningMs = performance.now()
  const joining = start(second, 'worker')
  await staying.meanwhile(sharing(2))
  const joined = seconds(performance.now() - joiningMs)
  const died = await gone(joining, 'SIGKILL')
  const again = start(second, 'worker')
  await staying.meanwhile(sharing(2))
  const left = await gone(again, 'SIGTERM')
  staying.kill('SIGTERM')
  await staying.ended
  for (const host of hosts) host.close()
  return { joined, died, left }
}

/** When the first second began, from that moment on, in which nearly all of the rate was used. */
async function wholeRateFrom(gateway: BareGateway, fromMs: number): Promise<number> {
  const looks: { readonly atMs: number; readonly requests: number }[] = []
  for (;;) {
    const { requests } = await gateway.counted()
    const atMs = performance.now()
    looks.push({ atMs, requests })
    const before = looks.findLast((look) => look.atMs <= atMs - 1_000 && look.atMs >= fromMs)
    if (before !== undefined && requests - before.requests >= (0.95 * RATE * (atMs - before.atMs)) / 1_000)
      return before.atMs
    await sleep(LOOK_EVERY_MS)
  }
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1)
}

function envOf({ env }: Office, schema: string, also: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...{ ...env, TRANCHE_LEDGER_URL: cluster.url, TRANCHE_LEDGER_SCHEMA: schema, TRANCHE_REDIS_URL: redis.path },
    ...also,
  }
}

async function done(running: Running): Promise<void> {
  const ended = await running.ended
  assertDone(ended.code === 0, 'a command did not end with 0', ended)
}

/** Median of fifty looks for the first hundred rows. */
async function findingDue(): Promise<string> {
  const schema = newSchemaName()
  const host = await bench.office({ made: false })
  const start = (...args: readonly string[]) => startTranche(args, { ...host, env: envOf(host, schema, {}) })
  await done(start('init'))
  await done(start('submit', bench.refunds(WAITING + SETTLED), '--operation', 'REFUND', '--json'))
  const [{ batch, ledger }] = (await query(
    cluster.url,
    `SELECT (SELECT id FROM ${schema}.batch) AS batch, (SELECT value FROM ${schema}.meta WHERE key = 'ledger_id') AS ledger`,
  )) as [{ batch: BatchId; ledger: string }]
  const pinning = new Client({ connectionString: cluster.url })
  await pinning.connect()
  await pinning.query(`BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM ${schema}.batch`)
  for (let to = 1_000; to <= SETTLED; to += 1_000)
    await query(
      cluster.url,
      `UPDATE ${schema}.instruction SET state = 'APPROVED' WHERE row_no <= ${to} AND state = 'READY'`,
    )
  await query(cluster.url, `VACUUM ${schema}.instruction`)
  const place = placeAt({ url: cluster.url, schema }, ledger)
  const opened = place.openAt(cluster.url)
  const times: number[] = []
  for (let look = 0; look < 50; look++) {
    const fromMs = performance.now()
    const found = await opened.dueRows(batch, Date.now(), 100, new Set(), WHOLE)
    times.push(performance.now() - fromMs)
    if (found.length !== 100) throw new Error(`${found.length} rows are due`)
  }
  await opened.close()
  await pinning.end()
  host.close()
  return spread(times)
}

function perSecond({ firstMs, lastMs }: Counted, rows: number): number {
  return (rows * 1_000) / (lastMs - firstMs)
}

/** Least, median and most. */
function spread(all: readonly number[]): string {
  const inOrder = all.toSorted((one, other) => one - other)
  return [inOrder[0], inOrder[Math.floor(inOrder.length / 2)], inOrder.at(-1)].map((one) => one?.toFixed(3)).join(' / ')
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
