// What can be wrong with a cell, a row or a whole file, as values. None of them ever carries a card number.

import { maskCardData } from './card-secrets.ts'
import { visible } from './visible.ts'
import { type Spelling, spell, type Text } from './words.ts'

/** One thing wrong with one value, and what the person can do about it. `Text`: with ways in it, for a door to spell. */
export interface Problem<T extends Text = string> {
  readonly problem: T
  readonly remedy: T
}

/** Why a whole file is refused. Holds no cell value: it may be shown and logged. */
export interface StructuralFault extends Problem<Text> {
  readonly kind: 'refused'
  /** `card-data`: it holds card data, or may; nothing of it may be kept anywhere. */
  readonly code: 'card-data' | 'structure'
  /** Data row, from 1; null where no row is to blame. */
  readonly rowNo: number | null
  /** Line where that row begins, from 1. */
  readonly line: number | null
  /** Column as the file names it. */
  readonly column: string | null
}

export function isProblem(value: unknown): value is Problem<Text> {
  return typeof value === 'object' && value !== null && 'problem' in value
}

/** As one door shows it. */
export function spelled({ problem, remedy }: Problem<Text>, spelling: Spelling): Problem {
  return { problem: spell(problem, spelling), remedy: spell(remedy, spelling) }
}

export function refuse(
  problem: Problem<Text>,
  at: { rowNo?: number; line?: number | null; column?: string; code?: StructuralFault['code'] } = {},
): StructuralFault {
  const { rowNo = null, line = null, column = null, code = 'structure' } = at
  return { kind: 'refused', code, rowNo, line, column: column === null ? null : shown(column), ...problem }
}

/** The longest part of a cell that is quoted back to a person. */
const SHOWN_CHARACTERS = 60

/** A cell as it may be shown: masked first, then cut; what a terminal would obey or hide is seen. */
export function shown(cell: string): string {
  const text = visible(maskCardData(cell))
  return text.length <= SHOWN_CHARACTERS ? text : [...text].slice(0, SHOWN_CHARACTERS).join('')
}
