// tranche status BATCH [--watch]: one batch with its counts, amounts and why nothing moves.

import { freeBytesOf } from '../app/health.ts'
import { workersNow } from '../app/locks.ts'
import { type Speed, speedOf } from '../app/speed.ts'
import { standingNow } from '../app/standing.ts'
import { topReasonsOf } from '../app/top-reasons.ts'
import type { App } from '../app.ts'
import type { BatchView } from '../domain/batch.ts'
import { countIn, endingOf, isoOf, type Standing, type Why } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import { diskCheck } from '../domain/health.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { attentionText } from '../present/attention.ts'
import { toJsonBatch } from '../present/batch.ts'
import { EXIT } from '../present/exit-codes.ts'
import { reasonLines } from '../present/reasons.ts'
import { resumeLine, whyText } from '../present/standing.ts'
import { durationText, environmentText, plural } from '../present/text.ts'
import { totalLines } from '../present/totals.ts'
import { openProgress } from './follow.ts'
import { openLedgerAloud } from './on-ledger.ts'
import { stoppable } from './signals.ts'
import type { Terminal } from './terminal.ts'

export interface StatusArguments {
  readonly watch?: boolean
  readonly check?: boolean
  readonly merchant?: string
  readonly state?: string
  readonly last?: string
}

const WATCH_EVERY_MS = 500

export async function status(app: App, id: string, given: StatusArguments, terminal: Terminal): Promise<number> {
  for (const name of ['check', 'merchant', 'state', 'last'] as const)
    if (given[name] !== undefined)
      throw new Fault('usage', `--${name} is about all batches: leave the batch out, or leave --${name} out.`)
  const ledger = await openLedgerAloud(app, terminal, 'looks')
  try {
    return given.watch === true
      ? await stoppable(terminal.io, (signal) => watch(app, ledger, id, terminal, signal))
      : await showOne(app, ledger, id, terminal)
  } finally {
    await ledger.close()
  }
}

export async function findBatch(ledger: Ledger, id: string): Promise<BatchView> {
  const batch = await ledger.batch(id)
  if (batch === null) throw new Fault('usage', `There is no batch "${id}" in this ledger. See: tranche status`)
  return batch
}

export async function toJsonAlarm(ledger: Ledger): Promise<object> {
  const alarm = await ledger.alarm()
  return alarm === null ? {} : { ledger_alarm: alarm }
}

async function showOne(app: App, ledger: Ledger, id: string, terminal: Terminal, also: object = {}): Promise<number> {
  const batch = await findBatch(ledger, id)
  const standing = await standingIn(app, ledger, batch)
  const speed = await speedOf(app, ledger, batch, standing)
  const tops = await topReasonsOf(app, ledger, batch)
  const sheet = standing.state === 'awaiting_approval' ? await ledger.approvalSheet(batch.batchId) : null
  const freeBytes = await freeBytesOf(app).catch(() => null)
  terminal.object({
    ...also,
    ...(await toJsonAlarm(ledger)),
    ...toJsonBatch(batch, standing, sheet),
    top_reasons: tops,
    ...speed,
  })
  const { state, why } = standing
  const reason = whyText(why)
  terminal.title(`Batch ${batch.batchId}: ${state.replaceAll('_', ' ')}`, reason === null ? '' : ` (${reason})`)
  for (const line of describe(batch, standing)) terminal.data(line)
  if (freeBytes !== null && !diskCheck(freeBytes).ok)
    terminal.say(`ATTENTION ${attentionText({ code: 'disk', freeBytes }, app.paths.ledger).says}`)
  if (sheet !== null) terminal.data(`See what it would send: tranche approve ${batch.batchId}`)
  terminal.data(...reasonLines(batch, tops))
  if (speed.rows_per_second > 0 && standing.state === 'running') terminal.data(speedText(speed))
  return EXIT.approved
}

/** While the ledger sends nothing, no worker that is started would. */
async function standingIn(app: App, ledger: Ledger, batch: BatchView): Promise<Standing> {
  const { state, why } = standingNow(app, batch, await workersNow(app, ledger))
  const isStill = (await ledger.alarm()) !== null
  return { state, why: why.map((one) => (isStill && one.code === 'no-worker' ? UNADOPTED : one)) }
}

const UNADOPTED: Why = { code: 'as-said', reason: 'nothing is sent from this ledger until it is adopted' }

function speedText({ rows_per_second: perSecond, seconds_left: left }: Speed): string {
  const time = left === null ? '' : `, ${durationText(left)} left at this speed`
  return `${perSecond.toFixed(perSecond < 10 ? 1 : 0)} rows/s now${time}`
}

function describe(batch: BatchView, { state }: Standing): string[] {
  const from =
    batch.source === 'queue'
      ? 'messages'
      : `${batch.fileName}${batch.runKey === null ? '' : `, run key ${batch.runKey}`}`
  const lines = [
    `From ${from}, recorded ${isoOf(batch.createdAtMs)} by ${batch.createdBy}, merchant ${batch.merchant}${batch.environment === null ? '' : `, ${environmentText(batch.environment)}`}`,
    ...totalLines(batch),
  ]
  if (state === 'paused') lines.push(resumeLine(batch.batchId))
  const inDoubt = countIn(batch, 'IN_DOUBT')
  if (inDoubt > 0 && (state === 'paused' || state === 'stopped'))
    lines.push(
      `${plural(inDoubt, 'row is', 'rows are')} in doubt as well: look ${inDoubt === 1 ? 'it' : 'them'} up at the gateway (tranche in-doubt list)`,
    )
  // A batch that waits for nothing else says so in its first line.
  if (batch.blocked > 0 && batch.nextDueAtMs !== null && state !== 'needs_attention')
    lines.push(
      `${plural(batch.blocked, 'row waits', 'rows wait')} behind a row of the same order that is in doubt (tranche in-doubt list), held, or in need of its file.`,
    )
  if (batch.moneyWarnings > 0)
    lines.push(
      `${plural(batch.moneyWarnings, 'approved row differs', 'approved rows differ')} from what was asked: see result_warning.`,
    )
  if (batch.resultsStale)
    lines.push(
      `Rows changed after ${batch.resultsPath} was written. Write it again: tranche results ${batch.batchId} --out FILE`,
    )
  return lines
}

/** Until the batch moves no further by itself, or Ctrl-C. Watching changes nothing. */
async function watch(app: App, ledger: Ledger, id: string, terminal: Terminal, signal: AbortSignal): Promise<number> {
  const progress = openProgress(app, terminal)
  let said: string | null = null
  while (!signal.aborted && !terminal.readerLeft()) {
    const batch = await findBatch(ledger, id)
    const { state, why } = await standingIn(app, ledger, batch)
    const reason = whyText(why)
    const saying = reason === null ? null : `${state.replaceAll('_', ' ')}: ${reason}`
    if (saying !== null && saying !== said) terminal.say(saying)
    said = saying
    if (endingOf(batch, app.clock.nowMs()) !== null) break
    progress.show(batch)
    await app.clock.sleep(WATCH_EVERY_MS, signal)
  }
  progress.end()
  await showOne(app, ledger, id, terminal, { event: 'result' })
  return signal.aborted ? EXIT.interrupted : EXIT.approved
}
