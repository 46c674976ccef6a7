// Deadlines of many requests that all have the same time: the one that began first is over first, so one timer serves them all.

/** What has a deadline, and its neighbours in a ring. Entries of a Map are old to the garbage collector, and so becomes what they held. */
export class Timed {
  overAtMs = 0
  before: Timed = this
  behind: Timed = this

  leave(): void {
    this.before.behind = this.behind
    this.behind.before = this.before
    this.before = this
    this.behind = this
  }
}

export class Deadlines<T extends Timed> {
  readonly #limitMs: number
  readonly #afterReading: (then: () => void) => void
  readonly #onOver: (one: T) => void
  /** Behind it is the first, before it the last. */
  readonly #ring = new Timed()
  #timer: NodeJS.Timeout | undefined

  /** `afterReading`: how what has come in time is read first, since timers run before sockets are read. */
  constructor(limitMs: number, afterReading: (then: () => void) => void, onOver: (one: T) => void) {
    this.#limitMs = limitMs
    this.#afterReading = afterReading
    this.#onOver = onOver
  }

  /** Its time counts from now, even where it counted before, here or among other deadlines. */
  begin(one: T): void {
    one.leave()
    one.before = this.#ring.before
    one.behind = this.#ring
    one.before.behind = one
    this.#ring.before = one
    one.overAtMs = performance.now() + this.#limitMs
    if (this.#timer === undefined) this.#setTimer()
  }

  /** Those whose time counts. */
  all(): T[] {
    const all: T[] = []
    for (let one = this.#ring.behind; one !== this.#ring; one = one.behind) all.push(one as T)
    return all
  }

  #first(): T | null {
    return this.#ring.behind === this.#ring ? null : (this.#ring.behind as T)
  }

  #setTimer(): void {
    const first = this.#first()
    if (first === null) this.#timer = undefined
    // It keeps no process alive: what is waited for does.
    else {
      const leftMs = Math.ceil(first.overAtMs - performance.now())
      this.#timer = setTimeout(() => this.#onTimer(), Math.max(0, leftMs)).unref()
    }
  }

  /** What is over only while the rest is being read has to be read as well: it waits for the next timer. */
  #onTimer(): void {
    const untilMs = performance.now()
    this.#afterReading(() => {
      for (let one = this.#first(); one !== null && one.overAtMs <= untilMs; one = this.#first()) {
        one.leave()
        this.#onOver(one)
      }
      this.#setTimer()
    })
  }
}
