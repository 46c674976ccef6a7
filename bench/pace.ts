// Measures how evenly and how fully a rate is used: the real worker, a ledger on disk, a private Redis, and a gateway in
// another process that notes when each request arrives.
//
//   npx node bench/pace.ts [rate a second] [seconds] [latency of the gateway in ms]      default 50 120 20

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'

const [rate = 50, seconds = 120, latencyMs = 20] = process.argv
  .slice(2)
  .filter((word) => /^\d+(\.\d+)?$/.test(word))
  .map(Number)
const PROGRAM = new URL('../bin/tranche.js', import.meta.url).pathname

if (process.argv.includes('--side=gateway')) await serve()
else await measure()

async function measure(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'pace-'))
  const gateway = await openGatewayProcess()
  const env = {
    ...process.env,
    TRANCHE_GATEWAY_URL: gateway.url,
    TRANCHE_GATEWAY_USERNAME: 'bench',
    TRANCHE_GATEWAY_PASSWORD: 'bench',
    TRANCHE_DATA_DIR: dir,
    TRANCHE_WITNESS_DIR: `${dir}-witness`,
    TRANCHE_RATE: String(rate),
  }
  try {
    const loadBefore = loadavg()[0] as number
    const file = join(dir, 'sales.csv')
    const lines = Array.from({ length: Math.round(rate * seconds) }, (_, i) => `P-${i},1.00,EUR,${i + 1}`)
    writeFileSync(file, `reference,amount,request_currency,customer_vault_id\n${lines.join('\n')}\n`)
    await run(['init'], env)
    await run(['submit', file, '--operation', 'CAPTURE'], env)
    await run(['worker', '--until-idle'], env)
    console.log(`${rate}/s for ${seconds} s, ${lines.length} rows, gateway answers after ${latencyMs} ms`)
    console.log(`load of the machine    ${loadBefore.toFixed(1)} before, ${(loadavg()[0] as number).toFixed(1)} after`)
    const arrivedMs = await gateway.arrivals()
    if (arrivedMs.length !== lines.length) throw new Error(`${arrivedMs.length} requests for ${lines.length} rows`)
    tell('where they arrive', arrivedMs)
    tellLedger(join(dir, 'ledger.db'))
  } finally {
    gateway.process.kill('SIGTERM')
    for (const made of [dir, `${dir}-witness`]) rmSync(made, { recursive: true, force: true })
  }
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`tranche ${args[0]} ended with ${code}: ${said.slice(-2_000)}`)
}

function tell(where: string, departuresMs: readonly number[]): void {
  const sorted = departuresMs.toSorted((a, b) => a - b)
  const spanMs = (sorted.at(-1) as number) - (sorted[0] as number)
  const mean = (sorted.length - 1) / (spanMs / 1000)
  console.log(
    `${where.padEnd(22)} mean ${mean.toFixed(2)}/s (${((mean / rate) * 100).toFixed(1)} % of the limit); ` +
      `at most ${fullest(sorted, 1_000)} in a second, ${fullest(sorted, 100)} in 100 ms; ` +
      `${overfull(sorted)} of ${sorted.length} seconds above the limit`,
  )
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

function overfull(sortedMs: readonly number[]): number {
  const allowed = Math.max(1, Math.floor(rate))
  return sortedMs.filter((atMs, i) => (sortedMs[i + allowed] ?? Number.POSITIVE_INFINITY) < atMs + 1_000).length
}

function tellLedger(path: string): void {
  const db = new DatabaseSync(path, { readOnly: true })
  const rows = db.prepare('SELECT sent_at AS atMs, attempt FROM instruction').all() as {
    atMs: number
    attempt: number
  }[]
  const unsent = db.prepare("SELECT reason, count(*) AS n FROM move WHERE cause = 'unsent' GROUP BY reason").all()
  db.close()
  tell(
    'where they leave',
    rows.map(({ atMs }) => atMs),
  )
  console.log(`rows claimed twice     ${rows.filter(({ attempt }) => attempt > 1).length}`)
  for (const { reason, n } of unsent as { reason: string; n: number }[]) console.log(`  ${n} × ${reason}`)
}

interface GatewayProcess {
  readonly process: ChildProcess
  readonly url: string
  arrivals(): Promise<readonly number[]>
}

async function openGatewayProcess(): Promise<GatewayProcess> {
  const args = [new URL(import.meta.url).pathname, String(rate), String(seconds), String(latencyMs), '--side=gateway']
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value as string)
  const url = (await next()) as string
  return {
    process: child,
    url,
    async arrivals() {
      child.stdin.write('arrivals\n')
      return next()
    },
  }
}

/** Approves every sale, and notes when its first byte was read. */
async function serve(): Promise<void> {
  const arrivedMs: number[] = []
  const server = createServer((request, response) => {
    arrivedMs.push(Number(process.hrtime.bigint()) / 1e6)
    const number = arrivedMs.length
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      const form = new URLSearchParams(body)
      const answer = {
        REQUEST_ACTION: form.get('transaction_type') ?? 'CAPTURE',
        TRANS_STATUS_NAME: 'APPROVED',
        TRANS_REQUEST_ID: number,
        TRANS_ORDER_ID: 1_000_000 + number,
        TRANS_VALUE: form.get('amount'),
        TRANS_CUR: form.get('request_currency'),
        XTL_ORDER_ID: form.get('xtl_order_id'),
      }
      setTimeout(() => response.end(JSON.stringify(answer)), latencyMs)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  console.log(JSON.stringify(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  for await (const _asked of createInterface({ input: process.stdin })) console.log(JSON.stringify(arrivedMs))
}
