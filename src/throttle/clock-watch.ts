// What the answers of one account say of this machine's clock, told only where it is news.

export interface ClockWatch {
  /** By how far the clock is ahead of the gateway's, as an answer shows. Whether the ledger should know. */
  isNews(aheadMs: number): boolean
}

/** A date of HTTP has whole seconds, and answers are under way for different times. */
const SAME_MS = 60_000

export function createClockWatch(): ClockWatch {
  let toldMs: number | null = null
  return {
    isNews(aheadMs) {
      if (toldMs !== null && Math.abs(aheadMs - toldMs) <= SAME_MS) return false
      toldMs = aheadMs
      return true
    },
  }
}
