// What one row or message asks for: the operations of the gateway and the fields each one takes.

import { type CardMask, formatCardMask } from './card.ts'
import { toLowerAscii } from './keyword.ts'
import type { Currency, Money } from './money.ts'
import { nameKey } from './person-name.ts'

/** The gateway's `transaction_type`. CAPTURE is a sale; CAUTH captures an earlier authorization. */
export const TRANSACTION_TYPES = ['CAPTURE', 'AUTH', 'CAUTH', 'REFUND', 'CANCEL'] as const
export type TransactionType = (typeof TRANSACTION_TYPES)[number]

/** Of the customer vault. No file says them in a cell: a whole file is one of them. */
export const VAULT_OPERATIONS = ['VAULT_CREATE', 'VAULT_UPDATE', 'VAULT_DELETE'] as const
export type VaultOperation = (typeof VAULT_OPERATIONS)[number]

export const OPERATIONS = [...TRANSACTION_TYPES, ...VAULT_OPERATIONS] as const
export type Operation = (typeof OPERATIONS)[number]

export function isVaultOperation(operation: Operation): operation is VaultOperation {
  return (VAULT_OPERATIONS as readonly string[]).includes(operation)
}

/**
 * What people write for the operations. `CAPTURE` in capitals is the gateway's code for a sale; `capture` in small
 * letters is what everyone else calls the capture of an authorization (CAUTH). Mixed case could be either and is not
 * understood, because guessing would charge a card.
 */
export function parseOperation(text: string): TransactionType | undefined {
  const word = text.trim()
  if ((TRANSACTION_TYPES as readonly string[]).includes(word)) return word as TransactionType
  if (word === 'capture' || word === 'captured') return 'CAUTH'
  const name = toLowerAscii(word.normalize('NFD').replace(/\p{M}/gu, ''))
  return Object.hasOwn(WORDS, name) ? WORDS[name] : undefined
}

const WORDS: Readonly<Record<string, TransactionType>> = {
  sale: 'CAPTURE',
  auth: 'AUTH',
  authorize: 'AUTH',
  authorise: 'AUTH',
  authorization: 'AUTH',
  authorisation: 'AUTH',
  cauth: 'CAUTH',
  refund: 'REFUND',
  refunded: 'REFUND',
  void: 'CANCEL',
  cancel: 'CANCEL',
  voided: 'CANCEL',
  cancelled: 'CANCEL',
  canceled: 'CANCEL',
  // In German, French, Spanish and Italian only what gives money back or gives an order up, accents left out: their words
  // for taking money do not tell a sale from the capture of an authorization.
  erstattung: 'REFUND',
  ruckerstattung: 'REFUND',
  remboursement: 'REFUND',
  reembolso: 'REFUND',
  rimborso: 'REFUND',
  storno: 'CANCEL',
  stornierung: 'CANCEL',
  annulation: 'CANCEL',
  anulacion: 'CANCEL',
  annullamento: 'CANCEL',
}

/** Cardholder and billing fields, passed on as they are where the operation takes them. */
export const DETAIL_FIELDS = [
  'cust_fname',
  'cust_lname',
  'cust_email',
  'cust_phone',
  'bill_addr',
  'bill_addr_city',
  'bill_addr_state',
  'bill_addr_zip',
  'bill_addr_country',
] as const
export type DetailField = (typeof DETAIL_FIELDS)[number]

/** Of a vault record: the gateway's `customer_details`. */
export const CUSTOMER_FIELDS = [
  'first_name',
  'last_name',
  'email',
  'phone',
  'address_1',
  'address_2',
  'city',
  'state',
  'zip',
  'country',
] as const
export type CustomerField = (typeof CUSTOMER_FIELDS)[number]

/** The fields of a message, and the columns of the results of messages, in this order. */
export const MESSAGE_FIELDS = [
  'reference',
  'transaction_type',
  'amount',
  'request_currency',
  'request_ref_po_id',
  'customer_vault_id',
  'save_card_on_file',
  'xtl_order_id',
  'execute_at',
  'expires_at',
  'run_key',
  ...DETAIL_FIELDS,
] as const

export interface Instruction {
  /** Ours: unique per account for ever; with the run key in front where one was given. */
  readonly reference: string
  readonly operation: Operation
  /** null for a CANCEL without an amount and for the vault. For REFUND and CANCEL the currency is declared, not sent. */
  readonly money: Money | null
  /** The gateway's order id of the earlier transaction, as written in the file. */
  readonly orderId: string | null
  readonly vaultId: string | null
  /** The row has card details: the process that reads the file has them, never the instruction. null: it has none. */
  readonly card: CardMask | null
  readonly saveCardOnFile: boolean
  /** What is sent as `xtl_order_id`; null where the operation does not take one. */
  readonly xtlOrderId: string | null
  readonly details: Readonly<Partial<Record<DetailField | CustomerField, string>>>
  /** Epoch milliseconds: the earliest moment to send; null: at once. */
  readonly executeAtMs: number | null
  /** From this moment on it is not sent any more; null: it does not expire. */
  readonly expiresAtMs: number | null
  /** What it says of its order besides. Absent: nothing. */
  readonly beside?: Beside
}

/** What a row that names an order says of it and does not send: it is only held against what is recorded. null: nothing. */
export interface Beside {
  /** Without leading zeros. */
  readonly vaultId: string | null
  /** The last four digits. */
  readonly card: string | null
  readonly xtlOrderId: string | null
  /** Of the customer. Absent: nothing. */
  readonly details?: Instruction['details']
}

export type FieldRule =
  | 'required'
  /** Required unless the row has card details, and then forbidden. */
  | 'this-or-card'
  | 'optional'
  /** Not sent, harmless: carried through to the results like an unknown column. */
  | 'unused'
  /** A value here means that the row means another operation: an error. */
  | 'forbidden'

export type RuledField =
  | 'amount'
  | 'request_currency'
  | 'customer_vault_id'
  | 'request_ref_po_id'
  | 'save_card_on_file'
  | 'xtl_order_id'
  | 'details'
  | 'card'
  | 'customer'

/** An amount or an order in a vault file means that it is a file of payments: it must not delete the cards that it was to charge. */
const VAULT_RULES = {
  amount: 'forbidden',
  request_currency: 'forbidden',
  request_ref_po_id: 'forbidden',
  save_card_on_file: 'unused',
  xtl_order_id: 'unused',
  details: 'unused',
} as const

/** The gateway's request tables per operation. `request_currency` is asked for wherever an amount is; see `sendsCurrency`. */
export const FIELD_RULES = {
  CAPTURE: {
    amount: 'required',
    request_currency: 'required',
    customer_vault_id: 'this-or-card',
    request_ref_po_id: 'forbidden',
    save_card_on_file: 'optional',
    xtl_order_id: 'optional',
    details: 'optional',
    card: 'optional',
    customer: 'unused',
  },
  AUTH: {
    amount: 'required',
    request_currency: 'required',
    customer_vault_id: 'this-or-card',
    request_ref_po_id: 'forbidden',
    save_card_on_file: 'forbidden',
    xtl_order_id: 'optional',
    details: 'optional',
    card: 'optional',
    customer: 'unused',
  },
  CAUTH: {
    amount: 'required',
    request_currency: 'required',
    customer_vault_id: 'unused',
    request_ref_po_id: 'required',
    save_card_on_file: 'unused',
    xtl_order_id: 'optional',
    details: 'optional',
    card: 'forbidden',
    customer: 'unused',
  },
  REFUND: {
    amount: 'required',
    request_currency: 'required',
    customer_vault_id: 'unused',
    request_ref_po_id: 'required',
    save_card_on_file: 'unused',
    xtl_order_id: 'unused',
    details: 'unused',
    card: 'forbidden',
    customer: 'unused',
  },
  CANCEL: {
    amount: 'optional',
    request_currency: 'optional',
    customer_vault_id: 'unused',
    request_ref_po_id: 'required',
    save_card_on_file: 'unused',
    xtl_order_id: 'unused',
    details: 'unused',
    card: 'forbidden',
    customer: 'unused',
  },
  VAULT_CREATE: { ...VAULT_RULES, customer_vault_id: 'forbidden', card: 'required', customer: 'required' },
  VAULT_UPDATE: { ...VAULT_RULES, customer_vault_id: 'required', card: 'required', customer: 'required' },
  VAULT_DELETE: { ...VAULT_RULES, customer_vault_id: 'required', card: 'forbidden', customer: 'unused' },
} as const satisfies Record<Operation, Record<RuledField, FieldRule>>

/** REFUND and CANCEL declare a currency for totals and checks; the gateway takes none for them. */
export function sendsCurrency(operation: Operation): boolean {
  return operation === 'CAPTURE' || operation === 'AUTH' || operation === 'CAUTH'
}

/** Ids are compared as text without leading zeros: `000123` and `123` name the same order. */
export function plainId(id: string): string {
  return id.trim().replace(/^0+(?=.)/, '')
}

/**
 * What makes two rows under one reference the same instruction; any difference is another instruction. Of a vault record, which an
 * update replaces whole, a mark of the customer is part of it.
 */
export function contentOf(instruction: Omit<Instruction, 'reference' | 'xtlOrderId' | 'saveCardOnFile'>): string {
  const { operation, money, orderId, vaultId, card, executeAtMs, expiresAtMs, details } = instruction
  return [
    operation,
    money === null ? '' : `${money.amountMinor} ${money.currency}`,
    orderId === null ? '' : plainId(orderId),
    cardKeyOf(vaultId, card),
    executeAtMs ?? '',
    ...(expiresAtMs === null ? [] : [`until ${expiresAtMs}`]),
    ...(FIELD_RULES[operation].customer === 'required' ? [customerMark(details)] : []),
  ].join('|')
}

/** Which card is meant: by its vault id, by its mask, or, for an update, the vault id and the card it gets. */
function cardKeyOf(vaultId: string | null, card: CardMask | null): string {
  return [...(vaultId === null ? [] : [plainId(vaultId)]), ...(card === null ? [] : [formatCardMask(card)])].join(' ')
}

/**
 * Rows of one account with the same key are sent one at a time, in the order of their arrival: those of one order, and
 * changes of one vault record. null: any order will do.
 */
export function orderKeyOf({
  operation,
  orderId,
  vaultId,
}: Pick<Instruction, 'operation' | 'orderId' | 'vaultId'>): string | null {
  if (orderId !== null) return plainId(orderId)
  return vaultId !== null && isVaultOperation(operation) ? `vault ${plainId(vaultId)}` : null
}

/** Ends what a row is recorded under whose own reference is bad: mended, the row comes back under another. */
export const UNREAD_REFERENCE = '-unread'

/** What makes two rows under different references look like one instruction entered twice; null: nothing to compare. */
export function lookalikeOf(
  instruction: Pick<Instruction, 'operation' | 'money' | 'orderId' | 'vaultId' | 'card' | 'details'>,
): string | null {
  const { operation, money, orderId, vaultId, card } = instruction
  const target = orderId === null ? cardKeyOf(vaultId, card) : plainId(orderId)
  if (target === '') return null
  const holder = operation === 'VAULT_CREATE' ? ` ${holderMark(instruction.details)}` : ''
  return `${operation}|${money === null ? '' : `${money.amountMinor} ${money.currency as Currency}`}|${target}${holder}`
}

/** Among thousands of cards of one bank, a few have the same last four digits and expiry: the holder tells them apart. */
function holderMark({ first_name: first = '', last_name: last = '' }: Instruction['details']): string {
  return markOf(nameKey(first + last))
}

function customerMark(details: Instruction['details']): string {
  return markOf(JSON.stringify(CUSTOMER_FIELDS.map((field) => details[field] ?? '')))
}

/** A number of 32 bits (FNV-1a), because what rows are known by stays when the record of a customer is purged. */
function markOf(text: string): string {
  let mark = 0x811c9dc5
  for (let i = 0; i < text.length; i++) mark = Math.imul(mark ^ text.charCodeAt(i), 0x01000193)
  return (mark >>> 0).toString(16).padStart(8, '0')
}
