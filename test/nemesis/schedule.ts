// What the nemesis does and when, out of a seed: the same seed, the same schedule.

import type { FaultKind } from '../../src/sandbox/fault-kinds.ts'
import type { FaultRule } from '../../src/sandbox/faults.ts'
import type { Treatment } from '../fixtures/proxy.ts'

export type Act =
  | { readonly kind: 'kill-worker' | 'flush-redis' | 'pause' }
  | { readonly kind: 'freeze-worker' | 'kill-redis' | 'freeze-redis'; readonly forMs: number }
  /** What stands is treated so, and reset in the end. */
  | { readonly kind: 'redis-link'; readonly how: Treatment; readonly forMs: number }
  | { readonly kind: 'gateway-fault'; readonly rule: FaultRule }
  /** Each new connection is treated so with a chance of one in `oneIn`; with `standing` those that stand, too. */
  | {
      readonly kind: 'gateway-link'
      readonly how: Treatment
      readonly oneIn: number
      readonly standing: boolean
      readonly forMs: number
    }
  | { readonly kind: 'gateway-away'; readonly cuts: boolean; readonly forMs: number }

/** An act comes when that many more rows were executed, or after that time: nothing may be moving. */
export interface Step {
  readonly rows: number
  readonly orMs: number
  readonly act: Act
}

/** `TRANCHE_CONNECTIONS`. */
export type Connections = 'fresh' | 'warm'

/** A deadline of requests that the schedule can overrun and nothing else does. */
export const TIMEOUT_MS = 2_500
const TOO_LATE_MS = TIMEOUT_MS + 500

export interface Dice {
  /** From 0 to n - 1. */
  below(n: number): number
  from<T>(...choices: readonly [T, ...T[]]): T
}

/** mulberry32: small, and the same everywhere. */
export function openDice(seed: number): Dice {
  let state = seed | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(next() * n)
  return { below, from: (...choices) => choices[below(choices.length)] as (typeof choices)[0] }
}

export function scheduleOf(seed: number, steps: number): Step[] {
  const dice = openDice(seed)
  return Array.from({ length: steps }, () => ({
    rows: 3 + dice.below(30),
    orMs: 400 + dice.below(1_100),
    act: actOf(dice),
  }))
}

function actOf(dice: Dice): Act {
  const forMs = 200 + dice.below(1_000)
  const kind = dice.from<Act['kind']>(
    ...(['kill-worker', 'kill-worker', 'kill-worker', 'freeze-worker', 'kill-redis', 'freeze-redis'] as const),
    ...(['redis-link', 'redis-link', 'gateway-fault', 'gateway-fault', 'gateway-fault', 'gateway-fault'] as const),
    ...(['gateway-link', 'gateway-link', 'gateway-away', 'flush-redis', 'pause'] as const),
  )
  switch (kind) {
    case 'kill-worker':
    case 'flush-redis':
    case 'pause':
      return { kind }
    case 'freeze-worker': // often beyond the deadline of what is open
      return { kind, forMs: forMs + dice.from(0, TIMEOUT_MS, TIMEOUT_MS) }
    case 'kill-redis':
    case 'freeze-redis':
      return { kind, forMs }
    case 'redis-link':
      return { kind, forMs, how: dice.from('lose-replies', 'lose-requests', 'hang', 'delay', 'reset', 'close') }
    case 'gateway-fault':
      return { kind, rule: faultOf(dice) }
    case 'gateway-link': {
      const how = dice.from<Treatment>(...SPOILS, 'delay', 'hold')
      return { kind, how, forMs, oneIn: dice.from(1, 3, 6), standing: dice.below(2) === 0 }
    }
    case 'gateway-away':
      return { kind, forMs, cuts: dice.below(2) === 0 }
  }
}

const SPOILS = ['lose-replies', 'lose-requests', 'hang', 'reset', 'close', 'reset-on-reply'] as const

const FAULTS: readonly [FaultKind, ...FaultKind[]] = [
  ...(['reset-before', 'reset-after', 'hang-before', 'hang-after', '429', '401'] as const),
  ...(['503-before', '503-after', 'cut-body', 'html', 'wrong-echo', 'slow'] as const),
]

function faultOf(dice: Dice): FaultRule {
  const kind = dice.from(...FAULTS)
  // Storms of what costs nothing, a few of what costs a doubt each.
  const times = kind === '401' ? 1 : kind === '429' ? 20 : 1 + dice.below(5)
  const over = kind === 'slow' ? { latencyMs: dice.from(400, TOO_LATE_MS) } : {}
  return { kind, match: { any: true }, times, every: dice.from(1, 2, 5), ...over }
}

/** Whether a row that met the fault may end in doubt for it. On a kept connection a refusal may be that of another row. */
export function costsDoubt(
  { kind, latencyMs = 0 }: Pick<FaultRule, 'kind' | 'latencyMs'>,
  connections: Connections,
): boolean {
  if (kind === 'slow') return latencyMs >= TIMEOUT_MS
  return connections === 'warm' || (kind !== '429' && kind !== '401')
}
