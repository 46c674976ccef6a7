// What the ledger shows of itself in figures: what waits, since when, and what needs a person. Read again and again, so it is cheap.

/** Of one account. Times are epoch milliseconds. */
export interface AccountFigures {
  readonly merchant: string
  readonly pending: number
  readonly sending: number
  readonly inDoubt: number
  /** Of the rows that nothing but a worker holds up, when the first of them fell due; null: there is none. */
  readonly dueSinceMs: number | null
  /** When the request of the oldest doubt left, or was last seen; null: there is none. */
  readonly doubtSinceMs: number | null
  readonly lateAnswers: number
  /** Batches whose results were written before they last changed. */
  readonly staleResults: number
  readonly stopped: boolean
  /** Held for its doubts. */
  readonly held: boolean
  /** The gateway asked for it; null: it did not. */
  readonly waitsUntilMs: number | null
}

/** Rows of one merchant that have come to an outcome, in all. A correction takes a row from one outcome to another. */
export interface OutcomeFigures {
  readonly merchant: string
  readonly approved: number
  readonly declined: number
  readonly failed: number
}

/** Of a batch with a row that is not settled, by what holds it up; `in_doubt`: nothing of it is left but doubts. */
export const OPEN_BATCHES = ['running', 'paused', 'stopped', 'awaiting_approval', 'in_doubt'] as const
export type OpenBatch = (typeof OPEN_BATCHES)[number]

export interface LedgerFigures {
  readonly accounts: readonly AccountFigures[]
  readonly batches: Readonly<Record<OpenBatch, number>>
  /** When the oldest batch came that waits for approvals; null: none does. */
  readonly approvalSinceMs: number | null
}
