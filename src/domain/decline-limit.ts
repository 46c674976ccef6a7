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
