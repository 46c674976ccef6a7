// Which way the money goes, as the signs of the amounts show it: found once for the file, like its decimal sign.

import { signShownBy } from './decimal.ts'
import { refuse, type StructuralFault } from './problem.ts'

/** Lines of either kind that are named; the rest is counted. */
const LINES_NAMED = 5

/**
 * A sign makes a row bad, and bad rows may be left out (--skip-invalid). In an export with both ways that would leave out the
 * refunds and send what came in.
 */
export class DirectionEvidence {
  readonly #withMinus = new Lines()
  readonly #without = new Lines()

  see(amount: string, line: number): void {
    if (!/[1-9]/.test(amount)) return // nothing and zero go no way
    if (hasMinus(amount)) this.#withMinus.add(line)
    else if (signShownBy(amount.trim()) !== 'malformed') this.#without.add(line)
  }

  decide(): StructuralFault | null {
    if (this.#withMinus.first === null || this.#without.first === null) return null
    const problem = `amounts with a minus or in brackets (${this.#withMinus}) are mixed with amounts without (${this.#without})`
    const remedy =
      'a file must move money one way: remove the rows that are not meant, then write every amount without a sign'
    return refuse({ problem, remedy }, { line: Math.max(this.#withMinus.first, this.#without.first) })
  }
}

class Lines {
  readonly #named: number[] = []
  #count = 0

  get first(): number | null {
    return this.#named[0] ?? null
  }

  add(line: number): void {
    this.#count += 1
    if (this.#named.length < LINES_NAMED) this.#named.push(line)
  }

  toString(): string {
    const more = this.#count - this.#named.length
    return `${this.#count === 1 ? 'line' : 'lines'} ${this.#named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  }
}

const DASHES = '[-\\u2010-\\u2014\\u2212\\ufe63\\uff0d]'
const MINUS = new RegExp(`^${DASHES}|${DASHES}$`, 'u')
/** `5.–` is five francs. */
const NO_CENTS = new RegExp(`[.,]${DASHES}+$`, 'u')
/** Credit and debit, as banks mark them in English and German. */
const MARKED = /\d\s?(?:cr|dr|[hs])$/i

/** In any notation, with or without a currency beside it. */
function hasMinus(amount: string): boolean {
  const bare = amount.replace(/[\p{Sc}\p{L}\p{Z}\s'"]/gu, '')
  if (bare.startsWith('(') && bare.endsWith(')')) return true
  return (MINUS.test(bare) && !NO_CENTS.test(bare)) || MARKED.test(amount.trim())
}
