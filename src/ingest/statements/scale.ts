// What a file says of the scale of its amounts: "cents" or "TEUR" in the name of their column, or none with decimals.

import { type Currency, exponentOf } from '../../domain/money.ts'
import { shown } from '../../domain/problem.ts'
import { words } from '../../domain/words.ts'
import type { UnitSaid } from './above.ts'
import { writtenWords } from './names.ts'
import { mapped, type Statement } from './statement.ts'
import { HUNDREDTHS, MINOR_UNITS, MULTIPLE_OF_CURRENCY, MULTIPLES, TIMES } from './words.ts'

/** `minor`: amounts are written in the smallest unit of their currency. */
export type Scale = 'minor'

/** By the whole words of its name; null: nothing. */
export function scaleInName(column: string): 'minor units' | 'multiples' | null {
  const written = writtenWords(column)
  const small = written.map((word) => word.toLowerCase())
  const factor = TIMES.exec(column.normalize('NFKC'))?.groups?.factor
  const isMultiple =
    written.some((word) => MULTIPLE_OF_CURRENCY.test(word)) || small.some((word) => MULTIPLES.has(word))
  if (factor === undefined ? isMultiple : factor !== '100') return 'multiples'
  const isMinor = factor === '100' || HUNDREDTHS.test(column) || small.some((word) => MINOR_UNITS.has(word))
  return isMinor ? 'minor units' : null
}

/** How results and rejects name a column of minor units that does not say so itself: read again without a word, it would be units. */
export function inMinorUnits(column: string): string {
  return `${column.trim()}${SUFFIX}`
}

const SUFFIX = ' (minor units)'

/** The name as the file had it that the results are of. */
export function withoutMinorUnits(column: string): string {
  return column.endsWith(SUFFIX) ? column.slice(0, -SUFFIX.length) : column
}

/** `amount`: the name of its column. `above`: what is said above the column names. */
export function scaleStatement(
  amount: string | undefined,
  above: UnitSaid | null,
  scale: Scale | undefined,
  line: number,
): Statement | null {
  if (amount === undefined) return null
  const inName = scaleInName(amount)
  const says = inName ?? scaleInName(above?.unit ?? '')
  if (says === null || (says === 'minor units' && scale === 'minor')) return null
  const where = inName === null ? above?.where : `the name of the column "${shown(amount.trim())}"`
  const wrong = inName === null ? 'the line is wrong, correct it' : 'the name is wrong, rename the column'
  const isMinor = says === 'minor units'
  const what = isMinor
    ? 'in minor units, such as cents, and they would be read as whole units'
    : 'thousands or millions, and they would be read as they stand'
  return {
    ...{ effect: 'refused', line, column: amount },
    problem: `${where} says that its amounts are ${what}`,
    remedy: isMinor
      ? words`to have them read as minor units: ${{ set: 'scale', to: 'minor' }}; if ${wrong}`
      : `write the amounts out in the file; if ${wrong}`,
  }
}

/** Fewer may all be round by chance. */
const WHOLE_LEAST = 20

/** No amount of the file has decimals, as where all of them are in cents. */
export function wholeStatement(whole: number, currencies: ReadonlySet<Currency>): Statement | null {
  const [one] = currencies
  const isOfCents = [...currencies].every((currency) => exponentOf(currency) === 2)
  if (whole < WHOLE_LEAST || one === undefined || !isOfCents) return null
  return {
    ...{ effect: 'noted', line: null, column: null },
    problem: `none of the ${whole} amounts has decimals, and they are read as whole ${one}`,
    remedy: words`if they are in cents, add ${{ set: 'scale', to: 'minor' }}`,
  }
}

/** Fewer may look so by chance. */
const CUT_LEAST = 3

/** The cells right of the amounts: of `12,30` in a file of commas, the decimals are in the next column. */
export class CutDecimals {
  #cells = 0
  #isCut: boolean = true
  /** One of them is no quantity, rate or day that people write. */
  #isSure: boolean = false

  see(cell: string): void {
    if (!this.#isCut || cell === '') return
    this.#cells += 1
    this.#isCut = /^\d\d$/.test(cell)
    this.#isSure ||= cell < '10' || cell > '31'
  }

  /** `column`: their name. `whole`: how many amounts there are, where none of them has decimals. */
  statement(column: string, whole: number, line: number): Statement | null {
    if (whole < CUT_LEAST || this.#cells < CUT_LEAST || !this.#isCut || !this.#isSure) return null
    const right = column === '' ? 'the column right of them' : `the column "${shown(column)}" right of them`
    return {
      ...{ effect: 'refused', line, column: null },
      problem: `no amount has decimals, and ${right} has two digits in every row: a comma may have cut the amounts in two`,
      remedy: words`write the amounts with a point or in quotation marks; if they are right, ${column === '' ? 'give the column a name and ' : ''}ignore it: ${mapped(column, 'ignore')}`,
    }
  }
}
