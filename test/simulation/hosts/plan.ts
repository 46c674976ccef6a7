// What happens in one run of several hosts, drawn from its seed.

import type { Instruction } from '../../../src/domain/instruction.ts'
import type { Weather } from '../gateway.ts'
import { drawInstruction, drawWeather } from '../plan.ts'
import type { Random } from '../random.ts'
import type { RedisHabits } from '../redis.ts'
import type { ServerHabits } from './server.ts'

export const HOSTS = 4

export interface PlannedBatch {
  readonly name: string
  readonly instructions: readonly Instruction[]
}

export type HostEvent = { readonly atMs: number } & (
  | { readonly what: 'submit'; readonly batch: number }
  | { readonly what: 'worker'; readonly host: number }
  | { readonly what: 'worker-dies'; readonly host: number; readonly when: Moment; readonly steps: number }
  | { readonly what: 'worker-stops'; readonly host: number }
  | {
      readonly what: 'worker-freezes' | 'host-suspends'
      readonly host: number
      readonly when: Moment
      readonly forMs: number
    }
  | { readonly what: 'host-clock'; readonly host: number; readonly offMs: number }
  | { readonly what: 'server-crashes'; readonly downForMs: number }
  | { readonly what: 'copy' }
  | { readonly what: 'put-back'; readonly downForMs: number; readonly isPromoted: boolean }
  | { readonly what: 'redis-down'; readonly forMs: number }
  | { readonly what: 'redis-flushed' }
  | { readonly what: 'pause' | 'resume' | 'cancel'; readonly which: number }
)

/** At once, or when the next request is claimed or its first byte has left: of whichever worker. */
type Moment = 'now' | 'claimed' | 'sent'

export interface HostsPlan {
  readonly ratePerSecond: number | null
  readonly inFlightMax: number
  readonly weather: Weather
  readonly redis: RedisHabits
  readonly server: ServerHabits
  readonly careless: number
  /** By how much the clock of each host is off, and how much faster than true time it runs. */
  readonly clocks: readonly { readonly offMs: number; readonly drift: number }[]
  readonly batches: readonly PlannedBatch[]
  readonly events: readonly HostEvent[]
  readonly endsAtMs: number
}

export function drawHostsPlan(random: Random): HostsPlan {
  const endsAtMs = random.between(8_000, 45_000)
  const weather = drawWeather(random)
  const isPutBack = random.chance(0.3)
  const batches = drawBatches(random)
  return {
    // So slow that something is sent between a copy and its return, and something is left to be sent.
    ratePerSecond: isPutBack
      ? random.pick([0.8, 1, 2, 3])
      : random.chance(0.5)
        ? random.pick([0.8, 1, 2, 3, 5, 10, 25])
        : null,
    inFlightMax: random.pick([1, 2, 4, 8, 32]),
    weather: { ...weather, troubles: random.chance(0.6) ? new Map() : weather.troubles },
    redis: {
      loses: random.chance(0.2) ? random.between(0, 0.4) : 0,
      repeats: random.chance(0.3) ? random.between(0, 0.5) : 0,
      delays: random.chance(0.2) ? random.between(0, 0.4) : 0,
    },
    server: drawServer(random),
    careless: random.chance(0.1) ? 0.5 : 0,
    clocks: Array.from({ length: HOSTS }, () => ({
      offMs: random.chance(0.4) ? random.between(-60_000, 60_000) : 0,
      drift: random.chance(0.3) ? random.between(0.99, 1.01) : 1,
    })),
    batches,
    events: drawEvents(random, { endsAtMs, isPutBack, batches: batches.length }),
    endsAtMs,
  }
}

function drawServer(random: Random): ServerHabits {
  const often = (chance: number, most: number) => (random.chance(chance) ? random.between(0, most) : 0)
  return {
    latencyMs: random.pick([1, 5, 40, 200]),
    breaks: often(0.4, 0.05),
    losesDone: often(0.4, 0.08),
    losesUndone: often(0.3, 0.05),
    late: often(0.4, 0.06),
    unsure: often(0.2, 0.05),
    clockOffMs: random.chance(0.3) ? random.between(-60_000, 60_000) : 0,
  }
}

function drawBatches(random: Random): PlannedBatch[] {
  const orders = random.pick([2, 4, 12, 1_000])
  return Array.from({ length: random.pick([1, 1, 2, 3]) }, (_, batch) => ({
    name: `file-${batch}.csv`,
    instructions: Array.from({ length: random.whole(2, 12) }, (_, row) => ({
      ...drawInstruction(random, `r/${batch}-${row + 1}`, orders),
      executeAtMs: null,
      expiresAtMs: null,
    })),
  }))
}

function drawEvents(
  random: Random,
  {
    endsAtMs,
    isPutBack,
    batches,
  }: { readonly endsAtMs: number; readonly isPutBack: boolean; readonly batches: number },
): HostEvent[] {
  const events: HostEvent[] = []
  const at = (from = 0, to = endsAtMs) => random.between(from, to)
  const host = () => random.whole(0, HOSTS - 1)
  const when = () => random.pick(['now', 'claimed', 'sent'] as const)
  const times = (chance: number, most = 2) => (random.chance(chance) ? random.whole(1, most) : 0)
  const add = (count: number, draw: () => HostEvent) => {
    for (let i = 0; i < count; i += 1) events.push(draw())
  }
  /** What is put back lacks what was recorded since: such a file is no instruction that was lost, and would be handed in again. */
  const copyAtMs = isPutBack ? at(1_000, endsAtMs * 0.6) : null
  for (let batch = 0; batch < batches; batch += 1)
    events.push({ atMs: batch === 0 || copyAtMs !== null ? at(0, 400) : at(), what: 'submit', batch })
  for (let one = 0; one < HOSTS; one += 1)
    if (one === 0 || random.chance(0.8)) events.push({ atMs: at(0, endsAtMs / 2), what: 'worker', host: one })
  add(times(0.5, 3), () => ({ atMs: at(), what: 'worker', host: host() }))
  const forMs = () => random.pick([at(100, 3_000), at(3_000, 14_000), at(14_000, 40_000)])
  add(times(0.6, 4), () => ({
    atMs: at(),
    what: 'worker-dies',
    host: host(),
    when: when(),
    steps: random.whole(0, 80),
  }))
  add(times(0.2), () => ({ atMs: at(), what: 'worker-stops', host: host() }))
  add(times(0.4), () => ({ atMs: at(), what: 'worker-freezes', host: host(), when: when(), forMs: forMs() }))
  add(times(0.25), () => ({ atMs: at(), what: 'host-suspends', host: host(), when: when(), forMs: forMs() }))
  add(times(0.25), () => ({ atMs: at(), what: 'host-clock', host: host(), offMs: random.between(-60_000, 60_000) }))
  add(times(0.25), () => ({
    atMs: at(),
    what: 'server-crashes',
    downForMs: random.pick([at(50, 2_000), at(2_000, 20_000)]),
  }))
  add(times(0.2), () => ({ atMs: at(), what: 'redis-down', forMs: random.between(100, 4_000) }))
  add(times(0.2), () => ({ atMs: at(), what: 'redis-flushed' }))
  add(times(0.2), () => ({ atMs: at(), what: 'pause', which: random.whole(0, 9) }))
  add(times(0.3), () => ({ atMs: at(), what: 'resume', which: random.whole(0, 9) }))
  add(times(0.1), () => ({ atMs: at(), what: 'cancel', which: random.whole(0, 9) }))
  if (copyAtMs !== null) {
    const putBackAtMs = at(copyAtMs + 500, Math.min(endsAtMs, copyAtMs + 12_000))
    events.push({ atMs: copyAtMs, what: 'copy' })
    // Nobody lives who could say what is missing, and whoever starts next may have seen nothing of it.
    if (random.chance(0.3)) {
      const startsBetween = ({ what, atMs }: HostEvent) => what === 'worker' && atMs > copyAtMs && atMs < putBackAtMs
      events.splice(0, events.length, ...events.filter((event) => !startsBetween(event)))
      for (let one = 0; one < HOSTS; one += 1)
        events.push({ atMs: putBackAtMs - at(0, 400), what: 'worker-dies', host: one, when: 'now', steps: 0 })
      events.push({ atMs: putBackAtMs + at(0, 2_000), what: 'worker', host: host() })
    }
    events.push({
      atMs: putBackAtMs,
      what: 'put-back',
      downForMs: random.pick([at(50, 1_000), at(50, 1_000), at(1_000, 20_000)]),
      isPromoted: random.chance(0.4),
    })
  }
  return events
}
