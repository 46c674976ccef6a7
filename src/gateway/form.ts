// From an instruction to the body of a transaction request: exactly the fields that its operation takes.

import { type CardDetails, formatExpiry } from '../domain/card.ts'
import { assert } from '../domain/fault.ts'
import {
  DETAIL_FIELDS,
  FIELD_RULES,
  type Instruction,
  type Operation,
  type RuledField,
  sendsCurrency,
} from '../domain/instruction.ts'
import { formatAmount } from '../domain/money.ts'

/** The earlier variant of the interface says `request_action=CCCREDIT` where today's says `transaction_type=REFUND`. */
export type RefundParameter = 'transaction_type' | 'request_action'

export interface Credentials {
  readonly username: string
  readonly password: string
}

/** Makes form-encoded bodies, in UTF-8. What an instruction holds beyond its operation's fields is not sent. */
export function createForm(
  { username, password }: Credentials,
  refundParameter: RefundParameter,
): (instruction: Instruction, card?: CardDetails | null) => string {
  const credentials = String(new URLSearchParams({ req_username: username, req_password: password }))
  const beginningOf = (operation: Operation) =>
    operation === 'REFUND' && refundParameter === 'request_action'
      ? `${credentials}&request_action=CCCREDIT`
      : `${credentials}&transaction_type=${operation}`

  return (instruction, card = null) => {
    const { operation, money, orderId, vaultId, xtlOrderId, details } = instruction
    const takes = (field: RuledField, value: unknown): boolean => {
      const rule = FIELD_RULES[operation][field]
      assert(rule !== 'required' || value !== null, `${operation} needs ${field}`)
      assert(rule !== 'this-or-card' || (value === null) !== (card === null), `${operation} needs ${field} or a card`)
      return rule !== 'unused' && rule !== 'forbidden' && value !== null
    }
    let form = beginningOf(operation)
    const append = (field: string, value: string) => {
      form += `&${field}=${encode(value)}`
    }
    if (takes('amount', money) && money !== null) {
      append('amount', formatAmount(money))
      if (sendsCurrency(operation)) append('request_currency', money.currency)
    }
    if (takes('request_ref_po_id', orderId)) append('request_ref_po_id', orderId as string)
    if (takes('customer_vault_id', vaultId)) append('customer_vault_id', vaultId as string)
    if (takes('card', card) && card !== null) {
      append('pmt_numb', card.number)
      append('pmt_key', card.code)
      append('pmt_expiry', formatExpiry(card.expiry))
    }
    if (takes('save_card_on_file', instruction.saveCardOnFile) && instruction.saveCardOnFile) {
      append('save_card_on_file', 'Y')
    }
    if (takes('xtl_order_id', xtlOrderId)) append('xtl_order_id', xtlOrderId as string)
    if (takes('details', details)) {
      for (const field of DETAIL_FIELDS) {
        const detail = details[field]
        if (detail !== undefined) append(field, detail)
      }
    }
    return form
  }
}

/** As a form encodes a value. What means itself there is most of what is sent, and need not go through the encoder. */
function encode(value: string): string {
  return /^[\w*.-]*$/.test(value) ? value : String(new URLSearchParams({ value })).slice('value='.length)
}
