// One sending of a file: by the worker, by the plain script, by one job per row. Measured is from the first request at the
// gateway until the last row was settled, and the processor time of the sending process between the two.

import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, OPEN_REQUESTS } from './case.ts'
import type { BareGateway, Expected } from './gateway.ts'
import { cpuMsOf, momentMs } from './moment.ts'
import { type Office, plainEnvironment } from './office.ts'
import { assertDone, type Ended, type Running, startSide } from './process.ts'

export interface Sent {
  readonly rows: number
  readonly seconds: number
  readonly perSecond: number
  readonly cpuMsPerRow: number
  /** How long the gateway held a request on average. */
  readonly heldMs: number
  readonly connections: number
  /** Of the gateway, for each row. */
  readonly gatewayMsPerRow: number
  /** Of the sending process, resident at most. */
  readonly peakMiB: number
}

export interface How {
  readonly open?: number
  readonly connections?: 'warm' | 'fresh'
  readonly latencyMs?: number
}

interface Sending {
  readonly latencyMs?: number
  /** What goes on beside it, from the first request until the last row is settled. */
  readonly meanwhile?: (isOver: AbortSignal) => Promise<void>
}

/** The rows must be recorded, and no worker may run. */
export async function sendByWorker(
  gateway: BareGateway,
  office: Office,
  rows: number,
  { latencyMs = 0, meanwhile = async () => {} }: Sending = {},
): Promise<Sent> {
  const expected = await gateway.begin(rows, latencyMs)
  const over = new AbortController()
  const beside = expected.first.then(() => meanwhile(over.signal))
  const running = office.start('worker', '--until-idle', '--json')
  const window = watch(running, expected, async () => {
    await Promise.race([expected.last, running.ended])
    await settledIn(office.ledger, rows, running)
    const end = { cpuMs: cpuMsOf(running.pid), endMs: momentMs() }
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
  const { latencyMs = 0, ...options } = how
  const office = await bench.office(options)
  try {
    await office.run(['submit', bench.refunds(rows), '--operation', 'REFUND', '--json'])
    return await sendByWorker(await bench.gateway(), office, rows, { latencyMs })
  } finally {
    office.close()
  }
}

export async function sendByScript(bench: Bench, rows: number): Promise<Sent> {
  const { url } = await bench.gateway()
  return sendBySide(bench, rows, 'script', [bench.refunds(rows), url, String(OPEN_REQUESTS)])
}

export async function sendByJobs(bench: Bench, rows: number): Promise<Sent> {
  const { url } = await bench.gateway()
  const dir = mkdtempSync(join(bench.root, 'j-'))
  return sendBySide(bench, rows, 'jobs', [dir, url, String(rows), String(OPEN_REQUESTS)])
}

async function sendBySide(bench: Bench, rows: number, name: string, args: readonly string[]): Promise<Sent> {
  const gateway = await bench.gateway()
  const expected = await gateway.begin(rows)
  const running = startSide(name, args, { env: plainEnvironment(), dir: bench.root })
  const window = watch(running, expected, async () => {
    const { cpuMs, last } = await running.ended
    return { cpuMs, endMs: Number(last.endMs) }
  })
  const ended = await running.ended
  assertDone(ended.code === 0 && ended.last.approved === rows, `${name} sent ${ended.last.approved} of ${rows}`, ended)
  return toSent(gateway, rows, ended, await window)
}

interface Window {
  readonly cpuMs: number
  readonly endMs: number
}

/** null: it ended before its end was seen, and says itself why. */
async function watch(running: Running, { first }: Expected, end: () => Promise<Window>): Promise<Window | null> {
  try {
    const begun = await running.meanwhile(first.then(() => cpuMsOf(running.pid)))
    const { cpuMs, endMs } = await end()
    return { cpuMs: cpuMs - begun, endMs }
  } catch {
    return null
  }
}

async function toSent(gateway: BareGateway, rows: number, ended: Ended, window: Window | null): Promise<Sent> {
  const { requests, distinct, strange, firstMs, heldMs, connections, cpuMs } = await gateway.counted()
  assertDone(
    requests === rows && distinct === rows && strange === 0,
    `the gateway got ${requests} requests for ${distinct} of ${rows} rows, ${strange} of them strange`,
  )
  if (window === null) throw new Error('its end was not seen')
  const seconds = (window.endMs - firstMs) / 1000
  return {
    ...{ rows, seconds, connections },
    perSecond: rows / seconds,
    cpuMsPerRow: window.cpuMs / rows,
    heldMs: heldMs / rows,
    gatewayMsPerRow: cpuMs / rows,
    peakMiB: ended.peakMiB,
  }
}

const LOOK_EVERY_MS = 2

/** Read from the ledger while the worker still runs: it looks for its own end only twice a second. */
async function settledIn(ledger: string, rows: number, running: Running): Promise<void> {
  let isGone = false
  void running.ended.then(() => {
    isGone = true
  })
  const db = new DatabaseSync(ledger, { readOnly: true })
  try {
    const count = db.prepare("SELECT coalesce(sum(count), 0) AS settled FROM tally WHERE state = 'APPROVED'")
    while ((count.get() as { settled: number }).settled < rows) {
      if (isGone) throw new Error('the worker ended before')
      await sleep(LOOK_EVERY_MS)
    }
  } finally {
    db.close()
  }
}
