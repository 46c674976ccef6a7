// What a report on a batch tells beside the sums: the rows that a person must look at, not all of them.

import type { BatchView } from './batch.ts'
import type { Operation } from './instruction.ts'
import type { Currency } from './money.ts'
import type { WrittenResults } from './written-results.ts'

/** More of them are counted and not listed: the results have them all, and a page must not grow with its batch. */
export const REPORT_ROWS_MOST = 50

export interface ReportRow {
  readonly rowNo: number
  readonly line: number
  readonly reference: string | null
  readonly operation: Operation | null
  readonly amountMinor: bigint | null
  readonly currency: Currency | null
  /** As the gateway wrote it; empty where it named none. */
  readonly answered: string
  /** The reason of a doubt, the warning of an approved row. */
  readonly text: string
  readonly sentAtMs: number | null
}

/** The first of them, in input order, and how many there are. */
export interface ReportRows {
  readonly rows: readonly ReportRow[]
  readonly count: number
}

export interface ReportFacts {
  readonly batch: BatchView
  readonly written: WrittenResults
  readonly doubts: ReportRows
  /** Approved, and the answer says something that the request did not. */
  readonly warned: ReportRows
}

/** Written beside results, from the same reading. */
export interface ReportRequest {
  readonly path: string
  page(facts: ReportFacts): Promise<string>
}

/** What a report says in its head about whose it is. Nothing else is written over. */
export const REPORT_MARK = 'tranche-report'
