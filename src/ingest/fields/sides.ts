// Columns that say by their values which way the money of a row goes, whatever they are called: S and H, Dr and Cr, + and -.

import { toLowerAscii } from '../../domain/keyword.ts'
import { refuse, type StructuralFault, shown } from '../../domain/problem.ts'
import { words } from '../../domain/words.ts'
import { unquoted } from '../csv/quotes.ts'
import { DIRECTION_PAIRS } from '../statements/words.ts'

/** By word: the pairs it belongs to, and its side there. */
const SIDES = new Map<string, Map<number, 0 | 1>>()
for (const [pair, sides] of DIRECTION_PAIRS.entries())
  for (const side of [0, 1] as const)
    for (const word of sides[side].split(' ')) SIDES.set(word, (SIDES.get(word) ?? new Map()).set(pair, side))

const WORD_CHARACTERS_MOST = Math.max(...[...SIDES.keys()].map(({ length }) => length))
/** With blanks, points and quotation marks. */
const CELL_CHARACTERS_MOST = 2 * WORD_CHARACTERS_MOST
const DASH = /[\p{Pd}\u2212]/gu

/** As it is written in the table above. */
function wordIn(cell: string): string {
  const word = toLowerAscii(unquoted(cell).replace(/^'/, '').normalize('NFKD'))
    .toLowerCase()
    .replace(DASH, '-')
    .replace(/[\p{M}\s._]/gu, '')
  return /\p{L}/u.test(word) ? word.replaceAll('-', '') : word
}

/** Most cells are written as in the table; the long way round costs. */
function sidesOf(cell: string): ReadonlyMap<number, 0 | 1> | undefined {
  if (cell.length > CELL_CHARACTERS_MOST) return undefined
  return SIDES.get(cell.toLowerCase()) ?? SIDES.get(wordIn(cell))
}

/** A debit card is no debit. */
const CARDS = /card|karte|carte|carta|tarjeta|kaart|kort|funding/i

interface Found {
  readonly line: number
  readonly cell: string
}

/** By pair, the first cell of either side. */
type Candidates = Map<number, [Found | null, Found | null]>

/** Where every filled cell of a column is of one pair, and both sides are there, the file mixes money that goes two ways. */
export class SideEvidence {
  readonly #written: readonly string[]
  /** By place; null: nothing is in it so far. A column with any other word is out. */
  readonly #columns: Map<number, Candidates | null>

  /** `places`: the columns that have no meaning here. */
  constructor(written: readonly string[], places: readonly number[]) {
    this.#written = written
    this.#columns = new Map(places.filter((i) => !CARDS.test(written[i] ?? '')).map((i) => [i, null]))
  }

  see(cells: readonly string[], line: number): void {
    for (const [place, candidates] of this.#columns) {
      const cell = (cells[place] ?? '').trim()
      if (cell === '') continue
      const sides = sidesOf(cell)
      const left = sides === undefined ? null : narrowed(candidates, sides, { line, cell })
      if (left === null || left.size === 0) this.#columns.delete(place)
      else this.#columns.set(place, left)
    }
  }

  decide(): StructuralFault | null {
    for (const [place, candidates] of this.#columns) {
      for (const [one, other] of candidates?.values() ?? []) {
        if (one !== null && other !== null) return this.#refusal(place, one, other)
      }
    }
    return null
  }

  #refusal(place: number, one: Found, other: Found): StructuralFault {
    const name = (this.#written[place] ?? '').trim()
    const text = ({ cell, line }: Found) => `"${shown(cell)}" in line ${line}`
    const column = name === '' ? `column ${place + 1}, which has no name,` : `the column "${shown(name)}"`
    const ignored = { set: 'map', column: name === '' ? 'NAME' : shown(name), field: 'ignore' } as const
    const named = name === '' ? 'give it a name and add' : 'add'
    return refuse(
      {
        problem: `${column} says which way the money of a row goes (${text(one)}, ${text(other)}), and it is not read`,
        remedy: words`leave only the rows in the file that go the way of their operation; if the column means something else, ${named} ${ignored}`,
      },
      { line: Math.max(one.line, other.line), ...(name === '' ? {} : { column: name }) },
    )
  }
}

function narrowed(before: Candidates | null, sides: ReadonlyMap<number, 0 | 1>, found: Found): Candidates {
  const after: Candidates = new Map()
  for (const [pair, side] of sides) {
    if (before !== null && !before.has(pair)) continue
    const [one, other] = before?.get(pair) ?? [null, null]
    after.set(pair, side === 0 ? [one ?? found, other] : [one, other ?? found])
  }
  return after
}
