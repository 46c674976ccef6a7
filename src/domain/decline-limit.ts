// How many declines a batch puts up with before a person should look. Pure.

/** The last answers of a batch, oldest first, a letter each: A was approved, D declined or refused as wrong. */
export type RecentAnswers = string

export type Answered = 'approved' | 'declined'

/** Answers that count. */
const ANSWERS_KEPT = 100

export function noteAnswer(recent: RecentAnswers, answered: Answered): RecentAnswers {
  return `${recent}${answered === 'approved' ? 'A' : 'D'}`.slice(-ANSWERS_KEPT)
}

/**
 * Whether more than `percent` of the last hundred were declined. Of fewer than a hundred, as soon as no number of approvals
 * could bring the hundred back below it: a batch of 60 rows is not left alone for being small.
 */
export function isOverLimit(recent: RecentAnswers, percent: number): boolean {
  return declinedIn(recent) > (percent * ANSWERS_KEPT) / 100
}

function declinedIn(recent: RecentAnswers): number {
  return recent.split('D').length - 1
}

// ───────────────────────────────────────────────────────────── Refunds of more than their order has left

/** What is kept of the refunds of a batch that were declined so. */
export interface ShortRefunds {
  /** How many refunds had been answered when a person last looked. */
  readonly since: number
  /** Their numbers among those answered since, oldest first. Only what may still count is kept. */
  readonly at: readonly number[]
}

const SHORT_OF_FIRST = { most: 3, first: 20 } as const
const SHORT_OF_LAST = { most: 10, last: 100 } as const

/** `answered`: of all refunds of the batch, this one included. */
export function noteShortRefund({ since, at }: ShortRefunds, answered: number): ShortRefunds {
  return { since, at: [...at, answered - since].slice(-SHORT_OF_LAST.most) }
}

/** Three of the first twenty, or a tenth of the last hundred: no card is at fault then, but the list. In words; null: too few. */
export function whyTooShort({ since, at }: ShortRefunds, answered: number): string | null {
  const number = answered - since
  const lately = since === 0 ? '' : ' since it was resumed'
  const first = at.filter((one) => one <= SHORT_OF_FIRST.first).length
  if (number <= SHORT_OF_FIRST.first && first >= SHORT_OF_FIRST.most)
    return `${first} of the first ${number} refunds${lately}`
  const last = at.filter((one) => one > number - SHORT_OF_LAST.last).length
  return last >= SHORT_OF_LAST.most
    ? `${last} of the last ${Math.min(number, SHORT_OF_LAST.last)} refunds${lately}`
    : null
}
