// Columns that say how far the money of a row has come: "Status" with Completed and Denied, "Refunded?" with yes and nothing,
// "refunded_at". Such a column is not read, so that what is done, pending or was refused elsewhere would be sent like the rest.

import { shown } from '../../domain/problem.ts'
import { words } from '../../domain/words.ts'
import { squeezedWord } from './names.ts'
import { mapped, type Named, rowByRow, type Statement } from './statement.ts'
import type { Kind, Sided } from './unread.ts'
import * as LISTS from './words.ts'

/**
 * By name. `status`: its words; `state`: the same where its words are of progress; `flag`: yes and no, or anything and nothing; `paid`:
 * such a flag of the payment; `trace`: a moment or an id that a row has once it is done; `payment`: the same of the payment, or how it
 * was made; `any`: the name says nothing, and cells are words of progress or ticks.
 */
type Meaning = 'status' | 'state' | 'flag' | 'paid' | 'trace' | 'payment' | 'any'

/** null: it speaks of the progress of another thing, or of a quantity. */
function meaningOf(name: readonly string[]): Meaning | null {
  const has = (some: ReadonlySet<string>) => name.some((word) => some.has(word))
  const isStatus = name.some((word) => LISTS.STATUS_ENDS.some((end) => word.endsWith(end)))
  const [isDone, isUndone, isState] = [has(LISTS.DONE_NAMES), has(LISTS.UNDOINGS), has(LISTS.STATES)]
  const isPaid = has(LISTS.PAID_NAMES)
  if (!isStatus && !isDone && !isPaid && !isUndone) return isState ? 'state' : 'any'
  if (isOfOther(name)) return null
  if (isStatus) return has(LISTS.MOMENTS) || LISTS.QUANTITIES.has(name.at(-1) ?? '') ? null : 'status'
  if (has(LISTS.QUANTITIES)) return null
  const isTrace = has(LISTS.MOMENTS) || has(LISTS.IDS)
  if (!isDone && !isUndone) return isTrace || LISTS.METHOD_NAMES.test(name.join(' ')) ? 'payment' : 'paid'
  if (isTrace) return 'trace'
  return isDone ? 'flag' : isPaid ? 'paid' : isState ? 'state' : null
}

/** Than the money of the row. */
export function isOfOther(found: readonly string[]): boolean {
  return found.some((word) => LISTS.OTHER_THINGS.some((beginning) => word.startsWith(beginning)))
}

const CHARACTERS_MOST = 40

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
  if (meaning === 'status' || meaning === 'state' || meaning === 'any') return value.replace(LISTS.CANCELLED_BY, '')
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
  const tell = (...told: readonly (Sided | undefined)[]) =>
    rowByRow(meaning === 'payment' ? 'refused of sales' : 'refused', 'says how far a row has come', told, column)
  const [first] = found
  const other = found.find(({ side }) => side.startsWith('otherwise'))
  const [done, notDone] = [classed('done'), classed('not done', 'of a booking')]
  const isNamed = meaning === 'status' || (meaning === 'state' && (done ?? notDone) !== undefined)
  if (notDone !== undefined && (isNamed || done !== undefined || classed('of a booking') !== undefined))
    return tell(notDone, done ?? (notDone.side.startsWith('as') ? other : first))
  // What stands beside empty cells in a column of notes or reasons is no mark.
  const isMarked = classed('nothing') !== undefined && !column.words.some((word) => LISTS.QUANTITIES.has(word))
  const isTold = meaning === 'any' ? isMarked : meaning !== 'state' || isNamed
  if (first === undefined || column.mayBeDone || !isTold) return null
  return other !== undefined ? tell(first, other) : allDone(first, meaning, column)
}

/** Of a column whose cells all say the same. */
function allDone({ line, cell }: Sided, meaning: Meaning, column: Named): Statement | null {
  const value = squeezedWord(cell)
  const isWord = LISTS.DONE.has(value) || LISTS.DONE.has(value.replace(LISTS.NOUNS, ''))
  const isDay = LISTS.DAY.test(cell) && !column.words.some((word) => LISTS.IDS.has(word))
  const isDone = {
    ...{ status: isWord, state: isWord, any: false, paid: false },
    ...{ flag: isDay || isWord || LISTS.YES.has(value), trace: isDay, payment: isDay },
  }[meaning]
  if (!isDone) return null
  return {
    effect:
      meaning === 'payment' ? 'refused beside sales, else noted of them' : 'refused of refunds and voids, else noted',
    ...{ line, column: column.name },
    problem: `the column "${shown(column.name)}" says "${shown(cell)}" in every row, as if the file was carried out already`,
    remedy: words`make sure that it was not; if every row is to be sent, ignore the column: ${mapped(column.name, 'ignore')}`,
  }
}
