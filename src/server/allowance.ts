// How much somebody may have in a minute. Kept in memory: a server that starts again starts to count again.

const MINUTE_MS = 60_000

export interface Allowance {
  /** Counts `amount` more for `name`. Returns how many ms are left until it may have more; 0: it may have this. */
  take(name: string, amount: number): number
  /** As `take`, but counts nothing: whether what was counted has reached the most. */
  look(name: string): number
}

/** `most`: of one name in a minute, from its first request on. */
export function createAllowance(most: number, nowMs: () => number): Allowance {
  let used = new Map<string, { amount: number; readonly untilMs: number }>()

  function of(name: string) {
    const at = nowMs()
    const known = used.get(name)
    if (known !== undefined && known.untilMs > at) return known
    // Names that a stranger makes up must not stay: what is over goes whenever a minute begins for somebody.
    if (used.size > 10_000) used = new Map([...used].filter(([, { untilMs }]) => untilMs > at))
    const fresh = { amount: 0, untilMs: at + MINUTE_MS }
    used.set(name, fresh)
    return fresh
  }

  return {
    take(name, amount) {
      const its = of(name)
      its.amount += amount
      return its.amount > most ? its.untilMs - nowMs() : 0
    },
    look(name) {
      const its = used.get(name)
      return its !== undefined && its.amount >= most ? Math.max(0, its.untilMs - nowMs()) : 0
    },
  }
}
