// Names that speak of refunds, in a file that is to do something else.

import { shown } from '../../domain/problem.ts'
import { words } from '../../domain/words.ts'
import { plainName } from '../columns.ts'
import { partMark } from '../fields/currency-marks.ts'
import { signShownBy } from '../fields/decimal-sign.ts'
import { rivalProblem } from '../fields/rivals.ts'
import type { Header } from '../header.ts'
import { wordsOf } from './names.ts'
import { mapped, type Named, type Statement } from './statement.ts'
import type { Said } from './statements.ts'
import type { Kind } from './unread.ts'
import { DUE_AMOUNT_NAMES, FEES, NO_REFUNDS, REFUND_STATES, REFUND_STEMS } from './words.ts'

function speaksOfRefunds(column: string): boolean {
  return wordsOf(column).some((word) => REFUND_STEMS.some((stem) => word.includes(stem)))
}

/** What was refunded of a sale, or may be, is told of the sale. */
export function isOfSale(name: readonly string[]): boolean {
  return name.some((word) => REFUND_STATES.has(word))
}

/**
 * The column of amounts by its name, where no person said that it is the one; or two others, where none of them was spoken of and every
 * row has one. `filled`: the names of columns that each row fills; a list of sales has few that were refunded.
 */
export function wayStatement(header: Header, filled: readonly string[], line: number): Statement | null {
  const { written, fields, guessed, beside, ignored } = header
  const nameAt = (place: number) => (written[place] ?? '').trim()
  const isOther = (word: string) => REFUND_STATES.has(word) || NO_REFUNDS.has(word)
  const others = beside.map(nameAt).filter((name) => speaksOfRefunds(name) && !wordsOf(name).some(isOther))
  const amount = nameAt(fields.amount ?? -1)
  const isAmount = guessed.includes(fields.amount ?? -1) && speaksOfRefunds(amount)
  const areOthers = others.length >= 2 && others.some((name) => filled.includes(name)) && !ignored.some(speaksOfRefunds)
  if (!isAmount && !areOthers) return null
  const names = (isAmount ? [amount] : others.slice(0, 2)).map(shown)
  const meant = mapped(names[0] as string, isAmount ? 'amount' : 'ignore')
  return {
    ...{ effect: 'refused of others than refunds', line, column: null },
    problem: `${names.map((name) => `"${name}"`).join(' and ')} in the names of the columns say that the rows are refunds, and they are to be something else`,
    remedy: words`${TO_REFUND}: ${meant}`,
  }
}

/** A lone 1 says yes as often as not. */
const NO_AMOUNT = /^(?:[01]?|0[.,]0+)$/

/** Beside the gateway's own name for amounts: a column of those that are to be refunded, or are due. A person may say which is meant. */
export function otherAmounts({ name, field, words: named }: Named, { map = [] }: Said, header: Header): Kind | null {
  const amount = header.written[header.fields.amount ?? -1] ?? ''
  const isSaid = map.some(({ field: meant }) => meant === 'amount')
  if (field !== null || isSaid || plainName(amount) !== 'amount' || !header.rivals.some((one) => one.trim() === name))
    return null
  const isOther = named.some((word) => REFUND_STATES.has(word) || NO_REFUNDS.has(word) || FEES.has(word))
  const isOfRefunds = speaksOfRefunds(name)
  if (isOther || !(isOfRefunds || DUE_AMOUNT_NAMES.test(named.join(' ')))) return null
  return {
    sideOf: (cell) => {
      if (NO_AMOUNT.test(cell)) return ''
      return signShownBy(partMark(cell).number) === 'malformed' ? null : 'amount'
    },
    statementOf: (sides) => {
      const found = sides.get('amount')
      const effect = isOfRefunds ? 'refused of refunds' : 'refused'
      return found === undefined ? null : { effect, line: found.line, column: name, ...rivalProblem(amount, [name]) }
    },
  }
}

export const TO_REFUND = words`if they are to be refunded, say so: ${{ set: 'operation', to: 'REFUND' }}; if they are not`
