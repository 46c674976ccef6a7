// Several processes, each with a limiter, divide one account by the rules of the ledger: what the gateway sees of them together.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Share } from '../../src/domain/share.ts'
import { shareInForce, shrinkOf, targetShare } from '../../src/ledger/rules/shares.ts'
import { type AccountLimiter, createLimiter } from '../../src/throttle/limiter.ts'
import { ManualClock } from '../fixtures/clock.ts'
import { ShareTable } from '../fixtures/share-table.ts'
import { tries } from '../fixtures/tries.ts'

const NOTHING: Share = { ratePerSecond: 0, inFlightMax: 0 }
// Shorter than the real ones, in the same order: a worker trusts its share for less long than the ledger keeps it.
const BEAT_MS = 1_000
const TRUST_MS = 2_500
const LEASE_MS = 3_500
const TURN_MS = 1_000
const SLOWEST_ANSWER_MS = 900
const CUT_MS = 5_500
const LANES = 8

/** The gateway and the ledger, as far as shares are concerned. */
class World {
  readonly clock = new ManualClock(Date.UTC(2026, 4, 4, 9))
  readonly table: ShareTable
  readonly startsMs: number[] = []
  readonly workers: Worker[] = []
  readonly over = new AbortController()
  open = 0
  mostOpen = 0

  constructor(allowance: Share, workers: number) {
    this.table = new ShareTable(allowance, () => this.clock.monotonicMs())
    for (let id = 1; id <= workers; id++) this.workers.push(new Worker(id, this))
    void this.#buryTheDead()
  }

  /** The most starts in any window of that length, its end excluded. */
  fullest(windowMs: number, fromMs = 0): number {
    const startsMs = this.startsMs.filter((atMs) => atMs >= fromMs)
    return Math.max(0, ...startsMs.map((from) => startsMs.filter((at) => at >= from && at < from + windowMs).length))
  }

  async #buryTheDead(): Promise<void> {
    while (!this.over.signal.aborted) {
      for (const { id, lease } of this.workers)
        if (lease.untilMs < this.clock.monotonicMs())
          this.table.bury(id, { ...lease, answerByMs: lease.startMs + SLOWEST_ANSWER_MS })
      await this.clock.sleep(300)
    }
  }
}

class Worker {
  readonly id: number
  readonly #world: World
  readonly #limiter: AccountLimiter
  /** `startMs`: the latest time at which it trusts its share. */
  lease = { untilMs: Number.POSITIVE_INFINITY, startMs: 0 }
  wish: 'in' | 'rests' | 'out' = 'out'
  cutUntilMs = 0
  #trustedUntilMs = 0

  constructor(id: number, world: World) {
    this.id = id
    this.#world = world
    const { ratePerSecond, inFlightMax } = world.table.allowance
    this.#limiter = createLimiter({ ratePerSecond, inFlightMax, clock: world.clock })
    this.#limiter.resize(NOTHING)
    for (let doubled = 1; doubled < inFlightMax; doubled *= 2) this.#limiter.record('true-answer', null)
    for (let lane = 0; lane < LANES; lane++) void this.#work(20 + 37 * ((id * 5 + lane * 3) % 24), 3 + lane)
    void this.#live()
  }

  get #nowMs(): number {
    return this.#world.clock.monotonicMs()
  }

  async #live(): Promise<void> {
    await this.#pause(this.id * 230)
    while (!this.#world.over.signal.aborted) {
      if (!this.#isCut()) await this.#beat()
      await this.#pause(BEAT_MS)
    }
  }

  /** As an adapter does it. Whatever goes to the ledger or comes from it takes some time. */
  async #beat(): Promise<void> {
    const { table } = this.#world
    const beganMs = this.#nowMs
    await this.#pause(15)
    if (this.wish === 'out') table.leave(this.id)
    else table.wish(this.id, this.wish === 'rests')
    this.lease = { untilMs: this.#nowMs + LEASE_MS, startMs: beganMs + TRUST_MS }
    const facts = table.facts()
    await this.#pause(15)
    this.#trustedUntilMs = beganMs + TRUST_MS
    this.#limiter.resize(shareInForce(this.id, facts))
    const shrink = shrinkOf(this.id, facts, this.#limiter.inFlight())
    await this.#pause(40)
    if (shrink !== null) table.shrink(this.id, shrink)
    await this.#pause(40)
    if (this.#isCut()) return
    table.grow(this.id)
    const grown = table.facts()
    await this.#pause(25)
    this.#limiter.resize(shareInForce(this.id, grown))
  }

  /** Sends one request after the other for as long as it may. */
  async #work(answerMs: number, readyInMs: number): Promise<void> {
    while (!this.#world.over.signal.aborted) {
      const turn = new AbortController()
      const ended = new AbortController()
      void this.#world.clock.sleep(TURN_MS, ended.signal).then(() => turn.abort())
      const permit = await this.#limiter.acquire(turn.signal)
      if (permit === null) await this.#pause(50)
      else {
        await this.#send(turn.signal, answerMs, readyInMs)
        permit.release()
      }
      ended.abort()
    }
  }

  async #send(turn: AbortSignal, answerMs: number, readyInMs: number): Promise<void> {
    const reservation = await this.#limiter.reserve(turn)
    if (reservation === null) return
    await this.#pause(readyInMs)
    await this.#limiter.departure()
    const isSent = this.#nowMs <= this.#trustedUntilMs && reservation.commit() === null
    reservation.cancel()
    if (!isSent) return this.#pause(20)
    const world = this.#world
    world.startsMs.push(this.#nowMs)
    world.open += 1
    world.mostOpen = Math.max(world.mostOpen, world.open)
    await this.#pause(answerMs)
    world.open -= 1
    this.#limiter.record('true-answer', null)
  }

  #isCut(): boolean {
    return this.#nowMs < this.cutUntilMs
  }

  #pause(ms: number): Promise<void> {
    return this.#world.clock.sleep(ms)
  }
}

interface Happening {
  readonly afterMs: number
  readonly worker: number
  readonly what: 'joins' | 'leaves' | 'rests' | 'is cut off'
}

function happen(world: World, { worker: nth, what }: Happening): void {
  const worker = world.workers[nth]!
  switch (what) {
    case 'joins':
      worker.wish = 'in'
      return
    case 'leaves':
      worker.wish = 'out'
      return
    case 'rests':
      worker.wish = 'rests'
      return
    case 'is cut off':
      worker.cutUntilMs = world.clock.monotonicMs() + CUT_MS
  }
}

const anyHappening: fc.Arbitrary<Happening> = fc.record({
  afterMs: fc.integer({ min: 0, max: 2_500 }),
  worker: fc.nat({ max: 3 }),
  what: fc.constantFrom('joins', 'joins', 'leaves', 'rests', 'is cut off'),
})

describe('over all processes', () => {
  test('no second sees more starts than the rate, and never is more open, whoever comes, goes and is cut off', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0.5, 1, 2.5, 7, 22, 45),
        fc.constantFrom(1, 3, 12),
        fc.array(anyHappening, { minLength: 3, maxLength: 9 }),
        async (ratePerSecond, inFlightMax, happenings) => {
          const world = new World({ ratePerSecond, inFlightMax }, 4)
          for (const worker of [0, 1]) happen(world, { afterMs: 0, worker, what: 'joins' })
          for (const happening of happenings) {
            await world.clock.advance(happening.afterMs)
            happen(world, happening)
          }
          await world.clock.advance(3_000)
          // Whatever happened may have left nobody who sends; with all of them back, requests leave again.
          const before = world.startsMs.length
          for (const worker of [0, 1, 2, 3]) happen(world, { afterMs: 0, worker, what: 'joins' })
          await world.clock.advance(CUT_MS + LEASE_MS + 6_000)
          world.over.abort()
          expect(world.startsMs.length).toBeGreaterThan(before)
          expect(world.fullest(1_000)).toBeLessThanOrEqual(Math.max(1, Math.floor(ratePerSecond)))
          if (ratePerSecond < 1) expect(world.fullest(1_000 / ratePerSecond)).toBe(1)
          expect(world.mostOpen).toBeLessThanOrEqual(inFlightMax)
        },
      ),
      { numRuns: tries(6), endOnFailure: true },
    )
  })

  test('nearly all of the rate is used, and one that joins costs a part of it for some beats only', async () => {
    const world = new World({ ratePerSecond: 60, inFlightMax: 100 }, 4)
    for (const worker of [0, 1, 2]) happen(world, { afterMs: 0, worker, what: 'joins' })
    await world.clock.advance(6_000)
    const inTenSeconds = async () => {
      const before = world.startsMs.length
      await world.clock.advance(10_000)
      return world.startsMs.length - before
    }
    expect(await inTenSeconds()).toBeGreaterThanOrEqual(588)
    happen(world, { afterMs: 0, worker: 3, what: 'joins' })
    expect(await inTenSeconds()).toBeGreaterThanOrEqual(550)
    for (const { id } of world.workers) expect(world.table.heldBy(id)).toEqual(targetShare(id, world.table.facts()))
    expect(await inTenSeconds()).toBeGreaterThanOrEqual(588)
    world.over.abort()
    expect(world.fullest(1_000)).toBeLessThanOrEqual(60)
  })

  test('a rate that a person sets where there was none is kept as soon as every worker has heard of it', async () => {
    const world = new World({ ratePerSecond: null, inFlightMax: 6 }, 3)
    for (const worker of [0, 1, 2]) happen(world, { afterMs: 0, worker, what: 'joins' })
    await world.clock.advance(4_000)
    world.table.allowance = { ratePerSecond: 5, inFlightMax: 6 }
    await world.clock.advance(BEAT_MS + 200)
    const heardMs = world.clock.monotonicMs()
    await world.clock.advance(8_000)
    world.over.abort()
    expect(world.fullest(1_000, heardMs)).toBe(5)
  })
})
