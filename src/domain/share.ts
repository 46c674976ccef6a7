// A worker's part of what an account allows.

/** A part of an account's allowance, which is over all workers; or all of it. */
export interface Share {
  /** Whole from one on. Below one it is never divided: one worker holds all of it. null: no limit. */
  readonly ratePerSecond: number | null
  readonly inFlightMax: number
}
