// What a file says of its money beside the columns that are read, and what becomes of the file then.

import type { Operation } from '../../domain/instruction.ts'
import { type Problem, refuse, type StructuralFault, shown } from '../../domain/problem.ts'
import { type Text, words } from '../../domain/words.ts'
import type { Field } from '../field-names.ts'

export interface Statement extends Problem<Text> {
  readonly says: keyof typeof EFFECTS
  readonly line: number | null
  /** null: it has no name, or the file as a whole is meant. */
  readonly column: string | null
}

type Effect = 'refusal' | 'note' | 'nothing'
type Operations = ReadonlySet<Operation>

const always = (): Effect => 'refusal'
const alwaysTold = (): Effect => 'note'
/** Where the file has a row of such an operation. */
const onlyOf =
  (...operations: readonly Operation[]) =>
  (found: Operations): Effect =>
    operations.some((operation) => found.has(operation)) ? 'refusal' : 'nothing'
/** Those that take money, or hold it. */
const ofSales = onlyOf('CAPTURE', 'AUTH', 'CAUTH')
const onceDone = (found: Operations): Effect => (found.has('REFUND') || found.has('CANCEL') ? 'refusal' : 'note')

/** Of the name of the amount's column and of the marks beside amounts, a contradiction is a fault of its row (`contradiction`). */
const EFFECTS = {
  'another currency': always,
  'the same currency': alwaysTold,
  'minor units': always,
  multiples: always,
  'whole amounts': alwaysTold,
  'some rows are done': always,
  'some rows are not done': always,
  'every row is done': onceDone,
  /** What is paid already is what is to be refunded or voided. */
  'some rows are paid': ofSales,
  'every row is paid': (found) => (ofSales(found) === 'nothing' ? 'nothing' : onceDone(found)),
  'some rows may not': always,
  'no row may': always,
  'some rows are not refundable': onlyOf('REFUND'),
  refunds: (found) => ([...found].some((operation) => operation !== 'REFUND') ? 'refusal' : 'nothing'),
  /** In a file with refunds they may be of those rows. */
  credits: (found) => (found.has('REFUND') ? 'nothing' : 'refusal'),
  /** Beside refunds it is that of the invoice. */
  'not yet due': ofSales,
  'for later': always,
  'not yet begun': onlyOf('CAPTURE', 'AUTH'),
  ended: onlyOf('CAPTURE', 'AUTH'),
  'some rows have a moment': always,
  'some rows are of another month': always,
} as const satisfies Readonly<Record<string, (found: Operations) => Effect>>

export function effectOf({ says }: Statement, found: Operations): Effect {
  return EFFECTS[says](found)
}

/** A column, as a sentence names it. */
export interface Place {
  readonly name: string
  readonly place: number
  /** What it is read as; null: it is not. */
  readonly field: Field | null
}

/** A cell that says something, and where. */
export interface Found {
  readonly line: number
  readonly cell: string
}

/** A column that tells rows apart. `what`: it does. */
export function rowByRow(
  says: Statement['says'],
  what: string,
  cells: readonly (Found | undefined)[],
  column: Place,
): Statement {
  const { name, field } = column
  const told = cells.filter((one) => one !== undefined)
  const read = field === null ? 'it is not read' : `it is read as ${field} only`
  return {
    says,
    line: told[0]?.line ?? null,
    column: name === '' ? null : name,
    problem: `${columnText(column)} ${what} (${told.map(textOf).join(', and ')}), and ${read}: every row would be sent`,
    remedy: words`leave only the rows in the file that are to be sent, then ${name === '' ? 'give it a name and ' : ''}ignore the column: ${mapped(column, 'ignore')}`,
  }
}

function textOf({ cell, line }: Found): string {
  return cell === '' ? `nothing in line ${line}` : `"${shown(cell)}" in line ${line}`
}

/** In a sentence. */
export function columnText({ name, place }: Omit<Place, 'field'>): string {
  return name === '' ? `column ${place + 1}, which has no name,` : `the column "${shown(name)}"`
}

/** What a person writes to have the column read so. */
export function mapped({ name }: Pick<Place, 'name'>, field: 'ignore' | 'amount' | 'execute_at' | 'request_currency') {
  return { set: 'map', column: name === '' ? 'NAME' : shown(name), field } as const
}

export function refusalOf({ problem, remedy, line, column }: Statement): StructuralFault {
  return refuse({ problem, remedy }, { line, ...(column === null ? {} : { column }) })
}

export function noteOf({ problem, remedy }: Statement): Text {
  return words`${typeof problem === 'string' ? sentence(problem) : problem}; ${remedy}.`
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
