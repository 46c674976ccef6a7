// What columns say row by row that are not read: in which currency a row is, how far it has come, whether its money may move, for whom, by
// which way, to whom it goes, and when. Each rule has names of columns, sides on which cells stand, and the sides that tell something.

import { shown } from '../../domain/problem.ts'
import { runKeyForm } from '../../domain/run-key.ts'
import { type Text, type Words, words } from '../../domain/words.ts'
import { DAY_MS, daysIn } from '../fields/day.ts'
import type { Header } from '../header.ts'
import { codesIn } from './currency.ts'
import { squeezedWord, wordsOf } from './names.ts'
import { isOfOther, progressIn } from './progress.ts'
import { type Effect, mapped, type Named, rowByRow, type Statement } from './statement.ts'
import type { Said } from './statements.ts'
import type { Kind, Sided, Sides } from './unread.ts'
import { isOfSale, otherAmounts, TO_REFUND } from './way.ts'
import * as LISTS from './words.ts'

/** Of a column that has its name, if it needs one. */
interface Telling {
  readonly effect: Effect
  readonly what: string
  /** Without blanks and accents as `value`; an empty cell is on a side of its own. null: no such column has the cell. */
  sideOf(cell: string, value: string): string | null
  /** None, or one that is not there: nothing is told. */
  told(sides: Sides): readonly (Sided | undefined)[]
  readonly remedyOf?: (remedy: Text) => Text
}

/** null: the column is none of its kind. */
type Rule = (column: Named, said: Said, header: Header) => Telling | readonly Telling[] | null

/** By what a column is read as, in their order: the first that tells something is told of it. */
const RULES: Readonly<Record<'unread' | 'reference' | 'transaction_type' | 'text', readonly Rule[]>> = {
  unread: [ofMerchants, ofAccounts, ofFares, ofPairs, ofDecisions, ofMethods, ofCredits, ofDays, ofMonths],
  reference: [ofMonths],
  transaction_type: [ofPairs, ofCredits],
  text: [ofPairs],
}

export function kindsIn(column: Named, said: Said, header: Header): readonly Kind[] {
  const field = column.field ?? 'unread'
  const rules = column.mayBeDone ? [] : RULES[field in RULES ? (field as keyof typeof RULES) : 'text']
  const tellings = rules.flatMap((rule) => rule(column, said, header) ?? [])
  const kinds = [
    ...[codesIn(column, header), otherAmounts(column, said, header), progressIn(column)],
    ...tellings.map((telling) => kindOf(column, telling)),
  ]
  return kinds.filter((kind) => kind !== null)
}

function kindOf(column: Named, { effect, what, sideOf, told, remedyOf = (remedy) => remedy }: Telling): Kind {
  return {
    sideOf: (cell) => (cell === '' ? '' : sideOf(cell, squeezedWord(cell))),
    statementOf: (sides) => {
      const cells = told(sides)
      if (cells.length === 0 || cells.includes(undefined)) return null
      const statement = rowByRow(effect, what, cells, column)
      return { ...statement, remedy: remedyOf(statement.remedy) }
    },
  }
}

function firstTwo(sides: Sides): readonly Sided[] {
  return sides.size < 2 ? [] : [...sides.values()].slice(0, 2)
}

/** Every cell is the name of one, and one of them is another than the first. */
function ofMerchants(_: Named, { merchants = [] }: Said): Telling | null {
  const [ours, ...others] = merchants.map((name) => name.toLowerCase())
  if (others.length === 0) return null
  return {
    effect: 'refused',
    what: 'names other merchants than the one that the file is for',
    sideOf: (cell) => (cell.toLowerCase() === ours ? 'ours' : others.includes(cell.toLowerCase()) ? 'other' : null),
    told: (sides) => [sides.get('other')],
  }
}

/** Where money is real, rows that are called tests. One that differs from others in other words is a decision. */
function ofAccounts({ words: name }: Named, { environment }: Said): Telling | null {
  const named = LISTS.ACCOUNT_NAMES.exec(name.join(' '))?.groups
  if (named === undefined || environment !== 'live') return null
  const [live, test] = LISTS.ANSWERS
  const ofTests = named.live === undefined ? (named.test === undefined ? LISTS.TESTS : live) : test
  return {
    effect: 'refused',
    what: 'says that rows are for tests, and the account is live',
    sideOf: (_, value) => (ofTests.has(value) ? 'test' : ''),
    told: (sides) => [sides.get('test')],
  }
}

/** Two that differ by a decision. */
function between([yes, no]: LISTS.Pair, { words: name }: Named): Telling {
  return {
    effect: isOfSale(name) ? 'refused of refunds' : 'refused',
    what: 'decides which rows are meant',
    sideOf: (_, value) => (yes.has(value) ? 'yes' : no.has(value) ? 'no' : null),
    told: (sides) => [sides.get('yes'), sides.get('no')],
  }
}

function ofPairs(column: Named): readonly Telling[] {
  return LISTS.DECISIONS.map((pair) => between(pair, column))
}

/** Beside a fare that is not refundable stand others, whatever they are called; by the name of its column an answer is enough. */
function ofFares(column: Named): readonly Telling[] {
  const whether = LISTS.REFUNDABLE_NAMES.exec(column.words.join(' '))?.groups
  const refundable = { effect: 'refused of refunds', what: 'says that rows are not refundable' } as const
  const answer = whether?.not === undefined ? 'no' : 'yes'
  return [
    {
      ...refundable,
      sideOf: (_, value) => (LISTS.NOT_REFUNDABLE.test(value) ? 'not refundable' : /\d/.test(value) ? null : value),
      told: (sides) => [sides.get('not refundable')],
    },
    ...(whether === undefined
      ? []
      : [{ ...between(LISTS.ANSWERS, column), ...refundable, told: (sides: Sides) => [sides.get(answer)] }]),
  ]
}

/** By the name of its column also one side beside nothing. */
function ofDecisions(column: Named): readonly Telling[] {
  const { words: name } = column
  const isSaid = (word: string) =>
    LISTS.DECISION_NAMES.has(word) || LISTS.DECISION_STEMS.some((stem) => word.includes(stem))
  const pairs = !isOfOther(name) && name.some(isSaid) ? [...LISTS.DECISIONS, LISTS.ANSWERS] : []
  const answered = LISTS.ANSWER_NAMES.filter(({ names }) => names.test(name.join(' ')))
  return [
    ...pairs.map((pair) => ({ ...between(pair, column), told: firstTwo })),
    ...answered.map(({ effect }) => ({ ...between(LISTS.ANSWERS, column), effect, told: firstTwo })),
  ]
}

/** Of a column; one with more is none of methods. */
const METHODS_MOST = 12

/** Cards are one way, whatever their brand. By its name a column may hold ways that no list knows. */
function ofMethods({ words: name }: Named): Telling {
  const isSure = LISTS.METHOD_NAMES.test(name.join(' '))
  return {
    effect: 'refused',
    what: 'says by which way the money of a row is to go',
    sideOf: (cell, value) => (isOfCard(cell, value) ? 'card' : isSure || LISTS.OTHER_METHODS.has(value) ? value : null),
    told: (sides) => {
      const ways = new Map([...sides].filter(([side]) => side !== ''))
      return ways.size > METHODS_MOST || [...ways.keys()].every((way) => LISTS.EXTENTS.has(way)) ? [] : firstTwo(ways)
    },
  }
}

/** Of its words, `credit` may be that of a shop. */
function isOfCard(cell: string, value: string): boolean {
  const isCard = (word: string) => LISTS.CARDS.has(word) && word !== 'credit' && word !== 'debit'
  return !LISTS.OTHER_METHODS.has(value) && (LISTS.CARDS.has(value) || wordsOf(cell).some(isCard))
}

/** A column of credit notes, or one in which every row is one, a refund or a payout. */
function ofCredits({ field, words: name }: Named): readonly Telling[] {
  const credits = (isCredit: (value: string) => boolean, otherwise: '' | null): Telling => ({
    effect: 'refused without refunds',
    what: 'says that rows are refunds or payouts',
    sideOf: (_, value) => (isCredit(value) ? 'credit' : otherwise),
    told: (sides) => [sides.get('credit')],
    remedyOf: (remedy) => words`${TO_REFUND}, ${remedy}`,
  })
  const isOfNotes = field === null && LISTS.CREDIT_NOTE_NAMES.test(name.join(' '))
  return [
    ...(isOfNotes ? [credits((value) => !LISTS.ANSWERS[1].has(value), '')] : []),
    credits((value) => LISTS.CREDITED.has(value), null),
  ]
}

/**
 * Without a clock no day is near, and beside execute_at no other column says when. A day may be read in two ways, and all of a column in
 * one of them. One later than tomorrow is later in every zone. Where the contracts of all rows have ended, the end may be what is charged
 * for. That all customers have cancelled is a question: it may be the wrong list.
 */
function ofDays(column: Named, { nowMs = 0 }: Said, { fields }: Header): readonly Telling[] {
  const named = LISTS.DAY_NAMES.find(({ names }) => names.test(column.words.join(' ')))
  if (named === undefined || nowMs === 0 || fields.execute_at !== undefined) return []
  const { effect, isEnd, toldWhere } = named
  const today = Math.floor(nowMs / DAY_MS)
  const isTold = (day: number) => (isEnd ? day < today : day > today + 1)
  const later = (remedy: Text) => words`${remedy}; or have moments in it read: ${mapped(column.name, 'execute_at')}`
  return ([0, 1] as const).map((reading) => ({
    ...{ effect, what: `says that rows ${isEnd ? 'have ended' : 'are for later'}` },
    sideOf: (cell) => {
      const days = daysIn(cell)
      if (days.every(Number.isNaN)) return ''
      // Today's list says 12/11/2026, which could be a day in a month as well: a name that says so little needs both.
      if (toldWhere === 'all') return days.every((day) => Number.isNaN(day) || isTold(day)) ? 'told' : 'now'
      return Number.isNaN(days[reading]) ? null : isTold(days[reading]) ? 'told' : 'now'
    },
    told: (sides) => (toldWhere === undefined || (toldWhere === 'all') === sides.size < 2 ? [sides.get('told')] : []),
    ...(isEnd ? {} : { remedyOf: later }),
  }))
}

const MONTH = /(?:^|\D)(?<month>\d{4}-\d{1,2})$/

export function isOfMonths(column: string): boolean {
  return isMonth(wordsOf(column))
}

function isMonth(name: readonly string[]): boolean {
  return LISTS.MONTH_NAMES.test(name.join(' '))
}

function monthOf(text: string, { nowMs = 0 }: Said): string | null {
  return MONTH.exec(runKeyForm(text, nowMs))?.groups?.month ?? null
}

/** In a list with a column of amounts for each month, the one that is read is of another month than the run. */
export function monthStatement({ written, fields }: Header, said: Said, line: number): Statement | null {
  const column = written[fields.amount ?? -1] ?? ''
  const [month, amounts] = [monthOf(said.runKey ?? '', said), monthOf(column, said)]
  if (month === null || amounts === null || amounts === month) return null
  const meant = mapped(written.find((name) => monthOf(name, said) === month) ?? 'COLUMN', 'amount')
  return {
    ...{ effect: 'refused', line, column },
    problem: `the column "${shown(column)}", which is read as the amount, names another month than the run key ${shown(said.runKey ?? '')}`,
    remedy: words`have that of the month read: ${meant}; if these amounts are meant, run them under a key that is no month: ${freely(month)}`,
  }
}

function freely(month: string): Words {
  return words`${{ set: 'run-key', to: `${month}-all` }}`
}

/** Rows of the month that the run key names, and of another one: in a column of months, or in the references. */
function ofMonths({ field, words: name }: Named, said: Said): Telling | null {
  const month = monthOf(said.runKey ?? '', said)
  const isNamed = field === 'reference' || (field === null && isMonth(name))
  if (month === null || !isNamed) return null
  const underKeys = words`run the rows of each month under its own key; if all are meant, under one that is no month: ${freely(month)}`
  return {
    effect: 'refused',
    what: `names another month than the run key ${shown(said.runKey ?? '')}`,
    sideOf: (cell) => monthOf(cell, said),
    told: (sides) => [[...sides].find(([side]) => side !== '' && side !== month)?.[1], sides.get(month)],
    remedyOf: (remedy) => (field === null ? remedy : underKeys),
  }
}
