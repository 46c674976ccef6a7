// Which rows a batch sends first, before a person has looked. Pure.

export interface Canary {
  readonly rows: number
  /** Rows with a later `execute_at` are none of it. */
  readonly executeAtMs: number
  /** The last row of it. */
  readonly rowNo: number
}

/** The first rows of a batch, up to as many as are asked for. `rowNo`: the last of them. */
export interface FirstRows {
  readonly rows: number
  readonly rowNo: number
}

export interface SendableRows {
  readonly count: number
  /** Of those that could be sent when the batch is recorded. */
  readonly dueFirst: FirstRows
  /** Of all. */
  readonly first: FirstRows
}

/** Later than any row. */
export const WHENEVER_DUE = Number.MAX_SAFE_INTEGER

/** The first rows that could be sent now; where all are due later, the first of those. null: that is the whole batch. */
export function chooseCanary(canaryRows: number, nowMs: number, sendable: SendableRows): Canary | null {
  if (sendable.count <= canaryRows) return null
  const { dueFirst, first } = sendable
  if (dueFirst.rows > 0) return { ...dueFirst, executeAtMs: nowMs }
  return first.rows > 0 ? { ...first, executeAtMs: WHENEVER_DUE } : null
}

/** Whether the canary that is asked for is the one that the batch was recorded with, whether or not it is over. */
export function isSameCanary(
  asked: Canary | null,
  recorded: { readonly rowNo: number | null; readonly executeAtMs: number | null },
): boolean {
  return (asked?.rowNo ?? null) === recorded.rowNo && (asked?.executeAtMs ?? null) === recorded.executeAtMs
}
