// The one error class. A fault is something a person or an operator can act on; a bug is an assertion.

import type { State } from './states.ts'
import { joined, type Spelling, spell, type Text, type Words, words } from './words.ts'

/**
 * What kind of trouble it is. The command line turns the code into an exit code:
 * - `usage`, `config`: the command or the configuration is wrong (2)
 * - `refused`: a file was refused; nothing was recorded, nothing was sent (7)
 * - `stopped`: the work cannot go on without a person (6)
 * - `full`, `storage`: the data directory cannot be written (1)
 * - `unavailable`: something needed cannot be reached or started (2)
 * - `interrupted`: a signal ended it; running it again is safe (130)
 */
export type FaultCode = 'usage' | 'config' | 'refused' | 'stopped' | 'full' | 'storage' | 'unavailable' | 'interrupted'

interface FaultOptions {
  readonly cause?: unknown
  readonly points?: readonly Text[]
  readonly state?: State | null
}

export class Fault extends Error {
  readonly code: FaultCode
  /** Of the row that it is about. null: it is about none alone. */
  readonly state: State | null
  readonly #lines: readonly Text[]

  /** `sentence` is for a person: what happened, what it means for the money, what to do next. */
  constructor(code: FaultCode, sentence: Text, options: FaultOptions = {}) {
    const lines = [sentence, ...(options.points ?? []).map((point) => words`  ${point}`)]
    super(lines.join('\n'), options)
    this.name = 'Fault'
    this.code = code
    this.state = options.state ?? null
    this.#lines = lines
  }

  /** All of it in one text, for a place that no error can go to as it is. */
  get text(): Words {
    return joined(this.#lines, '\n')
  }

  /** As a person reads it at a door: the sentence, and each point below it. */
  linesIn(spelling: Spelling): readonly string[] {
    return this.#lines.map((line) => spell(line, spelling))
  }
}

/**
 * The same words without what they say of nothing having been sent. Most faults are raised where that is so, and can be
 * met again by a command whose batch is recorded and half sent.
 */
export function withoutNothingSent(text: string): string {
  return text
    .replace(/(^|\s)Nothing(?: of (?:it|this))? was [^.]*?\bsent\b[^.]*\.(?=\s|$)/g, '')
    .replace(/[;:,] (?:and )?nothing(?: of it)? was (?:[a-z]+ and nothing was )?sent\b/g, '')
    .trim()
}

/** States what must be true here whatever the input; a failure is a bug in this program, never the user's. */
export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(`bug: ${what}`)
}
