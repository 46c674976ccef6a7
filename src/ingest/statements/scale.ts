// What a file says of the scale of its amounts: "cents" or "TEUR" in the name of their column, or none with decimals.

import { type Currency, exponentOf } from '../../domain/money.ts'
import { shown } from '../../domain/problem.ts'
import { words } from '../../domain/words.ts'
import type { Header } from '../header.ts'
import { writtenWords } from './names.ts'
import type { Statement } from './statement.ts'
import { SCALES } from './tables.ts'

/** `minor`: amounts are written in the smallest unit of their currency. */
export type Scale = 'minor'

/** By the whole words of a name; null: nothing. */
export function scaleInName(column: string): (typeof SCALES)[number] | null {
  const text = writtenWords(column).join(' ')
  const isIn = (list: RegExp) => list.test(text) || list.test(column.normalize('NFKC'))
  return SCALES.find(({ words, others }) => words.test(text.toLowerCase()) || others.some(isIn)) ?? null
}

const SUFFIX = ' (minor units)'

/** How results and rejects name a column of minor units that does not say so itself: read again without a word, it would be units. */
export function inMinorUnits(column: string): string {
  return `${column.trim()}${SUFFIX}`
}

/** The name as the file had it that the results are of. */
export function withoutMinorUnits(column: string): string {
  return column.endsWith(SUFFIX) ? column.slice(0, -SUFFIX.length) : column
}

/** By the name of the column of amounts, or else by what is said above the column names. */
export function scaleStatement({ written, fields, unitAbove }: Header, scale: Scale | undefined): Statement | null {
  const column = written[fields.amount ?? -1]
  if (column === undefined) return null
  const inName = scaleInName(column)
  const where = inName === null ? unitAbove?.where : `the name of the column "${shown(column.trim())}"`
  const found = inName ?? scaleInName(unitAbove?.unit ?? '')
  if (found === null || (found.says === 'minor units' && scale === 'minor')) return null
  return {
    column,
    problem: `${where} says that its amounts are ${found.what}`,
    remedy: words`${found.remedy}; if that is wrong, correct it`,
  }
}

/** Fewer may all be round by chance. */
const WHOLE_LEAST = 20

/** No amount of the file has decimals, as where all of them are in cents. */
export function wholeStatement(whole: number, used: Currency | null, named: ReadonlySet<Currency>): Statement | null {
  const [one = used, ...others] = named
  if (whole < WHOLE_LEAST || one === null || ![one, ...others].every((currency) => exponentOf(currency) === 2))
    return null
  return {
    effect: 'noted',
    problem: `none of the ${whole} amounts has decimals, and they are read as whole ${one}`,
    remedy: words`if they are in cents, add ${{ set: 'scale', to: 'minor' }}`,
  }
}
