// A corrected file in words: which of its rows earlier files hold, what became of those, and how to send only the rest.

import { isoOf } from '../domain/batch-status.ts'
import type { Correction, DraftReview, EarlierBatch } from '../domain/draft.ts'
import { type State, statusOf } from '../domain/states.ts'
import { visible } from '../domain/visible.ts'
import { againLines } from './resubmission.ts'
import { amountText, plural, toTable } from './text.ts'

/** What of the file was recorded before. Nothing where nothing was. */
export function recordedBeforeLines(
  review: Pick<DraftReview, 'again' | 'cancelledBefore' | 'correction' | 'duplicate'>,
): string[] {
  const { correction, again, duplicate } = review
  const isAll = correction !== null && duplicate === correction.rows && again.changed + again.otherCells === 0
  return [
    ...(isAll ? [] : againLines(review)),
    ...(correction === null ? [] : correctionLines(correction)),
    ...review.cancelledBefore.map(cancelledText),
  ]
}

function cancelledText({ batchId, rows }: DraftReview['cancelledBefore'][number]): string {
  const [were, they, count] = rows === 1 ? ['was', 'it', 'counts'] : ['were', 'they', 'count']
  return `${plural(rows, 'row')} of batch ${batchId} ${were} cancelled before ${they} ${were} sent: ${they} ${count} as new.`
}

function correctionLines(correction: Correction): string[] {
  const rows = correction.batches.flatMap(({ batchId, fileName, createdAtMs, totals }) =>
    totals.map(({ state, operation, currency, count, amountMinor }, i) => [
      ...(i === 0
        ? [`  batch ${batchId}`, visible(fileName ?? ''), isoOf(createdAtMs).slice(0, 16).replace('T', ' ')]
        : ['', '', '']),
      plural(count, 'row'),
      `${operation} ${nameOf(state)}`,
      amountText(amountMinor, currency),
      currency,
    ]),
  )
  return [
    `${plural(correction.rows, 'row is', 'rows are')} in earlier files:`,
    ...toTable(rows, [3, 5]),
    ...longAgoLine(correction),
    ...correction.batches.flatMap(stillToSendLine),
  ]
}

/** A file of each month without a run key asks for the same every time, and a person must not think that it was sent. */
function longAgoLine({ rowsOfLongAgo }: Correction): string[] {
  if (rowsOfLongAgo === 0) return []
  return [
    `${plural(rowsOfLongAgo, 'row')} of files more than 30 days old: not sent again. What is due once more, as each month, goes into a file of its own, with a run key (--run-key) and without --only-new.`,
  ]
}

/** The bytes of that file may be gone, and with them the command that would go on with it. */
function stillToSendLine({ batchId, totals }: EarlierBatch): string[] {
  const left = totals.reduce((sum, { state, count }) => (state === 'READY' ? sum + count : sum), 0)
  if (left === 0) return []
  return [
    `Batch ${batchId} still has ${left} of them to send, and this file does not: see what it waits for (tranche status ${batchId}), or cancel it.`,
  ]
}

function nameOf(state: State): string {
  return statusOf(state).toLowerCase().replace('_', ' ')
}

export function correctionRefusal({ rows: known }: Correction, rows: number, newRows: number): string {
  const meant = 'If all of them are meant once more, give this run a name of its own with --run-key.'
  const recorded = `${known} of ${plural(rows, 'row')} were recorded with an earlier file`
  if (newRows === 0)
    return `${recorded}, and none of the others is new: they are recorded too, or bad. There is nothing left to send. What became of them: tranche results BATCH --out FILE (the batches: tranche status). ${meant}`
  const means = 'This is an earlier file with changes, and sending it whole would execute those rows again.'
  return `${recorded}. ${means} To send ${plural(newRows, 'new row')} and nothing else, add --only-new. ${meant}`
}

export function toJsonCorrection(correction: Correction | null): object | null {
  if (correction === null) return null
  return {
    rows: correction.rows,
    batches: correction.batches.map(({ batchId, fileName, createdAtMs, rows, totals }) => ({
      ...{ batch: batchId, file: fileName, created_at: isoOf(createdAtMs), rows },
      totals: totals.map(({ operation, currency, state, count, amountMinor }) => ({
        ...{ operation, currency, status: statusOf(state), count, amount: amountText(amountMinor, currency) },
      })),
    })),
  }
}
