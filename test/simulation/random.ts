// Chance that can be repeated: the same seed gives the same numbers for ever.

export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  /** `seed` is a whole number from 0 up. */
  constructor(seed: number) {
    this.#a = seed >>> 0
    this.#b = Math.floor(seed / 2 ** 32) >>> 0
    this.#c = 0x9e3779b9
    for (let i = 0; i < 12; i++) this.next() // neighbouring seeds begin alike
  }

  /** From 0 up to, but not, 1. The generator is sfc32. */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter++) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from)
  }

  /** A whole number, both ends included. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }

  pick<T>(from: readonly T[]): T {
    return from[this.whole(0, from.length - 1)] as T
  }
}
