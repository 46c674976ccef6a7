// Columns that say row by row whether its money may move, for whom, or by which way: "Approved" with yes and no, "Refund to" with card
// and voucher, the names of two merchants, notes such as "do not pay". Such a column is not read, so that every row would be sent.

import { unquoted } from '../csv/quotes.ts'
import { Lines } from '../fields/direction.ts'
import { squeezedWord, wordsOf } from './names.ts'
import { type Found, rowByRow, type Statement } from './statement.ts'
import { isOfSale } from './way.ts'
import {
  ANSWERS,
  CARDS,
  DECISION_NAMES,
  DECISION_STEMS,
  DECISIONS,
  EXTENTS,
  METHOD_NAMES,
  OTHER_METHODS,
  OTHER_THINGS,
  REASONS,
  saysNotToSend,
} from './words.ts'

/** Of a column; one with more is none of decisions or methods. */
const VALUES_MOST = 40
const METHODS_MOST = 12
/** Of a note, that is looked through. */
const CHARACTERS_MOST = 500

interface Column {
  readonly name: string
  /** By cell, where it stands first; null: too many. */
  values: Map<string, Found> | null
  readonly notToSend: Lines | null
  firstNot: string
}

export class May {
  readonly #columns: ReadonlyMap<number, Column>
  readonly #merchants: readonly string[]
  #rows = 0

  /** `places`: the columns that have no meaning here. `merchants`: all that are configured, the one that is meant first. */
  constructor(written: readonly string[], places: readonly number[], merchants: readonly string[]) {
    this.#merchants = merchants.map((name) => name.toLowerCase())
    this.#columns = new Map(
      places.map((place) => {
        const name = (written[place] ?? '').trim()
        const isReason = wordsOf(name).some((word) => REASONS.has(word))
        return [place, { name, values: new Map(), notToSend: isReason ? null : new Lines(), firstNot: '' }]
      }),
    )
  }

  see(cells: readonly string[], line: number): void {
    this.#rows += 1
    for (const [place, column] of this.#columns) {
      const raw = cells[place] ?? ''
      if (raw.length > 2 && column.notToSend !== null && saysNotToSend(raw.slice(0, CHARACTERS_MOST))) {
        column.notToSend.add(line)
        column.firstNot ||= raw
      }
      if (column.values === null || column.values.has(raw)) continue
      const cell = unquoted(raw).trim()
      if (column.values.size < VALUES_MOST) column.values.set(raw, { line, cell, value: squeezedWord(cell) })
      else column.values = null
    }
  }

  /** One of a column. */
  statements(): readonly Statement[] {
    return [...this.#columns].flatMap(([place, column]) => this.#statementOf(place, column) ?? [])
  }

  #statementOf(place: number, { name, values, notToSend, firstNot }: Column): Statement | null {
    const found = [...(values?.values() ?? [])]
    const filled = found.filter(({ cell }) => cell !== '')
    const tell = (what: string, told: readonly Found[]) => rowByRow('some rows may not', what, told, name, place)
    const others = otherMerchants(filled, this.#merchants)
    if (others !== null) return tell('names other merchants than the one that the file is for', others)
    const sides = sidesIn(found, filled, name)
    if (sides !== null) {
      const says = isOfSale(name) ? 'some rows are not refundable' : 'some rows may not'
      return rowByRow(says, 'decides which rows are meant', sides, name, place)
    }
    const ways = waysIn(filled, name)
    if (ways !== null) return tell('says by which way the money of a row is to go', ways)
    if (notToSend?.first == null || notToSend.count === this.#rows) return null
    const first = { line: notToSend.first, cell: firstNot, value: firstNot }
    return tell(`says in ${notToSend} that a row is not to be sent`, [first])
  }
}

/** Two that differ by a decision; null: the column is none. */
function sidesIn(found: readonly Found[], filled: readonly Found[], name: string): readonly Found[] | null {
  const isNamed = isOfDecision(name)
  for (const [yes, no] of isNamed ? [...DECISIONS, ANSWERS] : DECISIONS) {
    const [one, other] = [filled.find(({ value }) => yes.has(value)), filled.find(({ value }) => no.has(value))]
    if (filled.some(({ value }) => !yes.has(value) && !no.has(value))) continue
    if (one !== undefined && other !== undefined) return [one, other]
    const empty = found.find(({ cell }) => cell === '')
    const side = one ?? other
    if (isNamed && empty !== undefined && side !== undefined) return [side, empty]
  }
  return null
}

function isOfDecision(name: string): boolean {
  const found = wordsOf(name)
  if (found.some((word) => OTHER_THINGS.some((beginning) => word.startsWith(beginning)))) return false
  return found.some((word) => DECISION_NAMES.has(word) || DECISION_STEMS.some((stem) => word.includes(stem)))
}

/** Cards are one way, whatever their brand. By its name a column may hold ways that no list knows. */
function waysIn(filled: readonly Found[], name: string): readonly Found[] | null {
  const isNamed = METHOD_NAMES.test(wordsOf(name).join(' '))
  const ways = new Map(filled.map((one) => [isOfCard(one) ? 'card' : one.value, one]))
  if (
    ways.size < 2 ||
    ways.size > METHODS_MOST ||
    filled.every(({ value }) => EXTENTS.has(value)) ||
    (!isNamed && !filled.every((one) => isOfCard(one) || OTHER_METHODS.has(one.value)))
  )
    return null
  return [...ways.values()].slice(0, 2)
}

/** Of its words, `credit` may be that of a shop. */
function isOfCard({ cell, value }: Found): boolean {
  if (OTHER_METHODS.has(value)) return false
  return CARDS.has(value) || wordsOf(cell).some((word) => CARDS.has(word) && word !== 'credit' && word !== 'debit')
}

/** Every cell is the name of one, and one of them is another than the first. */
function otherMerchants(filled: readonly Found[], merchants: readonly string[]): readonly Found[] | null {
  const named = filled.map((one) => ({ one, at: merchants.indexOf(one.cell.toLowerCase()) }))
  const other = named.find(({ at }) => at > 0)
  return other === undefined || named.some(({ at }) => at === -1) ? null : [other.one]
}
