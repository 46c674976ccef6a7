// How long a command waits for rows that do not move. Pure; times are the caller's monotonic milliseconds.

/** Counts from the last row that was settled; null: no limit. */
export interface GiveUpAfter {
  readonly ms: number | null
  /** Where the gateway answers, and only asks to wait. */
  readonly askedToWaitMs: number | null
}

export interface Look {
  readonly settled: number
  readonly sending: number
  /** Whether the gateway's latest answer for what is left was a request to wait (429). */
  readonly asksToWait: boolean
  readonly nowMs: number
}

export interface Patience {
  /** The limit that has passed without a settled row; null: none has. Told of every look. */
  overAfterMs(look: Look): number | null
}

/** Longer than the deadline of any request: an answer that is awaited for longer comes no more, its process stands still. */
const LONGEST_REQUEST_MS = 15 * 60_000

export function createPatience(giveUpAfter: GiveUpAfter, startMs: number): Patience {
  let settledBefore = -1
  let movedAtMs = startMs
  let askedSinceMs: number | null = null
  return {
    overAfterMs({ settled, sending, asksToWait, nowMs }) {
      if (settled !== settledBefore) movedAtMs = nowMs
      settledBefore = settled
      askedSinceMs = asksToWait ? (askedSinceMs ?? nowMs) : null
      const limitMs = asksToWait ? giveUpAfter.askedToWaitMs : giveUpAfter.ms
      if (limitMs === null) return null
      // After an outage the first request to wait says that the gateway answers again.
      const sinceMs = Math.max(movedAtMs, askedSinceMs ?? movedAtMs)
      // An answer that is awaited belongs in the results.
      return nowMs - sinceMs > (sending > 0 ? Math.max(limitMs, LONGEST_REQUEST_MS) : limitMs) ? limitMs : null
    },
  }
}
