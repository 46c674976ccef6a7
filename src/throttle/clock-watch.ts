// What the answers of one account say of this machine's clock, told only where it may be news to the ledger.

import type { Clock } from '../ports/clock.ts'

export interface ClockWatch {
  /** By how far the clock is ahead of the gateway's, as an answer shows. Whether to tell the ledger; it counts as told then. */
  isNews(aheadMs: number): boolean
}

/** A date of HTTP has whole seconds, and answers are under way for different times. */
const SAME_MS = 60_000

/** The ledger may say something else by now, because another host told it so: a clock that is wrong is told of again soon. */
const AGAIN_MS = { agrees: 60_000, differs: 1_000 } as const

export function createClockWatch(clock: Pick<Clock, 'monotonicMs'>): ClockWatch {
  let told: { readonly aheadMs: number; readonly atMs: number } | null = null
  return {
    isNews(aheadMs) {
      const atMs = clock.monotonicMs()
      const againMs = AGAIN_MS[Math.abs(aheadMs) <= SAME_MS ? 'agrees' : 'differs']
      if (told !== null && Math.abs(aheadMs - told.aheadMs) <= SAME_MS && atMs - told.atMs < againMs) return false
      told = { aheadMs, atMs }
      return true
    },
  }
}
