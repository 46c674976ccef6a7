// Whether this machine's clock may be believed, by what a gateway said of the time. Pure.

/** What a network and a gateway that keeps its own time may add. */
const CLOCKS_APART_MS = 300_000

/** By how far the clock was ahead of the gateway's; less than 0: behind. */
export interface ClockSeen {
  readonly aheadMs: number
  /** What a person said is right, for the same gateway; null: nothing. */
  readonly meantMs: number | null
}

export interface ClockKept {
  /** null: it is believed. */
  readonly aheadMs: number | null
  readonly meantMs: number | null
}

/** A difference that a person has looked at counts no more, until the clocks agree again. */
export function judgeClock({ aheadMs, meantMs }: ClockSeen): ClockKept {
  if (Math.abs(aheadMs) <= CLOCKS_APART_MS) return { aheadMs: null, meantMs: null }
  const isMeant = meantMs !== null && Math.abs(aheadMs - meantMs) <= CLOCKS_APART_MS
  return { aheadMs: isMeant ? null : aheadMs, meantMs }
}
