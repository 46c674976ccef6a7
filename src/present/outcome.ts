// What became of a batch: the summary, where the results are, and what a person must do next.

import type { BatchView, OpenOriginals } from '../domain/batch.ts'
import { countIn, type Ending, isoOf, isPaused, leftOpenIn } from '../domain/batch-status.ts'
import type { TopReason } from '../domain/top-reasons.ts'
import type { WrittenResults } from '../domain/written-results.ts'
import { exitCodeOf } from './exit-codes.ts'
import { reasonLines } from './reasons.ts'
import { leftOpenLines, stuckText } from './standing.ts'
import { environmentLines, plural } from './text.ts'
import { tieOutLines, toJsonTieOut } from './tie-out.ts'
import { countsOf, toJsonBatchTotals, totalLines } from './totals.ts'

export function outcomeLines(
  batch: BatchView,
  written: WrittenResults | null,
  tops: readonly TopReason[],
  isPassedOn = false,
): string[] {
  const of = environmentLines({ name: batch.merchant, environment: batch.environment })
  if (written === null) return [...of, ...totalLines(batch), ...reasonLines(batch, tops)]
  return [
    ...of,
    ...totalLines(batch),
    ...tieOutLines(written),
    ...reasonLines(batch, tops),
    ...fileLines(written, isPassedOn),
  ]
}

/** `isPassedOn`: the results went to stdout, and no file of them is kept. */
export function fileLines(written: WrittenResults, isPassedOn: boolean): string[] {
  const results = isPassedOn ? [] : [`Results: ${written.path}`, `Summary: ${written.summaryPath}`]
  const report = written.report === undefined ? [] : [`Report: ${written.report}`]
  return [...results, ...exceptionLines(written.exceptions), ...report]
}

export function toJsonOutcome(
  batch: BatchView,
  ending: Ending,
  written: WrittenResults | null,
  tops: readonly TopReason[],
): object {
  return {
    batch: batch.batchId,
    rows: batch.rows,
    counts: countsOf(batch),
    totals: toJsonBatchTotals(batch),
    top_reasons: tops,
    ending: ending.kind,
    ...(ending.kind === 'stuck' ? { reason: stuckText(ending) } : {}),
    ...(written === null
      ? {}
      : {
          ...{ results: written.path, summary: written.summaryPath },
          ...toJsonBeside(written),
          ...toJsonTieOut(written),
        }),
    exit: exitCodeOf(batch, ending),
  }
}

function exceptionLines(exceptions: WrittenResults['exceptions']): string[] {
  if (exceptions === null) return []
  const rows = exceptions.rows === 0 ? 'no row needs' : plural(exceptions.rows, 'row needs', 'rows need')
  return [`Exceptions: ${exceptions.path} (${rows} a look)`]
}

/** The files beside the results. */
export function toJsonBeside({ exceptions, report }: WrittenResults): object {
  return {
    ...(exceptions === null ? {} : { exceptions: exceptions.path, exception_rows: exceptions.rows }),
    ...(report === undefined ? {} : { report }),
  }
}

/** What it means for the money and what to do next. */
export function endingLines(batch: BatchView, ending: Ending): string[] {
  const inDoubt = countIn(batch, 'IN_DOUBT')
  const trouble = batch.sandbox && exitCodeOf(batch, ending) !== 0
  return [
    ...notSentLines(batch, ending),
    ...(inDoubt > 0 ? [doubtText(inDoubt, batch.sandbox)] : []),
    ...batch.openOriginals.map(openOriginalsText),
    ...doneLongAgoLines(batch),
    ...numberLines(batch),
    ...(trouble
      ? [
          'The sandbox makes trouble on purpose for amounts from 5.02 to 5.15, whatever else is in the file: tranche sandbox lists them.',
        ]
      : []),
    ...moneyWarningLines(batch),
  ]
}

function notSentLines(batch: BatchView, ending: Ending): string[] {
  const ready = countIn(batch, 'READY')
  switch (ending.kind) {
    case 'stuck': {
      const stuck = `${plural(ready, 'row is', 'rows are')} not sent: ${stuckText(ending)}`
      if (ending.state === 'awaiting_approval')
        return [stuck, `See what it would send: tranche approve ${batch.batchId}`]
      return isPaused(batch) ? [stuck, resumeText(batch)] : [stuck]
    }
    case 'later':
      return [
        `${plural(ready, 'row is', 'rows are')} due later, the next at ${isoOf(ending.nextDueAtMs)}.${batch.sandbox ? '' : ' A worker sends them then; so does this command, run again.'}`,
      ]
    case 'finished':
      return cancelledLines(countIn(batch, 'CANCELLED'))
  }
}

/** The same file again is the same batch, and that is over. */
function cancelledLines(rows: number): string[] {
  if (rows === 0) return []
  return [
    `${plural(rows, 'row was', 'rows were')} cancelled and not sent. To send ${rows === 1 ? 'it' : 'them'} after all, hand these results in with --retry cancelled; where result_reason says what must change first, such as the card, change that before.`,
  ]
}

function resumeText({ sandbox, batchId }: BatchView): string {
  return sandbox
    ? 'In a real run it would go on after a person has looked and resumed it.'
    : `When you have looked: tranche resume ${batchId} --reason TEXT, then run the same command again.`
}

/** How a batch stands that a command can work off no further. */
export function brokenOffText(
  batch: BatchView,
  workerRuns: boolean,
  /** null: nothing goes on. */
  next: string | null = 'Run the same command again to go on.',
): string {
  const ready = countIn(batch, 'READY')
  const settled = batch.rows - ready - countIn(batch, 'SENDING')
  return [
    `Batch ${batch.batchId} is recorded: ${settled} of ${plural(batch.rows, 'row is', 'rows are')} settled, ${ready} ${ready === 1 ? 'waits' : 'wait'} to be sent.`,
    ...leftOpenLines(leftOpenIn(countIn(batch, 'SENDING'), workerRuns)),
    ...(next === null ? [] : [next]),
  ].join(' ')
}

/** The sums are of what was asked. */
export function moneyWarningLines({ moneyWarnings }: BatchView): string[] {
  if (moneyWarnings === 0) return []
  return [
    `${plural(moneyWarnings, 'approved row differs', 'approved rows differ')} from what was asked: see result_warning.`,
  ]
}

/** Nothing else of this batch shows why the command does not end well. */
function openOriginalsText({ batchId, fileName, state, count }: OpenOriginals): string {
  const [verb, them, they, wait] = count === 1 ? ['is', 'it', 'it', 'waits'] : ['are', 'them', 'they', 'wait']
  const where = `batch ${batchId}${fileName === null ? '' : ` (${fileName})`}, which recorded ${them} first`
  return state === 'IN_DOUBT'
    ? `${plural(count, 'row')} ${verb} IN DOUBT in ${where}: the gateway may have executed ${them}. Nothing was sent for ${them} now. Look ${them} up at the gateway: tranche in-doubt list`
    : `${plural(count, 'row')} ${verb} still to be sent by ${where}. Nothing was sent for ${them} now. See what ${they} ${wait} for: tranche status ${batchId}`
}

/** Whoever starts it every month must not take that for this month's. */
export function doneLongAgoLines({ doneLongAgo, totals, runKey }: BatchView): string[] {
  if (doneLongAgo === null) return []
  const { atMs, days, batchId, rows } = doneLongAgo
  const grows = totals.some(({ state }) => state === 'DUPLICATE') && totals.some(({ state }) => state !== 'DUPLICATE')
  const year = days < 300 ? {} : ({ year: 'numeric' } as const)
  const on = new Date(atMs).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC', ...year })
  const done = totals.every(({ operation }) => operation === 'CAPTURE') ? 'charged' : 'recorded'
  const [under, next] = runKey === null ? ['', 'a run key: --run-key YYYY-MM'] : [' under this key', 'a key of its own']
  return [
    `${plural(rows, 'row was', 'rows were')} ${done}${under} on ${on}, ${plural(days, 'day')} ago (batch ${batchId}). If this is another month's run, give it ${next}${grows ? '; if the list only grows, say --only-new' : ''}.`,
  ]
}

/** A number is for one file, whose look-alikes somebody has seen. */
export function numberLines({ numberBefore }: BatchView): string[] {
  if (numberBefore === null) return []
  const { batchId, rows, atMs } = numberBefore
  return [
    `${plural(rows, 'row was', 'rows were')} let pass by --allow-lookalikes ${rows}, as ${rows === 1 ? 'one was' : 'as many were'} of batch ${batchId} (${isoOf(atMs).slice(0, 10)}): look at ${rows === 1 ? 'it' : 'them'}, and take the number out of what starts by itself.`,
  ]
}

function doubtText(inDoubt: number, sandbox: boolean): string {
  const them = inDoubt === 1 ? 'it' : 'them'
  const next = sandbox
    ? `In a real run a person would now look ${them} up at the gateway.`
    : `Look ${them} up at the gateway: tranche in-doubt list`
  return `${plural(inDoubt, 'row is', 'rows are')} IN DOUBT: the gateway may have executed ${them}. Nothing sends ${them} again. ${next}`
}
