// Columns that say how far the money of a row has come: "Status" with Completed and Denied, "Refunded?" with yes and nothing,
// "refunded_at". Such a column is not read, so that what is done, pending or was refused elsewhere would be sent like the rest.

import { shown } from '../../domain/problem.ts'
import { words } from '../../domain/words.ts'
import { unquoted } from '../csv/quotes.ts'
import { squeezedWord, wordsOf } from './names.ts'
import { type Found, rowByRow, type Statement } from './statement.ts'
import {
  DONE,
  DONE_NAMES,
  IDS,
  METHOD_NAMES,
  MOMENTS,
  NOT_DONE,
  NOUNS,
  OTHER_THINGS,
  PAID,
  PAID_NAMES,
  PLAIN,
  QUANTITIES,
  STATES,
  STATUS_ENDS,
  TICKS,
  UNDOINGS,
  YES,
} from './words.ts'

/**
 * By name. `status`: its words; `state`: the same where its words are of progress; `flag`: yes and no, or anything and nothing; `paid`:
 * such a flag of the payment; `trace`: a moment or an id that a row has once it is done; `payment`: the same of the payment, or how it
 * was made; `any`: the name says nothing.
 */
type Kind = 'status' | 'state' | 'flag' | 'paid' | 'trace' | 'payment' | 'any'

/** null: it speaks of the progress of another thing, or of a quantity. */
function kindOf(name: string): Kind | null {
  const found = wordsOf(name)
  const has = (some: ReadonlySet<string>) => found.some((word) => some.has(word))
  const isStatus = found.some((word) => STATUS_ENDS.some((end) => word.endsWith(end)))
  const isDone = has(DONE_NAMES)
  const isPaid = has(PAID_NAMES)
  if (!isStatus && !isDone && !isPaid && !has(UNDOINGS)) return has(STATES) ? 'state' : 'any'
  if (found.some((word) => OTHER_THINGS.some((beginning) => word.startsWith(beginning)))) return null
  if (isStatus) return has(MOMENTS) || QUANTITIES.has(found.at(-1) ?? '') ? null : 'status'
  if (has(QUANTITIES)) return null
  if (isPaid && !isDone && !has(UNDOINGS)) {
    const isTrace = has(MOMENTS) || has(IDS) || METHOD_NAMES.test(found.join(' '))
    return isTrace ? 'payment' : 'paid'
  }
  if (has(MOMENTS) || has(IDS)) return 'trace'
  if (isDone) return 'flag'
  if (isPaid) return 'paid'
  return has(STATES) ? 'state' : null
}

const CHARACTERS_MOST = 40
const DAY = /\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}/
const SEEN_MOST = 100
/** Who cancelled a booking is no progress of its refund. */
const CANCELLED_BY = /(?<=^cancell?ed)by.*/

interface Column {
  readonly kind: Kind
  /** A person or a format says that rows which are done elsewhere are meant. */
  readonly mayBeDone: boolean
  first: Found | null
  /** Says something else than the first. */
  other: Found | null
  done: Found | null
  notDone: Found | null
  isPlain: boolean
  /** It holds nothing but ticks and empty cells. */
  isTicked: boolean
  hasEmpty: boolean
  /** Cells that say nothing new. */
  readonly seen: Set<string>
}

/** Of the rows that move money. */
export class Progress {
  readonly #written: readonly string[]
  readonly #columns = new Map<number, Column>()

  /** `places`: the columns that have no meaning here. `mayBeDone`: those of them whose rows are meant although they are done. */
  constructor(written: readonly string[], places: readonly number[], mayBeDone: readonly number[]) {
    this.#written = written
    for (const place of places) {
      const kind = kindOf(written[place] ?? '')
      if (kind === null) continue
      const seen = {
        first: null,
        other: null,
        done: null,
        notDone: null,
        isPlain: false,
        isTicked: true,
        hasEmpty: false,
      }
      this.#columns.set(place, { kind, mayBeDone: mayBeDone.includes(place), seen: new Set(), ...seen })
    }
  }

  see(cells: readonly string[], line: number): void {
    for (const [place, column] of this.#columns) {
      const raw = cells[place] ?? ''
      if (column.seen.has(raw)) continue
      if (column.seen.size < SEEN_MOST) column.seen.add(raw)
      const cell = unquoted(raw).trim()
      const value = cell.length > CHARACTERS_MOST ? cell : squeezedWord(cell)
      const isKnown = weighWords(column, { line, cell, value })
      column.hasEmpty ||= cell === ''
      const isTick = TICKS.has(cell.toLowerCase())
      if (column.kind === 'any') {
        if (cell !== '' && !isTick) column.isTicked = false
        if (!isKnown && !isTick && cell !== '') this.#columns.delete(place)
      }
      const isWord = column.kind === 'status' || column.kind === 'state'
      const compared = isWord ? value.replace(CANCELLED_BY, '') : flagOf(value, column.kind)
      column.first ??= { line, cell, value: compared }
      if (compared !== column.first.value) column.other ??= { line, cell, value: compared }
    }
  }

  /** `isOfPaid`: what is paid already is what is to be refunded or voided. */
  statements({ isOfPaid }: { readonly isOfPaid: boolean }): readonly Statement[] {
    return [...this.#columns].flatMap(([place, column]) =>
      isOfPaid && column.kind === 'payment' ? [] : statementOf(column, (this.#written[place] ?? '').trim(), place),
    )
  }
}

/** Whether the cell is a word of progress. */
function weighWords(column: Column, found: Found): boolean {
  const word = found.value.replace(NOUNS, '')
  const isOne = (some: ReadonlySet<string>) => some.has(found.value) || some.has(word)
  if (isOne(NOT_DONE)) {
    column.notDone ??= found
    column.isPlain ||= PLAIN.has(word)
    return true
  }
  if (!isOne(DONE) && !isOne(PAID)) return false
  column.done ??= found
  return true
}

/** Moments, ids and amounts differ from row to row: what counts is that there is one. */
function flagOf(value: string, kind: Kind): string {
  if (kind === 'trace' || kind === 'payment') return value === '' ? '' : '#'
  if (/^0+$/.test(value) || value === '1' || !/\d/.test(value)) return value
  return '#'
}

function statementOf(column: Column, name: string, place: number): readonly Statement[] {
  const { kind, mayBeDone, first, other, done, notDone, isPlain, isTicked, hasEmpty } = column
  const isNamed = kind === 'status' || (kind === 'state' && (done ?? notDone) !== null)
  if (notDone !== null && (isNamed || isPlain || done !== null))
    return [
      halfDone(
        'some rows are not done',
        [notDone, done ?? (first?.value === notDone.value ? other : first)],
        name,
        place,
      ),
    ]
  if (
    kind === 'any' &&
    hasEmpty &&
    other !== null &&
    first !== null &&
    !saysMore(name) &&
    (isTicked || (done ?? notDone) !== null)
  )
    return mayBeDone ? [] : [halfDone('some rows are done', [first, other], name, place)]
  if (mayBeDone || kind === 'any' || (kind === 'state' && !isNamed) || first === null || name === '') return []
  if (other !== null) return [halfDone('some rows are done', [first, other], name, place)]
  const isWord = DONE.has(first.value) || DONE.has(first.value.replace(NOUNS, ''))
  const isDay = DAY.test(first.cell) && !wordsOf(name).some((word) => IDS.has(word))
  const isFlag = kind === 'flag' || kind === 'trace' || kind === 'payment'
  const isDone = isFlag ? isDay || (kind === 'flag' && (YES.has(first.value) || isWord)) : isNamed && isWord
  return isDone ? [allDone(first, name)] : []
}

/** What stands beside empty cells there is no mark: a note, a reason. */
function saysMore(name: string): boolean {
  return wordsOf(name).some((word) => QUANTITIES.has(word))
}

function halfDone(says: Statement['says'], found: readonly (Found | null)[], name: string, place: number): Statement {
  const told = found.filter((one) => one !== null)
  return rowByRow(says, 'says how far a row has come', told, name, place)
}

function allDone(first: Found, name: string): Statement {
  return {
    ...{ says: 'every row is done', line: first.line, column: name },
    problem: `the column "${shown(name)}" says "${shown(first.cell)}" in every row, as if the file was carried out already`,
    remedy: words`make sure that it was not; if every row is to be sent, ignore the column: ${{ set: 'map', column: shown(name), field: 'ignore' }}`,
  }
}
