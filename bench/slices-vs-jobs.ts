// Times working off rows in slices, with the ledger, against one BullMQ job per row, without one: the same gateway, the
// same Redis settings, kept-alive connections on both sides, the same number of open requests, in turn in one run.
//
//   npx node bench/slices-vs-jobs.ts [rows] [rounds] [open requests]      default 20000 3 64

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Queue, Worker } from 'bullmq'
import { Pool } from 'undici'
import { accountOf } from '../src/app/accounts.ts'
import { openInstructionFile } from '../src/app/instruction-file.ts'
import { makeLedger, openLedger } from '../src/app/ledger.ts'
import { takeWorkerLock } from '../src/app/locks.ts'
import { openRedis } from '../src/app/redis.ts'
import { prepareSubmission } from '../src/app/submission.ts'
import { startWork } from '../src/app/worker.ts'
import { loadApp } from '../src/app.ts'
import { parseFileArguments } from '../src/commands/file-arguments.ts'
import { viewOf } from '../src/commands/follow.ts'
import { openPrivateRedis } from '../src/queues/private-redis.ts'

const [rows = 20_000, rounds = 3, openRequests = 64] = process.argv
  .slice(2)
  .filter((word) => /^\d+$/.test(word))
  .map(Number)
const side = process.argv.find((word) => word.startsWith('--side='))?.slice('--side='.length)
const CLI = new URL('../src/cli.ts', import.meta.url).pathname
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

if (side === 'slices') await timeSlices()
else if (side === 'jobs') await timeJobs()
else await compare()

async function compare(): Promise<void> {
  const gateway = await openGatewayProcess()
  const seen: Record<'slices' | 'jobs', number[]> = { slices: [], jobs: [] }
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const which of ['slices', 'jobs'] as const) {
        await prepareVault(gateway.url)
        const before = await executedAt(gateway.url)
        const seconds = await timeInChild(which, gateway.url)
        const executed = (await executedAt(gateway.url)) - before
        if (executed !== rows) throw new Error(`${which}: the gateway executed ${executed} of ${rows} rows`)
        seen[which].push(rows / seconds)
        console.log(
          `round ${round}  ${which.padEnd(6)}  ${Math.round(rows / seconds)} rows/s  (${seconds.toFixed(2)} s)`,
        )
      }
    }
  } finally {
    gateway.process.kill('SIGTERM')
  }
  const ratios = seen.slices.map((perSecond, i) => perSecond / (seen.jobs[i] as number))
  console.log(`${rows} rows, ${openRequests} open requests, kept-alive connections`)
  console.log(`slices with ledger   ${threeOf(seen.slices)} rows/s (min / median / max)`)
  console.log(`one job per row      ${threeOf(seen.jobs)} rows/s`)
  console.log(`slices : jobs        ${threeOf(ratios, 2)}`)
}

function threeOf(figures: readonly number[], decimals = 0): string {
  const sorted = figures.toSorted((a, b) => a - b)
  const median = ((sorted[(sorted.length - 1) >> 1] as number) + (sorted[sorted.length >> 1] as number)) / 2
  return [sorted[0] as number, median, sorted.at(-1) as number].map((figure) => figure.toFixed(decimals)).join(' / ')
}

async function openGatewayProcess(): Promise<{ process: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [CLI, 'sandbox', '--port', '0', '--json', '--no-triggers'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const { event, url } = JSON.parse(line) as { event: string; url: string }
    if (event === 'listening') return { process: child, url }
  }
  throw new Error('the sandbox did not start')
}

async function prepareVault(url: string): Promise<void> {
  await fetch(`${url}/_sandbox/prepare`, { method: 'POST', body: JSON.stringify({ vault: [{ vaultId: '77' }] }) })
}

async function executedAt(url: string): Promise<number> {
  const counts = (await (await fetch(`${url}/_sandbox/counts`)).json()) as { executed: number }
  return counts.executed
}

/** Seconds, as the child measured them. */
async function timeInChild(which: string, url: string): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'bench-'))
  const env = {
    ...process.env,
    TRANCHE_GATEWAY_URL: url,
    TRANCHE_GATEWAY_USERNAME: 'sandbox',
    TRANCHE_GATEWAY_PASSWORD: 'sandbox',
    TRANCHE_DATA_DIR: dir,
    TRANCHE_WITNESS_DIR: `${dir}-witness`,
    TRANCHE_CONNECTIONS: 'warm',
    TRANCHE_IN_FLIGHT: String(openRequests),
  }
  const args = [
    new URL(import.meta.url).pathname,
    String(rows),
    String(rounds),
    String(openRequests),
    `--side=${which}`,
  ]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  for (const made of [dir, `${dir}-witness`]) rmSync(made, { recursive: true, force: true })
  return Number(text)
}

/** From the first look for work to the last settled row, every claim and settlement committed with full fsync. */
async function timeSlices(): Promise<void> {
  const app = await loadApp({ env: process.env, as: null, logLevel: 'silent', spelling: () => null })
  await makeLedger(app)
  const ledger = await openLedger(app)
  const path = join(app.config.dataDir, 'rows.csv')
  const lines = Array.from(
    { length: rows },
    (_, i) => `B-${i},${(i % 900) + 100}.${String(i % 100).padStart(2, '0')},EUR,77`,
  )
  writeFileSync(path, `reference,amount,request_currency,customer_vault_id\n${lines.join('\n')}\n`)
  const request = parseFileArguments(app, { operation: 'CAPTURE', allowLookalikes: '0' })
  const opened = await openInstructionFile(path, request.merchant, request.options)
  if (opened.kind === 'refused') throw new Error(opened.problem)
  const toSubmit = request.toSubmit(await accountOf(ledger, request.merchant, app.clock), false)
  // The amounts repeat: to the tool they are look-alikes, and the number it names must be allowed.
  const submission = await prepareSubmission(ledger)
  const first = await submission.submit(opened.file, toSubmit, app.actor)
  const allowLookalikes = first.kind === 'refused' ? first.reviewed.review.lookalikes : 0
  if (first.kind === 'refused') await first.reviewed.draft.discard()
  const submitted =
    first.kind === 'refused' ? await submission.submit(opened.file, { ...toSubmit, allowLookalikes }, app.actor) : first
  if (submitted.kind === 'refused') throw new Error('the file was refused')
  const lock = await takeWorkerLock(app, 'bench')
  if (lock.kind === 'held') throw new Error('the lock is held')
  const redis = await openRedis(app)
  let settled = 0
  let tellEnd = () => {}
  const end = new Promise<void>((resolve) => {
    tellEnd = resolve
  })
  const startMs = performance.now()
  const work = await startWork(app, ledger, redis.address, {
    sinceMs: lock.startedAtMs,
    only: submitted.batchId,
    onSettled: () => {
      settled += 1
      if (settled === rows) tellEnd()
    },
  })
  await end
  console.log(String((performance.now() - startMs) / 1000))
  const batch = await viewOf(ledger, submitted.batchId)
  if (batch.counts.APPROVED !== rows) throw new Error(`not all approved: ${JSON.stringify(batch.counts)}`)
  await work.stop()
  await redis.close()
  lock.release()
  await ledger.close()
  process.exit()
}

/** From the first add to the last answer. No ledger, nothing durable: the least that one job per row can cost. */
async function timeJobs(): Promise<void> {
  const dir = process.env.TRANCHE_DATA_DIR as string
  const redis = await openPrivateRedis({ dataDir: dir, log: SILENT })
  const pool = new Pool(process.env.TRANCHE_GATEWAY_URL as string, {
    connections: openRequests,
    pipelining: 1,
    allowH2: false,
  })
  const queue = new Queue('rows', { connection: { path: redis.path } })
  let approved = 0
  let tellEnd = () => {}
  const end = new Promise<void>((resolve) => {
    tellEnd = resolve
  })
  const worker = new Worker(
    'rows',
    async (job) => {
      const form = new URLSearchParams({
        req_username: 'sandbox',
        req_password: 'sandbox',
        transaction_type: 'CAPTURE',
        ...job.data,
      })
      const { body } = await pool.request({
        method: 'POST',
        path: '/api/transaction/api',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'cache-control': 'no-cache' },
        body: form.toString(),
      })
      const answer = (await body.json()) as { TRANS_STATUS_NAME: string }
      if (answer.TRANS_STATUS_NAME !== 'APPROVED') throw new Error('not approved')
      approved += 1
      if (approved === rows) tellEnd()
    },
    {
      connection: { path: redis.path, maxRetriesPerRequest: null },
      concurrency: openRequests,
      autorun: false,
      removeOnComplete: { count: 0 },
    },
  )
  await queue.waitUntilReady()
  await worker.waitUntilReady()
  const startMs = performance.now()
  void worker.run()
  for (let from = 0; from < rows; from += 1000) {
    const count = Math.min(1000, rows - from)
    await queue.addBulk(
      Array.from({ length: count }, (_, i) => ({
        name: 'row',
        data: {
          amount: `${((from + i) % 900) + 100}.${String((from + i) % 100).padStart(2, '0')}`,
          request_currency: 'EUR',
          customer_vault_id: '77',
          xtl_order_id: `B${from + i}`,
        },
        opts: { jobId: `row-${from + i}`, removeOnComplete: true },
      })),
    )
  }
  await end
  console.log(String((performance.now() - startMs) / 1000))
  await Promise.race([worker.close(), new Promise((resolve) => setTimeout(resolve, 2000))])
  await redis.close()
  process.exit()
}
