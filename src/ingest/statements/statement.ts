// What a file says of its money beside the columns that are read, and what becomes of the file then.

import { type Operation, parseOperation } from '../../domain/instruction.ts'
import { type Problem, refuse, type StructuralFault, shown } from '../../domain/problem.ts'
import { type Text, words } from '../../domain/words.ts'

export interface Statement extends Problem<Text> {
  readonly says: keyof typeof EFFECTS
  readonly line: number | null
  /** null: it has no name, or the file as a whole is meant. */
  readonly column: string | null
}

type Effect = 'refusal' | 'note' | 'nothing'

const always = (): Effect => 'refusal'
const alwaysTold = (): Effect => 'note'
/** Those that take money, or hold it. */
export const hasSales = (found: ReadonlySet<Operation>): boolean =>
  found.has('CAPTURE') || found.has('AUTH') || found.has('CAUTH')
/** Where it has a row of such an operation. */
const ofSales = (found: ReadonlySet<Operation>): Effect =>
  found.has('CAPTURE') || found.has('AUTH') ? 'refusal' : 'nothing'

/** Of the name of the amount's column and of the marks beside amounts, a contradiction is a fault of its row (`contradiction`). */
const EFFECTS = {
  'another currency': always,
  'the same currency': alwaysTold,
  'minor units': always,
  multiples: always,
  'whole amounts': alwaysTold,
  'some rows are done': always,
  'some rows are not done': always,
  'every row is done': (found) => (found.has('REFUND') || found.has('CANCEL') ? 'refusal' : 'note'),
  'some rows may not': always,
  'some rows are not refundable': (found) => (found.has('REFUND') ? 'refusal' : 'nothing'),
  refunds: (found) => ([...found].some((operation) => operation !== 'REFUND') ? 'refusal' : 'nothing'),
  /** Beside refunds it is that of the invoice. */
  'not yet due': (found) => (hasSales(found) ? 'refusal' : 'nothing'),
  'for later': always,
  'not yet begun': ofSales,
  ended: ofSales,
  'some rows have a moment': always,
} as const satisfies Readonly<Record<string, (found: ReadonlySet<Operation>) => Effect>>

export function effectOf({ says }: Statement, found: ReadonlySet<Operation>): Effect {
  return EFFECTS[says](found)
}

/** A cell that says something, and where. */
export interface Found {
  readonly line: number
  readonly cell: string
  /** What of it is compared with other rows. */
  readonly value: string
}

/** A column that tells rows apart. `what`: it does. */
export function rowByRow(
  says: Statement['says'],
  what: string,
  told: readonly Found[],
  name: string,
  place: number,
): Statement {
  const ignored = { set: 'map', column: name === '' ? 'NAME' : shown(name), field: 'ignore' } as const
  return {
    says,
    line: told[0]?.line ?? null,
    column: name === '' ? null : name,
    problem: `${columnText(name, place)} ${what} (${told.map(textOf).join(', and ')}), and it is not read: every row would be sent`,
    remedy: words`leave only the rows in the file that are to be sent, then ${name === '' ? 'give it a name and ' : ''}ignore the column: ${ignored}`,
  }
}

function textOf({ cell, line }: Found): string {
  return cell === '' ? `nothing in line ${line}` : `"${shown(cell)}" in line ${line}`
}

/** In a sentence. */
export function columnText(name: string, place: number): string {
  return name === '' ? `column ${place + 1}, which has no name,` : `the column "${shown(name)}"`
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

/** The operations of a file: as it is declared, or as its rows have them. */
export class Operations {
  readonly found: Set<Operation>
  readonly #isDeclared: boolean
  #last = ''

  constructor(operation: Operation | undefined) {
    this.found = new Set(operation === undefined ? [] : [operation])
    this.#isDeclared = operation !== undefined
  }

  see(cell: string): void {
    if (this.#isDeclared || cell === this.#last) return
    this.#last = cell
    const operation = parseOperation(cell)
    if (operation !== undefined) this.found.add(operation)
  }
}
