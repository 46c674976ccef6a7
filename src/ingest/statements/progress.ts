// Columns that say how far the money of a row has come: "Status" with Completed and Denied, "Refunded?" with yes and nothing,
// "refunded_at". Such a column is not read, so that what is done, pending or was refused elsewhere would be sent like the rest.

import { shown } from '../../domain/problem.ts'
import { words } from '../../domain/words.ts'
import type { Kind, Sided } from './columns.ts'
import { isNamed, squeezedWord } from './names.ts'
import { mapped, type Named, rowByRow, type Statement } from './statement.ts'
import * as TABLES from './tables.ts'
import { CANCELLED_BY, NOUNS, OPEN, QUANTITIES } from './words.ts'

type Class = (typeof TABLES.CLASSES)[number][0] | 'nothing' | 'something'

function hasWord(list: ReadonlySet<string>, value: string): boolean {
  return list.has(value) || list.has(value.replace(NOUNS, ''))
}

function classOf(value: string): Class {
  return value === '' ? 'nothing' : (TABLES.CLASSES.find(([, list]) => hasWord(list, value))?.[0] ?? 'something')
}

/** Also in a column that may be a part of an address: OK is a state of America. */
function isSure(found: Class, cell: string, value: string): boolean {
  const isWord = found === 'done' || found === 'not done' || OPEN.has(value)
  return found === 'nothing' || (isWord && cell.length > 2)
}

export function progressIn(column: Named): Kind | null {
  const { field, title } = column
  const named = field === null ? TABLES.MEANINGS.find((one) => isNamed(title, one)) : { meaning: 'state' as const }
  const meaning = named?.meaning ?? null
  if (meaning === null || field === 'transaction_type') return null
  let first: string | null = null
  return {
    sideOf: (cell) => {
      const value = squeezedWord(cell)
      const found = classOf(value)
      if (field === null ? meaning === 'any' && found === 'something' : !isSure(found, cell, value)) return null
      const compared = TABLES.COMPARED[meaning].test(value) ? value.replace(CANCELLED_BY, '') : '#'
      first ??= compared
      return `${compared === first ? 'first' : 'other'}: ${found}`
    },
    statementOf: (sides) => statementOf(column, meaning, [...sides.values()]),
  }
}

function statementOf(column: Named, meaning: TABLES.Meaning, found: readonly Sided[]): Statement | null {
  const classed = (...classes: readonly Class[]) =>
    found.find(({ side }) => classes.some((one) => side.endsWith(`: ${one}`)))
  const effect = meaning === 'payment' ? 'refused of sales' : 'refused'
  const tell = (...told: readonly (Sided | undefined)[]) =>
    rowByRow(effect, 'says how far a row has come', told, column)
  const [first] = found
  const unlike = (one: Sided) => found.find(({ side }) => side.slice(0, 5) !== one.side.slice(0, 5))
  const [done, notDone] = [classed('done'), classed('not done', 'of a booking')]
  const isSaid = meaning === 'status' || (meaning === 'state' && (done ?? notDone) !== undefined)
  if (notDone !== undefined && (isSaid || done !== undefined || classed('of a booking') !== undefined))
    return tell(notDone, done ?? unlike(notDone))
  // What stands beside empty cells in a column of notes or reasons is no mark.
  const isMarked = classed('nothing') !== undefined && !QUANTITIES.test(column.title)
  const isTold = meaning === 'any' ? isMarked : meaning !== 'state' || isSaid
  if (first === undefined || column.mayBeDone || !isTold) return null
  return unlike(first) === undefined ? allDone(first, meaning, column) : tell(first, unlike(first))
}

/** Of a column whose cells all say the same. */
function allDone({ line, cell }: Sided, meaning: TABLES.Meaning, { name }: Named): Statement | null {
  const isIn = (cells: TABLES.Cells) => ('has' in cells ? hasWord(cells, squeezedWord(cell)) : cells.test(cell))
  if (!TABLES.ALL_DONE[meaning].some(isIn)) return null
  return {
    effect: meaning === 'payment' ? 'noted of sales' : 'refused of refunds and voids, else noted',
    ...{ line, column: name },
    problem: `the column "${shown(name)}" says "${shown(cell)}" in every row, as if the file was carried out already`,
    remedy: words`make sure that it was not; if every row is to be sent, ignore the column: ${mapped(name, 'ignore')}`,
  }
}
