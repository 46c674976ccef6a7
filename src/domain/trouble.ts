// Trouble as a log tells of it: once, and again when it is another one, or the same after it was over.

import { messageOf } from './errors.ts'

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
