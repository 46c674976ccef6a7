// What execute_at says of all rows.

import { parseExecuteAt } from '../../domain/instant.ts'
import { words } from '../../domain/words.ts'
import { mapped, type Statement } from './statement.ts'
import type { Said } from './statements.ts'

/** Of execute_at, in the rows that move money. */
export class Moments {
  readonly #said: Said
  /** By day, as it is written; empty: now. */
  readonly #days = new Map<string, number>()
  /** Lines. What is empty below a moment may be meant as the same; above one it cannot. */
  #firstLater: number | null = null
  #firstEmptyBelow: number | null = null

  constructor(said: Said) {
    this.#said = said
  }

  see(cell: string, line: number): void {
    if (cell === '' && this.#firstLater !== null) this.#firstEmptyBelow ??= line
    const moment = cell === '' ? 0 : parseExecuteAt(cell, this.#said.timeZone ?? null)
    if (typeof moment !== 'number') return
    const isLater = moment > (this.#said.nowMs ?? Number.POSITIVE_INFINITY)
    if (isLater) this.#firstLater ??= line
    const day = isLater ? cell.slice(0, 10) : ''
    this.#days.set(day, (this.#days.get(day) ?? 0) + 1)
  }

  /** A person may say that it is meant. */
  statement(): Statement | null {
    const [later, empty] = [this.#firstLater, this.#firstEmptyBelow]
    if (later === null || empty === null) return null
    return {
      ...{ effect: 'refused', line: empty, column: 'execute_at' },
      problem: `execute_at is filled in line ${later} and empty in line ${empty}, and a row without one is sent now`,
      remedy: words`fill it in where "the same" is meant; if the others are to be sent now, say so: ${mapped('execute_at', 'execute_at')}`,
    }
  }

  /** For a person: how many rows leave when; empty: all of them now. */
  notes(): readonly string[] {
    const { '': now = 0, ...later } = Object.fromEntries(this.#days)
    const days = Object.entries(later).toSorted(([a], [b]) => a.localeCompare(b))
    const rest = days.slice(DAYS_NAMED).reduce((sum, [, count]) => sum + count, 0)
    const parts = [
      ...(now === 0 ? [] : [`${now} now`]),
      ...days.slice(0, DAYS_NAMED).map(([day, count]) => `${count} on ${DAY_TEXT.format(Date.parse(day))}`),
      ...(rest === 0 ? [] : [`${rest} later`]),
    ]
    return days.length === 0 ? [] : [`By execute_at rows leave at different times: ${parts.join(', ')}.`]
  }
}

const DAYS_NAMED = 3
const DAY_TEXT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
