// Which way the money goes, as the signs of the amounts show it: found once for the file, like its decimal sign.

import { parseCurrency } from '../../domain/money.ts'
import { refuse, type StructuralFault, shown } from '../../domain/problem.ts'
import { words } from '../../domain/words.ts'
import { partMark } from './currency-marks.ts'
import { digitsMeant, isFew, signShownBy } from './decimal-sign.ts'
import { withoutMinus } from './minus.ts'
import { isPlain } from './plain.ts'

/** Lines of either kind that are named; the rest is counted. */
const LINES_NAMED = 5

/**
 * A sign makes a row bad, and a person may have bad rows left out. In an export with both ways that would leave out the
 * refunds and send what came in.
 */
export class DirectionEvidence {
  readonly #withMinus = new Lines()
  /** Of those, what says so stands beside the amount: by itself the amount would be good. */
  readonly #withMarkBeside = new Lines()
  readonly #without = new Lines()
  /** With a currency beside them, which is read where every amount has the same one. */
  readonly #withCurrency = new Lines()
  #firstMarked = ''
  #seen = 0
  #minuses = 0

  /** `marks`: what a spreadsheet shows beside the amount and is not known to be its currency. */
  see(amount: string, line: number, marks: readonly string[]): void {
    if (!/[1-9]/.test(amount)) return // nothing and zero go no way
    if (!isPlain(amount) && isSlip(amount)) return // it goes none
    this.#seen += 1
    if (withoutMinus(amount.trim()) !== null) this.#minuses += 1
    const whole = [amount, ...marks].join(' ')
    if (isMarked(whole)) {
      if (this.#withMinus.first === null) this.#firstMarked = whole
      this.#withMinus.add(line)
      if (!isMarked(amount)) this.#withMarkBeside.add(line)
    } else if (signShownBy(amount.trim()) !== 'malformed') this.#without.add(line)
    else if (signShownBy(partMark(amount.trim()).number) !== 'malformed') this.#withCurrency.add(line)
  }

  /** How many amounts there are, where each of them has a minus or brackets; else 0. */
  get minuses(): number {
    return this.#minuses === this.#seen ? this.#seen : 0
  }

  /** `readsCurrency`: an amount with a currency beside it is good. `isMinusSaid`: one with a minus is, and none without. */
  decide(readsCurrency: boolean, isMinusSaid: boolean, column: string): StructuralFault | null {
    const without = readsCurrency && this.#without.first === null ? this.#withCurrency : this.#without
    if (this.#withMinus.first === null || without.first === null) return null
    const [bad, good] = isMinusSaid ? [without, this.#withMinus] : [this.#withMinus, without]
    if (isFew(bad.count, good.count) && this.#withMarkBeside.first === null) return null
    const quoted = `${this.#withMinus.count === 1 ? ': ' : ', such as '}"${shown(this.#firstMarked)}"`
    const problem = `amounts with a minus, in brackets or with letters (${this.#withMinus}${quoted}) are mixed with amounts without (${without})`
    const oneWay =
      'a file must move money one way: correct what was mistyped, remove the rows that are not meant, then write every amount as digits alone'
    const remedy =
      !isMinusSaid && isFew(without.count, this.#withMinus.count) ? words`${oneWay}${OR_SAY_MINUS}` : oneWay
    return refuse({ problem, remedy }, { line: Math.max(this.#withMinus.first, without.first), column })
  }
}

/** `3O.00`; and a letter in the place of one of two decimals that says no side in any language: `8,7x`. */
function isSlip(amount: string): boolean {
  return digitsMeant(amount) !== null || /^\d[\d.,]*[.,](?:\d[ijoquvwxyz]|[ijoquvwxyz]\d)$/i.test(amount.trim())
}

const OR_SAY_MINUS = {
  set: 'sign',
  to: 'minus',
  lead: '; or, where this file writes every amount with a minus, add ',
} as const

/** Some by their numbers, the others by how many they are. */
export class Lines {
  readonly #named: number[] = []
  count = 0

  get first(): number | null {
    return this.#named[0] ?? null
  }

  add(line: number): void {
    this.count += 1
    if (this.#named.length < LINES_NAMED) this.#named.push(line)
  }

  toString(): string {
    const more = this.count - this.#named.length
    return `${this.count === 1 ? 'line' : 'lines'} ${this.#named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  }
}

/** Hyphens, dashes and minuses of every kind. */
const DASH = /[\p{Pd}\u00ad\u02d7\u2043\u2052\u207b\u208b\u2212\u2796]/u
const OPENING = /[\p{Ps}<]/u
/** `5.–` is five francs. */
const NO_CENTS = /^[.,]\s?\p{Pd}+$/u
/** Letters that say nothing: those of 5E2 and US$. */
const NO_WORDS = /(?<=\d)e(?=[+-]?\d)|(?<!\p{L})(?:us|ca?|au?|nz|hk|s|r)(?=\$)/giu
/** How currencies are written that have no sign of their own, beside the codes of three letters. */
const CURRENCY_WORDS = ['kr', 'zł', 'kč', 'fr', 'sfr', 'ft', 'rs', 'lei', 'лв', 'din', 'km']

/** In any notation, with or without a currency beside it. A word that is no currency may say it: `5.00 Cr.`, `5,00 Haben`. */
function isMarked(amount: string): boolean {
  if (isPlain(amount)) return false
  const first = amount.search(/\d/)
  const before = amount.slice(0, first)
  const after = amount.slice(first).replace(/^.*\d/s, '')
  if (DASH.test(before) || OPENING.test(before)) return true
  const end = after.replace(/[\p{Sc}\p{L}\p{Z}'"]/gu, '')
  if (DASH.test(end) && !NO_CENTS.test(end)) return true
  return (amount.replace(NO_WORDS, '').match(/\p{L}+/gu) ?? []).some((word) => !isCurrency(word))
}

function isCurrency(word: string): boolean {
  return parseCurrency(word) !== undefined || CURRENCY_WORDS.includes(word.toLowerCase())
}
