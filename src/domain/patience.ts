// How long a command waits for rows that do not move. Pure; times are the caller's monotonic milliseconds.

export interface Patience {
  /** Whether no row was settled for too long. Told of every look. */
  isOver(look: { readonly settled: number; readonly sending: number; readonly nowMs: number }): boolean
}

/** Longer than the deadline of any request: an answer that is awaited for longer comes no more, its process stands still. */
const LONGEST_REQUEST_MS = 15 * 60_000

/** `giveUpAfterMs`: counts from the last row that was settled; null: no limit. */
export function createPatience(giveUpAfterMs: number | null, startMs: number): Patience {
  let settledBefore = -1
  let movedAtMs = startMs
  return {
    isOver({ settled, sending, nowMs }) {
      if (settled !== settledBefore) movedAtMs = nowMs
      settledBefore = settled
      if (giveUpAfterMs === null) return false
      const stillMs = nowMs - movedAtMs
      // An answer that is awaited belongs in the results.
      return stillMs > (sending > 0 ? Math.max(giveUpAfterMs, LONGEST_REQUEST_MS) : giveUpAfterMs)
    },
  }
}
