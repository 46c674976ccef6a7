// The columns that are not read, row by row, and those that are passed on without a look. What a cell says for the first time is put to
// each kind of column that this one may be: in which currency a row is, how far it has come, whether its money may move, for whom, by
// which way, to whom it goes, and when. Most kinds are rows of a table.

import { DETAIL_FIELDS } from '../../domain/instruction.ts'
import type { Currency } from '../../domain/money.ts'
import { words } from '../../domain/words.ts'
import { plainName } from '../columns.ts'
import { unquoted } from '../csv/quotes.ts'
import type { Field } from '../field-names.ts'
import { Lines } from '../fields/direction.ts'
import { rivalProblem } from '../fields/rivals.ts'
import type { Header } from '../header.ts'
import { codesIn } from './currency.ts'
import { isNamed, squeezedWord, wordsOf } from './names.ts'
import { progressIn } from './progress.ts'
import { type Found, type Named, rowByRow, type Statement } from './statement.ts'
import type { Said } from './statements.ts'
import { type ReadAs, RULES, type Rule } from './tables.ts'
import { dayRules, monthRules } from './when.ts'

/** The first cell of those that are on one side. */
export interface Sided extends Found {
  readonly side: string
  /** The currency that its row names; null: none; undefined: none that there is. */
  readonly used: Currency | null | undefined
  readonly lines: Lines
}

/** By side, in the order of the file. */
export type Sides = ReadonlyMap<string, Sided>

/** What a column may be, by its name. */
export interface Kind {
  /** The side of a cell is another one beside another currency. Such a kind is the first of its column. */
  readonly isOfCodes?: true
  /** Cells on one side say the same; null: no such column has that cell. */
  sideOf(cell: string, used: Sided['used']): string | null
  /** `used`: the currency of rows that name none. */
  statementOf(sides: Sides, used: Currency | null): Statement | null
}

/** Of a kind in a column; with more, nothing new is said. */
const SIDES_MOST = 200
/** Of a column, whose cells are known when they come again. */
const CELLS_KNOWN = 100

export class Column {
  readonly #place: number
  /** Of each kind that it may still be. */
  readonly #sides: Map<Kind, Map<string, Sided>>
  /** By cell: the sides that it is on. */
  readonly #known = new Map<string, readonly Sided[]>()

  constructor(column: Named, kinds: readonly Kind[]) {
    this.#place = column.place
    this.#sides = new Map(kinds.map((kind) => [kind, new Map()]))
  }

  see(cells: readonly string[], line: number, used: Sided['used']): void {
    if (this.#sides.size === 0) return
    const raw = cells[this.#place] ?? ''
    const [first] = this.#sides.keys()
    const known = first?.isOfCodes === true ? `${used} ${raw}` : raw
    let on = this.#known.get(known)
    if (on === undefined) {
      on = this.#weigh({ line, cell: unquoted(raw) }, used)
      if (this.#known.size < CELLS_KNOWN) this.#known.set(known, on)
    }
    for (const { lines } of on) lines.add(line)
  }

  #weigh(found: Found, used: Sided['used']): readonly Sided[] {
    const on: Sided[] = []
    for (const [kind, sides] of this.#sides) {
      const side = sides.size < SIDES_MOST ? kind.sideOf(found.cell, used) : undefined
      if (side === null) this.#sides.delete(kind)
      if (side === null || side === undefined) continue
      const first = sides.get(side) ?? { ...found, side, used, lines: new Lines() }
      sides.set(side, first)
      on.push(first)
    }
    return on
  }

  /** The first counts that has an effect. */
  statements(used: Currency | null): readonly Statement[] {
    const told = [...this.#sides].map(([kind, sides]) => kind.statementOf(sides, used))
    return told.filter((statement) => statement !== null)
  }
}

export function columnsIn(header: Header, said: Said): readonly Column[] {
  const fields = Object.entries(header.fields) as [Field, number][]
  const passed = fields.filter(([field, place]) => isPassed(field, header.guessed.includes(place)))
  const unread = header.beside.map((place) => [null, place] as const)
  return [...unread, ...passed].map(([field, place]) => {
    const name = (header.written[place] ?? '').trim()
    const title = wordsOf(name).join(' ')
    const column = { name, place, field, title, mayBeDone: header.mayBeDone.includes(place) }
    return new Column(column, kindsIn(column, said, header))
  })
}

/** Such as `State`, which may be a part of an address or say "refunded"; what a person said is meant. */
function isPassed(field: Field, isGuessed: boolean): boolean {
  const passed: readonly string[] = ['amount', 'transaction_type', 'xtl_order_id', ...DETAIL_FIELDS]
  return field === 'reference' || (isGuessed && passed.includes(field))
}

// ───────────────────────────────────────────────────────────── Kinds

/** The first that tells something is told of the column. */
function kindsIn(column: Named, said: Said, header: Header): readonly Kind[] {
  const rules = [...merchantRules(said), ...RULES, ...dayRules(column, said, header), ...monthRules(column, said)]
  const fitting = column.mayBeDone ? [] : rules.filter((rule) => isFor(column, rule, said, header))
  const kinds = [codesIn(column, header), progressIn(column), ...fitting.map((rule) => kindOf(rule, column, header))]
  return kinds.filter((kind) => kind !== null)
}

function isFor(column: Named, rule: Rule, said: Said, header: Header): boolean {
  const { readAs = ['unread'], accounts = said.environment, several, asksWhich } = rule
  if (!readAs.includes(readAsOf(column)) || accounts !== said.environment || !isNamed(column.title, rule)) return false
  const isSo = (name = '') => isNamed(wordsOf(name).join(' '), rule)
  const others = header.beside.filter((place) => place !== column.place && isSo(header.written[place]))
  if (several && (others.length === 0 || header.ignored.some(isSo))) return false
  return !asksWhich || isRival(column, said, header)
}

function readAsOf({ field }: Named): ReadAs {
  if (field === 'reference' || field === 'transaction_type' || field === 'amount') return field
  return field === null ? 'unread' : 'text'
}

/** Beside the gateway's own name for amounts other columns are none, as far as their names say. */
function isRival({ name }: Named, { map = [] }: Said, { written, fields, rivals }: Header): boolean {
  const isOwn = plainName(written[fields.amount ?? -1] ?? '') === 'amount'
  return isOwn && rivals.some((one) => one.trim() === name) && map.every(({ field }) => field !== 'amount')
}

function kindOf(rule: Rule, column: Named, { written, fields }: Header): Kind {
  return {
    sideOf: (cell) => (cell === '' ? '' : sideIn(rule, cell)),
    statementOf: (sides) => {
      const told = toldBy(rule, sides)
      const [first] = told
      if (first === undefined) return null
      const { effect, lead = '', end = '', remedy, what } = rule
      const statement = rowByRow(effect, what.replace('LINES', `${first.lines}`), told, column)
      if (rule.asksWhich) return { ...statement, ...rivalProblem(written[fields.amount ?? -1] ?? '', [column.name]) }
      return { ...statement, remedy: words`${lead}${remedy ?? statement.remedy}${end}` }
    },
  }
}

function sideIn({ sides, others }: Rule, cell: string): string | null {
  const found = sides.find(([, cells]) => ('has' in cells ? cells.has(squeezedWord(cell)) : cells.test(cell)))
  return found?.[0] === 'each' ? squeezedWord(cell) : found === undefined ? others : found[0]
}

/** None: nothing is. */
function toldBy({ told, where, most = Number.POSITIVE_INFINITY }: Rule, sides: Sides): readonly Sided[] {
  if (where !== undefined && (where === 'all') !== sides.size < 2) return []
  if (typeof told === 'string') {
    const found = [...sides.values()].filter(({ side }) => told === 'two' || side !== '')
    return found.length < 2 || found.length > most ? [] : found.slice(0, 2)
  }
  const found = told.map((side) => sides.get(side)).filter((one) => one !== undefined)
  return found.length < told.length ? [] : found
}

/** Every cell is the name of one, and one of them is another than the first. */
function merchantRules({ merchants = [] }: Said): readonly Rule[] {
  const [ours = '', ...others] = merchants.map(squeezedWord)
  const sides = [['ours', new Set([ours])] as const, ['other', new Set(others)] as const]
  const what = 'names other merchants than the one that the file is for'
  return others.length === 0 ? [] : [{ effect: 'refused', what, sides, others: null, told: ['other'] }]
}
