// A currency that a file says once for all its amounts: in the name of their column, or as the one mark beside each of them.

import { type Currency, parseCurrency } from '../../domain/money.ts'
import { type Problem, shown } from '../../domain/problem.ts'
import { type Text, words } from '../../domain/words.ts'
import { squeezed } from '../columns.ts'
import { SYNONYMS } from '../field-names.ts'
import { mayMark } from './currency-mark.ts'
import { isPlain } from './plain.ts'

/** Signs that people use for one currency; `$`, `¥` and `kr` are several. */
const SIGNS: Readonly<Record<string, string>> = {
  ...{ '€': 'EUR', '£': 'GBP', '₹': 'INR', '₺': 'TRY', '₴': 'UAH', '₪': 'ILS', '₫': 'VND', '₩': 'KRW', '₱': 'PHP' },
  ...{ '₽': 'RUB', '₦': 'NGN', '₾': 'GEL', '₸': 'KZT', zł: 'PLN', Kč: 'CZK', US$: 'USD', A$: 'AUD' },
  ...{ CA$: 'CAD', AU$: 'AUD', HK$: 'HKD', NZ$: 'NZD', R$: 'BRL' },
}
/** Codes that are words as well. */
const WORDS = ['ALL', 'TOP']

/** The one currency that a code or a sign stands for; null: none, or more than one. */
function currencyOfMark(mark: string): Currency | null {
  const code = Object.hasOwn(SIGNS, mark) ? SIGNS[mark] : /^[A-Z]{3}$/.test(mark) && !WORDS.includes(mark) ? mark : ''
  return parseCurrency(code ?? '') ?? null
}

// ───────────────────────────────────────────────────────────── In the name of the column

/** `Amount (EUR)`, `Gross [USD]`, `Betrag in €`: the whole end of the name, so that `(EUR cents)` is none. */
const NAMED =
  /^(?<name>.*[\p{L}\p{N}])(?:\s*\(\s*(?<a>[^()]+?)\s*\)|\s*\[\s*(?<b>[^[\]]+?)\s*\]|[\s_]in[\s_](?<c>\S+))$/iu
const AMOUNTS: ReadonlySet<string> = new Set(['amount', ...SYNONYMS.amount, 'gross', 'brutto'].map(squeezed))

/** What the name of a column of amounts says, whatever the column is called beside it; null: nothing. */
export function currencyInName(column: string): Currency | null {
  return namedIn(column)?.currency ?? null
}

/** Whether the column is one of amounts by its name and by the currency in it. */
export function isAmountIn(column: string): boolean {
  const named = namedIn(column)
  return named !== null && AMOUNTS.has(squeezed(named.name))
}

function namedIn(column: string): { readonly name: string; readonly currency: Currency } | null {
  const { name = '', a, b, c } = NAMED.exec(column.trim().slice(0, NAME_CHARACTERS))?.groups ?? {}
  const currency = currencyOfMark(a ?? b ?? c ?? '')
  return currency === null ? null : { name, currency }
}

const NAME_CHARACTERS = 100

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
  readonly inName: Currency | null
  /** Beside every amount. */
  readonly mark: string | null
}

export const NO_CURRENCY_SAID: CurrencySaid = { forAll: null, inName: null, mark: null }

/** Of a row that names none. */
export function currencyOfFile({ forAll, inName, mark }: CurrencySaid): Currency | null {
  return forAll ?? inName ?? (mark === null ? null : currencyOfMark(mark))
}

/** For a person, where the file alone says its currency. `hasColumn`: the rows name it. */
export function currencyNote(said: CurrencySaid, hasColumn: boolean): string | null {
  const currency = currencyOfFile(said)
  if (hasColumn || said.forAll !== null || currency === null) return null
  const what = said.inName === null ? `the "${shown(said.mark ?? '')}" beside each of them` : 'the name of their column'
  return `All amounts are read as ${currency}, as ${what} says.`
}

/** What the file says otherwise about the currency of a row; null: nothing does. */
export function contradiction(currency: Currency, { inName, mark }: CurrencySaid): Problem<Text> | null {
  if (inName !== null && inName !== currency) return against(currency, `the name of the column says ${inName}`, inName)
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
