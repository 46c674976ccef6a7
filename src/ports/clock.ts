// Time, as everything here asks for it.

export interface Clock {
  /** Wall clock, epoch milliseconds. */
  nowMs(): number
  /** Never runs backwards; stands still while a virtual machine is suspended. */
  monotonicMs(): number
  /** Resolves early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The time of a server that several hosts share. */
export interface SharedClock extends Clock {
  /** Of this machine. */
  readonly host: Clock
  /** What the server's clock and this machine's have both reached: one that is ahead makes nothing due. */
  reachedMs(): number
  /** The server said its time between these two moments, in monotonic time. */
  follow(serverMs: number, askedAtMs: number, answeredAtMs: number): void
}
