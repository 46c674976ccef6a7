// What unread columns say row by row: whether the money of a row may move, for whom, by which way, to whom it goes, and when. Each kind
// has names of columns, sides on which cells stand, and the sides that tell something when they are found.

import { shown } from '../../domain/problem.ts'
import { runKeyForm } from '../../domain/run-key.ts'
import { type Text, words } from '../../domain/words.ts'
import { DAY_MS, daysIn } from '../fields/day.ts'
import type { Header } from '../header.ts'
import { squeezedWord, wordsOf } from './names.ts'
import { isOfOther } from './progress.ts'
import { mapped, rowByRow, type Statement } from './statement.ts'
import type { Said } from './statements.ts'
import type { Kind, Named, Sided } from './unread.ts'
import { isOfSale, TO_REFUND } from './way.ts'
import * as LISTS from './words.ts'

type Sides = ReadonlyMap<string, Sided>

interface Telling {
  /** By the name of the column, and by what a person said. */
  readonly isNamed: boolean
  readonly says: Statement['says']
  readonly what: string
  /** Without blanks and accents as `value`; an empty cell is on a side of its own. null: no such column has the cell. */
  sideOf(cell: string, value: string): string | null
  /** None, or one that is not there: nothing is told. */
  told(sides: Sides): readonly (Sided | undefined)[]
  readonly remedyOf?: (remedy: Statement['remedy']) => Text
}

/** Of a column; one with more is none of methods. */
const METHODS_MOST = 12

/** In their order: the first that tells something is told of a column. */
export function kindsIn(column: Named, said: Said, header: Header): readonly Kind[] {
  const isUnread = column.field === null
  const tellings = [
    ...(isUnread && !column.mayBeDone ? [ofMerchants(said), ...ofDecisions(column), ofMethods(column)] : []),
    ...(!isUnread && column.field !== 'reference' ? LISTS.DECISIONS.map((pair) => between(pair, true, column)) : []),
    ...(isUnread || column.field === 'transaction_type' ? ofCredits(column) : []),
    ...(isUnread ? ofDays(column, said, header) : []),
    ofMonths(column, said),
  ]
  return tellings.filter(({ isNamed }) => isNamed && !column.mayBeDone).map((telling) => kindOf(column, telling))
}

function kindOf(column: Named, { says, what, sideOf, told, remedyOf }: Telling): Kind {
  return {
    sideOf: (cell) => (cell === '' ? '' : sideOf(cell, squeezedWord(cell))),
    statementOf: (sides) => {
      const cells = told(sides)
      if (cells.length === 0 || cells.includes(undefined)) return null
      const statement = rowByRow(says, what, cells, column)
      return remedyOf === undefined ? statement : { ...statement, remedy: remedyOf(statement.remedy) }
    },
  }
}

/** Every cell is the name of one, and one of them is another than the first. */
function ofMerchants({ merchants = [] }: Said): Telling {
  const [ours, ...others] = merchants.map((name) => name.toLowerCase())
  return {
    ...{ isNamed: others.length > 0, says: 'some rows may not' },
    what: 'names other merchants than the one that the file is for',
    sideOf: (cell) => (cell.toLowerCase() === ours ? 'ours' : others.includes(cell.toLowerCase()) ? 'other' : null),
    told: (sides) => [sides.get('other')],
  }
}

function ofDecisions(column: Named): readonly Telling[] {
  const { words: name } = column
  const isOfDecision =
    !isOfOther(name) &&
    name.some((word) => LISTS.DECISION_NAMES.has(word) || LISTS.DECISION_STEMS.some((stem) => word.includes(stem)))
  const whether = LISTS.REFUNDABLE_NAMES.exec(name.join(' '))?.groups
  const refundable = { says: 'some rows are not refundable', what: 'says that rows are not refundable' } as const
  return [
    {
      ...{ ...refundable, isNamed: true },
      // Beside such a fare stand others, whatever they are called.
      sideOf: (_, value) => (LISTS.NOT_REFUNDABLE.test(value) ? 'not refundable' : /\d/.test(value) ? null : value),
      told: (sides) => [sides.get('not refundable')],
    },
    {
      ...between(LISTS.ANSWERS, whether !== undefined, column),
      ...refundable,
      told: (sides) => [sides.get(whether?.not === undefined ? 'no' : 'yes')],
    },
    ...LISTS.DECISIONS.map((pair) => between(pair, true, column)),
    ...[...LISTS.DECISIONS, LISTS.ANSWERS].map((pair) => ({ ...between(pair, isOfDecision, column), told: two })),
    { ...between(LISTS.ANSWERS, LISTS.CANCELLED_NAMES.test(name.join(' ')), column), says: 'ended', told: two },
  ]
}

/** Two that differ by a decision. */
function between([yes, no]: LISTS.Pair, isNamed: boolean, { words: name }: Named): Telling {
  return {
    isNamed,
    says: isOfSale(name) ? 'some rows are not refundable' : 'some rows may not',
    what: 'decides which rows are meant',
    sideOf: (_, value) => (yes.has(value) ? 'yes' : no.has(value) ? 'no' : null),
    told: (sides) => [sides.get('yes'), sides.get('no')],
  }
}

function two(sides: Sides): readonly Sided[] {
  return sides.size < 2 ? [] : [...sides.values()].slice(0, 2)
}

/** Cards are one way, whatever their brand. By its name a column may hold ways that no list knows. */
function ofMethods({ words: name }: Named): Telling {
  const isSure = LISTS.METHOD_NAMES.test(name.join(' '))
  return {
    ...{ isNamed: true, says: 'some rows may not', what: 'says by which way the money of a row is to go' },
    sideOf: (cell, value) => (isOfCard(cell, value) ? 'card' : isSure || LISTS.OTHER_METHODS.has(value) ? value : null),
    told: (sides) => {
      const ways = new Map([...sides].filter(([side]) => side !== ''))
      return ways.size > METHODS_MOST || [...ways.keys()].every((way) => LISTS.EXTENTS.has(way)) ? [] : two(ways)
    },
  }
}

/** Of its words, `credit` may be that of a shop. */
function isOfCard(cell: string, value: string): boolean {
  if (LISTS.OTHER_METHODS.has(value)) return false
  return (
    LISTS.CARDS.has(value) ||
    wordsOf(cell).some((word) => LISTS.CARDS.has(word) && word !== 'credit' && word !== 'debit')
  )
}

/** A column of credit notes, or one in which every row is one, a refund or a payout. */
function ofCredits({ field, words: name }: Named): readonly Telling[] {
  const credits: Omit<Telling, 'isNamed' | 'sideOf'> = {
    ...{ says: 'credits', what: 'says that rows are refunds or payouts' },
    told: (sides) => [sides.get('credit')],
    remedyOf: (remedy) => words`${TO_REFUND}, ${remedy}`,
  }
  const isNamed = field === null && LISTS.CREDIT_NOTE_NAMES.test(name.join(' '))
  return [
    { ...credits, isNamed, sideOf: (_, value) => (LISTS.ANSWERS[1].has(value) ? '' : 'credit') },
    { ...credits, isNamed: true, sideOf: (_, value) => (LISTS.CREDITED.has(value) ? 'credit' : null) },
  ]
}

/**
 * Without a clock no day is near, and beside execute_at no other column says when. A day may be read in two ways, and all of a column in
 * one of them. One later than tomorrow is later in every zone. Where all rows have ended, it is what they are
 * charged for, such as a late cancellation.
 */
function ofDays(column: Named, { nowMs = 0 }: Said, { fields }: Header): readonly Telling[] {
  const name = column.words.join(' ')
  const named = LISTS.DAY_NAMES.find(({ names }) => names.test(name))
  if (named === undefined || nowMs === 0 || fields.execute_at !== undefined) return []
  const { says } = named
  const today = Math.floor(nowMs / DAY_MS)
  const isTold = (day: number) => (says === 'ended' ? day < today : day > today + 1)
  return ([0, 1] as const).map((reading) => ({
    ...{ isNamed: true, says, what: `says that rows ${says === 'ended' ? 'have ended' : 'are for later'}` },
    sideOf: (cell) => {
      const days = daysIn(cell)
      if (days.every(Number.isNaN)) return ''
      return Number.isNaN(days[reading]) ? null : isTold(days[reading]) ? 'told' : 'now'
    },
    told: (sides) => (says === 'ended' && sides.size < 2 ? [] : [sides.get('told')]),
    remedyOf: (remedy) =>
      says === 'ended'
        ? words`${remedy}`
        : words`${remedy}; or have moments in it read: ${mapped(column, 'execute_at')}`,
  }))
}

const MONTH = /(?:^|\D)(?<month>\d{4}-\d{1,2})$/

/** Rows of the month that the run key names, and of another one: in a column of months, or in the references. */
function ofMonths({ field, words: name }: Named, { runKey = '', nowMs = 0 }: Said): Telling {
  const monthOf = (text: string) => MONTH.exec(runKeyForm(text, nowMs))?.groups?.month ?? null
  const month = monthOf(runKey)
  const freely = { set: 'run-key', to: `${month}-all` } as const
  return {
    isNamed: month !== null && (field === 'reference' || (field === null && LISTS.MONTH_NAMES.test(name.join(' ')))),
    says: 'some rows are of another month',
    what: `names another month than the run key ${shown(runKey)}`,
    sideOf: (cell) => monthOf(cell),
    told: (sides) => [[...sides].find(([side]) => side !== '' && side !== month)?.[1], sides.get(month ?? '')],
    remedyOf: (remedy) =>
      field === null
        ? words`${remedy}`
        : words`run the rows of each month under its own key; if all are meant, under one that is no month: ${freely}`,
  }
}
