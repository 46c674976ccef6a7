// The figures of a batch that change while somebody looks: for its page, and for whoever watches it.

import type { AttentionNow } from '../../app/attention.ts'
import { type Speed, speedOf } from '../../app/speed.ts'
import { standingNow } from '../../app/standing.ts'
import type { BatchView } from '../../domain/batch.ts'
import { countIn, type Standing } from '../../domain/batch-status.ts'
import { type ResultStatus, resultStatusOf, STATES } from '../../domain/states.ts'
import { barParts } from '../../present/outcome-bar.ts'
import { amountText, durationText, plural } from '../../present/text.ts'
import type { ConsoleDoor } from '../door.ts'
import type { Figures, Seen } from '../live.ts'
import { batchOf } from './find-batch.ts'

export type BatchFigures = Figures & { readonly outcomes: string }

export interface BatchNow extends Seen {
  readonly batch: BatchView
  readonly standing: Standing
  /** Rows that another person has to have sent once more, or not. */
  readonly proposed: number
  readonly figures: BatchFigures
}

/** null: there is no such batch. */
export async function batchNow(
  { app, ledger }: ConsoleDoor,
  id: string,
  { workers, proposals }: Pick<AttentionNow, 'workers' | 'proposals'>,
): Promise<BatchNow | null> {
  const batch = await batchOf(ledger, id)
  if (batch === null) return null
  const standing = standingNow(app, batch, workers)
  const speed = await speedOf(app, ledger, batch, standing)
  const proposed = proposals.filter(({ batchId }) => batchId === batch.batchId).length
  const shape = shapeOf(batch, standing, proposed)
  return { batch, standing, proposed, figures: figuresOf(batch, standing, speed), shape }
}

function figuresOf(batch: BatchView, { state }: Standing, speed: Speed): BatchFigures {
  const bar = barParts(outcomesIn(batch), batch.rows).flatMap(({ status, x, width }) => [
    [`x-${status}`, x],
    [`width-${status}`, width],
  ])
  const totals = batch.totals.flatMap((total) => [
    [`count-${totalName(total)}`, String(total.count)],
    [`amount-${totalName(total)}`, amountText(total.amountMinor, total.currency)],
  ])
  return {
    outcomes: `${outcomesText(batch)}${state === 'running' ? speedText(speed) : ''}`,
    ...Object.fromEntries([...bar, ...totals]),
  }
}

function speedText({ rows_per_second: perSecond, seconds_left: left }: Speed): string {
  if (perSecond === 0) return ''
  const time = left === null ? '' : ` · about ${durationText(left)} left`
  return ` · ${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s${time}`
}

export function totalName({ operation, currency, state }: BatchView['totals'][number]): string {
  return [operation, currency, state].join('-')
}

const ORDER = ['APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT', 'CANCELLED', 'INVALID', 'DUPLICATE', 'PENDING'] as const

export function outcomesIn(batch: BatchView): readonly { readonly status: ResultStatus; readonly count: number }[] {
  const counted = (status: ResultStatus) =>
    STATES.reduce((sum, state) => (resultStatusOf(state) === status ? sum + countIn(batch, state) : sum), 0)
  return ORDER.map((status) => ({ status, count: counted(status) })).filter(({ count }) => count > 0)
}

const OUTCOME_WORDS: Readonly<Record<ResultStatus, string>> = {
  APPROVED: 'approved',
  DECLINED: 'declined',
  FAILED: 'failed',
  IN_DOUBT: 'in doubt',
  CANCELLED: 'cancelled',
  INVALID: 'left out',
  DUPLICATE: 'recorded before',
  PENDING: 'not settled yet',
}

/** `34 approved, 1 declined, 4 in doubt`: of a row in doubt nobody knows whether it is over. */
function outcomesText(batch: BatchView): string {
  const outcomes = outcomesIn(batch).map(({ status, count }) => `${count} ${OUTCOME_WORDS[status]}`)
  return `${plural(batch.rows, 'row')}${outcomes.length === 0 ? '' : `: ${outcomes.join(', ')}`}`
}

/** Whatever of the page is no figure. */
function shapeOf(batch: BatchView, { state, why }: Standing, proposed: number): string {
  const { hold, approval, lateAnswers, moneyWarnings, rows } = batch
  const totals = batch.totals.map(totalName)
  const codes = why.map(({ code }) => code)
  return JSON.stringify([
    state,
    codes,
    hold,
    approval?.given ?? null,
    lateAnswers,
    moneyWarnings,
    rows,
    totals,
    proposed,
  ])
}
