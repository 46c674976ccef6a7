// What became of a batch: the summary, where the results are, and what a person must do next.

import type { BatchView } from '../domain/batch.ts'
import { countIn, type Ending, exitCodeOf, isoOf, isPaused } from '../domain/batch-status.ts'
import { statusOf } from '../domain/states.ts'
import { countsOf } from './follow.ts'
import { amountText, plural, type Terminal, toTable } from './terminal.ts'
import { tieOutLines, toJsonTieOut, type Written } from './tie-out.ts'

export function showOutcome(batch: BatchView, ending: Ending, written: Written | null, terminal: Terminal): void {
  for (const line of totalLines(batch)) terminal.data(line)
  if (written !== null) {
    for (const line of tieOutLines(written)) terminal.data(line)
    terminal.data(`Results: ${written.path}`)
    terminal.data(`Summary: ${written.summaryPath}`)
    sayExceptions(written.exceptions, terminal)
  }
  terminal.object({
    event: 'result',
    batch: batch.batchId,
    rows: batch.rows,
    counts: countsOf(batch),
    totals: toJsonBatchTotals(batch),
    ending: ending.kind,
    ...(ending.kind === 'stuck' ? { reason: ending.reason } : {}),
    ...(written === null
      ? {}
      : {
          ...{ results: written.path, summary: written.summaryPath },
          ...toJsonExceptions(written.exceptions),
          ...toJsonTieOut(written),
        }),
    exit: exitCodeOf(batch, ending),
  })
}

export function sayExceptions(exceptions: Written['exceptions'], terminal: Terminal): void {
  if (exceptions === null) return
  const rows = exceptions.rows === 0 ? 'no row needs' : plural(exceptions.rows, 'row needs', 'rows need')
  terminal.data(`Exceptions: ${exceptions.path} (${rows} a look)`)
}

export function toJsonExceptions(exceptions: Written['exceptions']): object {
  return exceptions === null ? {} : { exceptions: exceptions.path, exception_rows: exceptions.rows }
}

export function toJsonBatchTotals(batch: BatchView): object[] {
  return batch.totals.map(({ operation, currency, state, count, amountMinor }) => ({
    operation,
    currency,
    status: statusOf(state),
    count,
    amount: amountText(amountMinor, currency),
  }))
}

const ORDER = ['APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT', 'CANCELLED', 'INVALID', 'DUPLICATE', 'SENDING', 'PENDING']

export function totalLines(batch: BatchView): string[] {
  const rows = batch.totals
    .toSorted((a, b) => (a.operation + a.currency).localeCompare(b.operation + b.currency) || rank(a) - rank(b))
    .map(({ operation, currency, state, count, amountMinor }) => [
      `  ${operation === '' ? '(unread)' : operation}`,
      statusOf(state),
      String(count),
      amountText(amountMinor, currency),
      currency,
    ])
  const total = ['  total', '', String(batch.rows), '', '']
  return toTable([['  operation', 'status', 'rows', 'amount', ''], ...rows, total], [2, 3])
}

function rank({ state }: { readonly state: Parameters<typeof statusOf>[0] }): number {
  return ORDER.indexOf(statusOf(state))
}

/** What it means for the money and what to do next, on stderr. */
export function sayEnding(batch: BatchView, ending: Ending, terminal: Terminal): void {
  const ready = countIn(batch, 'READY')
  const inDoubt = countIn(batch, 'IN_DOUBT')
  switch (ending.kind) {
    case 'stuck':
      terminal.say(`${plural(ready, 'row is', 'rows are')} not sent: ${ending.reason}`)
      if (isPaused(batch))
        terminal.say(
          batch.sandbox
            ? 'In earnest it would go on when a person has looked and resumed it.'
            : `When you have looked: tranche resume ${batch.batchId} --reason TEXT, then run the same command again.`,
        )
      break
    case 'later':
      terminal.say(
        `${plural(ready, 'row is', 'rows are')} due later, the next at ${isoOf(ending.nextDueAtMs)}.${batch.sandbox ? '' : ' A worker sends them then; so does this command, run again.'}`,
      )
      break
    case 'finished':
      break
  }
  if (inDoubt > 0) terminal.say(doubtText(inDoubt, batch.sandbox))
  if (batch.sandbox && exitCodeOf(batch, ending) !== 0)
    terminal.say(
      'The sandbox makes trouble on purpose for amounts from 5.02 to 5.15, whatever else is in the file: tranche sandbox lists them.',
    )
  sayMoneyWarnings(batch, terminal)
}

/** The sums are of what was asked. */
export function sayMoneyWarnings({ moneyWarnings }: BatchView, terminal: Terminal): void {
  if (moneyWarnings === 0) return
  terminal.say(
    `${plural(moneyWarnings, 'approved row differs', 'approved rows differ')} from what was asked: see result_warning.`,
  )
}

function doubtText(inDoubt: number, sandbox: boolean): string {
  const them = inDoubt === 1 ? 'it' : 'them'
  const next = sandbox
    ? `In earnest a person would now look ${them} up at the gateway.`
    : `Look ${them} up at the gateway: tranche in-doubt list`
  return `${plural(inDoubt, 'row is', 'rows are')} IN DOUBT: the gateway may have executed ${them}. Nothing sends ${them} again. ${next}`
}
