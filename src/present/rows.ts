// A row of a batch as programs read it.

import { isoOf } from '../domain/batch-status.ts'
import type { ReconciliationRow } from '../domain/reconciliation.ts'
import { isFinal, type State, statusOf } from '../domain/states.ts'
import { amountText } from './text.ts'

export function toJsonRow(row: ReconciliationRow): object {
  const { state, amountMinor, currency, facts, sentAtMs, completedAtMs } = row
  return {
    ...{ row: row.rowNo, line: row.line, reference: row.reference, ...statusWords(state) },
    operation: row.operation,
    amount: amountMinor === null ? null : amountText(amountMinor, currency ?? ''),
    currency,
    ...{ reason: row.reason, warning: row.warning, attempts: row.attempts },
    sent_at: sentAtMs === null ? null : isoOf(sentAtMs),
    completed_at: completedAtMs === null ? null : isoOf(completedAtMs),
    ...{ transaction_id: facts.transactionId, order_id: facts.orderId, record_id: facts.recordId },
    ...{ vault_id: facts.vaultId, xtl_order_id: facts.xtlOrderId },
  }
}

interface StatusWords {
  readonly status: ReturnType<typeof statusOf>
  readonly final: boolean
  readonly advice?: string
}

/** `final`: it moves no more by itself, nor by a person but to correct it. */
export function statusWords(state: State): StatusWords {
  const doubt = state === 'IN_DOUBT' ? { advice: 'It may have been executed: do not send it again.' } : {}
  return { status: statusOf(state), final: isFinal(state), ...doubt }
}
