// What a file says of when rows are meant: execute_at, and columns of days and of months that are not read.

import { parseExecuteAt } from '../../domain/instant.ts'
import { shown } from '../../domain/problem.ts'
import { runKeyForm } from '../../domain/run-key.ts'
import { words } from '../../domain/words.ts'
import { DAY_MS, daysIn } from '../fields/day.ts'
import type { Header } from '../header.ts'
import { wordsOf } from './names.ts'
import { mapped, type Named, type Statement } from './statement.ts'
import type { Said } from './statements.ts'
import { DAY_NAMES, type Rule } from './tables.ts'
import { MONTH_NAMES } from './words.ts'

/** Of execute_at, in the rows that move money: what is empty below a later moment may be meant as the same; above one it cannot. */
export class Moments {
  readonly #said: Said
  /** Lines. */
  #firstLater: number | null = null
  #firstEmptyBelow: number | null = null

  constructor(said: Said) {
    this.#said = said
  }

  see(cell: string, line: number): void {
    if (this.#firstLater !== null) {
      if (cell === '') this.#firstEmptyBelow ??= line
      return
    }
    const moment = parseExecuteAt(cell, this.#said.timeZone ?? null)
    const isLater = typeof moment === 'number' && moment > (this.#said.nowMs ?? Number.POSITIVE_INFINITY)
    if (isLater) this.#firstLater = line
  }

  /** A person may say that it is meant. */
  statement(): Statement | null {
    const [later, empty] = [this.#firstLater, this.#firstEmptyBelow]
    if (later === null || empty === null) return null
    return {
      ...{ line: empty, column: 'execute_at' },
      problem: `execute_at is filled in line ${later} and empty in line ${empty}, and a row without one is sent now`,
      remedy: words`fill it in where "the same" is meant; if the others are to be sent now, say so: ${mapped('execute_at', 'execute_at')}`,
    }
  }
}

/**
 * Without a clock no day is near, and beside execute_at no other column says when. A day may be read in two ways, and all of a column in
 * one of them. One later than tomorrow is later in every zone. Where the contracts of all rows have ended, the end may be what is charged
 * for. That all customers have cancelled is a question: it may be the wrong list.
 */
export function dayRules({ name, title }: Named, { nowMs = 0 }: Said, { fields }: Header): readonly Rule[] {
  const named = DAY_NAMES.find(({ names }) => names.test(title))
  if (named === undefined || nowMs === 0 || fields.execute_at !== undefined) return []
  const { names: _, isEnd, needsBoth, ...rule } = named
  const today = Math.floor(nowMs / DAY_MS)
  const isTold = (day: number) => (isEnd ? day < today : day > today + 1)
  return [0, 1].map((reading) => {
    const readings = (cell: string) =>
      daysIn(cell).filter((day, i) => !Number.isNaN(day) && (needsBoth || i === reading))
    return {
      ...rule,
      what: `says that rows ${isEnd ? 'have ended' : 'are for later'}`,
      sides: [
        ['', { test: (cell) => daysIn(cell).every(Number.isNaN) }],
        ['told', { test: (cell) => readings(cell).length > 0 && readings(cell).every(isTold) }],
        ['now', { test: (cell) => readings(cell).length > 0 }],
      ],
      ...{ others: null, told: ['told'] },
      ...(isEnd ? {} : { end: words`; or have moments in it read: ${mapped(name, 'execute_at')}` }),
    }
  })
}

const MONTH = /(?:^|\D)(?<month>\d{4}-\d{1,2})$/

export function isOfMonths(column: string): boolean {
  return MONTH_NAMES.test(wordsOf(column).join(' '))
}

function monthOf(text: string, { nowMs = 0 }: Said): string | null {
  return MONTH.exec(runKeyForm(text, nowMs))?.groups?.month ?? null
}

function freely(month: string) {
  return { set: 'run-key', to: `${month}-all` } as const
}

/** In a list with a column of amounts for each month, the one that is read is of another month than the run. */
export function monthStatement({ written, fields }: Header, said: Said): Statement | null {
  const column = written[fields.amount ?? -1] ?? ''
  const [month, amounts] = [monthOf(said.runKey ?? '', said), monthOf(column, said)]
  if (month === null || amounts === null || amounts === month) return null
  const meant = mapped(written.find((name) => monthOf(name, said) === month) ?? 'COLUMN', 'amount')
  return {
    column,
    problem: `the column "${shown(column)}", which is read as the amount, names another month than the run key ${shown(said.runKey ?? '')}`,
    remedy: words`have that of the month read: ${meant}; if these amounts are meant, run them under a key that is no month: ${freely(month)}`,
  }
}

/** Rows of the month that the run key names, and of another one: in a column of months, or in the references. */
export function monthRules({ field, name }: Named, said: Said): readonly Rule[] {
  const month = monthOf(said.runKey ?? '', said)
  if (month === null || (field !== 'reference' && !isOfMonths(name))) return []
  const underKeys = words`run the rows of each month under its own key; if all are meant, under one that is no month: ${freely(month)}`
  return [
    {
      effect: 'refused',
      what: `names another month than the run key ${shown(said.runKey ?? '')}`,
      sides: [
        ['own', { test: (cell) => monthOf(cell, said) === month }],
        ['other', { test: (cell) => monthOf(cell, said) !== null }],
      ],
      ...{ others: null, told: ['other', 'own'], readAs: ['unread', 'reference'] },
      ...(field === null ? {} : { remedy: underKeys }),
    },
  ]
}
