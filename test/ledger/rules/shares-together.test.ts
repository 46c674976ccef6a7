// Many workers that divide one account, in any interleaving of what each does one step at a time.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Share } from '../../../src/domain/share.ts'
import { type ShareFacts, shareInForce, shrinkOf, targetShare } from '../../../src/ledger/rules/shares.ts'
import { anyAllowance, ShareTable, usableRate } from '../../fixtures/share-table.ts'
import { tries } from '../../fixtures/tries.ts'

const NONE: Share = { ratePerSecond: 0, inFlightMax: 0 }
const WORKERS = [1, 2, 3, 4, 5]
const ANSWER_WITHIN_MS = 20_000

/** What a worker does next. One phase after the other, and anything may happen in between. */
type Phase = 'read' | 'write' | 'grow' | 'raise'

class ModelWorker {
  readonly id: number
  open = 0
  phase: Phase = 'read'
  seen: ShareFacts | null = null
  /** null: it lives. */
  endedMs: number | null = null
  /** In its limiter, and when it began: any of the last second may have been used. */
  readonly inForce: Array<{ readonly atMs: number; readonly share: Share }> = [{ atMs: 0, share: NONE }]

  constructor(id: number) {
    this.id = id
  }

  get share(): Share {
    return this.inForce.at(-1)!.share
  }
}

class Model {
  nowMs = 0
  readonly table: ShareTable
  readonly workers = WORKERS.map((id) => new ModelWorker(id))

  constructor(of: Share) {
    this.table = new ShareTable(of, () => this.nowMs)
  }

  pass(ms: number): void {
    this.nowMs += ms
    for (const worker of this.workers)
      if (worker.endedMs !== null && this.nowMs >= worker.endedMs + ANSWER_WITHIN_MS) worker.open = 0
  }

  /** One phase. `isLost`: what it writes does not arrive, or its answer does not. */
  step(worker: ModelWorker, isLost = false): void {
    if (worker.endedMs !== null) return
    switch (worker.phase) {
      case 'read':
        worker.seen = this.table.facts()
        this.resize(worker, shareInForce(worker.id, worker.seen))
        worker.phase = 'write'
        return
      case 'write': {
        const shrink = shrinkOf(worker.id, worker.seen!, worker.open)
        if (shrink !== null && !isLost) this.table.shrink(worker.id, shrink)
        worker.phase = isLost ? 'read' : 'grow'
        return
      }
      case 'grow':
        this.table.grow(worker.id)
        worker.phase = isLost ? 'read' : 'raise'
        return
      case 'raise':
        this.resize(worker, shareInForce(worker.id, this.table.facts()))
        worker.phase = 'read'
    }
  }

  beat(worker: ModelWorker): void {
    worker.phase = 'read'
    for (const _ of ['read', 'write', 'grow', 'raise']) this.step(worker)
  }

  join(worker: ModelWorker, rests: boolean): void {
    if (worker.endedMs === null) this.table.wish(worker.id, rests)
  }

  resize(worker: ModelWorker, to: Share): void {
    worker.inForce.push({ atMs: this.nowMs, share: to })
  }

  startOne(worker: ModelWorker): void {
    if (worker.endedMs === null && worker.open < worker.share.inFlightMax) worker.open += 1
  }

  endOne(worker: ModelWorker): void {
    worker.open = Math.max(0, worker.open - 1)
  }

  die(worker: ModelWorker): void {
    if (worker.endedMs !== null) return
    worker.endedMs = this.nowMs
    this.resize(worker, NONE)
  }

  bury(worker: ModelWorker): void {
    if (worker.endedMs === null) return
    this.table.bury(worker.id, { startMs: worker.endedMs, answerByMs: worker.endedMs + ANSWER_WITHIN_MS })
  }

  /** The most that every worker may have started in the span that ends now, and what is open. */
  used(): { rate: number; inFlight: number } {
    const spanMs = Math.max(1_000, 1_000 / (this.table.allowance.ratePerSecond ?? 1))
    const most = (worker: ModelWorker) =>
      worker.inForce
        .filter((_, i) => (worker.inForce[i + 1]?.atMs ?? Infinity) > this.nowMs - spanMs)
        .reduce((most, { share }) => Math.max(most, share.ratePerSecond ?? Infinity), 0)
    return {
      rate: this.workers.reduce((sum, worker) => sum + most(worker), 0),
      inFlight: this.workers.reduce((sum, worker) => sum + worker.open, 0),
    }
  }

  held(): Array<Share | undefined> {
    return this.workers.map(({ id }) => this.table.heldBy(id))
  }
}

type Step = (model: Model) => void
const anyWorker = fc.integer({ min: 0, max: WORKERS.length - 1 })
const on = (does: (model: Model, worker: ModelWorker) => void): fc.Arbitrary<Step> =>
  anyWorker.map((i) => (model) => does(model, model.workers[i]!))
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: on((model, worker) => model.step(worker)) },
  { weight: 4, arbitrary: on((model, worker) => model.beat(worker)) },
  { weight: 1, arbitrary: on((model, worker) => model.step(worker, true)) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(1, 300, 999, 1_000, 5_000, 20_000).map((ms) => (model: Model) => model.pass(ms)),
  },
  { weight: 4, arbitrary: on((model, worker) => model.startOne(worker)) },
  { weight: 2, arbitrary: on((model, worker) => model.endOne(worker)) },
  { weight: 2, arbitrary: on((model, worker) => model.join(worker, false)) },
  { weight: 1, arbitrary: on((model, worker) => model.join(worker, true)) },
  { weight: 1, arbitrary: on((model, worker) => model.table.leave(worker.id)) },
  { weight: 1, arbitrary: on((model, worker) => model.die(worker)) },
  { weight: 2, arbitrary: on((model, worker) => model.bury(worker)) },
)
const anySteps = fc.array(anyStep, { maxLength: 120, size: 'max' })

describe('in any interleaving', () => {
  test('what is held, what was freed, and what is used are never more than the allowance', () => {
    fc.assert(
      fc.property(anyAllowance, anySteps, (of, steps) => {
        const model = new Model(of)
        const most = usableRate(of.ratePerSecond)
        for (const step of steps) {
          step(model)
          const taken = model.table.taken()
          const used = model.used()
          expect(taken.ratePerSecond ?? most).toBeLessThanOrEqual(most)
          expect(taken.inFlightMax).toBeLessThanOrEqual(of.inFlightMax)
          expect(used.rate).toBeLessThanOrEqual(most)
          expect(used.inFlight).toBeLessThanOrEqual(of.inFlightMax)
        }
      }),
      { numRuns: tries(1_000) },
    )
  })

  test('every worker comes to its target within three beats of the last change, and then nothing changes', () => {
    fc.assert(
      fc.property(anyAllowance, anySteps, anyAllowance, (of, steps, later) => {
        const model = new Model(of)
        for (const step of steps) step(model)
        model.table.allowance = later
        for (const worker of model.workers) model.bury(worker)
        const beatMs = Math.max(2_000, 1_000 / (later.ratePerSecond ?? 1))
        model.pass(ANSWER_WITHIN_MS)
        for (let beat = 1; beat <= 3; beat++) {
          model.pass(beatMs)
          for (const worker of model.workers) {
            worker.open = Math.min(worker.open, worker.share.inFlightMax)
            if (beat === 2) worker.open = 0
            model.beat(worker)
            if (beat > 1) expect(model.used().rate).toBeLessThanOrEqual(usableRate(later.ratePerSecond))
          }
        }
        const settled = model.held()
        const all = model.table.facts()
        for (const worker of model.workers) {
          const target = targetShare(worker.id, all)
          expect(worker.endedMs !== null ? NONE : (model.table.heldBy(worker.id) ?? NONE)).toEqual(target)
          expect(worker.share).toEqual(target)
          model.pass(400)
          model.beat(worker)
        }
        expect(model.held()).toEqual(settled)
      }),
      { numRuns: tries(500) },
    )
  })

  test('a worker that joins has its share at its first beat that is a second later than the next one of every other', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 5 }), fc.integer({ min: 50, max: 200 }), (count, rate) => {
        const model = new Model({ ratePerSecond: rate, inFlightMax: 40 })
        const workers = model.workers.slice(0, count)
        const joins = workers.at(-1)!
        for (const worker of workers.slice(0, -1)) model.table.wish(worker.id, false)
        for (let beat = 0; beat < 4; beat++, model.pass(2_000))
          for (const worker of workers.slice(0, -1)) model.beat(worker)
        for (const worker of workers) while (worker.open < worker.share.inFlightMax) model.startOne(worker)
        model.table.wish(joins.id, false)
        for (const worker of workers.slice(0, -1)) model.step(worker)
        for (const worker of workers) worker.open = Math.min(worker.open, worker.share.inFlightMax)
        for (const worker of workers.slice(0, -1)) model.beat(worker)
        model.pass(1_000)
        model.beat(joins)
        expect(joins.share).toEqual(targetShare(joins.id, model.table.facts()))
        expect(joins.share.inFlightMax).toBeGreaterThan(0)
      }),
    )
  })
})
