// Columns that say how far the money of a row has come: "Status" with Completed and Denied, "Refunded?" with yes and nothing,
// "refunded_at". Such a column is not read, so that what is done, pending or was refused elsewhere would be sent like the rest.

import { shown } from '../../domain/problem.ts'
import { words } from '../../domain/words.ts'
import { squeezedWord } from './names.ts'
import { mapped, rowByRow, type Statement } from './statement.ts'
import type { Kind, Named, Sided } from './unread.ts'
import * as LISTS from './words.ts'

/**
 * By name. `status`: its words; `state`: the same where its words are of progress; `flag`: yes and no, or anything and nothing; `paid`:
 * such a flag of the payment; `trace`: a moment or an id that a row has once it is done; `payment`: the same of the payment, or how it
 * was made; `any`: the name says nothing, and cells are words of progress or ticks.
 */
type Meaning = 'status' | 'state' | 'flag' | 'paid' | 'trace' | 'payment' | 'any'

/** null: it speaks of the progress of another thing, or of a quantity. */
function meaningOf(found: readonly string[]): Meaning | null {
  const has = (some: ReadonlySet<string>) => found.some((word) => some.has(word))
  const isStatus = found.some((word) => LISTS.STATUS_ENDS.some((end) => word.endsWith(end)))
  const isDone = has(LISTS.DONE_NAMES)
  const isPaid = has(LISTS.PAID_NAMES)
  if (!isStatus && !isDone && !isPaid && !has(LISTS.UNDOINGS)) return has(LISTS.STATES) ? 'state' : 'any'
  if (isOfOther(found)) return null
  if (isStatus) return has(LISTS.MOMENTS) || LISTS.QUANTITIES.has(found.at(-1) ?? '') ? null : 'status'
  if (has(LISTS.QUANTITIES)) return null
  const isTrace = has(LISTS.MOMENTS) || has(LISTS.IDS)
  if (isPaid && !isDone && !has(LISTS.UNDOINGS))
    return isTrace || LISTS.METHOD_NAMES.test(found.join(' ')) ? 'payment' : 'paid'
  if (isTrace) return 'trace'
  if (isDone) return 'flag'
  if (isPaid) return 'paid'
  return has(LISTS.STATES) ? 'state' : null
}

/** Than the money of the row. */
export function isOfOther(found: readonly string[]): boolean {
  return found.some((word) => LISTS.OTHER_THINGS.some((beginning) => word.startsWith(beginning)))
}

const CHARACTERS_MOST = 40
const DAY = /\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}/
/** Who cancelled a booking is no progress of its refund. */
const CANCELLED_BY = /(?<=^cancell?ed)by.*/

type Class = 'nothing' | 'done' | 'not done' | 'of a booking' | 'a tick' | 'something'

function classOf(cell: string, value: string): Class {
  const word = value.replace(LISTS.NOUNS, '')
  if (cell === '') return 'nothing'
  if (LISTS.NOT_DONE.has(value) || LISTS.NOT_DONE.has(word)) return LISTS.PLAIN.has(word) ? 'of a booking' : 'not done'
  if (LISTS.DONE.has(value) || LISTS.DONE.has(word) || LISTS.PAID.has(value) || LISTS.PAID.has(word)) return 'done'
  return LISTS.TICKS.has(cell.toLowerCase()) ? 'a tick' : 'something'
}

/** Also in a column that may be a part of an address: OK is a state of America. */
function isSure(found: Class, cell: string, value: string): boolean {
  const isWord = found === 'done' || found === 'not done' || LISTS.OPEN.has(value)
  return found === 'nothing' || (isWord && cell.length > 2)
}

/** Moments, ids and amounts differ from row to row: what counts is that there is one. */
function comparedOf(value: string, meaning: Meaning): string {
  if (meaning === 'status' || meaning === 'state' || meaning === 'any') return value.replace(CANCELLED_BY, '')
  const isFlag = meaning === 'flag' || meaning === 'paid'
  if (isFlag && (/^0+$/.test(value) || value === '1' || !/\d/.test(value))) return value
  return value === '' ? '' : '#'
}

export function progressIn(column: Named): Kind | null {
  const { field } = column
  const meaning = field === null ? meaningOf(column.words) : 'state'
  if (meaning === null || field === 'transaction_type') return null
  let first: string | null = null
  return {
    sideOf: (cell) => {
      const value = cell.length > CHARACTERS_MOST ? cell : squeezedWord(cell)
      const found = classOf(cell, value)
      if (field !== null && !isSure(found, cell, value)) return null
      if (meaning === 'any' && found === 'something') return null
      const compared = comparedOf(value, meaning)
      first ??= compared
      return `${compared === first ? 'as the first' : 'otherwise'}: ${found}`
    },
    statementOf: (sides) => statementOf(column, meaning, [...sides.values()]),
  }
}

function statementOf(column: Named, meaning: Meaning, found: readonly Sided[]): Statement | null {
  const classed = (...classes: readonly Class[]) =>
    found.find(({ side }) => classes.some((one) => side.endsWith(`: ${one}`)))
  const [first] = found
  const other = found.find(({ side }) => side.startsWith('otherwise'))
  const [done, notDone] = [classed('done'), classed('not done', 'of a booking')]
  const tell = (says: Statement['says'], ...told: readonly (Sided | undefined)[]) =>
    rowByRow(says, 'says how far a row has come', told, column)
  const some = meaning === 'payment' ? 'some rows are paid' : 'some rows are done'
  const isNamed = meaning === 'status' || (meaning === 'state' && (done ?? notDone) !== undefined)
  if (notDone !== undefined && (isNamed || done !== undefined || classed('of a booking') !== undefined))
    return tell(
      meaning === 'payment' ? some : 'some rows are not done',
      notDone,
      done ?? (notDone.side.startsWith('as') ? other : first),
    )
  // What stands beside empty cells in a column of notes or reasons is no mark.
  const isMarked =
    meaning === 'any' && classed('nothing') !== undefined && !column.words.some((word) => LISTS.QUANTITIES.has(word))
  const isTold = isMarked || isNamed || (meaning !== 'any' && meaning !== 'state')
  if (first === undefined || column.mayBeDone || !isTold) return null
  if (other !== undefined) return tell(some, first, other)
  return isDoneBy(first, meaning, column) ? allDone(first, meaning, column) : null
}

/** Of a column whose cells all say the same. */
function isDoneBy({ cell }: Sided, meaning: Meaning, { words: found }: Named): boolean {
  const value = squeezedWord(cell)
  const isWord = LISTS.DONE.has(value) || LISTS.DONE.has(value.replace(LISTS.NOUNS, ''))
  if (meaning === 'status' || meaning === 'state') return isWord
  const isDay = DAY.test(cell) && !found.some((word) => LISTS.IDS.has(word))
  return meaning === 'flag'
    ? isDay || isWord || LISTS.YES.has(value)
    : isDay && (meaning === 'trace' || meaning === 'payment')
}

function allDone({ line, cell }: Sided, meaning: Meaning, column: Named): Statement {
  const name = shown(column.name)
  return {
    ...{ says: meaning === 'payment' ? 'every row is paid' : 'every row is done', line, column: column.name },
    problem: `the column "${name}" says "${shown(cell)}" in every row, as if the file was carried out already`,
    remedy: words`make sure that it was not; if every row is to be sent, ignore the column: ${mapped(column, 'ignore')}`,
  }
}
