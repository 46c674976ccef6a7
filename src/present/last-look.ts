// What a person sees before money leaves: what, how much, to which gateway as whom, and how long it will take.

import type { BatchView } from '../domain/batch.ts'
import type { DraftReview } from '../domain/draft.ts'
import type { Merchant } from '../domain/merchant.ts'
import { shortUsername } from '../domain/username.ts'
import { recordedBeforeLines } from './correction.ts'
import { heldLines, lateLines, totalLines } from './review.ts'
import { amountText, durationText, environmentText, plural, toTable } from './text.ts'

export interface Destination extends Pick<Merchant, 'name' | 'url' | 'username' | 'environment'> {
  /** null: there is no limit. */
  readonly ratePerSecond: number | null
}

/** Of a file: what is not sent with it first, then what is. */
export function newLines(review: DraftReview, destination: Destination): string[] {
  const { invalid, accepted } = review
  return [
    ...recordedBeforeLines(review),
    ...(invalid === 0 ? [] : [`Left out: ${plural(invalid, 'bad row')}, reported as INVALID.`]),
    'To be sent:',
    ...totalLines(review),
    ...heldLines(review),
    ...lateLines(review),
    destinationText(accepted, destination),
  ]
}

/** Of a batch that goes on: `rows` are those that are left. */
export function restLines({ totals }: Pick<BatchView, 'totals'>, rows: number, destination: Destination): string[] {
  const left = totals.filter(({ state, currency }) => state === 'READY' && currency !== '')
  const table = left.map(({ operation, currency, count, amountMinor }) => [
    `  ${operation}`,
    plural(count, 'row'),
    amountText(amountMinor, currency),
    currency,
  ])
  return ['To be sent:', ...toTable(table, [1, 2]), destinationText(rows, destination)]
}

function destinationText(rows: number, { name, url, username, ratePerSecond, environment }: Destination): string {
  const lasts =
    ratePerSecond === null
      ? 'as fast as the gateway answers'
      : `in ${durationText(Math.ceil(rows / ratePerSecond))} or more, at ${ratePerSecond} a second`
  return `To ${url} as ${shortUsername(username)} (merchant ${name}${environment === null ? '' : `, ${environmentText(environment)}`}), ${lasts}.`
}
