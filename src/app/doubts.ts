// What a person found of a row in doubt, as every door hands it to the ledger; and from when on it may be called not executed.

import type { App } from '../app.ts'
import type { DoubtRow, Resolution } from '../domain/doubt.ts'
import type { Problem } from '../domain/problem.ts'
import { type Finding, transactionIdProblem } from '../domain/resolution.ts'

export function restUntilMsOf({ leftByMs, restMs }: DoubtRow, { config }: Pick<App, 'config'>): number {
  return leftByMs + Math.max(restMs, config.doubtRestMs)
}

export interface Found {
  readonly finding: Finding
  /** That was looked up. */
  readonly attempt: number
  /** null: none was given. */
  readonly transactionId: string | null
  readonly reason: string
}

/** Of that row and no other, whoever has its reference by now. A problem: the transaction id is none. */
export function resolutionOf(
  { merchant, batchId, rowNo, instruction }: DoubtRow,
  found: Found,
  { config }: Pick<App, 'config'>,
): Resolution | Problem {
  const { transactionId, finding } = found
  const problem = transactionId === null ? null : transactionIdProblem(transactionId, finding)
  if (problem !== null) return problem
  const { reference } = instruction
  return { ...found, reference, merchant, row: { batchId, rowNo }, restMs: config.doubtRestMs }
}
