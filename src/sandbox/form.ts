// From the form as received to a well-formed request, or every field at fault. Card numbers and security codes end here.

import type { CardExpiry } from '../domain/card.ts'
import type { TransactionType } from '../domain/instruction.ts'
import { type Currency, type Money, parseAmount, parseCurrency } from '../domain/money.ts'
import { isCardNumber, isExpired, isSecurityCode, toCardMask } from './card-fields.ts'
import type { CardSource, TransactionRequest } from './orders.ts'

export interface Form {
  /** Empty values are left out: an empty field is an absent one. */
  readonly fields: ReadonlyMap<string, string>
  readonly twice: ReadonlySet<string>
}

export type ParsedRequest =
  | { readonly kind: 'request'; readonly request: TransactionRequest }
  /** One line that names every field at fault, and no value: it may be a card number in the wrong field. */
  | { readonly kind: 'wrong'; readonly message: string }

export function parseForm(body: string): Form {
  const fields = new Map<string, string>()
  const twice = new Set<string>()
  for (const [name, value] of new URLSearchParams(body)) {
    if (fields.has(name)) twice.add(name)
    if (value !== '') fields.set(name, value)
  }
  return { fields, twice }
}

const DETAILS = [
  'cust_fname',
  'cust_lname',
  'cust_email',
  'cust_phone',
  'bill_addr',
  'bill_addr_city',
  'bill_addr_state',
  'bill_addr_zip',
  'bill_addr_country',
  'xtl_order_id',
]
const EVERYWHERE = ['req_username', 'req_password', 'transaction_type', 'request_action', 'amount']
const CARD = ['pmt_numb', 'pmt_key', 'pmt_expiry'] as const
const SALE = [...EVERYWHERE, ...DETAILS, ...CARD, 'customer_vault_id', 'request_currency']

/** The fields each operation takes. Any other is a fault: a field that is ignored is a client that is misunderstood. */
const TAKES: Readonly<Record<TransactionType, ReadonlySet<string>>> = {
  CAPTURE: new Set([...SALE, 'save_card_on_file']),
  AUTH: new Set(SALE),
  CAUTH: new Set([...EVERYWHERE, ...DETAILS, 'request_currency', 'request_ref_po_id']),
  REFUND: new Set([...EVERYWHERE, 'request_ref_po_id']),
  CANCEL: new Set([...EVERYWHERE, 'request_ref_po_id']),
}

export const TEXT_MAX_LENGTH = 255

export function parseRequest(form: Form, nowMs: number): ParsedRequest {
  const faults = Array.from(form.twice, (name) => `${named(name)} is given twice`)
  const operation = parseOperation(form, faults)
  if (operation === null) return { kind: 'wrong', message: faults.join('; ') }
  for (const [name, value] of form.fields) {
    if (!TAKES[operation].has(name)) faults.push(`${named(name)} is not a field of ${operation}`)
    else if (value.length > TEXT_MAX_LENGTH) faults.push(`${name} is longer than ${TEXT_MAX_LENGTH} characters`)
  }
  const request = requestOf(operation, form, nowMs, faults)
  if (request === null || faults.length > 0) return { kind: 'wrong', message: faults.join('; ') }
  return { kind: 'request', request }
}

/** The earlier variant of the interface says `request_action=CCCREDIT` for a refund. */
function parseOperation(form: Form, faults: string[]): TransactionType | null {
  const type = form.fields.get('transaction_type')
  const action = form.fields.get('request_action')
  if (type !== undefined && action !== undefined) faults.push('transaction_type and request_action exclude each other')
  if (action !== undefined) {
    if (action === 'CCCREDIT') return 'REFUND'
    faults.push('request_action must be CCCREDIT')
    return null
  }
  if (type !== undefined && Object.hasOwn(TAKES, type)) return type as TransactionType
  const names = Object.keys(TAKES).join(', ')
  faults.push(type === undefined ? 'transaction_type is missing' : `transaction_type must be one of ${names}`)
  return null
}

/** null only after at least one fault was noted. */
function requestOf(operation: TransactionType, form: Form, nowMs: number, faults: string[]): TransactionRequest | null {
  const { fields } = form
  const amount = fields.get('amount') ?? null
  const xtlOrderId = fields.get('xtl_order_id') ?? null
  switch (operation) {
    case 'CAPTURE':
    case 'AUTH': {
      const money = parseMoney(form, faults)
      const source = parseSource(form, nowMs, faults)
      const save = fields.get('save_card_on_file')
      if (save !== undefined && save !== 'Y') faults.push('save_card_on_file must be Y')
      if (money === null || source === null) return null
      const holder = { firstName: fields.get('cust_fname') ?? '', lastName: fields.get('cust_lname') ?? '' }
      return { operation, amount, money, source, saveFor: save === 'Y' ? holder : null, xtlOrderId }
    }
    case 'CAUTH': {
      const money = parseMoney(form, faults)
      const orderId = parseId(form, 'request_ref_po_id', faults)
      return money === null || orderId === null ? null : { operation, amount, money, orderId, xtlOrderId }
    }
    case 'REFUND':
    case 'CANCEL': {
      checkAmount(amount, operation === 'REFUND', faults)
      const orderId = parseId(form, 'request_ref_po_id', faults)
      return orderId === null ? null : { operation, amount, orderId, xtlOrderId }
    }
  }
}

const NOT_AN_AMOUNT = 'amount must be a decimal number greater than zero, such as 1.12'

function checkAmount(amount: string | null, required: boolean, faults: string[]): void {
  if (amount === null) {
    if (required) faults.push('amount is missing')
  } else if (!/^\d{1,15}(\.\d{1,4})?$/.test(amount) || !/[1-9]/.test(amount)) faults.push(NOT_AN_AMOUNT)
}

function parseMoney(form: Form, faults: string[]): Money | null {
  const amount = form.fields.get('amount') ?? null
  const before = faults.length
  checkAmount(amount, true, faults)
  const currency = parseCurrencyField(form, faults)
  if (faults.length > before || amount === null || currency === null) return null
  const money = parseAmount(amount, currency)
  if (typeof money !== 'string') return money
  faults.push(money === 'too-many-decimals' ? `amount has more decimals than ${currency}` : NOT_AN_AMOUNT)
  return null
}

function parseCurrencyField(form: Form, faults: string[]): Currency | null {
  const code = form.fields.get('request_currency')
  const currency = code !== undefined && /^[A-Z]{3}$/.test(code) ? parseCurrency(code) : undefined
  if (currency !== undefined) return currency
  faults.push(
    code === undefined
      ? 'request_currency is missing'
      : 'request_currency must be a 3-letter ISO 4217 code in capitals',
  )
  return null
}

function parseId(form: Form, name: string, faults: string[]): string | null {
  const id = form.fields.get(name)
  if (id !== undefined && isId(id)) return plainDigits(id)
  faults.push(id === undefined ? `${name} is missing` : `${name} must be 1 to 20 digits`)
  return null
}

export function isId(text: string): boolean {
  return /^\d{1,20}$/.test(text)
}

export function plainDigits(id: string): string {
  return id.replace(/^0+(?=\d)/, '')
}

function parseSource(form: Form, nowMs: number, faults: string[]): CardSource | null {
  const { fields } = form
  const given = CARD.filter((name) => fields.has(name))
  if (fields.has('customer_vault_id')) {
    for (const name of given) faults.push(`${name} and customer_vault_id exclude each other`)
    const vaultId = parseId(form, 'customer_vault_id', faults)
    return vaultId === null ? null : { kind: 'vault', vaultId }
  }
  if (given.length === 0) {
    faults.push('customer_vault_id is missing, or pmt_numb, pmt_key and pmt_expiry')
    return null
  }
  const [number = '', key = '', expiry = ''] = CARD.map((name) => fields.get(name))
  for (const name of CARD) if (!fields.has(name)) faults.push(`${name} is missing`)
  if (number !== '' && !isCardNumber(number)) faults.push('pmt_numb must be a card number')
  if (key !== '' && !isSecurityCode(key)) faults.push('pmt_key must be 3 or 4 digits')
  const until = parseExpiry(expiry)
  if (expiry !== '' && (until === null || isExpired(until, nowMs)))
    faults.push('pmt_expiry must be MM/YYYY and not past')
  const card = until === null ? null : toCardMask(number, until)
  return card === null ? null : { kind: 'card', card }
}

function parseExpiry(text: string): CardExpiry | null {
  const [, month, year] = /^(0[1-9]|1[0-2])\/(\d{4})$/.exec(text) ?? []
  return month === undefined || year === undefined ? null : { month, year }
}

/** The names are the sender's: anything but a plain short name could carry a card number into an answer or a log. */
export function named(name: string): string {
  return /^[a-z_]{1,40}$/i.test(name) ? name : 'a field with an unusable name'
}
