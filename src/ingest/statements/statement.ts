// What a file says of its money beside the columns that are read, and what becomes of the file then.

import type { Operation } from '../../domain/instruction.ts'
import { type Problem, refuse, type StructuralFault, shown } from '../../domain/problem.ts'
import { type Text, words } from '../../domain/words.ts'
import type { Field } from '../field-names.ts'

export interface Statement extends Problem<Text> {
  readonly effect: Effect
  readonly line: number | null
  /** null: it has no name, or the file as a whole is meant. */
  readonly column: string | null
}

export type Effect = keyof typeof EFFECTS
type Operations = ReadonlySet<Operation>

const hasAny =
  (...operations: readonly Operation[]) =>
  (found: Operations) =>
    operations.some((operation) => found.has(operation))
/** They take money, or hold it. */
const hasSales = hasAny('CAPTURE', 'AUTH', 'CAUTH')

/** By the operations of its rows: true: it is refused; false: it is noted; null: nothing is said. */
const EFFECTS = {
  refused: () => true,
  noted: () => false,
  'refused of sales': (found) => hasSales(found) || null,
  'refused of new sales': (found) => hasAny('CAPTURE', 'AUTH')(found) || null,
  'refused of captures': (found) => found.has('CAUTH') || null,
  'refused of refunds': (found) => found.has('REFUND') || null,
  'refused of others than refunds': (found) => [...found].some((operation) => operation !== 'REFUND') || null,
  /** Where there are refunds, it may be said of them. */
  'refused without refunds': (found) => !found.has('REFUND') || null,
  'refused of refunds and voids, else noted': hasAny('REFUND', 'CANCEL'),
  /** What is paid already is what is to be refunded or voided. */
  'refused beside sales, else noted of them': (found) => (hasSales(found) ? hasAny('REFUND', 'CANCEL')(found) : null),
} as const satisfies Readonly<Record<string, (found: Operations) => boolean | null>>

export function isRefused({ effect }: Statement, found: Operations): boolean | null {
  return EFFECTS[effect](found)
}

/** A column, as a sentence and as lists of words name it. */
export interface Named {
  readonly name: string
  readonly place: number
  /** What it is read as; null: it is not. */
  readonly field: Field | null
  readonly words: readonly string[]
  /** A person or a format says that rows which are done elsewhere are meant. */
  readonly mayBeDone: boolean
}

/** A cell that says something, and where. */
export interface Found {
  readonly line: number
  readonly cell: string
}

/** A column that tells rows apart. `what`: it does. */
export function rowByRow(
  effect: Effect,
  what: string,
  cells: readonly (Found | undefined)[],
  column: Named,
): Statement {
  const { name, field } = column
  const told = cells.filter((one) => one !== undefined)
  const read = field === null ? 'it is not read' : `it is read as ${field} only`
  return {
    effect,
    line: told[0]?.line ?? null,
    column: name === '' ? null : name,
    problem: `${columnText(column)} ${what} (${told.map(textOf).join(', and ')}), and ${read}: every row would be sent`,
    remedy: words`leave only the rows in the file that are to be sent, then ${name === '' ? 'give it a name and ' : ''}ignore the column: ${mapped(name, 'ignore')}`,
  }
}

function textOf({ cell, line }: Found): string {
  return cell === '' ? `nothing in line ${line}` : `"${shown(cell)}" in line ${line}`
}

/** In a sentence. */
export function columnText({ name, place }: Named): string {
  return name === '' ? `column ${place + 1}, which has no name,` : `the column "${shown(name)}"`
}

/** What a person writes to have the column read so. */
export function mapped(name: string, field: 'ignore' | 'amount' | 'execute_at' | 'request_currency') {
  return { set: 'map', column: name === '' ? 'NAME' : shown(name), field } as const
}

export function refusalOf({ problem, remedy, line, column }: Statement): StructuralFault {
  return refuse({ problem, remedy }, { line, ...(column === null ? {} : { column }) })
}

export function noteOf({ problem, remedy }: Statement): Text {
  const sentence = typeof problem === 'string' ? problem.charAt(0).toUpperCase() + problem.slice(1) : problem
  return words`${sentence}; ${remedy}.`
}
