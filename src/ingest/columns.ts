// The columns this program understands, under the gateway's names and under those that people give them.

import { DETAIL_FIELDS } from '../domain/instruction.ts'
import { REJECT_COLUMNS, RESULT_COLUMNS } from '../domain/result-columns.ts'

const FIELDS = [
  'reference',
  'transaction_type',
  'amount',
  'request_currency',
  'request_ref_po_id',
  'customer_vault_id',
  'save_card_on_file',
  'xtl_order_id',
  'execute_at',
  ...DETAIL_FIELDS,
] as const
export type Field = (typeof FIELDS)[number]

// An order *number* is often the shop's own and not the gateway's order id, so it is no synonym: a refund would go astray.
const SYNONYMS: Readonly<Record<Field, readonly string[]>> = {
  reference: ['ref', 'reference_no', 'reference_number', 'payment_reference', 'our_reference', 'client_reference'],
  transaction_type: ['operation', 'type', 'operation_type', 'trans_type', 'txn_type', 'action'],
  amount: ['amt', 'sum', 'value', 'transaction_amount', 'refund_amount', 'betrag', 'montant', 'importe', 'importo'],
  request_currency: [
    'currency',
    'currency_code',
    'ccy',
    'trans_cur',
    'währung',
    'waehrung',
    'devise',
    'moneda',
    'valuta',
  ],
  request_ref_po_id: ['order_id', 'trans_order_id', 'gateway_order_id', 'original_order_id', 'ref_po_id', 'po_id'],
  customer_vault_id: ['vault_id', 'vault', 'customer_vault', 'card_vault_id'],
  save_card_on_file: ['save_card', 'store_card'],
  xtl_order_id: ['external_order_id', 'ext_order_id', 'merchant_order_id'],
  execute_at: ['execute_after', 'not_before', 'send_at', 'scheduled_at'],
  cust_fname: ['first_name', 'fname', 'given_name', 'forename', 'customer_first_name'],
  cust_lname: ['last_name', 'lname', 'surname', 'family_name', 'customer_last_name'],
  cust_email: ['email', 'e_mail', 'mail', 'email_address', 'customer_email'],
  cust_phone: ['phone', 'telephone', 'phone_number', 'customer_phone'],
  bill_addr: ['address', 'address_1', 'address_line_1', 'street', 'billing_address', 'bill_address'],
  bill_addr_city: ['city', 'town', 'billing_city', 'bill_city'],
  bill_addr_state: ['state', 'province', 'billing_state', 'bill_state'],
  bill_addr_zip: ['zip', 'zip_code', 'postcode', 'postal_code', 'billing_zip', 'bill_zip'],
  bill_addr_country: ['country', 'country_code', 'billing_country', 'bill_country'],
}

const CARD_NAMES = [
  ...[
    'pmt_numb',
    'pmt_key',
    'pmt_expiry',
    'pan',
    'card_number',
    'card_no',
    'cc_number',
    'credit_card',
    'credit_card_number',
  ],
  ...['cvv', 'cvv2', 'cvc', 'cvc2', 'csc', 'card_cvv', 'card_cvc', 'security_code', 'card_security_code'],
  ...['expiry', 'expiry_date', 'exp_date', 'expiration', 'expiration_date', 'card_expiry', 'card_expiry_date'],
  ...['card_exp_mm', 'card_exp_yy', 'exp_month', 'exp_year', 'expiry_month', 'expiry_year'],
]

/** `Order ID`, `order-id`, `orderId` and `ORDER_ID` are one name. */
export function squeezed(name: string): string {
  return name
    .trim()
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\s_./-]+/g, '')
}

const FIELD_BY_NAME: ReadonlyMap<string, Field> = new Map(
  FIELDS.flatMap((field) => [field, ...SYNONYMS[field]].map((name) => [squeezed(name), field] as const)),
)
const CARD_NAME_SET: ReadonlySet<string> = new Set(CARD_NAMES.map(squeezed))
const RESULT_NAME_SET: ReadonlySet<string> = new Set(RESULT_COLUMNS)
const REJECT_NAME_SET: ReadonlySet<string> = new Set(REJECT_COLUMNS)

export function fieldOf(column: string): Field | undefined {
  return FIELD_BY_NAME.get(squeezed(column))
}

/** Columns meant for card data. This version takes none: it executes vaulted cards and orders only. */
export function isCardColumn(column: string): boolean {
  return CARD_NAME_SET.has(squeezed(column))
}

export function isResultColumn(column: string): boolean {
  return RESULT_NAME_SET.has(column.trim().toLowerCase())
}

/** What a file of rejects says about its rows: nothing of it is the row's. */
export function isRejectColumn(column: string): boolean {
  return REJECT_NAME_SET.has(column.trim().toLowerCase())
}

/** Every name a field goes by, squeezed; for finding what a mistyped column was meant to be. */
export function namesOf(field: Field): readonly string[] {
  return [field, ...SYNONYMS[field]].map(squeezed)
}
