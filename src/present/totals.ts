// Sums by operation and currency: as a table, and as JSON, where amounts are strings.

import type { BatchView, Total } from '../domain/batch.ts'
import { statusOf } from '../domain/states.ts'
import { amountText, toTable } from './text.ts'

export function toJsonTotals(totals: readonly Total[]): object[] {
  return totals.map(({ operation, currency, count, amountMinor }) => ({
    operation,
    currency,
    count,
    amount: amountText(amountMinor, currency),
  }))
}

export function toJsonBatchTotals(batch: BatchView): object[] {
  return batch.totals.map(({ operation, currency, state, count, amountMinor }) => ({
    operation,
    currency,
    status: statusOf(state),
    count,
    amount: amountText(amountMinor, currency),
  }))
}

const ORDER = ['APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT', 'CANCELLED', 'INVALID', 'DUPLICATE', 'SENDING', 'PENDING']

export function totalLines(batch: BatchView): string[] {
  const rows = batch.totals
    .toSorted((a, b) => (a.operation + a.currency).localeCompare(b.operation + b.currency) || rank(a) - rank(b))
    .map(({ operation, currency, state, count, amountMinor }) => [
      `  ${operation === '' ? '(unread)' : operation}`,
      statusOf(state),
      String(count),
      amountText(amountMinor, currency),
      currency,
    ])
  const total = ['  total', '', String(batch.rows), '', '']
  return toTable([['  operation', 'status', 'rows', 'asked', ''], ...rows, total], [2, 3])
}

function rank({ state }: { readonly state: Parameters<typeof statusOf>[0] }): number {
  return ORDER.indexOf(statusOf(state))
}

/** Counts as outsiders read them: a waiting row is PENDING. */
export function countsOf(batch: BatchView): Record<string, number> {
  return Object.fromEntries(
    Object.entries(batch.counts).map(([state, count]) => [state === 'READY' ? 'PENDING' : state, count as number]),
  )
}
