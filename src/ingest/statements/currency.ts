// What a file says of its currency: in the name of the column of amounts, in a mark beside each of them, in columns of codes.

import { type Currency, parseCurrency } from '../../domain/money.ts'
import { type Problem, shown } from '../../domain/problem.ts'
import { type Text, words } from '../../domain/words.ts'
import { squeezed } from '../columns.ts'
import { unquoted } from '../csv/quotes.ts'
import { SYNONYMS } from '../field-names.ts'
import { isPlain } from '../fields/plain.ts'
import { plainWord, wordsOf, writtenWords } from './names.ts'
import { withoutMinorUnits } from './scale.ts'
import { columnText, type Statement } from './statement.ts'
import { CURRENCY_SIGNS, CURRENCY_WORDS, FEES, SMALL_WORDS_AS_CODES, WORDS_AS_CODES } from './words.ts'

// ───────────────────────────────────────────────────────────── Marks: codes, signs and words

const MARKS = new Map<Currency, ReadonlySet<string>>()

/** Whether the mark may stand for the currency. A sign of several currencies, such as $, may stand for each. */
export function mayMark(mark: string, currency: Currency): boolean {
  const marks = marksOf(currency)
  return marks.has(mark.toLowerCase()) || marks.has(plainWord(mark))
}

function marksOf(currency: Currency): ReadonlySet<string> {
  let marks = MARKS.get(currency)
  if (marks === undefined) {
    const signs = (['code', 'symbol', 'narrowSymbol'] as const).map((display) => signOf(currency, display))
    marks = new Set([currency, ...signs, ...(CURRENCY_WORDS[currency] ?? [])].map((sign) => sign.toLowerCase()))
    MARKS.set(currency, marks)
  }
  return marks
}

function signOf(currency: Currency, currencyDisplay: 'code' | 'symbol' | 'narrowSymbol'): string {
  const parts = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay }).formatToParts(1)
  return parts.find(({ type }) => type === 'currency')?.value ?? currency
}

/** By word: the currencies that it may stand for. */
const BY_WORD = new Map<string, Currency[]>()
for (const [code, written] of Object.entries(CURRENCY_WORDS))
  for (const word of written) BY_WORD.set(word, [...(BY_WORD.get(word) ?? []), code as Currency])

function isCode(text: string): boolean {
  return /^[A-Z]{3}$/.test(text) && !WORDS_AS_CODES.has(text.toLowerCase()) && parseCurrency(text) !== undefined
}

/** A sign or word, as somebody writes it into a cell of its own; short words are something else there. */
function isMark(text: string): boolean {
  if (/^\p{Lu}{0,2}\p{Sc}$/u.test(text)) return true
  const word = plainWord(text)
  return BY_WORD.has(word) && (word.length >= LETTERS_SURE || /[^a-z]/.test(word))
}

/** The one currency that a mark stands for; null: none, or more than one. */
function currencyOfMark(mark: string): Currency | null {
  if (Object.hasOwn(CURRENCY_SIGNS, mark)) return parseCurrency(CURRENCY_SIGNS[mark] ?? '') ?? null
  if (isCode(mark)) return parseCurrency(mark) ?? null
  const [currency, other] = BY_WORD.get(plainWord(mark)) ?? []
  return other === undefined ? (currency ?? null) : null
}

// ───────────────────────────────────────────────────────────── In the name of the column

const AMOUNTS: ReadonlySet<string> = new Set(['amount', ...SYNONYMS.amount, 'gross', 'brutto'].map(squeezed))
const PREPOSITIONS = ['in', 'en', 'de', 'em']
/** A shorter word that is no code means a currency at the end of a name only: `Kwota zł`. */
const LETTERS_SURE = 4

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

function partName(column: string): { readonly marks: readonly string[]; readonly others: readonly string[] } {
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

// ───────────────────────────────────────────────────────────── Beside every amount

const MARK = '\\p{Sc}|[A-Z]{3}|[A-Z]{1,2}\\$|zł|Kč|kr|Ft'
const BEFORE = new RegExp(`^(?<mark>${MARK})\\s?(?<number>\\d.*)$`, 'su')
const BEHIND = new RegExp(`^(?<number>.*\\d)\\s?(?<mark>${MARK})$`, 'su')

/** An amount that is written with a currency, in its two parts. */
export function partMark(amount: string): { readonly mark: string | null; readonly number: string } {
  if (isPlain(amount)) return { mark: null, number: amount }
  const { mark = null, number = amount } = (BEFORE.exec(amount) ?? BEHIND.exec(amount))?.groups ?? {}
  return { mark, number }
}

/** One mark beside every amount of the file says its currency, or must agree with it. */
export class MarkEvidence {
  #mark: string | null = null
  #isMixed: boolean = false

  /** `shown`: what a workbook shows beside a number cell; it is not in its text. */
  see(amount: string, shownMarks: readonly string[]): void {
    if (amount === '') return
    const mark = shownMarks.length === 1 ? (shownMarks[0] ?? null) : partMark(amount).mark
    this.#isMixed ||= mark === null || mark !== (this.#mark ?? mark)
    this.#mark ??= mark
  }

  /** null: there is none, or not one and the same beside every amount. */
  decide(): string | null {
    return this.#isMixed ? null : this.#mark
  }
}

// ───────────────────────────────────────────────────────────── Of a row

/** What is said of the currency of a whole file. Where more than one is said, all must be the same. */
export interface CurrencySaid {
  /** By a person or the merchant's settings, for rows that name none. */
  readonly forAll: Currency | null
  /** In the name of the column of amounts. */
  readonly inName: readonly string[]
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
      : 'the name of their column'
  return `All amounts are read as ${currency}, as ${what} says.`
}

/** What the file says otherwise about the currency of a row; null: nothing does. */
export function contradiction(currency: Currency, { inName, mark }: CurrencySaid): Problem<Text> | null {
  if (inName.length > 0 && !inName.some((one) => mayMark(one, currency))) {
    const names = inName.map((one) => currencyOfMark(one) ?? `"${shown(one)}"`).join(' and ')
    return against(currency, `the name of the column says ${names}`, currencyOfMarks(inName))
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

/** What a column says in one row, and what is used there. */
interface Difference {
  readonly line: number
  readonly code: string
  readonly used: Currency
}

interface CodeColumn {
  differs: Difference | null
  /** By code, the first line: in rows that name no currency themselves. */
  readonly inOthers: Map<string, number>
  /** The code that was seen last. */
  last: string | null
}

/** Columns that are not read, and hold nothing but codes of currencies. */
export class CodeColumns {
  readonly #written: readonly string[]
  readonly #columns = new Map<number, CodeColumn>()

  constructor(written: readonly string[], places: readonly number[]) {
    this.#written = written
    for (const place of places) {
      const isOfFee = wordsOf(written[place] ?? '').some((word) => FEES.has(word))
      if (!isOfFee) this.#columns.set(place, { differs: null, inOthers: new Map(), last: null })
    }
  }

  /** `used`: as the row names it; null where it names none. */
  see(cells: readonly string[], line: number, used: Currency | null): void {
    for (const [place, column] of this.#columns) {
      const code = unquoted(cells[place] ?? '')
      if (code === '') continue
      if (code !== column.last && !isCode(code) && !isMark(code)) {
        this.#columns.delete(place)
        continue
      }
      column.last = code
      if (used === null) {
        if (!column.inOthers.has(code)) column.inOthers.set(code, line)
      } else if (!mayMark(code, used)) column.differs ??= { line, code, used }
    }
  }

  /** `used`: of rows that name none; null: nothing says it. `isRead`: a column of currencies is read. */
  statements(used: Currency | null, isRead: boolean): readonly Statement[] {
    return [...this.#columns].flatMap(([place, { differs, inOthers, last }]) => {
      const name = (this.#written[place] ?? '').trim()
      const [other] = used === null ? [] : [...inOthers].filter(([code]) => !mayMark(code, used))
      if (differs !== null) return [contradicts(name, place, differs)]
      if (other !== undefined && used !== null)
        return [contradicts(name, place, { code: other[0], line: other[1], used })]
      return isRead || used === null || last === null || name === '' ? [] : [agrees(name)]
    })
  }
}

function contradicts(name: string, place: number, { line, code, used }: Difference): Statement {
  const column = name === '' ? 'NAME' : shown(name)
  const [read, ignored] = ['request_currency', 'ignore'].map(
    (field) => words`${{ set: 'map', column, field }}` as Text,
  ) as [Text, Text]
  return {
    says: 'another currency',
    line,
    column: name === '' ? null : name,
    problem: `${columnText(name, place)} says ${code} in line ${line}, whose amount would be read as ${used}`,
    remedy: words`${name === '' ? 'give it a name; ' : ''}if it is the currency of the amounts, have it read: ${read}; if it is that of something else, ignore it: ${ignored}`,
  }
}

function agrees(name: string): Statement {
  const column = shown(name)
  return {
    says: 'the same currency',
    line: null,
    column: name,
    problem: `the column "${column}" holds the currency that the amounts are read in, and it is not read itself`,
    remedy: words`to have it read, add ${{ set: 'map', column, field: 'request_currency' }}`,
  }
}
