// What a person sees before money leaves: what, how much, to which gateway as whom, and how long it will take.

import type { DraftReview } from '../domain/draft.ts'
import type { Merchant } from '../domain/merchant.ts'
import { shortUsername } from '../domain/username.ts'
import { heldByDoubtLines, totalLines } from './review.ts'
import { durationText } from './text.ts'

export interface Destination extends Pick<Merchant, 'name' | 'url' | 'username'> {
  /** null: there is no limit. */
  readonly ratePerSecond: number | null
}

/** `rows`: those that would be sent. */
export function lastLookLines(review: DraftReview, destination: Destination): string[] {
  return [
    'To be sent:',
    ...totalLines(review),
    ...heldByDoubtLines(review),
    destinationText(review.accepted, destination),
  ]
}

export function destinationText(rows: number, { name, url, username, ratePerSecond }: Destination): string {
  const lasts =
    ratePerSecond === null
      ? 'as fast as the gateway answers'
      : `in ${durationText(Math.ceil(rows / ratePerSecond))} or more, at ${ratePerSecond} a second`
  return `To ${url} as ${shortUsername(username)} (merchant ${name}), ${lasts}.`
}
