// A machine with a clock of its own, and the files of the workers that it starts.

import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from '../../../src/ledger/postgres/ledger.ts'
import { BEGINNING_MS, type Life, type TimeOfMachine, type World } from '../world.ts'

export class Host implements TimeOfMachine {
  readonly name: string
  readonly dir: string
  #world: World
  #offMs: number
  #drift: number
  #suspendedMs = 0

  constructor(
    world: World,
    name: string,
    dir: string,
    { offMs, drift }: { readonly offMs: number; readonly drift: number },
  ) {
    this.#world = world
    this.name = name
    this.dir = dir
    this.#offMs = offMs
    this.#drift = drift
    mkdirSync(dir)
  }

  get wallMs(): number {
    return BEGINNING_MS + Math.floor(this.#world.nowMs * this.#drift + this.#offMs)
  }

  get monotonicMs(): number {
    return (this.#world.nowMs - this.#suspendedMs) * this.#drift
  }

  setWallBy(offMs: number): void {
    this.#offMs = offMs
    this.#world.say(this.name, () => `its clock is ${Math.round(offMs)} ms off`)
  }

  /** Its worker stands still, and its steady clock with it. */
  suspend(life: Life, forMs: number): void {
    life.freeze(forMs)
    this.#suspendedMs += forMs
  }

  get place(): Place {
    return { id: this.name, answersPath: join(this.dir, 'answers'), witnessPath: join(this.dir, 'one.witness') }
  }

  witnessFiles(): readonly string[] {
    return readdirSync(this.dir).flatMap((name) => (name.endsWith('.witness') ? [join(this.dir, name)] : []))
  }
}
