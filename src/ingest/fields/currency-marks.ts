// Codes, signs and words of currencies, as people write them: which currency each may stand for, beside amounts and in names.

import { type Currency, parseCurrency } from '../../domain/money.ts'
import { squeezed } from '../columns.ts'
import { SYNONYMS } from '../field-names.ts'
import { plainWord, writtenWords } from '../statements/names.ts'
import { withoutMinorUnits } from '../statements/scale.ts'
import { CURRENCY_SIGNS, CURRENCY_WORDS, SMALL_WORDS_AS_CODES, WORDS_AS_CODES } from '../statements/words.ts'
import { isPlain } from './plain.ts'

/** A shorter word that is no code means a currency at the end of a name only: `Kwota zł`. */
const LETTERS_SURE = 4

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

export function isCode(text: string): boolean {
  return /^[A-Z]{3}$/.test(text) && !WORDS_AS_CODES.has(text.toLowerCase()) && parseCurrency(text) !== undefined
}

/** A sign or word, as somebody writes it into a cell of its own; short words are something else there. */
export function isMark(text: string): boolean {
  if (/^\p{Lu}{0,2}\p{Sc}$/u.test(text)) return true
  const word = plainWord(text)
  return BY_WORD.has(word) && (word.length >= LETTERS_SURE || /[^a-z]/.test(word))
}

/** The one currency that a mark stands for; null: none, or more than one. */
export function currencyOfMark(mark: string): Currency | null {
  if (Object.hasOwn(CURRENCY_SIGNS, mark)) return parseCurrency(CURRENCY_SIGNS[mark] ?? '') ?? null
  if (isCode(mark)) return parseCurrency(mark) ?? null
  const [currency, other] = BY_WORD.get(plainWord(mark)) ?? []
  return other === undefined ? (currency ?? null) : null
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

// ───────────────────────────────────────────────────────────── In a name

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
