// What a file says of its currency, in all the places where it may, and how that agrees with a row or with a column of codes.

import type { Currency } from '../../domain/money.ts'
import { type Problem, shown } from '../../domain/problem.ts'
import { type Text, words } from '../../domain/words.ts'
import { currencyOfMark, currencyOfMarks, isCode, isMark, mayMark } from '../fields/currency-marks.ts'
import type { Header } from '../header.ts'
import type { Kind } from './columns.ts'
import { columnText, type Found, mapped, type Named, type Statement } from './statement.ts'
import { FEES } from './words.ts'

// ───────────────────────────────────────────────────────────── Of a row

/** What is said of the currency of a whole file. Where more than one is said, all must be the same. */
export interface CurrencySaid {
  /** By a person or the merchant's settings, for rows that name none. */
  readonly forAll: Currency | null
  /** In the name of the column of amounts, or above the column names. */
  readonly inName: readonly string[]
  /** Where that is, in a sentence. */
  readonly where?: string
  /** Beside every amount. */
  readonly mark: string | null
  /** By the rows that name one. */
  readonly inColumn: ReadonlySet<Currency>
}

export const NO_CURRENCY_SAID: CurrencySaid = { forAll: null, inName: [], mark: null, inColumn: new Set() }

/** Of a row that names none. */
export function currencyOfFile({ forAll, inName, mark }: CurrencySaid): Currency | null {
  return forAll ?? currencyOfMarks(inName) ?? (mark === null ? null : currencyOfMark(mark))
}

/** Of a row that names none, beside rows that do: as where one currency was written once for many. */
export function gapProblem(said: CurrencySaid): Problem | null {
  const filler = currencyOfFile(said)
  const other = [...said.inColumn].find((currency) => currency !== filler)
  if (filler === null || other === undefined) return null
  return {
    problem: `is empty, and would be read as ${filler}, while other rows say ${other}`,
    remedy: 'write the currency of the row into its cell; merged cells must be unmerged first',
  }
}

/** For a person, where the file alone says its currency. `hasColumn`: the rows name it. */
export function currencyNote(said: CurrencySaid, hasColumn: boolean): string | null {
  const currency = currencyOfFile(said)
  if (hasColumn || said.forAll !== null || currency === null) return null
  const what =
    currencyOfMarks(said.inName) === null
      ? `the "${shown(said.mark ?? '')}" beside each of them`
      : (said.where ?? 'the name of their column')
  return `All amounts are read as ${currency}, as ${what} says.`
}

/** What the file says otherwise about the currency of a row; null: nothing does. */
export function contradiction(currency: Currency, said: CurrencySaid): Problem<Text> | null {
  const { inName, mark, where = 'the name of the column' } = said
  const isInName = inName.length > 0 && !inName.some((one) => mayMark(one, currency))
  if (!isInName && (mark === null || mayMark(mark, currency))) return null
  const names = inName.map((one) => currencyOfMark(one) ?? `"${shown(one)}"`).join(' and ')
  const what = isInName ? `${where} says ${names}` : `it is written with "${shown(mark ?? '')}"`
  const to = isInName ? currencyOfMarks(inName) : currencyOfMark(mark ?? '')
  const lead = '; where the rows do not name it, say it for the file with '
  return {
    problem: `is to be in ${currency}, and ${what}`,
    remedy: words`find out which currency is meant, and correct the one that is wrong${{ set: 'currency', to, lead }}`,
  }
}

// ───────────────────────────────────────────────────────────── In columns of codes

/** A column that is not read, and holds nothing but codes of currencies. */
export function codesIn(column: Named, { fields }: Header): Kind | null {
  if (column.field !== null || fields.amount === undefined || FEES.test(column.title)) return null
  return {
    isOfCodes: true,
    sideOf: (cell, used) => {
      if (cell === '' || used === undefined) return ''
      return isCode(cell) || isMark(cell) ? `${cell} ${used}` : null
    },
    statementOf: (sides, otherwise) => {
      for (const { side, cell, line, used } of sides.values()) {
        const read = used ?? otherwise
        if (side !== '' && read !== null && !mayMark(cell, read)) return otherCurrency(column, { line, cell }, read)
      }
      return null
    },
  }
}

function otherCurrency(column: Named, { line, cell }: Found, used: Currency): Statement {
  const { name } = column
  return {
    ...{ line, column: name },
    problem: `${columnText(column)} says ${cell} in line ${line}, whose amount would be read as ${used}`,
    remedy: words`if it is the currency of the amounts, have it read: ${mapped(name, 'request_currency')}; if it is that of something else, ignore it: ${mapped(name, 'ignore')}`,
  }
}
