// The gateway's answer as it goes over the wire: a JSON object with the documented names.

import type { TransactionType } from '../domain/instruction.ts'

/** Ids are digits, `value` a plain decimal. null: the field is not in the answer. */
export interface GatewayAnswer {
  readonly action: Exclude<TransactionType, 'CAUTH'>
  readonly status: 'APPROVED' | 'DECLINED'
  readonly value: string | null
  readonly transactionId: string
  readonly recordId: string | null
  readonly orderId: string
  readonly xtlOrderId: string | null
  readonly currency: string | null
  readonly savedVaultId: string | null
  /** On declines: the text that four fields carry alike. */
  readonly advice: string | null
}

/** Written by hand because ids are JSON numbers that may have more digits than a JavaScript number keeps. */
export function toJson(answer: GatewayAnswer): string {
  const { value, advice } = answer
  const fields = [
    text('REQUEST_ACTION', answer.action),
    text('TRANS_STATUS_NAME', answer.status),
    text('TRANS_VALUE', value === null ? null : fourDecimals(value)),
    integer('TRANS_REQUEST_ID', answer.transactionId),
    integer('TRANS_RECORD_ID', answer.recordId),
    integer('TRANS_ORDER_ID', answer.orderId),
    text('XTL_ORDER_ID', answer.xtlOrderId),
    text('TRANS_CUR', answer.currency),
    integer('CUSTOMER_VAULT_ID', answer.savedVaultId),
    text('API_ADVICE', advice),
    text('SERVICE_ADVICE', advice),
    text('PROCESSOR_ADVICE', advice),
    text('ERROR_MESSAGE', advice),
  ]
  return `{${fields.filter((field) => field !== '').join(',')}}`
}

function text(name: string, value: string | null): string {
  return value === null ? '' : `"${name}":${JSON.stringify(value)}`
}

function integer(name: string, digits: string | null): string {
  return digits === null ? '' : `"${name}":${digits}`
}

/** `12.3` → `12.3000`, `5` → `5.0000`. No currency has more than four decimals. */
function fourDecimals(decimal: string): string {
  const [whole, decimals = ''] = decimal.split('.')
  return `${whole}.${decimals.padEnd(4, '0')}`
}
