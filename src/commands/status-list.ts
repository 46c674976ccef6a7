// tranche status without a batch: the batches and who works on them; with --check, what waits for a person.

import { type AttentionNow, attentionNow, attentionToIntake } from '../app/attention.ts'
import { workersNow } from '../app/locks.ts'
import { standingNow } from '../app/standing.ts'
import type { App } from '../app.ts'
import type { BatchView } from '../domain/batch.ts'
import { BATCH_STATES, type BatchState, countIn, type Standing } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import { didYouMean } from '../domain/similar.ts'
import type { State } from '../domain/states.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { attentionText, exitCodeOfAttention, toJsonAttention } from '../present/attention.ts'
import { toJsonBatch } from '../present/batch.ts'
import { EXIT } from '../present/exit-codes.ts'
import { plural, toTable } from '../present/text.ts'
import { toJsonWorker, workerLines } from '../present/workers.ts'
import { openLedgerAloud } from './on-ledger.ts'
import { stoppable } from './signals.ts'
import { toJsonAlarm } from './status.ts'
import type { Terminal } from './terminal.ts'

export interface StatusListArguments {
  readonly watch?: boolean
  readonly check?: boolean
  readonly merchant?: string
  readonly state?: string
  readonly last?: string
}

/** What is asked for, understood. */
interface Asked {
  readonly merchant: string | null
  readonly state: BatchState | null
  /** null: as many as a screen holds; a program gets them all. */
  readonly last: number | null
}

const SHOWN = 20
const WATCH_EVERY_MS = 1_000

export async function statusList(app: App, given: StatusListArguments, terminal: Terminal): Promise<number> {
  const { watch = false, check = false } = given
  if (check && (watch || given.state !== undefined || given.last !== undefined))
    throw new Fault('usage', '--check looks at every batch once: leave --watch, --state and --last out.')
  const ledger = await openLedgerAloud(app, terminal, 'looks')
  try {
    const asked = await parseAsked(app, ledger, given)
    if (check) return await tellWhatWaits(app, ledger, asked, terminal)
    if (watch) return await stoppable(terminal.io, (signal) => watchAll(app, ledger, asked, terminal, signal))
    const seen = await look(app, ledger, asked)
    terminal.object(await toJson(app, ledger, seen))
    terminal.data(...tableOf(app, seen))
    terminal.say(...asideLines(app, seen))
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

async function parseAsked(app: App, ledger: Ledger, given: StatusListArguments): Promise<Asked> {
  const { merchant = null, state, last } = given
  const known = new Set([...(await ledger.accounts()).map(({ name }) => name), ...app.config.merchants.keys()])
  if (merchant !== null && !known.has(merchant))
    throw new Fault(
      'usage',
      `--merchant ${merchant}: this ledger knows no such merchant${didYouMean(merchant, known)}. It knows: ${[...known].join(', ') || 'none yet'}.`,
    )
  if (last !== undefined && !/^[1-9]\d{0,6}$/.test(last))
    throw new Fault('usage', `--last ${last}: write how many batches to show, such as 50.`)
  return { merchant, state: parseState(state), last: last === undefined ? null : Number(last) }
}

function parseState(text: string | undefined): BatchState | null {
  if (text === undefined) return null
  const folded = text
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
  const state = BATCH_STATES.find((one) => one === folded)
  if (state !== undefined) return state
  throw new Fault(
    'usage',
    `--state ${text}: there is no such state${didYouMean(folded, BATCH_STATES)}. A batch is one of: ${BATCH_STATES.join(', ')}.`,
  )
}

/** One look. */
interface Listed extends AttentionNow {
  readonly shown: readonly Row[]
  /** Those that fit what was asked and are not shown on a screen. */
  readonly more: number
  /** All that there are. */
  readonly count: number
  readonly forPrograms: readonly Row[]
}

interface Row {
  readonly batch: BatchView
  readonly standing: Standing
}

async function look(app: App, ledger: Ledger, { merchant, state, last }: Asked): Promise<Listed> {
  const [batches, workers] = [await ledger.batches(), await workersNow(app, ledger)]
  const fitting = batches
    .filter((batch) => merchant === null || batch.merchant === merchant)
    .map((batch) => ({ batch, standing: standingNow(app, batch, workers) }))
    .filter(({ standing }) => state === null || standing.state === state)
  const shown = fitting.slice(0, last ?? SHOWN)
  return {
    ...(await attentionNow(app, ledger, merchant)),
    ...{ shown, more: fitting.length - shown.length, count: batches.length },
    forPrograms: last === null ? fitting : shown,
  }
}

async function toJson(app: App, ledger: Ledger, { forPrograms, workers, attention }: Listed): Promise<object> {
  return {
    ...(await toJsonAlarm(ledger)),
    batches: forPrograms.map(({ batch, standing }) => toJsonBatch(batch, standing)),
    workers: workers.map(toJsonWorker),
    attention: attention.map((one) => toJsonAttention(one, app.paths.ledger)),
  }
}

function tableOf(app: App, { shown }: Listed): string[] {
  if (shown.length === 0) return []
  const nowMs = app.clock.nowMs()
  const rows = shown.map(({ batch, standing }) => {
    const settled = batch.rows - countIn(batch, 'READY') - countIn(batch, 'SENDING')
    const beside = [...outcomesOf(batch), ...(batch.resultsStale ? ['results stale'] : [])]
    return [
      batch.batchId,
      batch.merchant,
      standing.state.replace('_', ' '),
      `${settled}/${batch.rows}`,
      beside.join(', '),
      ageText(nowMs - batch.createdAtMs),
      batch.fileName ?? 'messages',
      batch.runKey ?? '',
    ]
  })
  const header = ['batch', 'merchant', 'state', 'settled', '', 'age', 'from', 'run key']
  const used = header.map((_, i) => i).filter((i) => rows.some((row) => row[i] !== ''))
  const table = [header, ...rows].map((row) => used.map((i) => row[i] as string))
  return toTable(table, [used.indexOf(3), used.indexOf(5)])
}

const OUTCOMES: readonly State[] = ['APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT', 'INVALID', 'CANCELLED', 'DUPLICATE']

/** Such as "2 approved", "1 invalid". */
function outcomesOf(batch: BatchView): readonly string[] {
  return OUTCOMES.flatMap((state) => {
    const rows = countIn(batch, state)
    return rows === 0 ? [] : [`${rows} ${state.toLowerCase().replace('_', ' ')}`]
  })
}

function ageText(ms: number): string {
  const minutes = Math.max(0, ms) / 60_000
  if (minutes < 1) return 'now'
  if (minutes < 90) return `${Math.floor(minutes)} min`
  const hours = minutes / 60
  return hours < 48 ? `${Math.floor(hours)} h` : `${Math.floor(hours / 24)} days`
}

/** What stands beside the table: who works, what waits for a person, and what was left out. */
function asideLines(app: App, { shown, more, count, workers, attention }: Listed): string[] {
  const left =
    more === 0
      ? []
      : [`${plural(more, 'older batch is', 'older batches are')} not shown (--last ${shown.length + more}).`]
  const none = shown.length > 0 ? [] : [`${count === 0 ? 'No batches yet' : 'No such batches'} in ${app.paths.ledger}.`]
  const waiting = attention.map((one) => `ATTENTION ${attentionText(one, app.paths.ledger).says}`)
  return [...none, ...left, ...workerLines(workers), ...waiting]
}

/** For scripts: a line for each thing that waits for a person, and the exit code. */
async function tellWhatWaits(app: App, ledger: Ledger, asked: Asked, terminal: Terminal): Promise<number> {
  const looked = await look(app, ledger, asked)
  const attention = [...looked.attention, ...(await attentionToIntake(app, ledger))]
  const seen = { ...looked, attention }
  const exit = exitCodeOfAttention(attention)
  terminal.object({ ...(await toJson(app, ledger, seen)), exit })
  const lines = attention.map((one) => attentionText(one, app.paths.ledger)).map(({ says }) => `ATTENTION ${says}`)
  terminal.data(...(lines.length === 0 ? ['Nothing needs a person.'] : lines))
  return exit
}

/** Until Ctrl-C: whatever comes is shown. */
async function watchAll(
  app: App,
  ledger: Ledger,
  asked: Asked,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  let said = ''
  while (!signal.aborted && !terminal.readerLeft()) {
    const seen = await look(app, ledger, asked)
    const lines = [...tableOf(app, seen), ...asideLines(app, seen)]
    if (terminal.isScreen && !terminal.json) terminal.redraw(lines)
    else {
      const known = JSON.stringify(seen.shown.map(({ batch, standing }) => [batch.batchId, standing, batch.counts]))
      if (known !== said) {
        terminal.object({ event: 'status', ...(await toJson(app, ledger, seen)) })
        terminal.data(...lines, '')
      }
      said = known
    }
    await app.clock.sleep(WATCH_EVERY_MS, signal)
  }
  const last = await look(app, ledger, asked)
  if (terminal.isScreen) {
    terminal.redraw(null)
    terminal.data(...tableOf(app, last))
    if (!terminal.json) terminal.say(...asideLines(app, last))
  }
  terminal.object({ event: 'result', ...(await toJson(app, ledger, last)), exit: EXIT.interrupted })
  return EXIT.interrupted
}
