// What a caller can repeat without end leaves few acts: the ledger is kept for ever, and no stranger may fill it.

import { isTold } from '../domain/acts.ts'

const DAY_MS = 86_400_000
export interface Counted {
  readonly times: number
  /** False: so often came all those names together that are not counted apart. */
  readonly isOwn: boolean
}

/**
 * Counts a name; null where its act is left out. In one day `most` names are counted apart and all others together, and each leaves an act
 * for each power of ten: a million requests leave at most 8 * (most + 1). Kept in memory: a server that starts again counts again.
 */
export function createThinning(most: number, nowMs: () => number): (name: string) => Counted | null {
  let counts = new Map<string, number>()
  let untilMs = Number.NEGATIVE_INFINITY
  return (name) => {
    if (nowMs() >= untilMs) [counts, untilMs] = [new Map(), nowMs() + DAY_MS]
    const isOwn = counts.has(name) || counts.size < most
    const counted = isOwn ? name : ''
    const times = (counts.get(counted) ?? 0) + 1
    counts.set(counted, times)
    return isTold(times) ? { times, isOwn } : null
  }
}
