// A batch reading in memory: the port, filled by hand.

import type { BatchView } from '../../src/domain/batch.ts'
import type { AccountId, BatchId } from '../../src/domain/ids.ts'
import type { Operation } from '../../src/domain/instruction.ts'
import type { Currency } from '../../src/domain/money.ts'
import type { Pages } from '../../src/domain/pages.ts'
import type { ReconciliationRow } from '../../src/domain/reconciliation.ts'
import type { BatchReading } from '../../src/ports/ledger/queries.ts'

export const AT_MS = Date.UTC(2026, 0, 31, 12, 0, 0)
export const HEAD = `7:${'a'.repeat(64)}`

export function readingOf(
  columns: readonly string[],
  rows: Iterable<ReconciliationRow> & { readonly length: number },
  batch: Partial<BatchView> = {},
): BatchReading {
  return {
    atMs: AT_MS,
    edition: { version: 1, lastMove: 1 },
    auditHead: HEAD,
    batch: { ...BATCH, rows: rows.length, totals: totalsOf(rows), ...batch },
    columns,
    rows: () => inPages(rows),
    close: async () => {},
  }
}

/** However many there are, few are made at a time. */
export async function* inPages(rows: Iterable<ReconciliationRow>): Pages<ReconciliationRow> {
  let page: ReconciliationRow[] = []
  for (const row of rows) {
    if (page.push(row) < 500) continue
    yield page
    page = []
  }
  yield page
}

/** As the ledger counts them. */
function totalsOf(rows: Iterable<ReconciliationRow>): BatchView['totals'] {
  return Array.from(rows, ({ operation, currency, amountMinor, state }) => ({
    operation: operation ?? '',
    currency: amountMinor === null ? '' : (currency ?? ''),
    state,
    count: 1,
    amountMinor: amountMinor ?? 0n,
  }))
}

export function rowOf(row: Partial<ReconciliationRow> = {}): ReconciliationRow {
  const rowNo = row.rowNo ?? 1
  return {
    rowNo,
    line: rowNo + 1,
    cells: [],
    reference: `r-${rowNo}`,
    state: 'READY',
    repeats: null,
    submittedAgain: null,
    operation: 'REFUND' satisfies Operation,
    amountMinor: 1230n,
    currency: 'EUR' as Currency,
    reason: null,
    categoryKept: null,
    facts: NO_FACTS,
    warning: null,
    attempts: 0,
    sentAtMs: null,
    completedAtMs: null,
    ...row,
  }
}

export const NO_FACTS: ReconciliationRow['facts'] = {
  transactionId: null,
  orderId: null,
  recordId: null,
  amount: null,
  currency: null,
  vaultId: null,
  customerId: null,
  card: null,
  xtlOrderId: null,
}

const BATCH: BatchView = {
  batchId: 'b-7' as BatchId,
  source: 'file',
  accountId: 1 as AccountId,
  merchant: 'default',
  fileName: 'refunds.csv',
  fileSha256: null,
  runKey: null,
  fingerprint: '',
  sandbox: false,
  createdAtMs: AT_MS,
  createdBy: 'clerk@till',
  purgedAtMs: null,
  needsFile: false,
  hold: 'none',
  holdReason: null,
  approval: null,
  environment: null,
  limitReached: null,
  accountStopped: null,
  accountHeld: null,
  accountWaitsUntilMs: null,
  gatewayHealth: null,
  duplicateMoneyWarnings: 0,
  rows: 0,
  counts: {},
  totals: [],
  moneyWarnings: 0,
  duplicateOf: {},
  duplicatesChanged: 0,
  ...{
    doneLongAgo: null,
    numberBefore: null,
    clockHold: null,
    badRows: 0,
    expired: 0,
    shortRefunds: 0,
    moneyUnseen: 0,
  },
  openOriginals: [],
  leftOut: [],
  nextDueAtMs: null,
  nextExecuteAtMs: null,
  blocked: 0,
  blockedDue: 0,
  lateAnswers: 0,
  resultsPath: null,
  resultsStale: false,
}
