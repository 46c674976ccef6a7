// What a caller can repeat without end leaves few acts: the ledger keeps them, and no stranger may fill it.

import { isTold } from '../domain/acts.ts'

const DAY_MS = 86_400_000
export interface Counted {
  readonly times: number
  /** What was counted since the last act. */
  readonly amount: number
  /** False: so often came all those names together that are not counted apart. */
  readonly isOwn: boolean
}

/**
 * Counts a name; null where its act is left out. In one day `most` names are counted apart and all others together, and each leaves an act
 * for each power of ten of what is counted, such as rows: a million leave at most 8 * (most + 1). Kept in memory: a server that starts
 * again counts again.
 */
export function createThinning(most: number, nowMs: () => number): (name: string, amount?: number) => Counted | null {
  let counts = new Map<string, { readonly times: number; readonly total: number; readonly told: number }>()
  let untilMs = Number.NEGATIVE_INFINITY
  return (name, amount = 1) => {
    if (nowMs() >= untilMs) [counts, untilMs] = [new Map(), nowMs() + DAY_MS]
    const isOwn = counts.has(name) || counts.size < most
    const counted = isOwn ? name : ''
    const before = counts.get(counted) ?? { times: 0, total: 0, told: 0 }
    const [times, total] = [before.times + 1, before.total + amount]
    const isNews = isTold(total, before.total)
    counts.set(counted, { times, total, told: isNews ? total : before.told })
    return isNews ? { times, amount: total - before.told, isOwn } : null
  }
}
