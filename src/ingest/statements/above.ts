// What the lines above the column names say of all amounts and rows: "All amounts in cents", "Beträge in TEUR", "Currency: JPY", "DO NOT PAY".

import { shown } from '../../domain/problem.ts'
import { partName } from '../fields/currency-marks.ts'
import { plainWord, wordsOf } from './names.ts'
import { scaleInName } from './scale.ts'
import type { Found, Statement } from './statement.ts'
import { AMOUNTS_SAID, BETWEEN_UNITS, saysNotToSend } from './words.ts'

/** Counts like the name of the column of amounts. */
export interface UnitSaid {
  /** "cents", "thousands of USD", "JPY". */
  readonly unit: string
  /** In a sentence. */
  readonly where: string
}

const UNIT = /(?:(?<![\p{L}\p{N}])(?<behind>in|en)\s+|[:(]\s*)(?<unit>[^:;,()]{1,40})/giu
const CHARACTERS_MOST = 200

/** `lines`: the cells of each, from the first line of the file. null: none says it. */
export function unitIn(lines: readonly (readonly string[])[]): UnitSaid | null {
  const found = lines.flatMap((cells, i) => {
    const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '')
    const text = filled.join(': ').slice(0, CHARACTERS_MOST)
    return unitsOf(text).map((unit) => ({ unit, where: `line ${i + 1} ("${shown(text)}")` }))
  })
  if (found.length === 0) return null
  return {
    unit: found.map(({ unit }) => unit).join(' '),
    where: [...new Set(found.map(({ where }) => where))].join(' and '),
  }
}

function unitsOf(text: string): readonly string[] {
  const isOfAmounts = wordsOf(text).some((word) => AMOUNTS_SAID.has(word))
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

/** The first of those lines that says that nothing below it is to be sent. */
export function notToSendIn(lines: readonly (readonly string[])[]): Found | null {
  const found = lines.flatMap((cells, i) => cells.filter(saysNotToSend).map((cell) => ({ line: i + 1, cell })))
  return found[0] ?? null
}

export function notToSendStatement({ line, cell }: Found): Statement {
  return {
    ...{ effect: 'refused', line, column: null },
    problem: `line ${line} ("${shown(cell.trim())}") says that the rows below it are not to be sent`,
    remedy: 'find out whether they are; if they are, delete that line from the file',
  }
}
