// The columns that are not read, row by row, and those that are passed on without a look. What a cell says for the first time is put to
// each kind of column that this one may be.

import { DETAIL_FIELDS } from '../../domain/instruction.ts'
import type { Currency } from '../../domain/money.ts'
import { unquoted } from '../csv/quotes.ts'
import type { Field } from '../field-names.ts'
import { Lines } from '../fields/direction.ts'
import type { Header } from '../header.ts'
import { kindsIn } from './kinds.ts'
import { wordsOf } from './names.ts'
import { type Found, type Named, rowByRow, type Statement } from './statement.ts'
import type { Said } from './statements.ts'
import { REASONS, saysNotToSend } from './words.ts'

/** The first cell of those that are on one side. */
export interface Sided extends Found {
  readonly side: string
  /** The currency that its row names; null: none; undefined: none that there is. */
  readonly used: Currency | null | undefined
}

/** By side, in the order of the file. */
export type Sides = ReadonlyMap<string, Sided>

/** What a column may be, by its name. */
export interface Kind {
  /** Cells on one side say the same; null: no such column has that cell. */
  sideOf(cell: string, used: Sided['used']): string | null
  /** `used`: the currency of rows that name none. */
  statementOf(sides: Sides, used: Currency | null): Statement | null
}

/** Of a kind in a column; with more, nothing new is said. */
const SIDES_MOST = 200
/** Of a column, whose cells are known when they come again. */
const CELLS_KNOWN = 100
/** Of a note, that is looked through. */
const CHARACTERS_MOST = 500

/** Such as `State`, which may be a part of an address or say "refunded"; what a person said is meant. */
function isPassed(field: Field, isGuessed: boolean): boolean {
  const isText = field === 'xtl_order_id' || [...DETAIL_FIELDS].some((detail) => detail === field)
  return field === 'reference' || (isGuessed && (isText || field === 'transaction_type'))
}

class Column {
  readonly #column: Named
  readonly #found: Map<Kind, Map<string, Sided>>
  /** Those that may still be said something new of. */
  readonly #open: Set<Kind>
  /** By cell: it says that its row is not to be sent. */
  readonly #known = new Map<string, boolean>()
  readonly #notes: Lines | null
  #firstNote: Found | null = null
  #hasEmpty: boolean = false
  #used: Sided['used'] = null

  constructor(column: Named, kinds: readonly Kind[]) {
    this.#column = column
    this.#found = new Map(kinds.map((kind) => [kind, new Map()]))
    this.#open = new Set(kinds)
    const isNoted = column.field === null && !column.mayBeDone && !column.words.some((word) => REASONS.has(word))
    this.#notes = isNoted ? new Lines() : null
  }

  see(cells: readonly string[], line: number, used: Sided['used']): void {
    const raw = cells[this.#column.place] ?? ''
    if (used !== this.#used && this.#open.size > 0) this.#known.clear()
    this.#used = used
    this.#hasEmpty ||= raw === ''
    if (this.#open.size === 0 && this.#notes === null) return
    const isFull = this.#known.size >= CELLS_KNOWN
    let isNote = isFull && this.#open.size === 0 ? undefined : this.#known.get(raw)
    if (isNote === undefined) {
      isNote = this.#notes !== null && raw.length > 2 && saysNotToSend(raw.slice(0, CHARACTERS_MOST))
      if (this.#open.size > 0) this.#weigh({ line, cell: unquoted(raw), used })
      if (!isFull) this.#known.set(raw, isNote)
    }
    if (!isNote) return
    this.#notes?.add(line)
    this.#firstNote ??= { line, cell: raw }
  }

  #weigh(one: Omit<Sided, 'side'>): void {
    for (const kind of this.#open) {
      const side = kind.sideOf(one.cell, one.used)
      const found = this.#found.get(kind)
      if (side === null) this.#found.delete(kind)
      else if (found?.has(side) === false) found.set(side, { ...one, side })
      if (side === null || (found?.size ?? 0) >= SIDES_MOST) this.#open.delete(kind)
    }
  }

  /** Its name, where each row has something in it. */
  get filledName(): string | null {
    return this.#hasEmpty ? null : this.#column.name
  }

  /** `rows`: how many there are; what is noted in all of them tells none apart. */
  statements(used: Currency | null, rows: number): readonly Statement[] {
    const told = [...this.#found].map(([kind, sides]) => kind.statementOf(sides, used))
    const isNoted = this.#firstNote !== null && this.#notes?.count !== rows
    const what = `says in ${this.#notes} that a row is not to be sent`
    const note = isNoted ? rowByRow('refused', what, [this.#firstNote ?? undefined], this.#column) : null
    return [...told, note].filter((statement) => statement !== null)
  }
}

export class UnreadColumns {
  readonly #columns: readonly Column[]
  #rows = 0

  constructor(header: Header, said: Said) {
    const fields = Object.entries(header.fields) as [Field, number][]
    const passed = fields.filter(([field, place]) => isPassed(field, header.guessed.includes(place)))
    const unread = header.beside.map((place) => [null, place] as const)
    this.#columns = [...unread, ...passed].map(([field, place]) => {
      const name = (header.written[place] ?? '').trim()
      const column = { name, place, field, words: wordsOf(name), mayBeDone: header.mayBeDone.includes(place) }
      return new Column(column, kindsIn(column, said, header))
    })
  }

  see(cells: readonly string[], line: number, used: Sided['used']): void {
    this.#rows += 1
    for (const column of this.#columns) column.see(cells, line, used)
  }

  /** Of the columns that every row fills. */
  get filledNames(): readonly string[] {
    return this.#columns.map((column) => column.filledName).filter((name) => name !== null)
  }

  /** By column, what is told of it: the first counts that has an effect. */
  statements(used: Currency | null): readonly (readonly Statement[])[] {
    return this.#columns.map((column) => column.statements(used, this.#rows))
  }
}
