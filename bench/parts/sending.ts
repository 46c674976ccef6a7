// One sending of a file: by the worker, by a script, by a queue. Measured is from the first request at the
// gateway until the last row was settled, and the processor time of the sending process between the two.

import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from '../../test/fixtures/postgres.ts'
import { type Bench, OPEN_REQUESTS } from './case.ts'
import type { BareGateway, Expected } from './gateway.ts'
import { cpuMsOf, momentMs, serverCpuMsIn } from './moment.ts'
import { type Office, plainEnvironment } from './office.ts'
import { assertDone, type Ended, type Running, startSide } from './process.ts'

export interface Sent {
  readonly rows: number
  readonly seconds: number
  readonly perSecond: number
  /** The same from the moment at which as many requests were open as may be. NaN: they never were. */
  readonly perSecondOpen: number
  readonly cpuMsPerRow: number
  /** Of the Redis or PostgreSQL that the sending process uses. */
  readonly serverMsPerRow: number
  /** How long the gateway held a request on average. */
  readonly heldMs: number
  readonly connections: number
  /** Of the gateway, for each row. */
  readonly gatewayMsPerRow: number
  /** Of the sending process, resident at most. */
  readonly peakMiB: number
}

export interface How {
  readonly profiles?: string
  readonly open?: number
  readonly connections?: 'warm' | 'fresh'
  readonly latencyMs?: number
}

interface Sending {
  readonly latencyMs?: number
  readonly open?: number
  /** How many rows are settled, read while the worker runs. Default: from the ledger's file. */
  readonly settled?: () => Promise<number>
  /** A folder for profiles of the worker. */
  readonly profiles?: string
  /** Folders of the servers that it uses. Default: that of its private Redis. */
  readonly servers?: readonly string[]
  /** What goes on beside it, from the first request until the last row is settled. */
  readonly meanwhile?: (isOver: AbortSignal) => Promise<void>
}

/** The rows must be recorded, and no worker may run. */
export async function sendByWorker(
  gateway: BareGateway,
  office: Office,
  rows: number,
  {
    latencyMs = 0,
    open = OPEN_REQUESTS,
    settled,
    servers = [office.dir],
    profiles,
    meanwhile = async () => {},
  }: Sending = {},
): Promise<Sent> {
  const expected = await gateway.begin({ rows, latencyMs, window: open })
  const over = new AbortController()
  const beside = expected.first.then(() => meanwhile(over.signal))
  const command = ['worker', '--until-idle', '--json']
  const running = profiles === undefined ? office.start(...command) : office.profile(profiles, ...command)
  const times = () => ({
    cpuMs: cpuMsOf(running.pid),
    serverMs: servers.reduce((sum, dir) => sum + serverCpuMsIn(dir), 0),
  })
  const window = watch(running, expected, times, async () => {
    await Promise.race([expected.last, running.ended])
    await allSettled(settled ?? settledIn(office.ledger), rows, running)
    const end = { ...times(), endMs: momentMs() }
    over.abort()
    return end
  })
  const ended = await running.ended
  over.abort() // also where its end was not seen
  const batch = ended.stdout.split('\n').find((line) => line.includes('"event":"batch"'))
  const approved = batch === undefined ? 0 : JSON.parse(batch).counts.APPROVED
  assertDone(ended.code === 0 && approved === rows, `the worker settled ${approved} of ${rows} rows`, ended)
  await beside
  return toSent(gateway, rows, ended, await window)
}

/** In an installation of its own that is gone afterwards. */
export async function recordAndSend(bench: Bench, rows: number, how: How = {}): Promise<Sent> {
  const { latencyMs = 0, profiles, ...options } = how
  const office = await bench.office(options)
  try {
    await office.run(['submit', bench.refunds(rows), '--operation', 'REFUND', '--json'])
    return await sendByWorker(await bench.gateway(), office, rows, {
      latencyMs,
      open: options.open ?? OPEN_REQUESTS,
      ...(profiles && { profiles }),
    })
  } finally {
    office.close()
  }
}

export async function sendByScript(bench: Bench, rows: number, profiles?: string): Promise<Sent> {
  return sendBySide(bench, rows, 'script', await scriptArguments(bench, rows), profiles)
}

/** The script that keeps what it sends in a file of its own: committed before each request and after each answer. */
export async function sendByNaive(bench: Bench, rows: number): Promise<Sent> {
  const ledger = join(mkdtempSync(join(bench.root, 'n-')), 'sent.db')
  return sendBySide(bench, rows, 'script', [...(await scriptArguments(bench, rows)), ledger])
}

async function scriptArguments(bench: Bench, rows: number): Promise<string[]> {
  const { url } = await bench.gateway()
  return [bench.refunds(rows), url, String(OPEN_REQUESTS)]
}

export async function sendByJobs(bench: Bench, rows: number, syncs: 'never' | 'always'): Promise<Sent> {
  const { url } = await bench.gateway()
  const dir = mkdtempSync(join(bench.root, 'j-'))
  return sendBySide(bench, rows, 'jobs', [dir, url, String(rows), String(OPEN_REQUESTS), syncs])
}

export async function sendByGraphile(bench: Bench, rows: number, server: Cluster): Promise<Sent> {
  const { url } = await bench.gateway()
  return sendBySide(bench, rows, 'graphile', [server.dir, server.url, url, String(rows), String(OPEN_REQUESTS)])
}

async function sendBySide(
  bench: Bench,
  rows: number,
  name: string,
  args: readonly string[],
  profiles?: string,
): Promise<Sent> {
  const gateway = await bench.gateway()
  const expected = await gateway.begin({ rows, latencyMs: 0, window: OPEN_REQUESTS })
  const running = startSide(name, args, { env: plainEnvironment(), dir: bench.root, ...(profiles && { profiles }) })
  const times = () => ({ cpuMs: cpuMsOf(running.pid), serverMs: 0 })
  const window = watch(running, expected, times, async () => {
    const { cpuMs, last } = await running.ended
    return { cpuMs, serverMs: Number(last.serverMs ?? 0), endMs: Number(last.endMs) }
  })
  const ended = await running.ended
  assertDone(ended.code === 0 && ended.last.approved === rows, `${name} sent ${ended.last.approved} of ${rows}`, ended)
  return toSent(gateway, rows, ended, await window)
}

interface Times {
  readonly cpuMs: number
  readonly serverMs: number
}

interface Window extends Times {
  readonly endMs: number
}

/** null: it ended before its end was seen, and says itself why. */
async function watch(
  running: Running,
  { first }: Expected,
  times: () => Times,
  end: () => Promise<Window>,
): Promise<Window | null> {
  try {
    const begun = await running.meanwhile(first.then(times))
    const { cpuMs, serverMs, endMs } = await end()
    return { cpuMs: cpuMs - begun.cpuMs, serverMs: serverMs - begun.serverMs, endMs }
  } catch {
    return null
  }
}

async function toSent(gateway: BareGateway, rows: number, ended: Ended, window: Window | null): Promise<Sent> {
  const { requests, distinct, strange, firstMs, fullMs, answeredBefore, heldMs, connections, cpuMs } =
    await gateway.counted()
  assertDone(
    requests === rows && distinct === rows && strange === 0,
    `the gateway got ${requests} requests for ${distinct} of ${rows} rows, ${strange} of them strange`,
  )
  if (window === null) throw new Error('its end was not seen')
  const seconds = (window.endMs - firstMs) / 1000
  const openSeconds = (window.endMs - fullMs) / 1000
  return {
    ...{ rows, seconds, connections },
    perSecond: rows / seconds,
    perSecondOpen: fullMs === 0 ? Number.NaN : (rows - answeredBefore) / openSeconds,
    cpuMsPerRow: window.cpuMs / rows,
    serverMsPerRow: window.serverMs / rows,
    heldMs: heldMs / rows,
    gatewayMsPerRow: cpuMs / rows,
    peakMiB: ended.peakMiB,
  }
}

const LOOK_EVERY_MS = 2

/** Read from the ledger while the worker still runs: it looks for its own end only twice a second. */
async function allSettled(settled: () => Promise<number>, rows: number, running: Running): Promise<void> {
  let isGone = false
  void running.ended.then(() => {
    isGone = true
  })
  while ((await settled()) < rows) {
    if (isGone) throw new Error('the worker ended before')
    await sleep(LOOK_EVERY_MS)
  }
}

/** Of a ledger in a file. */
function settledIn(ledger: string): () => Promise<number> {
  const db = new DatabaseSync(ledger, { readOnly: true })
  const count = db.prepare(SETTLED)
  return async () => Number((count.get() as { settled: number }).settled)
}

export const SETTLED = "SELECT coalesce(sum(count), 0) AS settled FROM tally WHERE state = 'APPROVED'"
