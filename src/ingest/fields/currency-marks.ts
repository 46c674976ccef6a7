// Codes, signs and words of currencies, as people write them: which currency each may stand for, and those beside amounts.

import { type Currency, parseCurrency } from '../../domain/money.ts'
import { plainWord } from '../statements/names.ts'
import { CURRENCY_SIGNS, CURRENCY_WORDS, WORDS_AS_CODES } from '../statements/words.ts'
import { isPlain } from './plain.ts'

/** A shorter word that is no code means a currency at the end of a name only: `Kwota zł`. */
export const LETTERS_SURE = 4

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
export const BY_WORD = new Map<string, Currency[]>()
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
