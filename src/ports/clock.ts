// Time, as everything here asks for it.

export interface Clock {
  /** Wall clock, epoch milliseconds. */
  nowMs(): number
  /** Never runs backwards; stands still while a virtual machine is suspended. */
  monotonicMs(): number
  /** Resolves early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
