// Instructions that were found by an id: for a person, and for programs.

import { isoOf } from '../domain/batch-status.ts'
import type { FoundInstruction, IdKind } from '../domain/found.ts'
import { statusOf } from '../domain/states.ts'
import { amountText } from './text.ts'

export const FOUND_BY = {
  reference: 'reference',
  'keyed-reference': 'reference behind a run key',
  order: 'order id',
  transaction: 'transaction id',
  'merchant-order': 'merchant order id',
  vault: 'vault id',
} as const satisfies Record<IdKind, string>

export function foundLines(found: FoundInstruction): string[] {
  const { operation, amountMinor, currency, orderId, transactionId, vaultId, reason, warning } = found
  const asked = [
    operation ?? '(unread)',
    amountMinor === null ? '' : amountText(amountMinor, currency ?? ''),
    currency ?? '',
  ]
  const ids = [
    orderId === null ? '' : `order ${orderId}`,
    vaultId === null ? '' : `vault id ${vaultId}`,
    transactionId === null ? '' : `transaction ${transactionId}`,
  ]
  const when = found.completedAtMs ?? found.sentAtMs
  return [
    `${found.reference}: ${statusOf(found.state)}${when === null ? '' : ` ${isoOf(when)}`}`,
    `  ${[asked.filter(Boolean).join(' '), ...ids].filter(Boolean).join(', ')}`,
    `  row ${found.rowNo} of batch ${found.batchId}, merchant ${found.merchant}; found by its ${FOUND_BY[found.by]}`,
    ...(reason === null ? [] : [`  ${reason}`]),
    ...(warning === null ? [] : [`  ${warning}`]),
    ...(found.state === 'IN_DOUBT' ? ['  It may have been executed. Do not send it again: tranche in-doubt list'] : []),
  ]
}

export function toJsonFound(found: FoundInstruction): object {
  const { amountMinor, currency, sentAtMs, completedAtMs } = found
  return {
    reference: found.reference,
    batch: found.batchId,
    row: found.rowNo,
    merchant: found.merchant,
    status: statusOf(found.state),
    found_by: FOUND_BY[found.by].replaceAll(' ', '_'),
    operation: found.operation,
    amount: amountMinor === null ? null : amountText(amountMinor, currency ?? ''),
    currency,
    order_id: found.orderId,
    transaction_id: found.transactionId,
    record_id: found.recordId,
    xtl_order_id: found.xtlOrderId,
    vault_id: found.vaultId,
    reason: found.reason,
    warning: found.warning,
    attempts: found.attempts,
    sent_at: sentAtMs === null ? null : isoOf(sentAtMs),
    completed_at: completedAtMs === null ? null : isoOf(completedAtMs),
  }
}
