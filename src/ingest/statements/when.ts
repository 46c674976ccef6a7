// Columns that say when the money of a row is to move, begins to or ends to, and that nothing reads; and what execute_at says of all rows.

import { parseExecuteAt } from '../../domain/instant.ts'
import { shown } from '../../domain/problem.ts'
import { runKeyForm } from '../../domain/run-key.ts'
import { words } from '../../domain/words.ts'
import { DAY_MS, daysIn } from '../fields/day.ts'
import type { Header } from '../header.ts'
import { mapped, rowByRow, type Statement } from './statement.ts'
import type { Said } from './statements.ts'
import type { Kind, Named, Sided } from './unread.ts'
import { BEGIN_NAMES, DUE_NAMES, END_NAMES, ENDED_NAMES, LATER_NAMES, MONTH_NAMES } from './words.ts'

const NAMES = [
  { says: 'not yet due', names: DUE_NAMES },
  { says: 'for later', names: LATER_NAMES },
  { says: 'not yet begun', names: BEGIN_NAMES },
  { says: 'ended', names: ENDED_NAMES },
  { says: 'ended', names: END_NAMES },
] as const

/** Without a clock no day is near, and beside execute_at no other column says when. */
export function momentsIn(column: Named, { nowMs }: Said, { fields }: Header): Kind | null {
  const name = column.words.join(' ')
  const named = NAMES.find(({ names }) => names.test(name))
  if (
    named === undefined ||
    column.mayBeDone ||
    column.field !== null ||
    nowMs === undefined ||
    fields.execute_at !== undefined
  )
    return null
  const today = Math.floor(nowMs / DAY_MS)
  /** A day later than tomorrow is one in every zone. */
  const readingOf = (day: number) => {
    if (Number.isNaN(day)) return '-'
    return (named.says === 'ended' ? day < today : day > today + 1) ? 'told' : 'now'
  }
  return {
    sideOf: (cell) => daysIn(cell).map(readingOf).join(' '),
    statementOf: (found) => statementOf(column, named, found),
  }
}

/** A day is read in two ways, and all of a column in one of them. */
function statementOf(
  column: Named,
  { says, names }: (typeof NAMES)[number],
  found: readonly Sided[],
): Statement | null {
  const cells = found.map((one) => ({ one, readings: one.side.split(' ') }))
  const days = cells.filter(({ readings }) => readings.some((reading) => reading !== '-'))
  const told = [0, 1].flatMap((i) =>
    days.some(({ readings }) => readings[i] === '-') ? [] : (days.find(({ readings }) => readings[i] === 'told') ?? []),
  )
  if (told[0] === undefined || (names === END_NAMES && cells.every(({ readings }) => readings.includes('told'))))
    return null
  if (says === 'ended') return rowByRow(says, 'says that rows have ended', [told[0].one], column)
  const { remedy, ...later } = rowByRow(says, 'says that rows are for later', [told[0].one], column)
  return { ...later, remedy: words`${remedy}; or have moments in it read: ${mapped(column, 'execute_at')}` }
}

const MONTH = /(?:^|\D)(?<month>\d{4}-\d{1,2})$/

/** Rows of the month that the run key names, and of another one: in a column of months, or in the references. */
export function monthsIn(column: Named, { runKey = '', nowMs }: Said): Kind | null {
  const monthOf = (text: string) => MONTH.exec(runKeyForm(text, nowMs ?? 0))?.groups?.month
  const month = monthOf(runKey)
  const isOne = column.field === 'reference' || (column.field === null && MONTH_NAMES.test(column.words.join(' ')))
  if (!isOne || column.mayBeDone || nowMs === undefined || month === undefined) return null
  return {
    sideOf: (cell) => {
      const named = cell === '' ? '' : monthOf(cell)
      return named === undefined ? null : named === '' ? '' : named === month ? 'this' : 'another'
    },
    statementOf: (found) => {
      const [one, other] = ['this', 'another'].map((wanted) => found.find(({ side }) => side === wanted))
      if (one === undefined || other === undefined) return null
      const what = `names another month than the run key ${shown(runKey)}`
      const told = rowByRow('some rows are of another month', what, [other, one], column)
      if (column.field === null) return told
      const freely = { set: 'run-key', to: `${month}-all` } as const
      return {
        ...told,
        remedy: words`run the rows of each month under its own key; if all are meant, under one that is no month: ${freely}`,
      }
    },
  }
}

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
      ...{ says: 'some rows have a moment', line: empty, column: 'execute_at' },
      problem: `execute_at is filled in line ${later} and empty in line ${empty}, and a row without one is sent now`,
      remedy: words`fill it in where "the same" is meant; if the others are to be sent now, say so: ${mapped({ name: 'execute_at' }, 'execute_at')}`,
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
