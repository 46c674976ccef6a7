// What lines that are no rows say of all amounts and rows: "All amounts in cents", "Beträge in TEUR", "Currency: JPY", "DO NOT PAY". Above the
// column names they are read; below them they end the reading.

import { shown } from '../../domain/problem.ts'
import { partName } from '../fields/currency-marks.ts'
import { plainWord, wordsOf } from './names.ts'
import { scaleInName } from './scale.ts'
import type { Found, Statement } from './statement.ts'
import { AMOUNTS_SAID, BETWEEN_UNITS, saysNotToSend } from './words.ts'

/** A line of a file that is no row. */
export interface Remark {
  readonly line: number
  readonly cells: readonly string[]
}

/** Counts like the name of the column of amounts. */
export interface UnitSaid {
  /** "cents", "thousands of USD", "JPY". */
  readonly unit: string
  /** In a sentence. */
  readonly where: string
  /** The first. */
  readonly line: number
}

const UNIT = /(?:(?<![\p{L}\p{N}])(?<behind>in|en)\s+|[:(]\s*)(?<unit>[^:;,()]{1,40})/giu
const CHARACTERS_MOST = 200

/** null: none says it. */
export function unitIn(remarks: readonly Remark[]): UnitSaid | null {
  const found = remarks.flatMap(({ line, cells }) => {
    const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '')
    const text = filled.join(': ').slice(0, CHARACTERS_MOST)
    return unitsOf(text).map((unit) => ({ unit, line, where: `line ${line} ("${shown(text)}")` }))
  })
  const [first] = found
  if (first === undefined) return null
  const where = [...new Set(found.map((one) => one.where))].join(' and ')
  return { unit: found.map(({ unit }) => unit).join(' '), where, line: first.line }
}

function unitsOf(text: string): readonly string[] {
  const isOfAmounts = AMOUNTS_SAID.test(wordsOf(text).join(' '))
  return [...text.matchAll(UNIT)].flatMap(({ groups }) => {
    const { behind, unit = '' } = groups ?? {}
    return (behind !== undefined || (isOfAmounts && /\p{L}/u.test(unit))) && isUnit(unit) ? [unit] : []
  })
}

/** Nothing but currencies and scales. */
function isUnit(unit: string): boolean {
  const { marks, others } = partName(unit)
  const scales = others.filter((word) => scaleInName(word) !== null)
  const isRest = others.every((word) => scales.includes(word) || BETWEEN_UNITS.has(plainWord(word)))
  return isRest && marks.length + scales.length > 0
}

/** The first of those lines that says that rows are not to be sent. */
export function notToSendIn(remarks: readonly Remark[]): Found | null {
  const found = remarks.flatMap(({ line, cells }) => cells.filter(saysNotToSend).map((cell) => ({ line, cell })))
  return found[0] ?? null
}

export function notToSendStatement({ line, cell }: Found, which = 'the rows below it'): Statement {
  return {
    line,
    problem: `line ${line} ("${shown(cell.trim())}") says that ${which} are not to be sent`,
    remedy: 'find out whether they are; if they are, delete that line from the file',
  }
}

/** Whether a line below the column names is one of text: with more cells it is a row that lacks something. */
export function isRemark(cells: readonly string[], amount: string): boolean {
  return !/\d/.test(amount) && cells.filter((cell) => cell.trim() !== '').length === 1
}

/** What such lines say, which nobody may have meant for the amounts above them. */
export function remarkStatement(remarks: readonly Remark[]): Statement | null {
  const notToSend = notToSendIn(remarks)
  if (notToSend !== null) return notToSendStatement(notToSend, 'rows')
  const unit = unitIn(remarks)
  if (unit === null) return null
  return {
    line: unit.line,
    problem: `${unit.where} speaks of all amounts, and stands below the column names, where it is not read`,
    remedy: 'if it holds, move it above the column names; if it does not, delete it',
  }
}
