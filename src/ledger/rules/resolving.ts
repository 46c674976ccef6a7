// Which row in doubt a person means, whether their finding can judge it now, and what it makes of the row. Pure.

import { type Actor, actorText } from '../../domain/actor.ts'
import type { Hold } from '../../domain/batch.ts'
import { isoOf } from '../../domain/batch-status.ts'
import type { Resolution, Resolved } from '../../domain/doubt.ts'
import type { BatchId } from '../../domain/ids.ts'
import { stateOfFinding, waitsForRest } from '../../domain/resolution.ts'
import { type Cause, isFound, resultStatusOf, type State } from '../../domain/states.ts'
import { type Text, words } from '../../domain/words.ts'
import { isSameTransaction } from './settling.ts'

/** A row under the reference that a person named. */
export interface RowToResolve {
  readonly batchId: BatchId
  readonly rowNo: number
  readonly merchant: string
  readonly state: State
  readonly attempt: number
  /** null: it was never claimed here. */
  readonly claimedAtMs: number | null
  /** When an older state was put back last; null: never. */
  readonly restoredAtMs: number | null
  /** When its request may have left at the latest. */
  readonly leftByMs: number
  /** How long it rests, as the worker that sent it said. */
  readonly restMs: number
  /** Of its batch. */
  readonly hold: Hold
  readonly transactionId: string | null
  readonly executeAtMs: number | null
  /** null: it does not expire. */
  readonly expiresAtMs: number | null
  /** The order that it names; null: none. */
  readonly orderId: string | null
  /** Why it moved last; null: it never did. */
  readonly lastCause: Cause | null
  /** An answer said that it was executed, beside what its state tells: 0 or 1. */
  readonly moneyWarning: number
  /** A person judged a doubt of it: 0 or 1. */
  readonly wasJudged: number
  /** Why the row moved last that it is to run again, beyond retries that were cancelled unsent; null: it runs none again. */
  readonly lastCauseBefore: Cause | null
}

/** The row that a transaction has settled. */
export interface SettledRow {
  readonly reference: string
  readonly batchId: string
  readonly rowNo: number
}

export type Refusal = Extract<Resolved, { kind: 'refused' }>
export type ResolvingStep = ResolvingMove | Extract<Resolved, { kind: 'already' | 'refused' }>

/** The row moves, and holds these values from then on. */
export interface ResolvingMove {
  readonly kind: 'move'
  readonly to: ReturnType<typeof stateOfFinding>
  /** null: it waits to be sent again, and has none. */
  readonly reason: string | null
  readonly completedAtMs: number | null
  readonly dueAtMs: number
}

/** The one row that the person means; or why there is none. One in doubt goes before those that are settled. */
export function rowMeant<Row extends Pick<RowToResolve, 'state' | 'merchant'>>(
  rows: readonly Row[],
  { reference, merchant }: Pick<Resolution, 'reference' | 'merchant'>,
): Row | Refusal {
  const doubts = rows.filter(({ state }) => state === 'IN_DOUBT')
  const candidates = doubts.length > 0 ? doubts : rows
  const [row, other] = candidates
  if (row === undefined) {
    const at = merchant === null ? '' : ` of merchant ${merchant}`
    return refused('unknown', words`There is no instruction "${reference}"${at} in this ledger. See: ${THE_LIST}`)
  }
  if (other === undefined) return row
  const names = candidates.map((one) => one.merchant).join(', ')
  return refused(
    'ambiguous',
    words`"${reference}" is an instruction of several merchants (${names}): name one with ${{ set: 'merchant', to: null }}`,
  )
}

/**
 * Of a row and those that it was to run again in turn, the latest first: the one that a finding is about. Retries that were cancelled
 * before any request of theirs left change nothing about what a person had found.
 */
export function rowFound<Row extends Pick<RowToResolve, 'state' | 'wasJudged' | 'lastCause'>>(
  rows: readonly [Row, ...Row[]],
): Row {
  const sent = rows.find(({ state, wasJudged }) => state !== 'CANCELLED' || wasJudged === 1)
  return sent !== undefined && mayBeCorrected(sent) ? sent : rows[0]
}

/** `taken`: the other row that the transaction found has settled; null: none. */
export function resolvingStep(
  row: RowToResolve,
  resolution: Resolution,
  { taken, actor, nowMs }: { readonly taken: SettledRow | null; readonly actor: Actor; readonly nowMs: number },
): ResolvingStep {
  const another = notTheOneShown(row, resolution)
  if (another !== null) return another
  if (row.state === 'IN_DOUBT' && resolution.corrects === true) return nothingToCorrect(row, resolution)
  if (row.state !== 'IN_DOUBT') {
    const settled = settledAlready(row, resolution) ?? whyNotCorrected(row, resolution)
    if (settled !== null) return settled
  }
  return (
    notByKey(resolution, actor) ??
    whyNot(row, resolution, nowMs) ??
    whyNoTransaction(row, resolution) ??
    whyTaken(taken, resolution) ??
    moveOf(row, resolution, actor, nowMs)
  )
}

function moveOf(row: RowToResolve, { finding, reason }: Resolution, actor: Actor, nowMs: number): ResolvingMove {
  const to = stateOfFinding(finding)
  const waitsAgain = to === 'READY'
  return {
    kind: 'move',
    to,
    reason: waitsAgain ? null : `${finding} by ${actorText(actor)}: ${reason}`,
    completedAtMs: waitsAgain ? null : nowMs,
    dueAtMs: Math.max(nowMs, row.executeAtMs ?? 0),
  }
}

/** What may have been executed is sent once more by no machine, whoever gave it a key. */
function notByKey({ finding }: Resolution, { kind }: Actor): Refusal | null {
  if ((kind !== 'key' && kind !== 'provider') || finding !== 'send-again') return null
  return refused('a-key', 'A key cannot order this. Only a person has a request sent again that may have been executed')
}

/** A spreadsheet makes 12 of the reference 0012, and that may be the reference of another row in doubt. */
function notTheOneShown(row: RowToResolve, resolution: Resolution): Refusal | null {
  const { row: shown } = resolution
  if (shown === null || (shown.batchId === row.batchId && shown.rowNo === row.rowNo)) return null
  return refused(
    'other-row',
    words`${nameOf(row, resolution)} is not row ${shown.rowNo} of batch ${shown.batchId}, which was looked up: a spreadsheet may have changed the reference. Name that one as ${THE_LIST} shows it`,
  )
}

/** It stands where the finding would move it, or the finding comes too late; null: it is to be corrected. */
function settledAlready(row: RowToResolve, resolution: Resolution): Exclude<ResolvingStep, ResolvingMove> | null {
  const { transactionId } = resolution
  const agrees = transactionId === null || isSameTransaction(row.transactionId, transactionId)
  if (row.state === stateOfFinding(resolution.finding) && agrees) {
    return { kind: 'already', batchId: row.batchId, rowNo: row.rowNo, state: row.state }
  }
  if (resolution.corrects === true) return null
  if (waitsToRunAgain(row)) return refused('not-in-doubt', runsAgainFirst(row, resolution))
  const history = words`See: ${{ act: 'show-history', reference: resolution.reference }}`
  const how = mayBeCorrected(row)
    ? words`, as a person found. If that was wrong, record what is right with ${{ set: 'correct', to: null }}. ${history}`
    : words`. ${history}`
  return refused(
    'not-in-doubt',
    words`${nameOf(row, resolution)} is not in doubt: it is ${resultStatusOf(row.state)}${how}`,
  )
}

/** As a retry of what a person found, of which no request may have left: cancelled, it gives the finding back. */
function waitsToRunAgain({ state, lastCauseBefore, wasJudged }: RowToResolve): boolean {
  return state === 'READY' && lastCauseBefore === 'resolve' && wasJudged === 0
}

function runsAgainFirst(row: RowToResolve, resolution: Resolution): Text {
  const cancel = { act: 'cancel-batch', batchId: row.batchId } as const
  return words`${nameOf(row, resolution)} is PENDING: the finding was believed, and it was submitted again. Cancel batch ${row.batchId} first, so that it is not sent (${cancel}); then record what is right with ${{ set: 'correct', to: null }}`
}

/** What the gateway answered is no finding of a person, and stays. */
function mayBeCorrected({ state, lastCause }: Pick<RowToResolve, 'state' | 'lastCause'>): boolean {
  return lastCause === 'resolve' && isFound(state)
}

/** What was meant may be the finding of an earlier request, and this doubt is about another one. */
function nothingToCorrect(row: RowToResolve, resolution: Resolution): Refusal {
  return refused(
    'not-found-before',
    words`${nameOf(row, resolution)} is in doubt, so there is no finding of it to correct. Look it up for attempt ${row.attempt}, and record what you find without ${{ set: 'correct', to: null }}`,
  )
}

function whyNotCorrected(row: RowToResolve, resolution: Resolution): Refusal | null {
  const { reference, finding } = resolution
  const name = nameOf(row, resolution)
  if (waitsToRunAgain(row)) return refused('not-found-before', runsAgainFirst(row, resolution))
  if (!mayBeCorrected(row)) {
    const isAnswer = row.lastCause === 'answer' || row.lastCause === 'late-answer'
    const why = isAnswer
      ? 'as the gateway answered itself: an answer is no finding to correct'
      : 'and no person found that: there is no finding to correct'
    return refused(
      'not-found-before',
      words`${name} is ${resultStatusOf(row.state)}, ${why}. See: ${{ act: 'show-history', reference }}`,
    )
  }
  if (finding === 'send-again') {
    return refused(
      'not-found-before',
      words`${name} is ${resultStatusOf(row.state)}: a correction sends nothing. Record it as not-executed; ${{ set: 'retry', to: null }} can send it in another batch`,
    )
  }
  if (row.moneyWarning === 1 && finding !== 'approved') {
    return refused(
      'not-found-before',
      words`${name} was answered as approved after a person had ended it: it cannot be called ${finding}. See: ${{ act: 'show-history', reference }}`,
    )
  }
  return null
}

function whyNot(row: RowToResolve, resolution: Resolution, nowMs: number): Refusal | null {
  const { attempt, finding, restMs } = resolution
  const name = nameOf(row, resolution)
  if (attempt !== null && attempt !== row.attempt) {
    return refused(
      'other-attempt',
      words`${name} is in doubt about attempt ${row.attempt}, not about ${attempt}: look it up again (${THE_LIST})`,
    )
  }
  if (attempt === null && row.attempt > 1 && finding !== 'approved') {
    return refused(
      'other-attempt',
      words`${name} is in doubt about attempt ${row.attempt}, and what was found may be of an earlier one: look it up again, for the time that ${THE_LIST} shows, and add ${{ set: 'attempt', to: String(row.attempt) }}`,
    )
  }
  if (finding === 'send-again' && row.hold === 'cancelled') {
    return refused(
      'cancelled',
      words`Batch ${row.batchId} of ${name} was cancelled, so it is not sent again. Resolve it as not-executed; ${{ set: 'retry', to: null }} can send it in another batch`,
    )
  }
  if (finding === 'send-again' && row.expiresAtMs !== null && row.expiresAtMs <= nowMs) {
    return refused(
      'expired',
      words`${name} expired at ${isoOf(row.expiresAtMs)}, so it would not be sent again. Resolve it as not-executed; then hand it in under a new reference, with a later expires_at`,
    )
  }
  const restEndsMs = row.leftByMs + Math.max(restMs, row.restMs)
  if (waitsForRest(finding, mayHaveLeftBefore(row)) && nowMs < restEndsMs) {
    return refused(
      'too-early',
      `The request of ${name} left at ${isoOf(row.leftByMs)} at the latest and may still be executed: it can be called ${finding} from ${isoOf(restEndsMs)} on. Look again then`,
    )
  }
  return null
}

/** Whether there may have been a request before the one in doubt: here, or in what was lost when an older state was put back. */
function mayHaveLeftBefore({ attempt, claimedAtMs, restoredAtMs }: RowToResolve): boolean {
  return attempt > 1 || (restoredAtMs !== null && restoredAtMs >= (claimedAtMs ?? 0))
}

/** The gateway names both beside each other, and whoever looks the row up has its order id at hand. */
function whyNoTransaction(row: RowToResolve, resolution: Resolution): Refusal | null {
  const { transactionId } = resolution
  if (transactionId === null || !isSameTransaction(row.orderId, transactionId)) return null
  return refused(
    'order-id',
    words`${transactionId} is the id of the order that ${nameOf(row, resolution)} names, not of a transaction. Name the transaction that you found, or leave it out`,
  )
}

/** One transaction is one execution, so it settles one row only. */
function whyTaken(taken: SettledRow | null, { transactionId }: Resolution): Refusal | null {
  if (taken === null) return null
  return refused(
    'transaction-taken',
    `Transaction ${transactionId} settled ${taken.reference} already (row ${taken.rowNo} of batch ${taken.batchId}). One transaction is one execution: look for the one of this row`,
  )
}

/** For an engine that finds the row moved when it writes. */
export function movedMeanwhile(row: RowToResolve, resolution: Resolution): Refusal {
  return refused('not-in-doubt', `${nameOf(row, resolution)} has just moved on`)
}

/** Of several findings together: a row moves once. */
export function judgedBefore(row: RowToResolve, resolution: Resolution): Refusal {
  return refused('not-in-doubt', `${nameOf(row, resolution)} has a finding before this one: keep one of them`)
}

const THE_LIST = { act: 'list-doubts', toFile: false } as const

export function refused(why: Refusal['why'], reason: Text): Refusal {
  return { kind: 'refused', why, reason }
}

function nameOf(row: RowToResolve, { reference }: Resolution): string {
  return `${reference} (row ${row.rowNo} of batch ${row.batchId})`
}
