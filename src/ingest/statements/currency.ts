// What a file says of its currency: in the name of the column of amounts, in a mark beside each of them, in columns of codes.

import type { Currency } from '../../domain/money.ts'
import { type Problem, shown } from '../../domain/problem.ts'
import { type Text, words } from '../../domain/words.ts'
import { squeezed } from '../columns.ts'
import { SYNONYMS } from '../field-names.ts'
import { BY_WORD, currencyOfMark, isCode, isMark, LETTERS_SURE, mayMark } from '../fields/currency-marks.ts'
import type { Header } from '../header.ts'
import { plainWord, writtenWords } from './names.ts'
import { withoutMinorUnits } from './scale.ts'
import { columnText, type Found, mapped, type Statement } from './statement.ts'
import type { Said } from './statements.ts'
import type { Kind, Named } from './unread.ts'
import { FEES, SMALL_WORDS_AS_CODES } from './words.ts'

// ───────────────────────────────────────────────────────────── In the name of the column

const AMOUNTS: ReadonlySet<string> = new Set(['amount', ...SYNONYMS.amount, 'gross', 'brutto'].map(squeezed))
const PREPOSITIONS = ['in', 'en', 'de', 'em']

/** What the name of a column of amounts says of its currency: codes in capitals, signs and words. */
export function marksInName(column: string): readonly string[] {
  return partName(column).marks
}

/** Whether the column is one of amounts by its name and by the one currency in it, or by what results add to it. */
export function isAmountIn(column: string): boolean {
  const { marks, others } = partName(withoutMinorUnits(column))
  const isNamed = currencyOfMarks(marks) !== null || (marks.length === 0 && withoutMinorUnits(column) !== column)
  return isNamed && AMOUNTS.has(squeezed(others.join('')))
}

/** The currencies in it, and its other words. */
export function partName(column: string): { readonly marks: readonly string[]; readonly others: readonly string[] } {
  const written = writtenWords(column)
  const marks: string[] = []
  const others: string[] = []
  for (let i = 0; i < written.length; i++) {
    const word = written[i] as string
    const pair = plainWord(`${word} ${written[i + 1] ?? ''}`)
    const mark = BY_WORD.has(pair) ? pair : markIn(word, i === written.length - 1)
    if (mark === null) others.push(word)
    else marks.push(mark)
    if (mark === pair) i += 1
    else if (mark !== null && PREPOSITIONS.includes(plainWord(others.at(-1) ?? ''))) others.pop()
  }
  return { marks, others }
}

function markIn(word: string, isLast: boolean): string | null {
  if (isCode(word)) return word
  const plain = plainWord(word)
  if (/^[a-z]{3}$/.test(plain) && !SMALL_WORDS_AS_CODES.has(plain) && isCode(plain.toUpperCase())) {
    return plain.toUpperCase()
  }
  if (/^\p{L}{0,2}\p{Sc}$/u.test(word)) return currencyOfMark(word) === null && !isKnownSign(word) ? null : word
  return BY_WORD.has(plain) && (isLast || plain.length >= LETTERS_SURE) ? plain : null
}

/** `T€` is no sign of a currency, and `Can$` may be one. */
function isKnownSign(sign: string): boolean {
  return /^\p{Sc}$/u.test(sign) || BY_WORD.has(sign.toLowerCase())
}

/** What all of them stand for together: a sign of several currencies is decided by what else is said. */
export function currencyOfMarks(marks: readonly string[]): Currency | null {
  const [one, other] = new Set(marks.map(currencyOfMark).filter((currency) => currency !== null))
  if (one === undefined || other !== undefined) return null
  return marks.every((mark) => mayMark(mark, one)) ? one : null
}

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
export function contradiction(
  currency: Currency,
  { inName, mark, where = 'the name of the column' }: CurrencySaid,
): Problem<Text> | null {
  if (inName.length > 0 && !inName.some((one) => mayMark(one, currency))) {
    const names = inName.map((one) => currencyOfMark(one) ?? `"${shown(one)}"`).join(' and ')
    return against(currency, `${where} says ${names}`, currencyOfMarks(inName))
  }
  if (mark === null || mayMark(mark, currency)) return null
  return against(currency, `it is written with "${shown(mark)}"`, currencyOfMark(mark))
}

function against(currency: Currency, what: string, other: Currency | null): Problem<Text> {
  const said = {
    set: 'currency',
    to: other,
    lead: '; where the rows do not name it, say it for the file with ',
  } as const
  return {
    problem: `is to be in ${currency}, and ${what}`,
    remedy: words`find out which currency is meant, and correct the one that is wrong${said}`,
  }
}

// ───────────────────────────────────────────────────────────── In columns of codes

/** Columns that are not read, and hold nothing but codes of currencies. */
export function codesIn(column: Named, _: Said, { fields }: Header): Kind | null {
  if (column.field !== null || fields.amount === undefined || column.words.some((word) => FEES.has(word))) return null
  return {
    sideOf: (cell, used) => {
      if (cell === '' || used === undefined) return ''
      return isCode(cell) || isMark(cell) ? `${cell} ${used ?? ''}` : null
    },
    statementOf: (found, { used: otherwise, isRead }) => {
      const codes = found
        .filter(({ side }) => side !== '')
        .map(({ used, ...one }) => ({ ...one, used: used ?? otherwise, isNamed: used !== null }))
      const differing = codes.filter(({ cell, used }) => used !== null && !mayMark(cell, used))
      const [differs] = [...differing.filter(({ isNamed }) => isNamed), ...differing]
      if (differs !== undefined) return contradicts(column, differs, differs.used as Currency)
      return isRead || otherwise === null || codes.length === 0 || column.name === '' ? null : agrees(column)
    },
  }
}

function contradicts(column: Named, { line, cell }: Found, used: Currency): Statement {
  const { name } = column
  return {
    says: 'another currency',
    line,
    column: name === '' ? null : name,
    problem: `${columnText(column)} says ${cell} in line ${line}, whose amount would be read as ${used}`,
    remedy: words`${name === '' ? 'give it a name; ' : ''}if it is the currency of the amounts, have it read: ${mapped(column, 'request_currency')}; if it is that of something else, ignore it: ${mapped(column, 'ignore')}`,
  }
}

function agrees(column: Named): Statement {
  return {
    ...{ says: 'the same currency', line: null, column: column.name },
    problem: `${columnText(column)} holds the currency that the amounts are read in, and it is not read itself`,
    remedy: words`to have it read, add ${mapped(column, 'request_currency')}`,
  }
}
