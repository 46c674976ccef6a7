// What people and the machine do to batches, accounts and the record: the words under which it is kept.

/** What changes what is sent, or says why it stopped. Written in the transaction of the change itself. */
export const STEERING_ACTS = [
  'pause',
  'resume',
  'cancel',
  'resume-account',
  'stop-account',
  'rate',
  'adopt',
  'adopt-account',
  'late-answer',
] as const

/**
 * What a person did beside that.
 * - `card-refused`: a file or message with a card number in it was refused; the number itself is nowhere
 * - `not-a-card`: a person said of a column that its numbers only look like card numbers
 * - `export`: results, exceptions, rejects or a worklist were written to a file
 * - `inspect`: `doctor --deep` found that the record disagrees with itself
 */
export const PERSON_ACTS = ['init', 'card-refused', 'not-a-card', 'backup', 'export', 'inspect', 'purge'] as const

export type SteeringActName = (typeof STEERING_ACTS)[number]
export type PersonActName = (typeof PERSON_ACTS)[number]
export type ActName = SteeringActName | PersonActName

export type ActDetails = Readonly<Record<string, string | number | null>>
