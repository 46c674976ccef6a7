// From an instruction to the body of a transaction request: exactly the fields that its operation takes.

import { type CardDetails, formatExpiry } from '../domain/card.ts'
import { assert } from '../domain/fault.ts'
import { DETAIL_FIELDS, FIELD_RULES, type Instruction, type RuledField, sendsCurrency } from '../domain/instruction.ts'
import { formatAmount } from '../domain/money.ts'

/** The earlier variant of the interface says `request_action=CCCREDIT` where today's says `transaction_type=REFUND`. */
export type RefundParameter = 'transaction_type' | 'request_action'

export interface Credentials {
  readonly username: string
  readonly password: string
}

/** The form-encoded body, in UTF-8. What an instruction holds beyond its operation's fields is not sent. */
export function toForm(
  instruction: Instruction,
  credentials: Credentials,
  refundParameter: RefundParameter,
  card: CardDetails | null = null,
): string {
  const { operation, money, orderId, vaultId } = instruction
  const form = new URLSearchParams({ req_username: credentials.username, req_password: credentials.password })
  if (operation === 'REFUND' && refundParameter === 'request_action') form.append('request_action', 'CCCREDIT')
  else form.append('transaction_type', operation)

  const takes = (field: RuledField, value: unknown): boolean => {
    const rule = FIELD_RULES[operation][field]
    assert(rule !== 'required' || value !== null, `${operation} needs ${field}`)
    assert(rule !== 'this-or-card' || (value === null) !== (card === null), `${operation} needs ${field} or a card`)
    return rule !== 'unused' && rule !== 'forbidden' && value !== null
  }
  if (takes('amount', money) && money !== null) {
    form.append('amount', formatAmount(money))
    if (sendsCurrency(operation)) form.append('request_currency', money.currency)
  }
  if (takes('request_ref_po_id', orderId)) form.append('request_ref_po_id', orderId as string)
  if (takes('customer_vault_id', vaultId)) form.append('customer_vault_id', vaultId as string)
  if (takes('card', card) && card !== null) {
    form.append('pmt_numb', card.number)
    form.append('pmt_key', card.code)
    form.append('pmt_expiry', formatExpiry(card.expiry))
  }
  if (takes('save_card_on_file', instruction.saveCardOnFile) && instruction.saveCardOnFile) {
    form.append('save_card_on_file', 'Y')
  }
  if (takes('xtl_order_id', instruction.xtlOrderId)) form.append('xtl_order_id', instruction.xtlOrderId as string)
  if (takes('details', instruction.details)) {
    for (const field of DETAIL_FIELDS) {
      const detail = instruction.details[field]
      if (detail !== undefined) form.append(field, detail)
    }
  }
  return form.toString()
}
