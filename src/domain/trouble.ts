// Trouble as a log tells of it: once, and again when it is another one, or the same after it was over.

import { messageOf } from './errors.ts'
import { Fault, withoutNothingSent } from './fault.ts'

export interface ToldTrouble {
  /** false: it was told. */
  isNew(error: unknown): boolean
  over(): void
}

export function createToldTrouble(): ToldTrouble {
  let told: string | null = null
  return {
    isNew(error) {
      const text = messageOf(error).replace(/\d+/g, '') // a countdown is the same trouble at every second
      if (text === told) return false
      told = text
      return true
    },
    over() {
      told = null
    },
  }
}

/** As a log has it. Where a program is to blame, and not a wait, its stack shows where. Requests may have left before a wait. */
export function shownOf(error: unknown): object {
  const isWait = error instanceof Fault && error.code === 'unavailable'
  return isWait ? { reason: withoutNothingSent(error.message) } : { err: error }
}
