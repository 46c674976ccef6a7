// Takes a batch of another service in: by the way of a file, so that what holds for a file holds for it.

import type { Actor } from '../domain/actor.ts'
import { isoOf } from '../domain/batch-status.ts'
import type { Lookalike } from '../domain/draft.ts'
import { assert, Fault } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import { MESSAGE_FIELDS } from '../domain/instruction.ts'
import {
  type Addressees,
  type MessageResult,
  type ParsedBatch,
  type ReceivedMessage,
  type RefusedMessage,
  type TakenBatch,
  toLooksLike,
} from '../domain/message.ts'
import { otherSpellingText } from '../domain/run-key.ts'
import { statusWord } from '../domain/states.ts'
import type { InstructionFile, Refusal, Reviewed, SubmitRequest } from '../domain/submission.ts'
import { visible } from '../domain/visible.ts'
import type { IntakeLedger, RefusedPayload } from '../ports/ledger/intake.ts'
import { reviewFile } from './submit-file.ts'
import type { MessageAccount } from './take-message.ts'

export interface BatchParts {
  readonly parse: (payload: unknown, addressees: Addressees) => ParsedBatch
  /** Of this process: a draft stays on its connection. */
  readonly ledger: Pick<
    IntakeLedger,
    'namedBatch' | 'askForOutcomes' | 'knownSpelling' | 'openDraft' | 'refusedBefore' | 'recordRefusal'
  >
  /** Of the worker. The batch is nobody's: it was handed in by messages. */
  readonly actor: Actor
  readonly turns: Turns
}

/** One batch after another: they share a connection and the lock of submits. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>

/** More do not wait here: they would hold up the messages behind them. */
const WAITING_MOST = 4
/** Another submit may take minutes. */
const SUBMIT_WAIT_MS = 2_000

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return async (work) => {
    if (waiting >= WAITING_MOST)
      throw new Fault('stopped', 'Other batches are being taken: this one stays in the queue.')
    waiting += 1
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn.finally(() => {
      waiting -= 1
    })
  }
}

type Batch = Exclude<ParsedBatch, { kind: 'refused' }>

export interface ReceivedBatch extends Pick<ReceivedMessage, 'queuedAtMs'> {
  readonly ifRefused: RefusedPayload
  readonly nowMs: number
}

/** Faults where it could not be recorded just now. */
export async function takeBatch(
  batch: Batch,
  { accountId, lookalikeDays, captureTolerance, dailyLimits, xtlOrderIdOf, sandbox = false }: MessageAccount,
  { ifRefused, queuedAtMs, nowMs }: ReceivedBatch,
  { ledger, actor, turns }: BatchParts,
): Promise<MessageResult> {
  const lookBefore = () => answeredBefore(batch, { accountId, nowMs }, ifRefused, ledger)
  const known = await lookBefore()
  if (known !== null) return known
  const request: SubmitRequest = {
    ...{ accountId, runKey: batch.runKey, fingerprint: '', sandbox, retry: [], lookalikeDays, captureTolerance },
    ...{ allowLookalikes: batch.allowLookalikes, skipInvalid: false, expectCount: null, expectTotals: [] },
    ...{ allowExecuteAt: batch.allowExecuteAt, allowAboveLimit: batch.allowAboveLimit, dailyLimits },
    ...{ canaryRows: null, maxDeclinedPercent: null, nowMs },
  }
  const file = fileOf(batch, queuedAtMs, xtlOrderIdOf)
  return turns(() => record(file, request, { ledger, actor, rows: batch.rows.length, ifRefused, lookBefore }))
}

interface RecordParts extends Pick<BatchParts, 'ledger' | 'actor'> {
  readonly rows: number
  readonly ifRefused: RefusedPayload
  /** What it was answered, or another one of its name; null: nothing. */
  readonly lookBefore: () => ReturnType<typeof answeredBefore>
}

async function record(
  file: InstructionFile,
  request: SubmitRequest,
  { ledger, actor, rows, ifRefused, lookBefore }: RecordParts,
): Promise<MessageResult> {
  const waiting = { signal: AbortSignal.timeout(SUBMIT_WAIT_MS) }
  const reviewed = await reviewFile(file, request, ledger, false, waiting)
  try {
    // Only now no other submit is under way: one of the same name may have ended in the meantime, or this very one elsewhere.
    const answeredMeanwhile = await lookBefore()
    if (answeredMeanwhile !== null) return answeredMeanwhile
    if (reviewed.refusals.length > 0) {
      const reasons = reasonsOf(reviewed)
      // As long as no other worker that has this batch in hand can record it.
      const told = await ledger.recordRefusal({ ...ifRefused, reasons: reasons.map(visible), nowMs: request.nowMs })
      const questions = reviewed.refusals.flatMap((refusal) => questionsBy(refusal, reviewed.first.lookalikes))
      return { kind: 'refused', ...told, withheld: null, ...(questions.length > 0 && { questions }) }
    }
    const batchId = await reviewed.draft.record(actor)
    return { kind: 'recorded', batchId, rows }
  } finally {
    await reviewed.draft.discard()
  }
}

type Answered = TakenBatch | RefusedMessage

/** What was refused under its source stays refused; null: it was not answered before. */
async function answeredBefore(
  batch: Batch,
  asked: Asked,
  { sourceId }: RefusedPayload,
  ledger: BatchParts['ledger'],
): Promise<Answered | null> {
  const reasons = await ledger.refusedBefore(sourceId)
  if (reasons !== null) return { kind: 'refused', reasons, withheld: null }
  return knownUnder(batch, asked, ledger)
}

interface Asked extends Pick<MessageAccount, 'accountId'> {
  readonly nowMs: number
}

/** One name is one batch, and one spelling is one run key. */
async function knownUnder(
  { name, sha256, runKey, replyTo }: Batch,
  { accountId, nowMs }: Asked,
  ledger: BatchParts['ledger'],
): Promise<Answered | null> {
  const known = await ledger.namedBatch(accountId, name)
  if (known === null) {
    const spelling = runKey === null ? null : await ledger.knownSpelling(accountId, runKey, nowMs)
    return spelling === null ? null : { kind: 'refused', reasons: [otherSpellingText(spelling)], withheld: null }
  }
  const { batchId, rows, contentSha256, recordedAtMs } = known
  if (contentSha256 === sha256) {
    if (replyTo !== null) await ledger.askForOutcomes(batchId, replyTo)
    return { kind: 'repeated', batchId, rows, recordedAtMs }
  }
  const holds = contentSha256 === null ? 'takes messages one by one' : 'was handed in with other content'
  const reason = `batch: "${name}" is batch ${batchId}, which ${holds}. Nothing of this one was recorded: give it a name of its own`
  return { kind: 'refused', reasons: [reason], withheld: null }
}

function fileOf(
  { name, sha256, rows, replyTo }: Batch,
  queuedAtMs: number | undefined,
  xtlOrderIdOf: MessageAccount['xtlOrderIdOf'],
): InstructionFile {
  return {
    ...{ name, sha256, xtlOrderIdOf, columns: MESSAGE_FIELDS, fedBack: false, queued: { name, queuedAtMs, replyTo } },
    async *rows() {
      yield rows
    },
  }
}

function reasonsOf({ first, refusals }: Reviewed): string[] {
  const faults = first.faults.map(({ rowNo, column, problem, remedy }) =>
    [`instructions.${rowNo - 1}`, ...(column === null ? [] : [`.${column}`]), `: ${problem}; ${remedy}`].join(''),
  )
  return [...faults, ...refusals.flatMap((refusal) => reasonsBy(refusal, first.lookalikes))]
}

function reasonsBy(refusal: Refusal, lookalikes: readonly Lookalike[]): string[] {
  switch (refusal.kind) {
    case 'bad-rows':
    case 'unidentified':
      return []
    case 'correction': {
      const { rows, batches } = refusal.correction
      const where = batches.map(({ batchId }) => batchId).join(', ')
      return [
        `${rows} of the instructions are recorded already under other references (batch ${where}): hand in what is new`,
      ]
    }
    case 'lookalikes':
      return [
        ...lookalikes.map(lookalikeText),
        refusal.found === 1
          ? '1 instruction looks like another; if it is meant as well, set allow_lookalikes to 1'
          : `${refusal.found} instructions look like others; if they are meant as well, set allow_lookalikes to ${refusal.found}`,
      ]
    case 'execute-at':
      return [
        `instructions.${refusal.line - 1}.execute_at: ${isoOf(refusal.executeAtMs)} is more than a day ago or more than 400 days ahead`,
        refusal.found === 1
          ? '1 instruction has such an execute_at; if it is meant, set allow_execute_at to 1'
          : `${refusal.found} instructions have such an execute_at; if they are meant, set allow_execute_at to ${refusal.found}`,
      ]
    case 'above-limit':
      return [
        ...refusal.above.map(
          ({ rows, firstLine }) =>
            `instructions.${firstLine - 1}.amount: is above the limit of a day, and so are those of ${rows} instructions in all`,
        ),
        refusal.found === 1
          ? '1 instruction is above the limit of a day; if it is meant, set allow_above_limit to 1'
          : `${refusal.found} instructions are above the limit of a day; if they are meant, set allow_above_limit to ${refusal.found}`,
      ]
    case 'count':
    case 'total':
    case 'total-unknown':
    case 'currency':
      assert(false, 'a batch declares no totals')
  }
}

/** `instruction` counts from 0, as in the reasons. `looks_like` is absent where the other one is in the same batch. */
function questionsBy(refusal: Refusal, lookalikes: readonly Lookalike[]): object[] {
  switch (refusal.kind) {
    case 'lookalikes':
      return lookalikes.map(({ rowNo, question, like }) => ({
        ...{ code: question?.code ?? 'lookalike', instruction: rowNo - 1 },
        ...(like.batchId !== null &&
          like.state !== null && {
            looks_like: toLooksLike({ ...like, batchId: like.batchId as BatchId, state: like.state }),
          }),
      }))
    case 'execute-at':
      return [{ code: 'execute_at', instructions: refusal.found }]
    case 'above-limit':
      return [{ code: 'above_limit', instructions: refusal.found }]
    default:
      return []
  }
}

function lookalikeText({ rowNo, reference, like }: Lookalike): string {
  const where = like.batchId === null ? 'of this batch' : `of batch ${like.batchId}, ${statusWord(like.state ?? '')}`
  return `instructions.${rowNo - 1}: ${reference} looks like ${like.reference} (row ${like.rowNo} ${where})`
}
