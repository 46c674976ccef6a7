// Several workers on one ledger: a PostgreSQL and a Redis of the demo's own, a worker for each host, one of them killed in the midst of it.

import { spawn } from 'node:child_process'
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { findRedisServer } from '../src/queues/private-redis.ts'
import { openCluster } from '../test/fixtures/postgres.ts'
import {
  ask,
  chapter,
  ended,
  environment,
  type Gateway,
  openGateway,
  ROWS,
  say,
  start,
  toPreparation,
  toRow,
} from './demo-parts.ts'

const FILE = 'instructions.csv'
const RESULTS = 'instructions.results.csv'
const RATE = 60
/** Short, so that the rows of the killed worker need not be waited for. */
const TIMEOUT_MS = 3_000

export async function showHosts(count: number, directory: string): Promise<void> {
  const rows = Array.from({ length: ROWS }, (_, i) => toRow(i + 1))
  writeFileSync(join(directory, FILE), stringify([...rows], { header: true }))
  const gateway = await openGateway(directory)
  await ask(gateway, 'prepare', toPreparation(rows))
  const cluster = openCluster()
  const redis = openRedis(directory)
  try {
    say('Everything here happens on a sandbox gateway, a PostgreSQL and a Redis of this demo’s own. No money moves.')
    say(`Working directory: ${directory}`)
    await play(count, directory, gateway, cluster.url)
  } finally {
    redis.kill('SIGTERM')
    cluster.remove()
  }
}

function openRedis(directory: string) {
  const options = [
    '--port',
    '0',
    '--unixsocket',
    join(directory, 'r.sock'),
    '--save',
    '',
    '--maxmemory-policy',
    'noeviction',
  ]
  return spawn(findRedisServer(process.env), options, { stdio: 'ignore' })
}

async function play(count: number, directory: string, gateway: Gateway, ledgerUrl: string): Promise<void> {
  const on = (host: string) => {
    const dataDir = join(directory, host)
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    return environment({
      TRANCHE_GATEWAY_URL: gateway.url,
      TRANCHE_GATEWAY_USERNAME: 'sandbox',
      TRANCHE_GATEWAY_PASSWORD: 'sandbox',
      TRANCHE_LEDGER_URL: ledgerUrl,
      TRANCHE_REDIS_URL: join(directory, 'r.sock'),
      TRANCHE_DATA_DIR: dataDir,
      TRANCHE_RATE: String(RATE),
      TRANCHE_TIMEOUT_MS: String(TIMEOUT_MS),
      TRANCHE_LOG_LEVEL: 'error',
    })
  }
  const tranche = async (args: readonly string[], expected: readonly number[]) => {
    say(styleText('cyan', `office $ tranche ${args.join(' ')}`))
    const code = await ended(start(args, directory, on('office'), 'inherit'))
    if (!expected.includes(code)) throw new Error(`tranche ${args[0]} ended with ${code}`)
  }
  const work = (host: string) => {
    say(styleText('cyan', `${host} $ tranche worker`))
    const worker = start(['worker'], directory, on(host), 'pipe')
    worker.stdout?.resume()
    worker.stderr?.pipe(createWriteStream(join(directory, `${host}.log`), { flags: 'a' }))
    return worker
  }

  chapter(`1. One ledger on PostgreSQL, ${count} hosts with a worker each, ${RATE} requests a second for all of them`)
  await tranche(['init'], [0])
  await tranche(['submit', FILE, '--yes'], [0])
  const hosts = Array.from({ length: count }, (_, n) => `host-${n + 1}`)
  const workers = hosts.map(work)
  await executed(gateway, 150)
  await tranche(['status'], [0])

  chapter('2. One of them is killed in the midst of it')
  say(styleText('cyan', 'host-1 $ kill -9 %1'))
  workers[0]?.kill('SIGKILL')
  await executed(gateway, 350)
  say('The others go on. What it was sending belongs to nobody: nothing sends it again.')
  await tranche(['status'], [0])

  chapter('3. It starts again in its place, and knows at once that the one before it is dead')
  workers[0] = work('host-1')
  while (/"state":"running"/.test(await output(['status', '--json'], directory, on('office')))) await sleep(500)
  await tranche(['status'], [0])
  for (const worker of workers) worker.kill('SIGTERM')
  await Promise.all(workers.map(ended))

  chapter('4. The books')
  const [batch] = readBatch(await output(['status', '--json'], directory, on('office')))
  await tranche(['results', batch ?? '', '--out', RESULTS], [0, 3, 5])
  await compare(gateway, join(directory, RESULTS))
  say(`\n  rm -r ${directory}      when you have seen enough`)
}

async function executed(gateway: Gateway, rows: number): Promise<void> {
  for (;;) {
    const [counts] = await ask(gateway, 'counts')
    if (Number(counts?.received) >= rows) return
    await sleep(200)
  }
}

async function output(args: readonly string[], directory: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = start(args, directory, env, 'pipe')
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  await ended(child)
  return text
}

function readBatch(text: string): readonly string[] {
  return [...text.matchAll(/"batch":"([^"]+)"/g)].flatMap(([, id]) => id ?? [])
}

async function compare(gateway: Gateway, path: string): Promise<void> {
  const log = await ask(gateway, 'log')
  const lines = parse(readFileSync(path), { columns: true, bom: true }) as Record<string, string>[]
  const told = new Set(
    lines.flatMap(({ result_status: status, result_transaction_id: id }) => (status === 'APPROVED' ? [id] : [])),
  )
  const approvals = log.filter(({ status }) => status === 'APPROVED')
  const untold = approvals.filter(({ transactionId }) => !told.has(String(transactionId))).length
  const doubts = lines.filter(({ result_status: status }) => status === 'IN_DOUBT').length
  const most = mostInASecond(log.map(({ atMs }) => Number(atMs)))
  say(`  lines that went in and came out          ${lines.length}`)
  say(`  executed and approved by the gateway     ${approvals.length}`)
  say(`  APPROVED in the reconciliation           ${told.size}`)
  say(`  executed, but in doubt here              ${untold} of ${doubts}`)
  // As they arrive: on a busy machine some that left in one second come with those of the next.
  say(`  most requests that arrived in a second   ${most}, at ${RATE} a second`)
  if (told.size + untold !== approvals.length || untold > doubts) throw new Error('the books do not agree')
}

function mostInASecond(times: readonly number[]): number {
  const inOrder = times.toSorted((one, other) => one - other)
  return Math.max(...inOrder.map((atMs, i) => i + 1 - inOrder.findIndex((first) => atMs - first < 1_000)))
}
