// Which cells of a sheet are under merged cells: a spreadsheet shows the first one of them, and keeps what the others hold.

import { LIMITS } from '../limits.ts'
import { type Address, COLUMNS_MOST, parseRange } from './address.ts'
import { type AttributeOf, readXml, type Shape } from './xml.ts'
import { type Budget, damaged, type Entry, inflate } from './zip.ts'

/** The first and the last cell of merged ones. */
export interface Merge {
  readonly first: Address
  readonly last: Address
}

/** As many as there may be rows. */
const MERGES_MOST = 1_000_000

/** A table has no more columns; what is beyond is a fault of its row, under merged cells or not. */
const COLUMNS_LOOKED_AT = LIMITS.columns + 1

const MERGES: Shape = { worksheet: { mergeCells: { mergeCell: {} } } }

/** They are listed behind the rows, and are needed before them. Most sheets have none, and are not parsed for it. Throws Unreadable. */
export async function readMerges(bytes: Buffer, part: Entry, budget: Budget): Promise<readonly Merge[]> {
  if (!(await mentions(bytes, part, { ...budget }, 'mergeCell'))) return []
  const merges: Merge[] = []
  const elements = {
    open(element: string, attribute: AttributeOf) {
      if (element !== 'mergeCell') return
      const range = parseRange(attribute('ref') ?? '')
      if (range === null || merges.length === MERGES_MOST) throw damaged()
      merges.push(range)
    },
    close() {},
    text() {},
  }
  for await (const _ of readXml(bytes, part, { ...budget }, MERGES, elements));
  return merges.sort((a, b) => a.first.line - b.first.line)
}

/** In whichever encoding: that of UTF-16 has zeros between its letters. */
async function mentions(bytes: Buffer, part: Entry, budget: Budget, word: string): Promise<boolean> {
  let rest = ''
  for await (const piece of inflate(bytes, part, budget)) {
    const text = rest + piece.toString('latin1').replaceAll('\0', '')
    if (text.includes(word)) return true
    rest = text.slice(-word.length)
  }
  return false
}

/** Asked row by row, downwards. */
export class Covers {
  readonly #merges: readonly Merge[]
  #next = 0
  /** By column: the last row down to which it is covered. */
  readonly #until: number[] = []
  /** Columns in which merged cells begin in the row at hand: these are seen. */
  readonly #heads = new Set<number>()
  /** Columns of the merged cells that begin in one row. */
  readonly #begun = { line: 0, columns: 0 }

  constructor(merges: readonly Merge[]) {
    this.#merges = merges
  }

  goTo(line: number): void {
    this.#heads.clear()
    for (; ; this.#next += 1) {
      const merge = this.#merges[this.#next]
      if (merge === undefined || merge.first.line > line) return
      this.#cover(merge, line)
    }
  }

  #cover({ first, last }: Merge, line: number): void {
    if (this.#begun.line !== first.line) Object.assign(this.#begun, { line: first.line, columns: 0 })
    this.#begun.columns += last.column - first.column + 1
    if (this.#begun.columns > COLUMNS_MOST) throw damaged() // they would lie over each other
    if (last.line < line) return
    if (first.line === line && (this.#until[first.column] ?? 0) < line) this.#heads.add(first.column)
    for (let column = first.column; column <= Math.min(last.column, COLUMNS_LOOKED_AT); column++) {
      this.#until[column] = Math.max(this.#until[column] ?? 0, last.line)
    }
  }

  has(line: number, column: number): boolean {
    return (this.#until[column] ?? 0) >= line && !this.#heads.has(column)
  }
}
