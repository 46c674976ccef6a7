// What a file says of its money beside the columns that are read, and what becomes of the file then.

import type { Operation } from '../../domain/instruction.ts'
import { type Problem, refuse, type StructuralFault, shown } from '../../domain/problem.ts'
import { type Text, words } from '../../domain/words.ts'
import type { Field } from '../field-names.ts'
import { EFFECTS, type Effect, type EffectOn } from './tables.ts'

export interface Statement extends Problem<Text> {
  /** Absent: the file is refused. */
  readonly effect?: Effect
  /** Absent: that of the column names. */
  readonly line?: number | null
  /** Absent or empty: it has no name, or the file as a whole is meant. */
  readonly column?: string
}

/** By the operations of its rows. */
export function effectOn(found: ReadonlySet<Operation>): (statement: Statement) => 'refused' | 'noted' | null {
  const hasAny = (some: readonly Operation[] = []) => some.some((operation) => found.has(operation))
  return ({ effect = 'refused' }) => {
    const { refused, noted, unless }: EffectOn = EFFECTS[effect]
    if (hasAny(unless)) return null
    return hasAny(refused) ? 'refused' : hasAny(noted) ? 'noted' : null
  }
}

/** A column, as a sentence and as lists of words name it. */
export interface Named {
  readonly name: string
  readonly place: number
  /** What it is read as; null: it is not. */
  readonly field: Field | null
  /** The words of its name. */
  readonly title: string
  /** A person or a format says that rows which are done elsewhere are meant. */
  readonly mayBeDone: boolean
}

/** A cell that says something, and where. */
export interface Found {
  readonly line: number
  readonly cell: string
}

/** A column that tells rows apart. `what`: it does. `told`: its cells that say so; one at least is there. */
export function rowByRow(effect: Effect, what: string, told: readonly (Found | undefined)[], column: Named): Statement {
  const { name, field } = column
  const read = field === null ? 'it is not read' : `it is read as ${field} only`
  const found = told.filter((one) => one !== undefined)
  const cells = found.map(({ cell, line }) => `${cell === '' ? 'nothing' : `"${shown(cell)}"`} in line ${line}`)
  return {
    ...{ effect, line: found[0]?.line ?? null, column: name },
    problem: `${columnText(column)} ${what} (${cells.join(', and ')}), and ${read}: every row would be sent`,
    remedy:
      field === 'amount'
        ? words`say so: ${mapped(name, field)}`
        : words`leave only the rows in the file that are to be sent, then ${name === '' ? 'give it a name and ' : ''}ignore the column: ${mapped(name, 'ignore')}`,
  }
}

/** In a sentence. */
export function columnText({ name, place }: Named): string {
  return name === '' ? `column ${place + 1}, which has no name,` : `the column "${shown(name)}"`
}

/** What a person writes to have the column read so. */
export function mapped(name: string, field: 'ignore' | 'amount' | 'execute_at' | 'request_currency') {
  return { set: 'map', column: name === '' ? 'NAME' : shown(name), field } as const
}

/** `line`: of the column names. */
export function refusalOf({ problem, remedy, ...at }: Statement, line: number): StructuralFault {
  return refuse({ problem, remedy }, { line: at.line ?? line, ...(at.column ? { column: at.column } : {}) })
}

export function noteOf({ problem, remedy }: Statement): Text {
  const sentence = typeof problem === 'string' ? problem.charAt(0).toUpperCase() + problem.slice(1) : problem
  return words`${sentence}; ${remedy}.`
}
