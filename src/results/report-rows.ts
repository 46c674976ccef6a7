// The rows that a report lists: counted all, kept few.

import type { ReconciliationRow } from '../domain/reconciliation.ts'
import { REPORT_ROWS_MOST, type ReportRow, type ReportRows } from '../domain/report.ts'
import { oneLine } from './cells.ts'

export interface ReportCollector {
  add(row: ReconciliationRow): void
  found(): { readonly doubts: ReportRows; readonly warned: ReportRows }
}

export function createReportCollector(): ReportCollector {
  const doubts = createList()
  const warned = createList()
  return {
    add(row) {
      if (row.state === 'IN_DOUBT') doubts.add(row, row.reason)
      if (row.state === 'APPROVED' && row.warning !== null) warned.add(row, row.warning)
    },
    found: () => ({ doubts: doubts.found(), warned: warned.found() }),
  }
}

function createList() {
  const rows: ReportRow[] = []
  let count = 0
  return {
    add(row: ReconciliationRow, text: string | null): void {
      count += 1
      if (rows.length < REPORT_ROWS_MOST) rows.push(toReportRow(row, text))
    },
    found: (): ReportRows => ({ rows, count }),
  }
}

/** Texts from outside as in results: on one line, card data masked. */
function toReportRow(row: ReconciliationRow, text: string | null): ReportRow {
  const { rowNo, line, operation, amountMinor, currency, sentAtMs, facts } = row
  return {
    ...{ rowNo, line, operation, amountMinor, currency, sentAtMs },
    reference: row.reference === null ? null : oneLine(row.reference),
    answered: oneLine([facts.amount ?? '', facts.currency ?? ''].join(' ')),
    text: oneLine(text),
  }
}
