// Which sign parts the decimals, decided once per file from all its amounts: a guess per cell could be wrong by a thousand.

import { type Problem, refuse, type StructuralFault } from '../../domain/problem.ts'
import { type Text, type Words, words } from '../../domain/words.ts'
import { type DecimalSign, readUnder } from '../../domain/written-amount.ts'

/** Without thousands, which have three digits: nearly all amounts. */
const UNPARTED = /^\d+(?:([.,])(?:\d{1,2}|\d{4,}))?$/

/** What an amount says about the sign of its file. `either`: a whole number. `ambiguous`: 1.234. */
export function signShownBy(text: string): DecimalSign | 'either' | 'ambiguous' | 'malformed' {
  const unparted = UNPARTED.exec(text)
  if (unparted !== null) return (unparted[1] as DecimalSign | undefined) ?? 'either'
  const point = readUnder(text, '.')
  const comma = readUnder(text, ',')
  if (point === null && comma === null) return 'malformed'
  if (comma === null) return '.'
  if (point === null) return ','
  return point === comma ? 'either' : 'ambiguous'
}

/** Of a currency without decimals there is one way to read 1,200 and 1.200. null: the amount shows no thousands alone. */
export function signBesideThousands(text: string): DecimalSign | null {
  if (signShownBy(text) !== 'ambiguous') return null
  return text.includes('.') ? ',' : '.'
}

/** Letters that look like digits, where with the digits it is an amount: `3O.00`, `l2.50`. null: it has none. */
export function digitsMeant(text: string): string | null {
  const digits = text.trim().replace(/[Oo]/g, '0').replace(/[Il]/g, '1')
  return digits !== text.trim() && /\d/.test(text) && signShownBy(digits) !== 'malformed' ? digits : null
}

const EITHER = words`${{ set: 'decimal', to: '.', lead: ' with ' }}${{ set: 'decimal', to: ',', lead: ' or ' }}`
const REMEDY = words`write all amounts of the file in one way, or choose the decimal sign${EITHER}`

/** So many amounts must agree, and for each one that does not, so many more. */
const AGREEING_LEAST = 20

interface Deviants {
  /** Theirs. */
  readonly sign: DecimalSign
  readonly count: number
  readonly line: number
  readonly agreeing: number
}

/** For a person. */
export function deviantsNote({ sign, count, line, agreeing }: Deviants): string {
  const [theirs, others] = sign === '.' ? ['a point', 'a comma'] : ['a comma', 'a point']
  const [write, rows] = count === 1 ? ['amount writes', 'a bad row'] : ['amounts write', 'bad rows']
  return `${count} ${write} decimals with ${theirs} (the first in line ${line}) and ${agreeing} with ${others}: ${count === 1 ? 'it is' : 'they are'} ${rows}, and so is every amount that could be read either way.`
}

/** Whether those of one kind are mistakes in a file of the other kind. */
export function isFew(count: number, agreeing: number): boolean {
  return agreeing >= AGREEING_LEAST && count * AGREEING_LEAST <= agreeing
}

/** A sign that is left out makes a hundred times of an amount, and this is that of half of one like most. */
const ODD_TIMES = 50
const OTHERS_LEAST = 3

/** Without any sign. */
function isDigits(text: string): boolean {
  return /^\d+$/.test(text)
}

/** `from`: see `oddFrom`. */
export function oddProblem(text: string, from: number, sign: DecimalSign | null): Problem | null {
  if (!isDigits(text) || Number(text) < from) return null
  return {
    problem: `has no decimals, and is more than ${ODD_TIMES} times as large as most amounts, which have two`,
    remedy: `correct it; if ${text} is meant, write ${text}${sign ?? '.'}00`,
  }
}

/** Keeps the first line of each kind only, however long the file is. */
export class DecimalEvidence {
  readonly #firstLine: Record<DecimalSign, number | null> = { '.': null, ',': null }
  readonly #count: Record<DecimalSign, number> = { '.': 0, ',': 0 }
  #whole = 0
  #hasFractions: boolean = false
  /** By the sign that stands in it. */
  readonly #firstAmbiguous: Record<DecimalSign, { readonly text: string; readonly line: number } | null> = {
    '.': null,
    ',': null,
  }

  /** Amounts with two decimals, by size: the logarithm of it, in eighths. */
  readonly #sizes = new Map<number, number>()
  #withoutSign = 0
  /** 12.30 shows that zeros are written, 12.3 that they are not: then 12 is nothing odd. */
  #hasZeros: boolean = false
  #lacksZeros: boolean = false

  /** Numbers of a workbook, which have no sign that was written. */
  seeNumber(amount: string): void {
    this.#lacksZeros = true
    if (amount.includes('.')) this.#hasFractions = true
    else if (amount !== '') this.#whole += 1
  }

  /** How many amounts there are, where none has decimals or may have; else 0. */
  get whole(): number {
    const { '.': point, ',': comma } = this.#firstAmbiguous
    const isWhole = this.#count['.'] + this.#count[','] === 0 && point === null && comma === null
    return isWhole && !this.#hasFractions ? this.#whole : 0
  }

  see(amount: string, line: number): void {
    const sign = signShownBy(amount.trim())
    if (sign === 'either') {
      this.#whole += 1
      if (isDigits(amount.trim())) this.#withoutSign += 1
    } else if (sign === '.' || sign === ',') {
      this.#firstLine[sign] ??= line
      this.#count[sign] += 1
      this.#weigh(readUnder(amount.trim(), sign) ?? '')
    } else if (sign === 'ambiguous')
      this.#firstAmbiguous[amount.includes('.') ? '.' : ','] ??= { text: amount.trim(), line }
  }

  #weigh(plain: string): void {
    if (plain.at(-2) === '.') this.#lacksZeros = true
    if (plain.at(-3) !== '.' || Number(plain) === 0) return
    this.#hasZeros ||= plain.endsWith('0')
    const size = Math.round(Math.log2(Number(plain)) * 8)
    this.#sizes.set(size, (this.#sizes.get(size) ?? 0) + 1)
  }

  /** From here on a whole number lacks its sign (`7990` among `12.30` and `45.00`) as likely as not. null: whole numbers are nothing odd here. */
  get oddFrom(): number | null {
    const count = [...this.#sizes.values()].reduce((sum, some) => sum + some, 0)
    const isOdd = this.#withoutSign === 1 || isFew(this.#withoutSign, count)
    if (!isOdd || this.#lacksZeros || !this.#hasZeros || count < OTHERS_LEAST) return null
    const sizes = [...this.#sizes].toSorted(([a], [b]) => a - b)
    const upTo = (size: number) => sizes.reduce((sum, [other, some]) => (other <= size ? sum + some : sum), 0)
    const [median = 0] = sizes.find(([size]) => upTo(size) * 2 >= count) ?? []
    return ODD_TIMES * 2 ** (median / 8)
  }

  /** The few amounts that are written with the other sign than nearly all: bad rows of a good file. null: there are none. */
  deviants(): Deviants | null {
    for (const sign of ['.', ','] as const) {
      const [count, agreeing] = [this.#count[sign], this.#count[sign === '.' ? ',' : '.']]
      const line = this.#firstLine[sign]
      if (line !== null && isFew(count, agreeing)) return { sign, count, line, agreeing }
    }
    return null
  }

  /** In words, where an amount of the form 1.234 is read as whole thousands by what another line shows; else null. */
  leaning(decided: DecimalSign | null): Words | null {
    if (decided === null) return null
    const line = this.#firstLine[decided]
    const amount = this.#firstAmbiguous[decided === '.' ? ',' : '.']
    if (line === null || amount === null) return null
    const read = readUnder(amount.text, decided) ?? ''
    return words`"${amount.text}" in line ${amount.line} is read as ${read}, because line ${line} shows that the decimal sign is ${decided === '.' ? 'a point' : 'a comma'}. If that is wrong, add ${{ set: 'decimal', to: null }}.`
  }

  /** null: no amount needs one; an ambiguous one is then a fault of its row. */
  decide(declared: DecimalSign | undefined): DecimalSign | null | StructuralFault {
    if (declared !== undefined) return declared
    const { '.': point, ',': comma } = this.#firstLine
    const few = this.deviants()
    if (few !== null) return few.sign === '.' ? ',' : '.'
    if (point !== null && comma !== null) {
      const problem = `line ${point} writes decimals with a point and line ${comma} with a comma`
      return refuse({ problem, remedy: REMEDY }, { line: Math.max(point, comma) })
    }
    if (point !== null) return '.'
    return comma === null ? null : ','
  }
}

export const AMBIGUOUS: Problem<Text> = {
  problem: 'could be a whole number with a thousands separator, or a number with three decimals',
  remedy: words`choose the decimal sign of this file${EITHER}`,
}
