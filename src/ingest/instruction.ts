// The cells of a row, or the fields of a message, → an instruction, or everything that is wrong with it.

import { type CardDetails, maskOf } from '../domain/card.ts'
import type { Said } from '../domain/draft.ts'
import { parseExecuteAt, parseExpiresAt } from '../domain/instant.ts'
import {
  type Beside,
  CUSTOMER_FIELDS,
  DETAIL_FIELDS,
  FIELD_RULES,
  type Instruction,
  isVaultOperation,
  type Operation,
  parseOperation,
  plainId,
  type VaultOperation,
} from '../domain/instruction.ts'
import { toLowerAscii } from '../domain/keyword.ts'
import { type Currency, exponentOf, type Money, parseCurrency } from '../domain/money.ts'
import { isProblem, type Problem } from '../domain/problem.ts'
import { type Text, words } from '../domain/words.ts'
import type { DecimalSign } from '../domain/written-amount.ts'
import { type CardColumns, readTarget } from './card-of-row.ts'
import type { Field } from './field-names.ts'
import { fromMinorUnits, parseMoney, parsePlainDecimal } from './fields/amount.ts'
import { partMark } from './fields/currency-marks.ts'
import { oddProblem, signBesideThousands } from './fields/decimal-sign.ts'
import { parseGatewayId, parseXtlOrderId } from './fields/identifier.ts'
import { type Minuses, readMinus } from './fields/minus.ts'
import { toXtlOrderId } from './fields/xtl-order-id.ts'
import { AS_TEXT, type CellOf, type FieldFault, RowReading, type StoredOf } from './row-reading.ts'
import { type CurrencySaid, contradiction, currencyOfFile, gapProblem } from './statements/currency.ts'
import type { Scale } from './statements/scale.ts'
import { kindProblem, marksProblem } from './workbook/cell.ts'

/** What holds for every row alike. */
export interface Reading {
  readonly operation: Operation | null
  readonly currency: CurrencySaid
  readonly decimal: DecimalSign | null
  /** A few amounts have the other sign: one that could be read either way is a fault. */
  readonly isDecimalMixed: boolean
  /** A whole number from here on is a fault. */
  readonly oddFrom: number | null
  readonly minuses: Minuses
  /** Absent: amounts are in units of their currency. */
  readonly scale?: Scale | undefined
  readonly accountKey: string
  /** Where moments without an offset are read; null: they are faults. */
  readonly timeZone: string | null
  /** The columns of card details; null: there are none, or they are not taken. */
  readonly card: CardColumns | null
}

type Instructed =
  | {
      readonly kind: 'instruction'
      readonly instruction: Instruction
      /** The card behind the instruction's mask. Its taker sends it at once or drops it. */
      readonly card: CardDetails | null
    }
  | {
      readonly kind: 'faults'
      readonly faults: readonly FieldFault[]
      /** What the row asks for in money, where that could be read all the same; `unread` where it could not. */
      readonly money: Money | 'unread' | null
      readonly said: Said
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
  const { vaultId, card } = readTarget(row, reading.card)
  const saveCardOnFile = row.take('save_card_on_file', parseSaveCard) ?? false
  const xtlGiven = row.take('xtl_order_id', parseXtlOrderId)
  const details = readDetails(row)
  const { executeAtMs, expiresAtMs } = readMoments(row, reading)
  if (row.faults.length > 0 || operation === null || isProblem(reference)) {
    const said = { operation, card: maskedIn(row, reading.card) }
    return { kind: 'faults', faults: row.faults, money: money ?? (hidesAmount(row) ? 'unread' : null), said }
  }
  const xtlOrderId =
    FIELD_RULES[operation].xtl_order_id === 'unused' ? null : (xtlGiven ?? toXtlOrderId(reading.accountKey, reference))
  const instruction = {
    reference,
    operation,
    money,
    orderId,
    vaultId,
    card: card === null ? null : maskOf(card),
    saveCardOnFile,
    xtlOrderId,
    details,
    executeAtMs,
    expiresAtMs,
  }
  const beside = orderId === null && operation !== 'VAULT_DELETE' ? null : readBeside(row)
  return { kind: 'instruction', instruction: beside === null ? instruction : { ...instruction, beside }, card }
}

/** What cannot be read says nothing: the operation does not need it. */
function readBeside(row: RowReading): Beside | null {
  const idIn = (field: 'customer_vault_id' | 'xtl_order_id', parse: typeof parseGatewayId) => {
    const text = row.text(field)
    const id = row.ruleOf(field) !== 'unused' || text === '' ? '' : parse(text)
    return isProblem(id) || id === '' ? null : plainId(id)
  }
  const vaultId = idIn('customer_vault_id', parseGatewayId)
  const xtlOrderId = idIn('xtl_order_id', parseXtlOrderId)
  const card = MASKED_CARD.exec(row.text('pmt_numb'))?.[1] ?? null
  const said = [...DETAIL_FIELDS, ...CUSTOMER_FIELDS].flatMap((field) =>
    row.text(field) === '' ? [] : [[field, row.text(field)] as const],
  )
  if (said.length > 0) return { vaultId, card, xtlOrderId, details: Object.fromEntries(said) }
  return vaultId === null && card === null && xtlOrderId === null ? null : { vaultId, card, xtlOrderId }
}

/** As results have it: of other masks less is known. */
function maskedIn(row: RowReading, columns: CardColumns | null): string | null {
  const [, bin, lastFour] = /^(\d{6})\*+(\d{4})$/.exec(columns === null ? '' : row.text(columns.fields.number)) ?? []
  return bin === undefined ? null : `${bin}-${lastFour}`
}

const MASKED_CARD = /^[\d\s-]{0,9}[*•●#·…xX\s-]+(\d{4})$/u

const NEVER_SENT: Problem = {
  problem: 'is not after execute_at: the row could never be sent',
  remedy: 'correct one of the two',
}

function readMoments(row: RowReading, { timeZone }: Reading): Pick<Instruction, 'executeAtMs' | 'expiresAtMs'> {
  const executeAtMs = row.takeFree('execute_at', (text) => parseExecuteAt(text, timeZone))
  const expiresAtMs = row.takeFree('expires_at', (text) => parseExpiresAt(text, timeZone))
  if (executeAtMs !== null && expiresAtMs !== null && expiresAtMs <= executeAtMs) row.fault('expires_at', NEVER_SENT)
  return { executeAtMs, expiresAtMs }
}

/** How much it is cannot be known: the amount is wrong or missing, or has no currency. */
function hidesAmount(row: RowReading): boolean {
  return row.faults.some(
    ({ field }) => field === 'amount' || (field === 'request_currency' && row.text('amount') !== ''),
  )
}

function parseOperationCell(cell: string, declared: Operation | null): Operation | Problem<Text> {
  if (declared !== null && isVaultOperation(declared)) return vaultOperationCell(cell, declared)
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

/** A file is declared to be of the vault; a row that says something else was made for something else. */
function vaultOperationCell(cell: string, declared: VaultOperation): Operation | Problem<Text> {
  const word = toLowerAscii(cell.trim())
  if (word === '' || `vault_${word.replace(/^vault_/, '')}` === toLowerAscii(declared)) return declared
  return {
    problem: `says something else than ${declared}, which the whole file was declared to be`,
    remedy: 'take the row out, or the column if it means something else',
  }
}

/** The currency is asked for wherever an amount is; a wrong one is a fault even where there is no amount. */
function readMoney(row: RowReading, reading: Reading): Money | null {
  if (row.ruleOf('amount') === 'forbidden') {
    row.take('request_currency', () => null)
    return row.take('amount', () => null)
  }
  const currencyGiven = row.text('request_currency') !== ''
  const currency =
    row.takeFree('request_currency', parseCurrencyCell) ?? (currencyGiven ? null : currencyOfFile(reading.currency))
  const gap = currencyGiven || row.text('amount') === '' ? null : gapProblem(reading.currency)
  if (gap !== null) row.fault('request_currency', gap)
  // A number cell is written by this program, with a point; what people wrote follows the sign of their file.
  const { kind, marks } = row.stored('amount')
  const sign = kind === 'number' ? '.' : reading.decimal
  const plain = row.take('amount', (text) => {
    const bare = withoutMark(readMinus(text, reading.minuses), reading.currency)
    const odd = isProblem(bare) || reading.oddFrom === null ? null : oddProblem(bare, reading.oddFrom, sign)
    const isWhole = !isProblem(bare) && currency !== null && exponentOf(currency) === 0
    const read = sign ?? (isWhole ? signBesideThousands(bare) : null)
    return odd ?? parsePlainDecimal(bare, read, kind !== 'number' && reading.isDecimalMixed)
  })
  if (row.text('amount') === '') return null
  if (currency === null && !currencyGiven) {
    row.fault('request_currency', {
      problem: 'is empty, and an amount needs a currency',
      remedy: words`write the currency, for example EUR${{ set: 'currency', to: 'EUR', lead: ', or set it for the whole file with ' }}`,
    })
  }
  if (plain === null || currency === null || gap !== null) return null
  return row.keep(
    'amount',
    marksProblem(marks, currency) ??
      contradiction(currency, reading.currency) ??
      parseMoney(reading.scale === 'minor' ? fromMinorUnits(plain, currency) : plain, currency),
  )
}

/** The mark that stands beside every amount of the file is no fault; any other is. */
function withoutMark(text: string | Problem<Text>, { mark }: CurrencySaid): string | Problem<Text> {
  if (isProblem(text) || mark === null) return text
  const parted = partMark(text)
  return parted.mark === mark ? parted.number : text
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

const NO_HOLDER: Problem = {
  problem: 'is empty, and the vault needs the name of the holder',
  remedy: 'write it as it is printed on the card',
}

function readDetails(row: RowReading): Instruction['details'] {
  const details: { -readonly [K in keyof Instruction['details']]: string } = {}
  const taken = [
    ...(row.ruleOf('details') === 'unused' ? [] : DETAIL_FIELDS),
    ...(row.ruleOf('customer') === 'unused' ? [] : CUSTOMER_FIELDS),
  ]
  const needed: readonly Field[] = row.ruleOf('customer') === 'required' ? ['first_name', 'last_name'] : []
  for (const field of taken) {
    if (needed.includes(field) && row.text(field) === '') row.fault(field, NO_HOLDER)
    const value = row.takeFree(field, parseDetail)
    if (value !== null) details[field] = value
  }
  return details
}
