// What became of one instruction, as a sentence. There are three fates: it was approved, it was not executed, or that is not known.

import type { State } from '../domain/states.ts'

export interface Fated {
  readonly state: State
  /** What an answer said beside what the state tells. */
  readonly warning: string | null
  /** Why it moved last; null: it never did. */
  readonly lastCause: string | null
  /** Whether anybody waits for the answer to what is being sent. */
  readonly workerRuns: boolean
}

/** A finding of a person is told as one, and a warning beside "not executed" is not passed over. */
export function fateText({ state, warning, lastCause, workerRuns }: Fated): string {
  const fate = plainFate(state, lastCause, workerRuns)
  const byPerson = lastCause === 'resolve' && state !== 'READY' ? ' A person found that.' : ''
  const doubtful = warning === null || state === 'APPROVED' ? '' : ' Read the warning before you rely on it.'
  return `${fate}${byPerson}${doubtful}`
}

function plainFate(state: State, lastCause: string | null, workerRuns: boolean): string {
  switch (state) {
    case 'APPROVED':
      return 'Approved: the gateway executed it.'
    case 'DECLINED':
      return 'Not executed: it was declined.'
    case 'FAILED':
      return 'Not executed.'
    case 'CANCELLED':
      return 'Not executed: it was cancelled before it was sent.'
    case 'INVALID':
      return 'Not executed: it could not be read as an instruction, and nothing was sent for it.'
    case 'DUPLICATE':
      return 'Not executed here: it repeats a row that was recorded before, and nothing was sent for it a second time.'
    case 'READY':
      return lastCause === 'resolve'
        ? 'It waits to be sent once more, as a person ordered. Whether its earlier request was executed, no answer has told.'
        : 'Not executed so far: it waits to be sent.'
    case 'SENDING':
      return workerRuns
        ? 'Not known yet: it is being sent.'
        : 'Not known: it was being sent when the worker ended and may have been executed. The next worker brings it into doubt.'
    case 'IN_DOUBT':
      return 'Not known: the gateway may have executed it. Nothing sends it again by itself.'
  }
}
