// The states of an instruction and every move between them. The ledger refuses any move that is not in this table.

export const STATES = [
  'READY',
  'SENDING',
  'APPROVED',
  'DECLINED',
  'FAILED',
  'IN_DOUBT',
  'CANCELLED',
  'INVALID',
  'DUPLICATE',
] as const
export type State = (typeof STATES)[number]

/**
 * Why a row moves.
 * - `late-answer`: a true answer of the named attempt that came after the row had been given up; where it says what a person had
 *   found, the row stays in its state, which is the gateway's from then on
 * - `executed`: a true answer of an earlier attempt says that this one would be the second execution
 * - `order`: it no longer fits what is recorded of its order, or of its card
 * - `expiry`: it expired before it was sent
 * - `restore`: an older state of the ledger was put back, and the lost state may have sent the row
 */
export type Cause =
  | 'claim'
  | 'answer'
  | 'unsent'
  | 'doubt'
  | 'sweep'
  | 'cancel'
  | 'resolve'
  | 'proof'
  | 'late-answer'
  | 'executed'
  | 'order'
  | 'expiry'
  | 'restore'

export interface Move {
  readonly from: State
  readonly to: State
  readonly cause: Cause
}

export const MOVES = [
  { from: 'READY', to: 'SENDING', cause: 'claim' },
  { from: 'READY', to: 'CANCELLED', cause: 'cancel' },
  { from: 'READY', to: 'CANCELLED', cause: 'order' },
  { from: 'READY', to: 'CANCELLED', cause: 'expiry' },
  { from: 'SENDING', to: 'APPROVED', cause: 'answer' },
  { from: 'SENDING', to: 'DECLINED', cause: 'answer' },
  { from: 'SENDING', to: 'FAILED', cause: 'answer' }, // certainly not executed: refused as wrong
  { from: 'SENDING', to: 'READY', cause: 'unsent' }, // certainly not executed: due later
  { from: 'SENDING', to: 'CANCELLED', cause: 'unsent' }, // certainly not executed, and its batch was cancelled meanwhile
  { from: 'SENDING', to: 'IN_DOUBT', cause: 'doubt' }, // may have been executed
  { from: 'SENDING', to: 'IN_DOUBT', cause: 'sweep' }, // its process died between claim and answer
  { from: 'IN_DOUBT', to: 'APPROVED', cause: 'resolve' },
  { from: 'IN_DOUBT', to: 'DECLINED', cause: 'resolve' },
  { from: 'IN_DOUBT', to: 'FAILED', cause: 'resolve' }, // a person found that it was not executed
  { from: 'IN_DOUBT', to: 'READY', cause: 'resolve' }, // a person orders it to be sent again
  { from: 'IN_DOUBT', to: 'READY', cause: 'proof' }, // its owner proves that nothing was sent
  { from: 'IN_DOUBT', to: 'APPROVED', cause: 'late-answer' },
  { from: 'IN_DOUBT', to: 'DECLINED', cause: 'late-answer' },
  { from: 'READY', to: 'APPROVED', cause: 'late-answer' },
  { from: 'READY', to: 'DECLINED', cause: 'late-answer' },
  { from: 'READY', to: 'IN_DOUBT', cause: 'executed' }, // it was to be sent again
  { from: 'READY', to: 'IN_DOUBT', cause: 'restore' },
  { from: 'SENDING', to: 'IN_DOUBT', cause: 'restore' },
] as const satisfies readonly Move[]

/** What a person may find of a row in doubt. They may find something else later: the row then ends in another of these. */
const FOUND = MOVES.flatMap(({ from, to, cause }) =>
  from === 'IN_DOUBT' && cause === 'resolve' && !MOVES.some((move) => move.from === to) ? [to] : [],
)

export function canMove(from: State, to: State, cause: Cause): boolean {
  if (MOVES.some((move) => move.from === from && move.to === to && move.cause === cause)) return true
  if (cause === 'late-answer')
    return from === to && MOVES.some((move) => move.to === to && move.cause === cause) && isFound(to)
  return cause === 'resolve' && isFound(from) && isFound(to)
}

/** The state of a row that a person ended, or whatever ended another row in the same state. */
export function isFound(state: State): boolean {
  return FOUND.some((found) => found === state)
}

/** A state that no move leaves, but for a person's correction. Derived, so that it cannot disagree with the table. */
export function isFinal(state: State): boolean {
  return !MOVES.some((move) => move.from === state)
}

/** What outsiders read: a waiting row is READY inside and PENDING outside; results know no SENDING. */
export type ResultStatus = Exclude<State, 'READY' | 'SENDING'> | 'PENDING'

export function resultStatusOf(state: State): ResultStatus {
  return state === 'READY' || state === 'SENDING' ? 'PENDING' : state
}

/** The same where a text may say more than the state. */
export function statusWord(state: string): string {
  return state === 'READY' ? 'PENDING' : state
}

export function statusOf(state: State): ResultStatus | 'SENDING' {
  return state === 'READY' ? 'PENDING' : state
}
