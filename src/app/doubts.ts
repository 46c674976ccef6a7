// What a person found of a row in doubt, as every door hands it to the ledger; and from when on it may be called not executed.

import type { App } from '../app.ts'
import type { LogEntry, LogPosition } from '../domain/acts.ts'
import { type DoubtRow, type Resolution, standingProposal } from '../domain/doubt.ts'
import type { BatchId } from '../domain/ids.ts'
import type { Problem } from '../domain/problem.ts'
import type { HistoryMove } from '../domain/reconciliation.ts'
import { type Finding, transactionIdProblem } from '../domain/resolution.ts'
import type { ActLedger } from '../ports/ledger/acts.ts'

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

/** The row in doubt that a resolution is of, if it is exactly one. */
export function doubtMeant(
  doubts: readonly DoubtRow[],
  { reference, merchant, row }: Pick<Resolution, 'reference' | 'merchant' | 'row'>,
): DoubtRow | null {
  const [meant, other] = doubts.filter(
    (doubt) =>
      doubt.instruction.reference === reference &&
      (merchant === null || doubt.merchant === merchant) &&
      (row === null || (doubt.batchId === row.batchId && doubt.rowNo === row.rowNo)),
  )
  return other === undefined ? (meant ?? null) : null
}

/** With what the person was shown: whether it only proposes, and which proposal they confirm, so that it does that and nothing else. */
export function asShown(resolution: Resolution, doubt: DoubtRow | null, nowMs: number): Resolution {
  if (resolution.finding !== 'send-again') return resolution
  const shown = doubt === null ? null : standingProposal(doubt, nowMs)
  return { ...resolution, proposedAtMs: shown?.atMs ?? null, onlyProposes: doubt?.twoPeople === true && shown === null }
}

/** Whether this one word would have it sent: it takes no second person, or is the second one's. */
export function wouldSend(doubt: DoubtRow | null, nowMs: number): boolean {
  return doubt === null || !doubt.twoPeople || standingProposal(doubt, nowMs) !== null
}

const WORDS: ReadonlySet<string> = new Set([
  'propose-send-again',
  'refuse-send-again',
  'confirm-send-again',
  'lapse-send-again',
])
const AT_ONCE = 500

/** What was said to sending that row once more, the oldest first, and which proposals lapsed: none of it is a move. `moves`: of that row. */
export async function wordsOnSending(
  ledger: Pick<ActLedger, 'logAfter'>,
  { batchId, rowNo }: { readonly batchId: BatchId; readonly rowNo: number },
  moves: readonly HistoryMove[],
): Promise<readonly LogEntry[]> {
  if (moves.every(({ to }) => to !== 'IN_DOUBT')) return []
  return wordsOf(rowNo, await wordsIn(ledger, batchId))
}

/** The same of many rows in doubt, each batch read once. */
export async function wordsOnDoubts(
  ledger: Pick<ActLedger, 'logAfter'>,
  doubts: readonly DoubtRow[],
): Promise<(doubt: DoubtRow) => readonly LogEntry[]> {
  const words = new Map<BatchId, readonly LogEntry[]>()
  for (const batchId of new Set(doubts.map((doubt) => doubt.batchId)))
    words.set(batchId, await wordsIn(ledger, batchId))
  return ({ batchId, rowNo }) => wordsOf(rowNo, words.get(batchId) ?? [])
}

function wordsOf(rowNo: number, words: readonly LogEntry[]): readonly LogEntry[] {
  return words.filter(({ details }) => details?.row === rowNo)
}

async function wordsIn(ledger: Pick<ActLedger, 'logAfter'>, batchId: BatchId): Promise<readonly LogEntry[]> {
  const found: LogEntry[] = []
  for (let after: LogPosition | null = null; ; ) {
    const part: readonly LogEntry[] = await ledger.logAfter(null, after, AT_ONCE, batchId)
    found.push(...part.filter(({ what }) => WORDS.has(what)))
    if (part.length < AT_ONCE) return found
    after = part.at(-1)?.position ?? null
  }
}
