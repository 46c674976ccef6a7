// A secret that cannot be printed by accident.

/** What Node's `inspect` asks for, and with it `console` and the log. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/** A text that prints as `[secret]` wherever it is printed by accident. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  reveal(): string {
    return this.#text
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [INSPECT](): string {
    return '[secret]'
  }
}
