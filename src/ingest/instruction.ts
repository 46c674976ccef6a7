// The cells of a row, or the fields of a message, → an instruction, or everything that is wrong with it.

import { parseExecuteAt } from '../domain/instant.ts'
import {
  DETAIL_FIELDS,
  type DetailField,
  FIELD_RULES,
  type FieldRule,
  type Instruction,
  type Operation,
  parseOperation,
  type RuledField,
} from '../domain/instruction.ts'
import { type Currency, type Money, parseCurrency } from '../domain/money.ts'
import { isProblem, type Problem } from '../domain/problem.ts'
import { type Text, words } from '../domain/words.ts'
import type { Field } from './columns.ts'
import { parseMoney, parsePlainDecimal } from './fields/amount.ts'
import type { DecimalSign } from './fields/decimal-sign.ts'
import { parseGatewayId, parseXtlOrderId } from './fields/identifier.ts'
import { toXtlOrderId } from './fields/xtl-order-id.ts'
import { kindProblem, marksProblem, type Stored } from './workbook/cell.ts'

/** The text of a field, as written; empty where there is none. */
type CellOf = (field: Field) => string

/** What a workbook stores in the cell of a field. */
type StoredOf = (field: Field) => Stored
const AS_TEXT: Stored = { kind: 'text', marks: [] }

/** What holds for every row alike. */
export interface Reading {
  readonly operation: Operation | null
  readonly currency: Currency | null
  readonly decimal: DecimalSign | null
  readonly accountKey: string
  /** Where moments without an offset are read; null: they are faults. */
  readonly timeZone: string | null
}

export interface FieldFault extends Problem<Text> {
  readonly field: Field
}

type Instructed =
  | { readonly kind: 'instruction'; readonly instruction: Instruction }
  | {
      readonly kind: 'faults'
      readonly faults: readonly FieldFault[]
      /** What the row asks for in money, where that could be read all the same; `unread` where it could not. */
      readonly money: Money | 'unread' | null
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

/** `reference` is final: trimmed, NFC, with its run key; or what is wrong with it. */
export function instruct(
  cellOf: CellOf,
  reference: string | Problem,
  reading: Reading,
  storedOf: StoredOf = () => AS_TEXT,
): Instructed {
  const row = new RowReading(cellOf, storedOf)
  if (isProblem(reference)) row.fault('reference', reference)
  const operation = row.keep(
    'transaction_type',
    kindProblem('transaction_type', row.stored('transaction_type').kind) ??
      parseOperationCell(cellOf('transaction_type'), reading.operation),
  )
  row.ruleBy(operation)
  const money = readMoney(row, reading)
  const orderId = row.take('request_ref_po_id', parseGatewayId)
  const vaultId = row.take('customer_vault_id', parseGatewayId)
  const saveCardOnFile = row.take('save_card_on_file', parseSaveCard) ?? false
  const xtlGiven = row.take('xtl_order_id', parseXtlOrderId)
  const details = readDetails(row)
  const executeAtMs = row.takeFree('execute_at', (text) => parseExecuteAt(text, reading.timeZone))
  if (row.faults.length > 0 || operation === null || isProblem(reference)) {
    return { kind: 'faults', faults: row.faults, money: money ?? (hidesAmount(row) ? 'unread' : null) }
  }
  const xtlOrderId =
    FIELD_RULES[operation].xtl_order_id === 'unused' ? null : (xtlGiven ?? toXtlOrderId(reading.accountKey, reference))
  const instruction = {
    reference,
    operation,
    money,
    orderId,
    vaultId,
    card: null,
    saveCardOnFile,
    xtlOrderId,
    details,
    executeAtMs,
  }
  return { kind: 'instruction', instruction }
}

/** How much it is cannot be known: the amount is wrong or missing, or has no currency. */
function hidesAmount(row: RowReading): boolean {
  return row.faults.some(
    ({ field }) => field === 'amount' || (field === 'request_currency' && row.text('amount') !== ''),
  )
}

/** Reads the fields of one row by the rules of its operation and gathers every fault on the way. */
class RowReading {
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

function forbidden(field: Field, operation: Operation | null): Problem {
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

function parseOperationCell(cell: string, declared: Operation | null): Operation | Problem<Text> {
  if (cell.trim() === '') {
    return declared ?? { problem: 'is empty', remedy: 'write CAPTURE (a sale), AUTH, CAUTH, REFUND or CANCEL' }
  }
  const operation = parseOperation(cell)
  if (operation === undefined) {
    return {
      problem: 'is not an operation',
      remedy: 'write CAPTURE for a sale, CAUTH to capture an authorization, AUTH, REFUND or CANCEL',
    }
  }
  if (declared !== null && operation !== declared) {
    return {
      problem: `says ${operation}, and the whole file was declared to be ${declared}`,
      remedy: words`take this row out${{ set: 'operation', to: null, lead: ', or run the file without ' }}`,
    }
  }
  return operation
}

/** The currency is asked for wherever an amount is; a wrong one is a fault even where there is no amount. */
function readMoney(row: RowReading, reading: Reading): Money | null {
  const currencyGiven = row.text('request_currency') !== ''
  const currency = row.takeFree('request_currency', parseCurrencyCell) ?? (currencyGiven ? null : reading.currency)
  // A number cell is written by this program, with a point; what people wrote follows the sign of their file.
  const { kind, marks } = row.stored('amount')
  const sign = kind === 'number' ? '.' : reading.decimal
  const plain = row.take('amount', (text) => parsePlainDecimal(text, sign))
  if (row.text('amount') === '') return null
  if (currency === null && !currencyGiven) {
    row.fault('request_currency', {
      problem: 'is empty, and an amount needs a currency',
      remedy: words`write the currency, for example EUR${{ set: 'currency', to: 'EUR', lead: ', or say it for the whole file with ' }}`,
    })
  }
  if (plain === null || currency === null) return null
  return row.keep('amount', marksProblem(marks, currency) ?? parseMoney(plain, currency))
}

function parseCurrencyCell(text: string): Currency | Problem {
  return (
    parseCurrency(text) ?? {
      problem: 'is not a currency of ISO 4217',
      remedy: 'use the three-letter code, for example EUR',
    }
  )
}

function parseSaveCard(text: string): true | Problem {
  return text === 'Y' ? true : { problem: 'is neither Y nor empty', remedy: 'write Y to save the card, else nothing' }
}

const MAX_DETAIL_CHARACTERS = 255

function parseDetail(text: string): string | Problem {
  if (/\p{Cc}/u.test(text)) {
    return { problem: 'has line breaks or control characters in it', remedy: 'write it in one line' }
  }
  if (text.length > MAX_DETAIL_CHARACTERS) {
    return { problem: `is longer than ${MAX_DETAIL_CHARACTERS} characters`, remedy: 'shorten it' }
  }
  return text
}

function readDetails(row: RowReading): Instruction['details'] {
  const details: Partial<Record<DetailField, string>> = {}
  if (row.ruleOf('details') === 'unused') return details
  for (const field of DETAIL_FIELDS) {
    const value = row.takeFree(field, parseDetail)
    if (value !== null) details[field] = value
  }
  return details
}
