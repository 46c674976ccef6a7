// One machine with its processes and the world around it, in one queue of events ordered by time. Nothing else moves: what
// a process does, it does in answer to an event, so that dying before any event is dying at any await.

import { setImmediate as drained } from 'node:timers/promises'
import type { Timing } from '../../src/ledger/sqlite/commit.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Random } from './random.ts'

/** Wall time at the beginning of every run. */
export const BEGINNING_MS = Date.UTC(2026, 4, 4, 9)

interface Happening {
  atMs: number
  readonly seq: number
  /** Whose it is: it never happens to a dead process, and late to one that stands still. null: nobody's. */
  readonly life: Life | null
  /** A timer of this machine: it stands still with the machine. */
  readonly timer: boolean
  run: (() => void) | null
}

export interface WorldOptions {
  readonly trace: boolean
  readonly dieAtStep: number | null
  /** Resolves when nobody can do anything more without another event. Absent: when all that waits for nothing has run. */
  readonly quiet?: () => Promise<void>
}

/** The time as one machine tells it. */
export interface TimeOfMachine {
  readonly wallMs: number
  readonly monotonicMs: number
}

/** What must never be, in words. The run ends at once. */
export class Violation extends Error {}

export class World implements TimeOfMachine {
  /** True time since the beginning, which no process sees. */
  nowMs = 0
  /** Events of processes so far. */
  steps = 0
  /** The process that would take this step dies before it. */
  readonly dieAtStep: number
  readonly random: Random
  /** null: nobody wants to read it. */
  readonly trace: string[] | null
  violation: Violation | null = null
  #wallOffsetMs = 0
  #suspendedMs = 0
  #suspendedUntilMs = 0
  #seq = 0
  #heap: Happening[] = []

  readonly #quiet: () => Promise<void>

  constructor(random: Random, options: WorldOptions) {
    this.random = random
    this.#quiet = options.quiet ?? drained
    this.trace = options.trace ? [] : null
    this.dieAtStep = options.dieAtStep ?? -1
  }

  get wallMs(): number {
    return BEGINNING_MS + Math.floor(this.nowMs + this.#wallOffsetMs)
  }

  get monotonicMs(): number {
    return this.nowMs - this.#suspendedMs
  }

  /** Runs it after a while; the answer takes it back. */
  after(delayMs: number, run: () => void, life: Life | null = null, timer = false): () => void {
    const happening: Happening = { atMs: this.nowMs + Math.max(0, delayMs), seq: this.#seq++, life, timer, run }
    this.#push(happening)
    return () => {
      happening.run = null
    }
  }

  setWallBy(offsetMs: number): void {
    this.#wallOffsetMs = offsetMs
    this.say('machine', () => `the wall clock is ${Math.round(offsetMs)} ms off`)
  }

  /** The machine stands still: its monotonic clock and its timers with it; the wall clock and the network go on. */
  suspend(forMs: number): void {
    this.say('machine', () => `suspended for ${Math.round(forMs)} ms`)
    this.#suspendedUntilMs = this.nowMs + forMs
    this.#suspendedMs += forMs // nobody is there to read the clock before it is over
    for (const happening of this.#heap) if (happening.timer) happening.atMs += forMs
    const all = this.#heap
    this.#heap = []
    for (const happening of all) this.#push(happening)
  }

  fail(what: string): void {
    this.violation ??= new Violation(what)
    this.say('VIOLATION', () => what)
  }

  say(who: string, what: () => string): void {
    if (this.trace === null) return
    this.trace.push(`${(this.nowMs / 1000).toFixed(4).padStart(9)} s  #${this.steps}  ${who.padEnd(12)} ${what()}`)
  }

  /** Goes on until `done`, a violation, or the moment; false: the moment came first. */
  async run(done: () => boolean, untilMs: number): Promise<boolean> {
    while (this.violation === null) {
      if (done()) return true
      const next = this.#heap[0]
      if (next === undefined || next.atMs > untilMs) {
        this.nowMs = Math.max(this.nowMs, untilMs)
        return false
      }
      this.#pop()
      if (this.#dispatch(next)) await this.#quiet()
    }
    return true
  }

  #dispatch(next: Happening): boolean {
    const { life, run } = next
    if (run === null || (life !== null && !life.isAlive)) return false
    this.nowMs = Math.max(this.nowMs, next.atMs)
    if (life !== null) {
      const heldUntilMs = Math.max(life.frozenUntilMs, this.#suspendedUntilMs)
      if (heldUntilMs > this.nowMs) {
        next.atMs = heldUntilMs
        this.#push(next)
        return false
      }
      this.steps += 1
      if (this.steps === this.dieAtStep || life.isLastStep()) {
        life.kill('is killed')
        return true
      }
    }
    next.run = null
    try {
      run()
    } catch (error) {
      const isOfDead = life !== null && !life.isAlive
      if (!isOfDead) this.fail(`an event broke off: ${(error as Error).stack}`)
    }
    return true
  }

  #push(happening: Happening): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(happening)
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(happening, heap[above] as Happening)) break
      heap[at] = heap[above] as Happening
      at = above
    }
    heap[at] = happening
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop() as Happening
    const size = heap.length
    if (size === 0) return
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= size) break
      if (below + 1 < size && isBefore(heap[below + 1] as Happening, heap[below] as Happening)) below += 1
      if (!isBefore(heap[below] as Happening, last)) break
      heap[at] = heap[below] as Happening
      at = below
    }
    heap[at] = last
  }
}

function isBefore(one: Happening, other: Happening): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.seq < other.seq)
}

/** A process of the machine. */
export class Life {
  readonly name: string
  readonly world: World
  isAlive: boolean = true
  frozenUntilMs = 0
  readonly clock: Clock
  readonly timing: Timing
  #atEnd: Array<() => void> = []
  #stepsLeft = Number.POSITIVE_INFINITY

  constructor(world: World, name: string, time: TimeOfMachine = world) {
    this.world = world
    this.name = name
    this.clock = {
      nowMs: () => time.wallMs,
      monotonicMs: () => time.monotonicMs,
      sleep: (ms, signal) => this.#sleep(ms, signal),
    }
    this.timing = {
      nowMs: () => time.wallMs,
      soon: (run) => void world.after(0, run, this),
      later: (run, afterMs) => void world.after(afterMs, run, this, true),
    }
  }

  /** Runs the program of this process; `ended` is told once, however it ends. */
  start(main: () => Promise<void>, ended: () => void): void {
    this.#atEnd.push(ended)
    this.world.after(
      0,
      () => {
        this.say(() => 'starts')
        main().then(
          () => this.kill('ends'),
          (error) => {
            this.world.fail(
              `${this.name} broke off: ${error instanceof Error ? (error.stack ?? error.message) : error}`,
            )
            this.kill('broke off')
          },
        )
      },
      this,
    )
  }

  say(what: () => string): void {
    this.world.say(this.name, what)
  }

  /** What the kernel does when the process ends: locks are freed, whoever waits for it is told. */
  atEnd(run: () => void): void {
    this.#atEnd.push(run)
  }

  kill(how: string): void {
    if (!this.isAlive) return
    this.isAlive = false
    this.say(() => how)
    for (const run of this.#atEnd.splice(0)) run()
  }

  /** Dies before the event after that many more. */
  dieIn(steps: number): void {
    this.#stepsLeft = steps
  }

  isLastStep(): boolean {
    return this.#stepsLeft-- === 0
  }

  freeze(forMs: number): void {
    this.say(() => `stands still for ${Math.round(forMs)} ms`)
    this.frozenUntilMs = this.world.nowMs + forMs
  }

  /** Something that takes time and ends without an answer of anyone. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.world.after(ms, resolve, this))
  }

  #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const ended = () => {
        signal?.removeEventListener('abort', aborted)
        resolve()
      }
      const lateMs = this.world.random.next() * 1.5
      const takeBack = this.world.after(Math.max(1, ms) + lateMs, ended, this, true)
      const aborted = () => {
        takeBack()
        ended()
      }
      signal?.addEventListener('abort', aborted)
    })
  }
}
