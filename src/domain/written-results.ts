// Results that were written: where they are, and what they add up to.

import type { Decimal } from './decimal.ts'
import type { Operation } from './instruction.ts'
import type { Currency } from './money.ts'
import type { ReasonCategory } from './reason-categories.ts'
import type { ResultStatus } from './states.ts'

/** Rows of one operation, currency and status whose answers speak of one currency. */
export interface SummaryLine {
  /** Empty for rows that could not be read as an instruction. */
  readonly operation: Operation | ''
  /** Of the amount asked for; empty where there is none. */
  readonly currency: Currency | ''
  readonly status: ResultStatus
  readonly count: number
  readonly requestedAmount: string
  readonly requestedMinor: bigint
  /** Of that, what rows ask that were recorded before with another content. Absent: nothing. */
  readonly changedMinor?: bigint
  /** As the gateway wrote it; empty where it named none, `???` where that is not a currency code. */
  readonly answeredCurrency: string
  /** How many of the rows have an answered amount that could be added up. */
  readonly answeredCount: number
  /** How many have one that cannot be read. Absent: none. */
  readonly unreadCount?: number
  /** The exact sum of those that could be added up, with as many decimals as the gateway wrote. */
  readonly answeredAmount: string
  readonly answered: Decimal
}

/** An approved row for which the gateway names another amount or currency than was asked. */
export interface Difference {
  readonly rowNo: number
  readonly reference: string
  readonly operation: Operation
  /** As written in results. */
  readonly askedAmount: string
  readonly currency: Currency
  readonly answeredAmount: string
  /** Empty where it named none. */
  readonly answeredCurrency: string
}

/** How many rows of one status were refused for one kind of reason. */
export interface ReasonCount {
  readonly status: ResultStatus
  readonly category: ReasonCategory
  readonly count: number
}

export interface WrittenResults {
  readonly path: string
  readonly summaryPath: string
  readonly rows: number
  /** null: none were asked for. */
  readonly exceptions: { readonly path: string; readonly rows: number } | null
  /** The page beside them; absent: none was asked for. */
  readonly report?: string
  /** The moment that they show. */
  readonly atMs: number
  readonly summary: readonly SummaryLine[]
  readonly reasons: readonly ReasonCount[]
  readonly differences: {
    readonly rows: number
    /** Those that stand first in the file. */
    readonly first: readonly Difference[]
  }
  /** Rows that were submitted again after they had ended: what became of their money is in other results. */
  readonly submittedAgain: number
  /** Rows that were left out and ask for something else than the recorded row they point at. */
  readonly changed?: number
  /** The columns of the file, as they stand in the results. */
  readonly carried: readonly string[]
  /** Rows of the batch; an extract has fewer. */
  readonly rowsRead: number
}
