// The dispatch of slices and the queue of messages, as a Redis that loses, repeats and delays what it was given.

import { Fault } from '../../src/domain/fault.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import type { Dispatch, Slice } from '../../src/ports/dispatch.ts'
import type { SharedRegister } from '../../src/ports/ledger/copies.ts'
import { createMemoryRegister } from '../fixtures/shared-register.ts'
import type { Life, World } from './world.ts'

export interface RedisHabits {
  readonly loses: number
  readonly repeats: number
  readonly delays: number
}

const STALLED_AFTER_MS = 10_000
const DELAY_MAX_MS = 3_000

/** A message of another service, delivered until somebody has taken it. */
interface Message {
  readonly payload: unknown
  readonly id: string
}

interface Consumer {
  readonly life: Life
  /** Of this place, as are the slices that it takes. */
  readonly at: string
  closing: boolean
  running: number
  readonly take: (place: string, slice: Slice) => void
}

export class SimulatedRedis {
  readonly #world: World
  habits: RedisHabits
  #downUntilMs = 0
  #places = new Map<string, Slice>()
  #consumers: Consumer[] = []
  #messages: Message[] = []
  #deliver: { readonly life: Life; readonly take: (message: Message) => Promise<void> } | null = null

  readonly #register = createMemoryRegister()

  constructor(world: World, habits: RedisHabits) {
    this.#world = world
    this.habits = habits
  }

  get isDown(): boolean {
    return this.#world.nowMs < this.#downUntilMs
  }

  down(forMs: number): void {
    this.#world.say('redis', () => `is away for ${Math.round(forMs)} ms`)
    this.#downUntilMs = this.#world.nowMs + forMs
  }

  flush(): void {
    this.#world.say('redis', () => 'is emptied')
    this.#places.clear()
  }

  /**
   * Whoever testifies is always heard, and `flush` empties none of it: what is not noticed otherwise is in FAILURES. Who asks while it is away
   * waits until it is back.
   */
  openRegister(life: Life): SharedRegister {
    const register = this.#register
    const asked = async <T>(ask: () => Promise<T>): Promise<T> => {
      while (this.isDown) await life.clock.sleep(100)
      await life.pause(this.#world.random.between(0.2, 2))
      return ask()
    }
    return {
      ...register,
      newest: () => asked(register.newest),
      replace: (expected, next) => asked(() => register.replace(expected, next)),
      testimonies: () => asked(register.testimonies),
      forget: (testimonies) => asked(() => register.forget(testimonies)),
    }
  }

  /** Each place has a queue of its own, which is emptied by whoever comes there. */
  async openDispatch(
    life: Life,
    concurrency: number,
    work: (slice: Slice) => Promise<number>,
    at = '',
  ): Promise<Dispatch> {
    const world = this.#world
    const { random } = world
    while (this.isDown) await life.clock.sleep(100)
    await life.pause(random.between(0.2, 2))
    for (const place of [...this.#places.keys()]) if (place.startsWith(`${at} `)) this.#places.delete(place)
    const waiting: [string, Slice][] = []
    let listener: (batchId: BatchId, rows: number) => void = () => {}
    let idle: () => void = () => {}

    const ended = (place: string, slice: Slice, rows: number) => {
      consumer.running -= 1
      if (consumer.running === 0) idle()
      const tell = () => {
        if (this.isDown) return void world.after(100, tell, life)
        this.#places.delete(place)
        held.delete(place)
        listener(slice.batchId, rows)
        startWaiting()
      }
      world.after(random.between(0.2, 2), tell, life)
    }
    const startWaiting = () => {
      while (!consumer.closing && consumer.running < concurrency) {
        const next = waiting.shift()
        if (next === undefined) return
        start(...next)
      }
    }
    const start = (place: string, slice: Slice) => {
      consumer.running += 1
      life.say(() => `takes a slice of ${slice.batchId}`)
      work(slice).then(
        (rows) => ended(place, slice, rows),
        (error: Error) => {
          // As a queue does: the slice is over, and why is told.
          if (error instanceof Fault) {
            life.say(() => `a slice ends with a fault: ${error.message}`)
            return ended(place, slice, 0)
          }
          if (life.isAlive) world.fail(`a slice broke off: ${error.stack}`)
        },
      )
    }
    const consumer: Consumer = {
      life,
      at,
      closing: false,
      running: 0,
      take: (place, slice) => {
        held.add(place)
        if (consumer.closing) return
        waiting.push([place, slice])
        startWaiting()
      },
    }
    this.#consumers.push(consumer)
    const held = new Set<string>()
    /** What it had in hand comes back when nobody has said for a while that it goes on. */
    const giveBack = () =>
      void world.after(STALLED_AFTER_MS, () => {
        for (const place of held) this.#places.delete(place)
      })
    life.atEnd(() => {
      this.#consumers = this.#consumers.filter((other) => other !== consumer)
      giveBack()
    })
    return {
      offer: async (slices) => {
        await life.pause(random.between(0.2, 2))
        if (this.isDown) throw new Error('Connection is closed.')
        for (const slice of slices) this.#put(at, `${at} ${slice.batchId}-${slice.place}`, slice)
      },
      onFreed: (told) => {
        listener = told
      },
      close: async (withinMs) => {
        consumer.closing = true
        const allEnded = consumer.running === 0 ? Promise.resolve() : new Promise<void>((resolve) => (idle = resolve))
        await Promise.race([allEnded, life.clock.sleep(withinMs)])
        this.#consumers = this.#consumers.filter((other) => other !== consumer)
      },
    }
  }

  #put(at: string, place: string, slice: Slice): void {
    if (this.#places.has(place)) return
    const { random } = this.#world
    if (random.chance(this.habits.loses)) return
    this.#places.set(place, slice)
    const delivery = () => {
      const delayMs = random.chance(this.habits.delays) ? random.between(0, DELAY_MAX_MS) : random.between(0.2, 3)
      const deliver = () => {
        if (this.isDown) return void this.#world.after(200, deliver)
        const consumer = this.#consumers.findLast((one) => one.at === at)
        // Between here and the process lies the network: it may die on the way.
        if (consumer !== undefined) this.#world.after(0, () => consumer.take(place, slice), consumer.life)
      }
      this.#world.after(delayMs, deliver)
    }
    delivery()
    if (random.chance(this.habits.repeats)) delivery()
  }

  /** At least once: a message that nobody has acknowledged comes again. */
  send(payload: unknown, id: string): void {
    this.#messages.push({ payload, id })
    this.#deliverNext()
  }

  openIntake(life: Life, take: (payload: unknown, id: string) => Promise<unknown>): { close(): Promise<void> } {
    let underWay: Promise<void> = Promise.resolve()
    const deliver = {
      life,
      take: (message: Message) => {
        underWay = take(message.payload, message.id).then(async () => {
          await life.pause(this.#world.random.between(0.2, 2))
          // The acknowledgement gets lost: it was taken, and comes again.
          if (this.#world.random.chance(this.habits.repeats)) return
          this.#messages = this.#messages.filter((other) => other !== message)
        })
        return underWay
      },
    }
    this.#deliver = deliver
    const leave = () => {
      if (this.#deliver === deliver) this.#deliver = null
    }
    life.atEnd(leave)
    this.#deliverNext()
    return {
      close: async () => {
        leave()
        await underWay
      },
    }
  }

  get messagesLeft(): number {
    return this.#messages.length
  }

  #delivering: boolean = false

  #deliverNext(): void {
    if (this.#delivering) return
    this.#delivering = true
    const again = () => {
      const message = this.#messages[0]
      const deliver = this.#deliver
      if (message === undefined || deliver === null) {
        this.#delivering = false
        return
      }
      let isOver = false
      const next = () => {
        if (isOver) return
        isOver = true
        this.#world.after(5, again)
      }
      deliver.life.atEnd(next)
      this.#world.after(
        1,
        () => {
          if (this.#deliver !== deliver) return next()
          deliver.take(message).then(next, next)
        },
        deliver.life,
      )
    }
    this.#world.after(1, again)
  }
}
