// A message on its way into the record: known already, refused, or a row of the batch that it names or of its day or hour.

import type { AskedSum } from '../../../domain/approval.ts'
import { aboveLimit } from '../../../domain/daily-limit.ts'
import type { AccountId, BatchId } from '../../../domain/ids.ts'
import { MESSAGE_FIELDS, type Operation } from '../../../domain/instruction.ts'
import type { Duplicates, EarlierRow, IntakeAnswer } from '../../../domain/message.ts'
import type { Currency } from '../../../domain/money.ts'
import { otherSpellingText } from '../../../domain/run-key.ts'
import { visible } from '../../../domain/visible.ts'
import type { IntakeMessage, NamedBatch } from '../../../ports/ledger/intake.ts'
import { hourBefore, noteArrival } from '../../rules/arrivals.ts'
import {
  answerForKnown,
  type BatchUnderName,
  beyondCounting,
  closedText,
  namedSource,
  questionText,
  type RecordedRow,
  sourceOf,
  unaskedText,
} from '../../rules/arriving.ts'
import { aboveLimitText } from '../../rules/daily-limit.ts'
import { judgeDates } from '../../rules/dates.ts'
import { isOfOtherAccount, type TargetVerdict } from '../../rules/judge-target.ts'
import { type Likeness, type LikeRow, likenessText, lookalikeRefusal } from '../../rules/lookalikes.ts'
import { type OrderQuestion, type OrderVerdict, placeText } from '../../rules/order-book.ts'
import { BY_MESSAGES, type Needed, neededFor, noteWaiting } from '../approving/needed.ts'
import { kindsBeside } from '../approving/waiting.ts'
import {
  cellsText,
  INSTRUCTION_COLUMNS,
  INSTRUCTION_PARAMETERS,
  type InstructionColumns,
  toColumns,
} from '../instruction-columns.ts'
import { noteAccepted } from '../record/accepted.ts'
import type { Book } from '../record/book.ts'
import { digestOf, keepDigest } from '../record/recorded.ts'
import { namedBy } from '../review/given-references.ts'
import { type Arriving, likeRowOf } from '../review/lookalikes.ts'
import { orderVerdictOn } from '../review/order-book.ts'
import { targetVerdictOn } from '../review/targets.ts'
import { xtlTaken } from '../review/xtl-order-ids.ts'
import { all, change, one, type Script } from '../script.ts'
import { doubtRecorded, whyMaybeExecuted } from './queued-before.ts'
import { recordRefusal, refusedBefore } from './refusals.ts'
import { keepReplyTo } from './reply-to.ts'
import { keepSpelling, knownSpelling } from './run-keys.ts'

export type NewBatchId = (nowMs: number) => BatchId

const SUM = `
    SELECT coalesce(sum(CAST(amount_minor AS DOUBLE PRECISION)), 0) AS sum FROM tally WHERE batch_id = :batchId`

const ARRIVALS = 'SELECT arrivals FROM batch WHERE id = :batchId'
const NEXT_ROW = `
    UPDATE batch SET rows = rows + 1, lookalikes_allowed = lookalikes_allowed + CAST(:allowed AS BIGINT), arrivals = :arrivals,
      capture_tolerance = @greatest(capture_tolerance, CAST(:captureTolerance AS BIGINT)),
      arrived_hour = @greatest(coalesce(arrived_hour, 0), CAST(:hour AS BIGINT))
    WHERE id = :batchId RETURNING rows`

const INSERT = `
    INSERT INTO instruction (batch_id, account_id, row_no, line, cells, state, holds_reference, run_key, due_at, arrived_at,
      accepted_limit, ${INSTRUCTION_COLUMNS})
    VALUES (:batchId, :accountId, :rowNo, :rowNo, :cells, 'READY', 1, :runKey, :dueAtMs, :arrivedAtMs,
      :acceptedLimit, ${INSTRUCTION_PARAMETERS})`

export function* recordMessage(
  book: Book,
  newBatchId: NewBatchId,
  message: IntakeMessage,
): Script<IntakeAnswer | 'held-by-draft'> {
  const { ifRefused, nowMs } = message
  const before = ifRefused === undefined ? null : yield* refusedBefore(ifRefused.sourceId)
  if (before !== null) return yield* refusedBeside(message, before.join('; '), yield* earlierThan(message))
  const answer = yield* judgeMessage(book, newBatchId, message)
  if (answer === 'held-by-draft' || answer.kind !== 'refused' || ifRefused === undefined) return answer
  // In this transaction: another worker that has the message in hand as well would find it free, and record it.
  const { reason, looksLike } = answer
  const told = yield* recordRefusal({ ...ifRefused, reasons: [visible(reason)], looksLike, nowMs })
  return { kind: 'refused', reason: told.reasons.join('; '), looksLike: told.looksLike }
}

function* judgeMessage(
  book: Book,
  newBatchId: NewBatchId,
  message: IntakeMessage,
): Script<IntakeAnswer | 'held-by-draft'> {
  const { accountId, runKey, nowMs } = message
  const row = toColumns(message.instruction)
  const known = yield* recordedUnder(accountId, row.reference)
  if (known !== undefined) {
    const answer = answerForKnown(known, row.content)
    if (answer === 'held-by-draft') return answer
    if (answer.kind === 'duplicate') yield* keepReplyTo(known.batchId, message.replyTo, known.rowNo)
    return answer.kind === 'refused' ? yield* refusedBeside(message, answer.reason, known) : answer
  }
  const verdict = yield* verdictOnOrder(message, row)
  const target = yield* targetVerdictOn(message, row, message.instruction.beside ?? null)
  const objection = yield* objectionTo(message, row, { order: verdict, target })
  if (objection !== null)
    return yield* refusedBeside(message, objection.reason, objection.at ?? (yield* alike(message, row)))
  const maybeExecuted = yield* whyMaybeExecuted(message)
  const like = yield* likeness(message, row, { order: verdict, target })
  // The lost state may have taken it all the same: a person decides, and is told what it looks like.
  if (like !== null && like.reference !== message.allowLookalikeOf && maybeExecuted === null)
    return yield* refusedBeside(message, lookalikeRefusal(like), like.at)
  const closed = yield* closedUnder(message)
  if (closed === 'held-by-draft') return closed
  if (closed !== null) return { kind: 'refused', reason: closed }
  const batchId = yield* batchFor(message, row, newBatchId)
  const { sum } = (yield* one<{ sum: number }>(SUM, { batchId }))!
  const uncountable = beyondCounting(batchId, sum, row.amount_minor)
  if (uncountable !== null) return { kind: 'refused', reason: uncountable }
  yield* noteAccepted()
  const rowNo = yield* nextRow({
    ...{ batchId, row, nowMs, isAllowedLookalike: like !== null, captureTolerance: message.captureTolerance },
  })
  const cells = cellsText(MESSAGE_FIELDS.map((field) => message.cells[field] ?? ''))
  const dueAtMs = row.execute_at ?? nowMs
  const acceptedLimit = aboveLimit(message.dailyLimits, message.instruction)?.limitMinor ?? null
  yield* change(INSERT, {
    ...row,
    batchId,
    accountId,
    rowNo,
    cells,
    runKey,
    dueAtMs,
    arrivedAtMs: nowMs,
    acceptedLimit,
  })
  yield* bind(batchId, rowNo)
  yield* keepSpelling(message)
  if (message.keyId !== undefined) yield* change(KEEP_KEY, { batchId, keyId: message.keyId })
  yield* keepReplyTo(batchId, message.replyTo, rowNo)
  const { operation, currency, amount_minor } = row
  book.arrived({ batch_id: batchId, operation, currency, amount_minor })
  if (maybeExecuted === null) return { kind: 'accepted', batchId, rowNo, state: 'READY' }
  const reason = [maybeExecuted, ...(like === null ? [] : [like.text])].join('; ')
  yield* doubtRecorded(book, { batchId, firstRow: rowNo, reason, nowMs })
  return { kind: 'accepted', batchId, rowNo, state: 'IN_DOUBT' }
}

const KEEP_KEY = 'INSERT INTO batch_key (batch_id, key_id) VALUES (:batchId, :keyId) ON CONFLICT DO NOTHING'

const RECORDED_AT = `
    SELECT reference, batch_id AS "batchId", row_no AS "rowNo", state FROM instruction
    WHERE batch_id = :batchId AND row_no = :rowNo AND account_id = :accountId`

/** Whoever hands in again what seems to have failed must hear that it may be done, and where. Of another account nothing is told. */
function* refusedBeside(
  { accountId }: IntakeMessage,
  reason: string,
  at: Likeness['at'] | undefined,
): Script<IntakeAnswer> {
  if (at === undefined) return { kind: 'refused', reason }
  const { batchId, rowNo } = at
  return { kind: 'refused', reason, looksLike: yield* one<EarlierRow>(RECORDED_AT, { batchId, rowNo, accountId }) }
}

function* earlierThan(message: IntakeMessage): Script<Likeness['at'] | undefined> {
  const row = toColumns(message.instruction)
  return (yield* recordedUnder(message.accountId, row.reference)) ?? (yield* alike(message, row))
}

/** Whatever it is refused for besides: the latest row of the same operation, amount and target. */
function* alike(message: IntakeMessage, row: InstructionColumns): Script<LikeRow | undefined> {
  return row.lookalike === null ? undefined : yield* likeRowOf(arrivingOf(message, row), row.lookalike)
}

interface Arrived {
  readonly batchId: BatchId
  readonly row: InstructionColumns
  readonly nowMs: number
  /** Who approves the batch is told of it. */
  readonly isAllowedLookalike: boolean
  readonly captureTolerance: number
}

/** The number of the row, which is noted as arrived. */
function* nextRow({ batchId, row, nowMs, isAllowedLookalike, captureTolerance }: Arrived): Script<number> {
  const { arrivals: noted } = (yield* one<{ arrivals: string | null }>(ARRIVALS, { batchId }))!
  const arrivals = noteArrival(noted, { ...askedBy(row), atMs: nowMs })
  const allowed = isAllowedLookalike ? 1 : 0
  return (yield* one<{ rows: number }>(NEXT_ROW, {
    batchId,
    arrivals,
    hour: hourBefore(nowMs),
    allowed,
    captureTolerance,
  }))!.rows
}

/** What the message asks for, as the policy looks at it. */
function askedBy({ operation, currency, amount_minor }: InstructionColumns): AskedSum {
  return {
    operation: operation as Operation,
    currency: (currency ?? '') as Currency,
    amountMinor: BigInt(amount_minor ?? 0),
  }
}

/** A row, or as row 0 the batch itself. */
function* bind(batchId: BatchId, rowNo: number): Script<void> {
  const digest = yield* digestOf(batchId, rowNo, rowNo)
  yield* keepDigest({ batch_id: batchId, first_row: rowNo, last_row: rowNo, digest })
}

/** The row that a reference names, also where it is recorded under another one. */
function* recordedUnder(accountId: AccountId, reference: string): Script<RecordedRow | undefined> {
  const known = yield* holderOf(accountId, reference)
  if (known !== undefined) return known
  return yield* holderOf(accountId, yield* namedBy(accountId, reference))
}

const HOLDER = `
    SELECT i.batch_id AS "batchId", i.row_no AS "rowNo", i.state, i.content, b.stage, coalesce(i.arrived_at, b.created_at) AS "recordedAtMs",
      CASE WHEN i.money_warning = 1 THEN i.warning END AS "moneyWarning"
    FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.account_id = :accountId AND i.reference = :reference AND i.holds_reference = 1`

function* holderOf(accountId: AccountId, reference: string): Script<RecordedRow | undefined> {
  return yield* one<RecordedRow>(HOLDER, { accountId, reference })
}

function* verdictOnOrder(
  { accountId, captureTolerance }: IntakeMessage,
  { operation, order_key: orderKey, amount_minor: amountMinor, currency }: InstructionColumns,
): Script<OrderVerdict> {
  if (orderKey === null) return 'fits'
  const row = { operation: operation as Operation, orderKey, currency }
  const asked = { ...row, amountMinor: amountMinor === null ? null : BigInt(amountMinor) }
  return yield* orderVerdictOn(accountId, asked, { captureTolerance })
}

interface Verdicts {
  readonly order: OrderVerdict
  readonly target: TargetVerdict
}

interface Objection {
  readonly reason: string
  /** The row that it is about. Absent: none alone. */
  readonly at?: Likeness['at']
}

/** What in the record speaks against the message; null: nothing. Its dates are judged by when its producer made it: what only waited in the queue is in time. */
function* objectionTo(
  message: IntakeMessage,
  row: InstructionColumns,
  { order, target }: Verdicts,
): Script<Objection | null> {
  for (const verdict of [order, target])
    if (verdict !== 'fits' && verdict.kind === 'wrong')
      return { reason: `${verdict.code}: ${verdict.problem}; ${verdict.remedy}` }
  const { accept, instruction, queuedAtMs, nowMs } = message
  const dates = judgeDates(instruction, queuedAtMs ?? nowMs, false)
  if (dates !== 'fits' && dates.kind === 'wrong')
    return { reason: `${dates.column}: ${dates.problem}; ${dates.remedy}` }
  const above = aboveLimit(message.dailyLimits, instruction)
  const questions = [
    ...(dates === 'fits' ? [] : [{ code: dates.code, problem: dates.problem }]),
    ...(above === null ? [] : [{ code: 'above_limit', problem: aboveLimitText(above) } as const]),
  ]
  const open = questions.find(({ code }) => !accept.includes(code))
  if (open !== undefined) return { reason: questionText(open.code, open.problem) }
  const codes = questions.map(({ code }) => code)
  const unasked = unaskedText(accept, codes)
  if (unasked !== null) return { reason: unasked }
  const spelling = yield* knownSpelling(message)
  if (spelling !== null) return { reason: otherSpellingText(spelling) }
  return yield* xtlTaken(arrivingOf(message, row), row.xtl_order_id, row.operation)
}

/** Which instruction that is already here the message looks like; null: none. */
function* likeness(
  message: IntakeMessage,
  row: InstructionColumns,
  { order: verdict, target }: Verdicts,
): Script<Likeness | null> {
  if (row.lookalike === null) return null
  // A doubt goes before all else: what it looks like besides may be long ago.
  if (verdict !== 'fits' && verdict.kind === 'asked' && verdict.why === 'beside-doubt')
    return yield* likenessBy(verdict)
  const found = yield* alike(message, row)
  if (found !== undefined) return { reference: found.reference, at: found, text: likenessText(found) }
  if (verdict !== 'fits' && verdict.kind === 'asked') return yield* likenessBy(verdict)
  if (target === 'fits' || target.kind !== 'asked') return null
  const { at, problem, why } = target
  // One that asks about another account is accepted under the message's own reference.
  if (isOfOtherAccount(why)) return { reference: row.reference, at, text: `it ${problem}` }
  return { reference: at.reference, at, text: `it ${problem} (${at.reference}, ${placeText(at)})` }
}

function* likenessBy(verdict: OrderQuestion): Script<Likeness> {
  const { reference } = (yield* one<{ reference: string }>(REFERENCE_AT, { ...verdict.at }))!
  return { reference, at: verdict.at, text: `${verdict.problem}, last by ${reference}` }
}

const REFERENCE_AT = 'SELECT reference FROM instruction WHERE batch_id = :batchId AND row_no = :rowNo'

function arrivingOf(
  { accountId, nowMs, lookalikeDays, runKey }: IntakeMessage,
  { reference }: InstructionColumns,
): Arriving {
  return { accountId, nowMs, lookalikeDays, runKey, reference }
}

const UNDER_NAME = `
    SELECT id, stage, hold, rows, file_sha256 AS sha256, purged_to AS "purgedTo", created_at AS "recordedAtMs" FROM batch
    WHERE account_id = :accountId AND source = 'queue' AND source_day = :source`

function* underName(
  accountId: AccountId,
  name: string,
): Script<(BatchUnderName & { rows: number; recordedAtMs: number }) | undefined> {
  return yield* one(UNDER_NAME, { accountId, source: namedSource(name) })
}

/** A draft of that name is neither there nor not. */
function* closedUnder({ accountId, into }: IntakeMessage): Script<string | 'held-by-draft' | null> {
  const found = typeof into === 'object' ? yield* underName(accountId, into.name) : undefined
  if (found === undefined || typeof into !== 'object') return null
  return found.stage === 'draft' ? 'held-by-draft' : closedText(into.name, found)
}

export function* namedBatch(accountId: AccountId, name: string): Script<NamedBatch | null> {
  const found = yield* underName(accountId, name)
  if (found === undefined || found.stage === 'draft') return null
  const { id: batchId, rows, sha256: contentSha256, recordedAtMs } = found
  return { batchId, rows, contentSha256, recordedAtMs }
}

const DUPLICATES = `
    SELECT count(*) AS rows, min(coalesce(o.arrived_at, b.created_at)) AS "firstAtMs" FROM instruction d
    JOIN instruction o ON o.id = d.duplicate_of JOIN batch b ON b.id = o.batch_id
    WHERE d.batch_id = :batchId AND d.state = 'DUPLICATE'`

export function* duplicatesIn(batchId: BatchId): Script<Duplicates> {
  return (yield* one<Duplicates>(DUPLICATES, { batchId }))!
}

/** The batch of the day, of the hour or of the name; or one beside it. What waits for an approval never holds a message that needs none. */
function* batchFor(message: IntakeMessage, row: InstructionColumns, newBatchId: NewBatchId): Script<BatchId> {
  const { accountId, nowMs, into, sandbox } = message
  const asked = askedBy(row)
  const own = { ...asked, largestMinor: asked.amountMinor }
  const asking = { batchId: '', accountId, submitter: BY_MESSAGES, nowMs }
  const { needed, untilMs } = yield* neededFor({ ...asking, sums: [own] })
  const source = sourceOf(into, nowMs)
  const name = typeof into === 'object' ? into.name : null
  const batch: NewBatch = { accountId, source, name, sandbox: sandbox === true ? 1 : 0, nowMs }
  if (untilMs === null) return yield* freeBatch(batch, newBatchId)
  const waiting = yield* one<{ id: BatchId }>(WAITING_BATCH, { accountId, beside: besideOf(source), nowMs })
  if (waiting !== undefined) {
    // Of all that waits there: a band of one currency and a large row of another add up.
    const sums = [own, ...(yield* kindsBeside(waiting.id))]
    yield* joinWaiting(waiting.id, accountId, yield* neededFor({ ...asking, sums }), nowMs)
    return waiting.id
  }
  const batchId = yield* makeBeside(batch, newBatchId)
  yield* change(WAITS, { batchId, needed, untilMs })
  yield* noteWaiting({ batchId, accountId, needed, nowMs })
  return batchId
}

/** One that needs no approval. A policy that was adopted later may ask for approvals of the batch of the day itself. */
function* freeBatch(batch: NewBatch, newBatchId: NewBatchId): Script<BatchId> {
  const { accountId, source } = batch
  const open = yield* one<{ id: BatchId; needed: number }>(OPEN_BATCH, { accountId, source })
  if (open === undefined) return yield* makeBatch(batch, newBatchId)
  if (open.needed === 0) return open.id
  const beside = yield* one<{ id: BatchId }>(FREE_BESIDE, { accountId, beside: besideOf(source) })
  return beside?.id ?? (yield* makeBeside(batch, newBatchId))
}

const besideOf = (source: string) => `${source}#`

function* makeBeside(batch: NewBatch, newBatchId: NewBatchId): Script<BatchId> {
  const beside = besideOf(batch.source)
  const { n } = (yield* one<{ n: number }>(NEXT_BESIDE, { accountId: batch.accountId, beside }))!
  return yield* makeBatch({ ...batch, source: `${beside}${n}` }, newBatchId)
}

function* joinWaiting(
  batchId: BatchId,
  accountId: AccountId,
  { needed, untilMs }: Needed,
  nowMs: number,
): Script<void> {
  yield* change(WAITS_LONGER, { batchId, untilMs })
  const needs = yield* all(NEEDS_MORE, { batchId, needed })
  if (needs.length > 0) yield* noteWaiting({ batchId, accountId, needed, nowMs })
}

const OPEN_BATCH = `
    SELECT id, approvals_needed AS needed FROM batch
    WHERE account_id = :accountId AND source = 'queue' AND source_day = :source AND hold <> 'cancelled'`
const FREE_BESIDE = `
    SELECT id FROM batch WHERE account_id = :accountId AND source = 'queue' AND substr(source_day, 1, length(:beside)) = :beside
      AND hold <> 'cancelled' AND approvals_needed = 0 LIMIT 1`

/** What somebody has approved already takes no more rows, and neither does what expires, or is paused so that somebody can look at it. */
const WAITING_BATCH = `
    SELECT id FROM batch WHERE account_id = :accountId AND source = 'queue' AND substr(source_day, 1, length(:beside)) = :beside AND hold = 'none'
      AND approvals_needed > 0 AND approvals_given = 0 AND approval_until > :nowMs LIMIT 1`
const NEXT_BESIDE = `
    SELECT count(*) + 1 AS n FROM batch WHERE account_id = :accountId AND source = 'queue' AND substr(source_day, 1, length(:beside)) = :beside`
/** Each message has as much time as one that comes alone. */
const WAITS_LONGER = 'UPDATE batch SET approval_until = :untilMs WHERE id = :batchId AND approval_until < :untilMs'
const NEEDS_MORE = `
    UPDATE batch SET approvals_needed = :needed WHERE id = :batchId AND approvals_needed < :needed RETURNING id`
const WAITS = 'UPDATE batch SET approvals_needed = :needed, approval_until = :untilMs WHERE id = :batchId'

const INSERT_BATCH = `
    INSERT INTO batch (id, account_id, source, source_day, stage, file_name, reading, columns, sandbox, created_at, created_by, rows, submitter)
    VALUES (:batchId, :accountId, 'queue', :source, 'open', :name, '', :columns, :sandbox, :nowMs, '${BY_MESSAGES}', 0, '${BY_MESSAGES}')`

interface NewBatch {
  readonly accountId: AccountId
  readonly source: string
  /** null: a day or an hour. */
  readonly name: string | null
  readonly sandbox: 0 | 1
  readonly nowMs: number
}

function* makeBatch(batch: NewBatch, newBatchId: NewBatchId): Script<BatchId> {
  const batchId = newBatchId(batch.nowMs)
  yield* change(INSERT_BATCH, { ...batch, batchId, columns: JSON.stringify(MESSAGE_FIELDS) })
  yield* bind(batchId, 0)
  return batchId
}
