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

/** Of the name of the amount's column and of the marks beside amounts, a contradiction is a fault of its row (`contradiction`). */
const EFFECTS = {
  'another currency': 'refusal',
  'the same currency': 'note',
  'minor units': 'refusal',
  multiples: 'refusal',
  'whole amounts': 'note',
  'some rows are done': 'refusal',
  'some rows are not done': 'refusal',
  'every row is done': 'refusal of refunds and voids',
} as const satisfies Readonly<Record<string, 'refusal' | 'note' | 'refusal of refunds and voids'>>

export function isRefused({ says }: Statement, undoes: boolean): boolean {
  const effect = EFFECTS[says]
  return effect === 'refusal' || (effect === 'refusal of refunds and voids' && undoes)
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

/** Whether the file has refunds or voids in it. */
export class Undoings {
  #isFound: boolean
  #last = ''

  constructor(operation: Operation | undefined) {
    this.#isFound = undoes(operation)
  }

  see(cell: string): void {
    if (this.#isFound || cell === this.#last) return
    this.#last = cell
    this.#isFound = undoes(parseOperation(cell))
  }

  get areFound(): boolean {
    return this.#isFound
  }
}

function undoes(operation: Operation | undefined): boolean {
  return operation === 'REFUND' || operation === 'CANCEL'
}
