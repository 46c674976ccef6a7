// Whether a process can do its work now, check by check: for monitors and orchestrators.

export const CHECKS = ['ledger', 'disk', 'worker', 'lease', 'tick', 'redis'] as const
export type CheckName = (typeof CHECKS)[number]

export interface Check {
  readonly name: CheckName
  readonly ok: boolean
  /** In words, whether it is or not. */
  readonly says: string
}

/** Below that a commit may fail soon, and nothing is sent without one. */
const DISK_FREE_LEAST_BYTES = 100 * 1024 ** 2
/** The tick comes four times a second. One that waits for a slow disk is no silence. */
const TICK_LATE_MS = 5_000

export function isHealthy(checks: readonly Check[]): boolean {
  return checks.every(({ ok }) => ok)
}

export function diskCheck(freeBytes: number): Check {
  const free = `${Math.floor(freeBytes / 1024 ** 2)} MiB are free in the data directory`
  const ok = freeBytes > DISK_FREE_LEAST_BYTES
  return { name: 'disk', ok, says: ok ? free : `${free}: free some space, or nothing more is sent` }
}

/** `sinceMs`: since the tick ended last, or since work began. */
export function tickCheck(sinceMs: number): Check {
  const ok = sinceMs < TICK_LATE_MS
  const ago = `${(sinceMs / 1000).toFixed(1)} s ago`
  const says = ok ? `rows were looked for ${ago}` : `rows were last looked for ${ago}: nothing new is being handed out`
  return { name: 'tick', ok, says }
}

/** Why nothing moves of a ledger in a file. */
export const REDIS_UNUSABLE = 'the Redis of TRANCHE_REDIS_URL cannot be used'

/** `stops`: the ledger is in a file. */
export function redisAwayText(stops: boolean): string {
  return stops
    ? 'Nothing is sent until it does, and messages wait'
    : 'Workers take their rows from the ledger and go on; messages wait, and so do outcomes for queues'
}
