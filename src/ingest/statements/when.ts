// Columns that say when the money of a row is to move, begins to or ends to, and that nothing reads; and what execute_at says of all rows.

import { parseExecuteAt } from '../../domain/instant.ts'
import { shown } from '../../domain/problem.ts'
import { words } from '../../domain/words.ts'
import { unquoted } from '../csv/quotes.ts'
import { wordsOf } from './names.ts'
import { columnText, type Found, type Statement } from './statement.ts'
import { BEGIN_NAMES, DUE_NAMES, END_NAMES, ENDED_NAMES } from './words.ts'

const KINDS = [
  { says: 'not yet due', names: DUE_NAMES },
  { says: 'not yet begun', names: BEGIN_NAMES },
  { says: 'ended', names: ENDED_NAMES },
  { says: 'ended', names: END_NAMES },
] as const

const DAY_MS = 24 * 3600 * 1000
const YEAR_FIRST = /^(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})(?!\d)/
const YEAR_LAST = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d\d)(?!\d)/
const WITH_MONTH = /^(?:\d{1,2}\.? \p{L}{3,9}\.?|\p{L}{3,9}\.? \d{1,2}),? \d{4}$/u

/** Days since 1970, as Europe reads it and as the United States do; NaN: it is no day. */
function daysIn(cell: string): readonly [number, number] {
  const [, year = '', month = '', day = ''] = YEAR_FIRST.exec(cell) ?? []
  if (year !== '') return [daysOf(year, month, day), daysOf(year, month, day)]
  const [, one = '', sign, other = '', last = ''] = YEAR_LAST.exec(cell) ?? []
  const full = last.length === 2 ? `20${last}` : last
  if (full !== '') return [daysOf(full, other, one), sign === '.' ? daysOf(full, other, one) : daysOf(full, one, other)]
  const named = WITH_MONTH.test(cell) ? Math.floor(Date.parse(`${cell} UTC`) / DAY_MS) : Number.NaN
  return [named, named]
}

function daysOf(year: string, month: string, day: string): number {
  const isDay = Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= 31
  return isDay ? Date.UTC(Number(year), Number(month) - 1, Number(day)) / DAY_MS : Number.NaN
}

interface Column {
  readonly kind: (typeof KINDS)[number]
  readonly name: string
  /** By the two ways to read a day: the first that is not to be sent now; null: none so far. undefined: it cannot be read so. */
  readonly told: [Found | null | undefined, Found | null | undefined]
  hasOthers: boolean
  last: string
}

/** What is asked of moments of other columns and of its own. */
interface Said {
  readonly nowMs?: number | undefined
  readonly timeZone?: string | undefined
  /** A person says that execute_at is meant as it is. */
  readonly areMomentsMeant: boolean
}

export class When {
  readonly #columns = new Map<number, Column>()
  readonly #moments: number | undefined
  readonly #said: Said
  /** By day, as it is written; empty: now. */
  readonly #days = new Map<string, number>()
  /** Lines. What is empty below a moment may be meant as the same; above one it cannot. */
  #firstLater: number | null = null
  #firstEmptyBelow: number | null = null

  /** `places`: the columns that have no meaning here. `moments`: the place of execute_at. Without a clock no day is near. */
  constructor(written: readonly string[], places: readonly number[], moments: number | undefined, said: Said) {
    this.#moments = moments
    this.#said = said
    for (const place of said.nowMs === undefined ? [] : places) {
      const name = (written[place] ?? '').trim()
      const words = wordsOf(name).join(' ')
      const kind = KINDS.find(({ names }) => names.test(words))
      if (kind !== undefined) this.#columns.set(place, { kind, name, told: [null, null], hasOthers: false, last: '' })
    }
  }

  see(cells: readonly string[], line: number): void {
    for (const [place, column] of this.#columns) {
      const cell = unquoted(cells[place] ?? '').trim()
      if (cell !== '' && cell === column.last) continue
      column.last = cell
      const days = daysIn(cell)
      const told = days.map((day) => this.#isTold(column.kind, day))
      if (!told.includes(true)) column.hasOthers = true
      if (Number.isNaN(days[0]) && Number.isNaN(days[1])) continue
      for (const i of [0, 1] as const) {
        if (Number.isNaN(days[i])) column.told[i] = undefined
        else if (told[i] === true && column.told[i] === null) column.told[i] = { line, cell, value: cell }
      }
    }
    if (this.#moments !== undefined) this.#seeMoment(unquoted(cells[this.#moments] ?? '').trim(), line)
  }

  /** A day later than tomorrow is one in every zone. */
  #isTold({ says }: Column['kind'], day: number): boolean {
    const today = Math.floor((this.#said.nowMs ?? 0) / DAY_MS)
    return says === 'ended' ? day < today : day > today + 1
  }

  #seeMoment(cell: string, line: number): void {
    if (cell === '' && this.#firstLater !== null) this.#firstEmptyBelow ??= line
    const moment = cell === '' ? 0 : parseExecuteAt(cell, this.#said.timeZone ?? null)
    if (typeof moment !== 'number') return
    const isLater = moment > (this.#said.nowMs ?? Number.POSITIVE_INFINITY)
    if (isLater) this.#firstLater ??= line
    const day = isLater ? cell.slice(0, 10) : ''
    this.#days.set(day, (this.#days.get(day) ?? 0) + 1)
  }

  statements(): readonly Statement[] {
    const found = [...this.#columns].flatMap(([place, { kind, name, told, hasOthers }]) => {
      const one = told[0] ?? told[1]
      if (one == null || (kind.names === END_NAMES && !hasOthers)) return []
      return [kind.says === 'ended' ? hasEnded(one, name, place) : isLater(kind.says, one, name, place)]
    })
    const [filled, empty] = [this.#firstLater, this.#firstEmptyBelow]
    if (filled === null || empty === null || this.#said.areMomentsMeant) return found
    return [...found, partlyFilled(filled, empty)]
  }

  /** For a person: how many rows leave when. null: nothing says it. */
  note(): string | null {
    const { '': now = 0, ...later } = Object.fromEntries(this.#days)
    const days = Object.entries(later).toSorted(([a], [b]) => a.localeCompare(b))
    if (days.length === 0) return null
    const rest = days.slice(DAYS_NAMED).reduce((sum, [, count]) => sum + count, 0)
    const parts = [
      ...(now === 0 ? [] : [`${now} now`]),
      ...days.slice(0, DAYS_NAMED).map(([day, count]) => `${count} on ${DAY_TEXT.format(Date.parse(day))}`),
      ...(rest === 0 ? [] : [`${rest} later`]),
    ]
    return `By execute_at rows leave at different times: ${parts.join(', ')}.`
  }
}

const DAYS_NAMED = 3
const DAY_TEXT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })

function isLater(says: Statement['says'], { cell, line }: Found, name: string, place: number): Statement {
  return {
    ...{ says, line, column: name },
    problem: `${columnText(name, place)} says "${shown(cell)}" in line ${line}, and it is not read: every row would be sent now`,
    remedy: words`to have each row wait for its moment, have the column read: ${{ set: 'map', column: shown(name), field: 'execute_at' }}; if all of them are to be sent now, ignore it: ${{ set: 'map', column: shown(name), field: 'ignore' }}`,
  }
}

function hasEnded({ cell, line }: Found, name: string, place: number): Statement {
  return {
    ...{ says: 'ended', line, column: name },
    problem: `${columnText(name, place)} says "${shown(cell)}" in line ${line}, which is past, and it is not read: every row would be charged`,
    remedy: words`take out the rows that have ended, then ignore the column: ${{ set: 'map', column: shown(name), field: 'ignore' }}`,
  }
}

function partlyFilled(filled: number, empty: number): Statement {
  return {
    ...{ says: 'some rows have a moment', line: empty, column: 'execute_at' },
    problem: `execute_at is filled in line ${filled} and empty in line ${empty}, and a row without one is sent now`,
    remedy: words`fill it in where "the same" is meant; if the others are to be sent now, say that it is read as it stands: ${{ set: 'map', column: 'execute_at', field: 'execute_at' }}`,
  }
}
