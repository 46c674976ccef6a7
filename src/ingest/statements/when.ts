// Columns that say when the money of a row is to move, begins to or ends to, and that nothing reads; and what execute_at says of all rows.

import { parseExecuteAt } from '../../domain/instant.ts'
import { shown } from '../../domain/problem.ts'
import { words } from '../../domain/words.ts'
import { unquoted } from '../csv/quotes.ts'
import { DAY_MS, daysIn } from '../fields/day.ts'
import type { Header } from '../header.ts'
import { saidPlaces } from '../said-columns.ts'
import { wordsOf } from './names.ts'
import { type Found, rowByRow, type Statement } from './statement.ts'
import type { Said } from './statements.ts'
import { BEGIN_NAMES, DUE_NAMES, END_NAMES, ENDED_NAMES, LATER_NAMES } from './words.ts'

const KINDS = [
  { says: 'not yet due', names: DUE_NAMES },
  { says: 'for later', names: LATER_NAMES },
  { says: 'not yet begun', names: BEGIN_NAMES },
  { says: 'ended', names: ENDED_NAMES },
  { says: 'ended', names: END_NAMES },
] as const

interface Column {
  readonly kind: (typeof KINDS)[number]
  readonly name: string
  /** By the two ways to read a day, the first that is not to be sent now. null: none so far; undefined: it cannot be read so. */
  readonly told: [Found | null | undefined, Found | null | undefined]
  hasOthers: boolean
  last: string | null
}

export class When {
  readonly #columns = new Map<number, Column>()
  /** Of execute_at; a file of this program's own has been asked about before. */
  readonly #moments: number | undefined
  readonly #areMomentsMeant: boolean
  readonly #said: Said
  /** By day, as it is written; empty: now. */
  readonly #days = new Map<string, number>()
  /** Lines. What is empty below a moment may be meant as the same; above one it cannot. */
  #firstLater: number | null = null
  #firstEmptyBelow: number | null = null

  /** `places`: the columns that have no meaning here. Without a clock no day is near. */
  constructor({ written, fields, guarded }: Header, places: readonly number[], said: Said) {
    this.#said = said
    this.#moments = guarded ? undefined : fields.execute_at
    this.#areMomentsMeant = saidPlaces(said.map ?? [], written, ({ field }) => field === 'execute_at').length > 0
    for (const place of said.nowMs === undefined || fields.execute_at !== undefined ? [] : places) {
      const name = (written[place] ?? '').trim()
      const kind = KINDS.find(({ names }) => names.test(wordsOf(name).join(' ')))
      if (kind !== undefined) this.#columns.set(place, { kind, name, told: [null, null], hasOthers: false, last: null })
    }
  }

  see(cells: readonly string[], line: number): void {
    for (const [place, column] of this.#columns) {
      const { kind, told } = column
      const raw = cells[place] ?? ''
      if (raw === column.last) continue
      column.last = raw
      const cell = unquoted(raw).trim()
      const days = daysIn(cell)
      const isTold = days.map((day) => this.#isTold(kind.says, day))
      column.hasOthers ||= !isTold.includes(true)
      if (days.every(Number.isNaN)) continue
      for (const i of [0, 1] as const)
        if (Number.isNaN(days[i])) told[i] = undefined
        else if (isTold[i] === true && told[i] === null) told[i] = { line, cell, value: cell }
    }
    if (this.#moments !== undefined) this.#seeMoment(unquoted(cells[this.#moments] ?? '').trim(), line)
  }

  /** A day later than tomorrow is one in every zone. */
  #isTold(says: Column['kind']['says'], day: number): boolean {
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
      if (kind.says === 'ended') return [rowByRow(kind.says, 'says that rows have ended', [one], name, place)]
      const { remedy, ...later } = rowByRow(kind.says, 'says that rows are for later', [one], name, place)
      const read = { set: 'map', column: shown(name), field: 'execute_at' } as const
      return [{ ...later, remedy: words`${remedy}; or have moments in it read: ${read}` }]
    })
    const [later, empty] = [this.#firstLater, this.#firstEmptyBelow]
    if (later === null || empty === null || this.#areMomentsMeant) return found
    return [...found, emptyBelow(later, empty)]
  }

  /** For a person: how many rows leave when. null: all of them now. */
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

function emptyBelow(later: number, empty: number): Statement {
  return {
    ...{ says: 'some rows have a moment', line: empty, column: 'execute_at' },
    problem: `execute_at is filled in line ${later} and empty in line ${empty}, and a row without one is sent now`,
    remedy: words`fill it in where "the same" is meant; if the others are to be sent now, say so: ${{ set: 'map', column: 'execute_at', field: 'execute_at' }}`,
  }
}
