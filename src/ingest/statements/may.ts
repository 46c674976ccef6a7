// Columns that say row by row whether its money may move, for whom, or by which way: "Approved" with yes and no, "Refund to" with card
// and voucher, the names of two merchants. Such a column is not read, so that every row would be sent.

import { squeezedWord, wordsOf } from './names.ts'
import { isOfOther } from './progress.ts'
import { type Found, rowByRow, type Statement } from './statement.ts'
import type { Said } from './statements.ts'
import type { Kind, Named } from './unread.ts'
import { isOfSale } from './way.ts'
import * as LISTS from './words.ts'

/** Of a column; one with more is none of methods. */
const METHODS_MOST = 12

export function decisionsIn(column: Named, { merchants = [] }: Said): Kind | null {
  const names = merchants.map((name) => name.toLowerCase())
  return column.mayBeDone || column.field === 'reference'
    ? null
    : { sideOf: (cell) => cell.toLowerCase(), statementOf: (found) => statementOf(column, found, names) }
}

function statementOf(column: Named, found: readonly Found[], merchants: readonly string[]): Statement | null {
  const cells = found.map((one) => ({ ...one, value: squeezedWord(one.cell) }))
  const filled = cells.filter(({ cell }) => cell !== '')
  const tell = (what: string, told: readonly Found[], says: Statement['says'] = 'some rows may not') =>
    rowByRow(says, what, told, column)
  const others = column.field === null ? otherMerchants(filled, merchants) : null
  if (others !== null) return tell('names other merchants than the one that the file is for', others)
  const sides = sidesIn(cells, filled, column)
  const isRefundable = isOfSale(column.words) || (sides ?? []).some(({ value }) => LISTS.NOT_REFUNDABLE.has(value))
  if (sides !== null)
    return tell('decides which rows are meant', sides, isRefundable ? 'some rows are not refundable' : undefined)
  const ways = column.field === null ? waysIn(filled, column.words) : null
  return ways === null ? null : tell('says by which way the money of a row is to go', ways)
}

interface Cell extends Found {
  /** Compared with words. */
  readonly value: string
}

/** Two that differ by a decision; null: the column is none. */
function sidesIn(found: readonly Cell[], filled: readonly Cell[], column: Named): readonly Cell[] | null {
  const isNamed = column.field === null && isOfDecision(column.words)
  const isWhether = column.words.some((word) => LISTS.REFUNDABLE.has(word))
  for (const [yes, no] of isNamed ? [...LISTS.DECISIONS, LISTS.ANSWERS] : LISTS.DECISIONS) {
    if (filled.some(({ value }) => !yes.has(value) && !no.has(value))) continue
    const [one, other] = [filled.find(({ value }) => yes.has(value)), filled.find(({ value }) => no.has(value))]
    if (other !== undefined && (isWhether || LISTS.NOT_REFUNDABLE.has(other.value)))
      return one === undefined ? [other] : [one, other]
    if (one !== undefined && other !== undefined) return [one, other]
    const empty = found.find(({ cell }) => cell === '')
    const side = one ?? other
    if (isNamed && empty !== undefined && side !== undefined) return [side, empty]
  }
  return null
}

function isOfDecision(found: readonly string[]): boolean {
  if (isOfOther(found)) return false
  return found.some(
    (word) => LISTS.DECISION_NAMES.has(word) || LISTS.DECISION_STEMS.some((stem) => word.includes(stem)),
  )
}

/** Cards are one way, whatever their brand. By its name a column may hold ways that no list knows. */
function waysIn(filled: readonly Cell[], name: readonly string[]): readonly Cell[] | null {
  const isNamed = LISTS.METHOD_NAMES.test(name.join(' '))
  const ways = new Map(filled.map((one) => [isOfCard(one) ? 'card' : one.value, one]))
  const isNone =
    ways.size < 2 ||
    ways.size > METHODS_MOST ||
    filled.every(({ value }) => LISTS.EXTENTS.has(value)) ||
    (!isNamed && !filled.every((one) => isOfCard(one) || LISTS.OTHER_METHODS.has(one.value)))
  return isNone ? null : [...ways.values()].slice(0, 2)
}

/** Of its words, `credit` may be that of a shop. */
function isOfCard({ cell, value }: Cell): boolean {
  if (LISTS.OTHER_METHODS.has(value)) return false
  return (
    LISTS.CARDS.has(value) ||
    wordsOf(cell).some((word) => LISTS.CARDS.has(word) && word !== 'credit' && word !== 'debit')
  )
}

/** Every cell is the name of one, and one of them is another than the first. */
function otherMerchants(filled: readonly Cell[], merchants: readonly string[]): readonly Cell[] | null {
  const named = filled.map((one) => ({ one, at: merchants.indexOf(one.cell.toLowerCase()) }))
  const other = named.find(({ at }) => at > 0)
  return other === undefined || named.some(({ at }) => at === -1) ? null : [other.one]
}
