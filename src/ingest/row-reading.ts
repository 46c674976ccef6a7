// One row as its operation reads it: field by field, with every fault on the way.

import {
  FIELD_RULES,
  type FieldRule,
  isVaultOperation,
  type Operation,
  type RuledField,
  type VaultOperation,
} from '../domain/instruction.ts'
import { isProblem, type Problem } from '../domain/problem.ts'
import { type Text, words } from '../domain/words.ts'
import type { Field } from './field-names.ts'
import { kindProblem, type Stored } from './workbook/cell.ts'

/** The text of a field, as written; empty where there is none. */
export type CellOf = (field: Field) => string

/** What a workbook stores in the cell of a field. */
export type StoredOf = (field: Field) => Stored
export const AS_TEXT: Stored = { kind: 'text', marks: [] }

export interface FieldFault extends Problem<Text> {
  readonly field: Field
}

/** Where the operation is not known, nothing is missing and nothing is too much; what is there must still be right. */
const UNRULED: Readonly<Record<RuledField, FieldRule>> = {
  amount: 'optional',
  request_currency: 'optional',
  customer_vault_id: 'optional',
  request_ref_po_id: 'optional',
  save_card_on_file: 'optional',
  xtl_order_id: 'optional',
  details: 'optional',
  card: 'optional',
  customer: 'optional',
}

/** Reads the fields of one row by the rules of its operation and gathers every fault on the way. */
export class RowReading {
  readonly faults: FieldFault[] = []
  readonly #cellOf: CellOf
  readonly #storedOf: StoredOf
  #operation: Operation | null = null

  constructor(cellOf: CellOf, storedOf: StoredOf) {
    this.#cellOf = cellOf
    this.#storedOf = storedOf
  }

  ruleBy(operation: Operation | null): void {
    this.#operation = operation
  }

  ruleOf(field: RuledField): FieldRule {
    return this.#operation === null ? UNRULED[field] : FIELD_RULES[this.#operation][field]
  }

  fault(field: Field, { problem, remedy }: Problem<Text>): void {
    this.faults.push({ field, problem, remedy })
  }

  keep<T>(field: Field, parsed: T | Problem<Text>): T | null {
    if (!isProblem(parsed)) return parsed
    this.fault(field, parsed)
    return null
  }

  text(field: Field): string {
    return this.#cellOf(field).trim()
  }

  stored(field: Field): Stored {
    return this.#storedOf(field)
  }

  /** A field that any operation may have. */
  takeFree<T>(field: Field, parse: (text: string) => T | Problem<Text>): T | null {
    const text = this.text(field)
    return text === '' ? null : this.keep(field, kindProblem(field, this.stored(field).kind) ?? parse(text))
  }

  take<T>(field: Field & RuledField, parse: (text: string) => T | Problem<Text>): T | null {
    const empty = this.text(field) === ''
    switch (this.ruleOf(field)) {
      case 'unused':
        return null
      case 'optional':
        return this.takeFree(field, parse)
      case 'required':
      case 'this-or-card':
        if (empty) this.fault(field, missing(field, this.#operation))
        return this.takeFree(field, parse)
      case 'forbidden':
        if (!empty) this.fault(field, forbidden(field, this.#operation))
        return null
    }
  }
}

function missing(field: Field, operation: Operation | null): Problem {
  const what =
    field === 'request_ref_po_id' ? "the gateway's id of the earlier transaction, not an order number" : `the ${field}`
  return { problem: `is empty, and ${operation} needs it`, remedy: `write ${what}` }
}

function forbidden(field: Field, operation: Operation | null): Problem<Text> {
  if (operation !== null && isVaultOperation(operation)) return forbiddenInVault(field, operation)
  if (field === 'request_ref_po_id' && operation === 'CAPTURE') {
    return {
      problem: 'names an order, and CAPTURE is a sale, which makes a new one',
      remedy: 'to capture an authorization write CAUTH; for a sale leave this empty',
    }
  }
  return {
    problem: `has a value, and ${operation} takes none`,
    remedy: `leave it empty, or write the operation that is meant in transaction_type`,
  }
}

const DONE = { VAULT_CREATE: 'stored', VAULT_UPDATE: 'changed', VAULT_DELETE: 'deleted' } as const

/** The cards of a file of payments were to be charged. */
function forbiddenInVault(field: Field, operation: VaultOperation): Problem<Text> {
  if (field === 'customer_vault_id') {
    return {
      problem: `has a value, and ${operation} stores a new card, which gets its id from the gateway`,
      remedy: words`leave it empty${{ act: 'use-vault', to: 'update', lead: '; a stored card is changed by ' }}`,
    }
  }
  return {
    problem: `has a value, so that the row looks like a payment, and ${operation} takes none: a card that was to be charged is not ${DONE[operation]}`,
    remedy: words`if the cards themselves are meant, take the column out of the file${{ act: 'run-file', lead: '; payments are sent by ' }}`,
  }
}
