// A reviewed draft on its way into the record: copied in short transactions, made visible in one, or deleted without a trace.

import type { Hash } from 'node:crypto'
import { type Actor, identityOf } from '../../../domain/actor.ts'
import { assertNotInterrupted, type DraftHeader } from '../../../domain/draft.ts'
import { Fault } from '../../../domain/fault.ts'
import type { BatchId } from '../../../domain/ids.ts'
import type { Operation } from '../../../domain/instruction.ts'
import type { Currency } from '../../../domain/money.ts'
import { isMonthOver } from '../../../domain/run-key.ts'
import { longAgoMs, type Repeated, repeatsAt } from '../../../domain/submission.ts'
import { namedSource } from '../../rules/arriving.ts'
import type { Canary } from '../../rules/canary.ts'
import { type Asking, askForApproval, BY_MESSAGES } from '../approving/needed.ts'
import { type Engine, FAULTING, WITH_OTHERS } from '../engine.ts'
import { isSubmittedAgain, recordedAt } from '../originals.ts'
import { noteAccepted } from '../record/accepted.ts'
import { actorIdOf, byOf, recordAct } from '../record/acts.ts'
import { addToDigest, beginDigest, keepDigest, type Recorded } from '../record/recorded.ts'
import { IS_LIKE } from '../review/draft-rows.ts'
import { holdsStill, type SeenUpTo } from '../review/since-review.ts'
import { all, allExact, change, count, exists, one, type Script } from '../script.ts'
import { canaryOfDraft } from './canary.ts'
import { doubtRecorded, whyMaybeExecuted } from './queued-before.ts'
import { keepReplyTo, keepReplyToOfFormer } from './reply-to.ts'
import { keepSpelling } from './run-keys.ts'

const ROWS_PER_COPY = 500

/** Columns that a draft row and a recorded row share, in one order. */
const SHARED = `row_no, line, cells, state, reference, made, given, holds_reference, run_key, operation, amount_minor, currency, order_id,
  order_key, vault_id, card, xtl_order_id, save_card, details, execute_at, expires_at, content, lookalike, due_at, attempt, ever_in_doubt,
  completed_at, reason, duplicate_of, supersedes, reattempt_of, accepted_limit`

/** A draft that its submit may still fill: no other has begun to delete it. */
const IS_ALIVE = "stage = 'draft' AND hold = 'none'"

export interface Recording {
  readonly actor: Actor
  readonly batchId: BatchId
  /** By its review. */
  readonly seen: SeenUpTo
  readonly signal: AbortSignal | undefined
  /** See `IntakeParts`. */
  readonly assertGoesOn?: (() => Script<void>) | undefined
}

/** Faults where it was not recorded: nothing of it is left then. */
export async function recordDraft(engine: Engine, header: DraftHeader, recording: Recording): Promise<BatchId> {
  const { actor, batchId, seen, signal, assertGoesOn } = recording
  try {
    const figures = await engine.read(() => figuresOf(header))
    await engine.write(() => insertBatch(header, actor, batchId, figures), FAULTING)
    const digest = await engine.read(() => beginDigest(batchId))
    let lastRow = 0
    for (let left = figures.rows; left > 0; left -= ROWS_PER_COPY) {
      lastRow = await copyRows(engine, header, { batchId, digest, after: lastRow, most: Math.min(left, ROWS_PER_COPY) })
      assertNotInterrupted(signal)
    }
    const recorded = { batch_id: batchId, first_row: 0, last_row: lastRow, digest: digest.digest('hex') }
    const isVisible = await engine.write(function* (book) {
      if (assertGoesOn !== undefined) yield* assertGoesOn()
      if (!(yield* makeVisible(header, { actor, recorded, seen, figures }))) return false
      const { queued, nowMs } = header
      const reason = yield* whyMaybeExecuted({ ...queued, nowMs })
      if (reason !== null) yield* doubtRecorded(book, { batchId, firstRow: 1, reason, nowMs })
      return true
    }, FAULTING)
    if (!isVisible) throw takenFault()
    return batchId
  } catch (error) {
    await deleteDraft(engine, batchId).catch(() => {}) // what is left of it is invisible, and the next submit deletes it
    throw error
  }
}

function takenFault(): Fault {
  return new Fault(
    'refused',
    'After the file was read, a message arrived that repeats a row of it, looks like one, has its xtl_order_id or refunds the same order; or a recorded row on which the file bears was answered, cancelled or resolved. Nothing was recorded and nothing was sent. Try again: it will then be compared.',
  )
}

function overtakenFault(): Fault {
  return new Fault(
    'stopped',
    'This submit was suspended, and another one deleted its draft. Nothing was recorded and nothing was sent. Try again. Something may have removed submit.lock from the data directory: leave it there.',
  )
}

/** What is known of a draft before its first transaction begins, so that others wait for none of this. */
interface Figures {
  readonly rows: number
  readonly canary: Canary | null
  readonly needsFile: boolean
  readonly retried: readonly { readonly rowNo: number; readonly supersedes: number }[]
  readonly sums: readonly Sum[]
  /** See the columns. */
  readonly repeatsAtMs: number | null
  readonly lookalikesAllowed: number
}

interface Sum {
  readonly operation: string
  readonly currency: string
  readonly state: string
  readonly count: bigint
  readonly amount: bigint
  /** Of one row. */
  readonly largest: bigint
}

const HAS_CARD = "SELECT 1 FROM draft_row WHERE card IS NOT NULL AND state = 'READY' LIMIT 1"

const IS_ANY_LIKE = `SELECT 1 FROM draft_row d WHERE (${IS_LIKE}) LIMIT 1`

const RETRIED = 'SELECT row_no AS "rowNo", supersedes FROM draft_row WHERE supersedes IS NOT NULL ORDER BY row_no'

const SUMS = `
    SELECT coalesce(operation, '') AS operation, coalesce(currency, '') AS currency, state, count(*) AS count,
      coalesce(sum(amount_minor), 0) AS amount, coalesce(max(amount_minor), 0) AS largest
    FROM draft_row GROUP BY 1, 2, 3`

function* figuresOf(header: DraftHeader): Script<Figures> {
  return {
    rows: yield* count('SELECT count(*) AS n FROM draft_row'),
    canary: yield* canaryOfDraft(header),
    needsFile: yield* exists(HAS_CARD),
    retried: yield* all(RETRIED),
    sums: yield* allExact(SUMS),
    repeatsAtMs: yield* repeatsIn(header),
    // A number may be said of a file that has none of them.
    lookalikesAllowed: (yield* exists(IS_ANY_LIKE)) ? (header.lookalikesAllowed ?? 0) : 0,
  }
}

const IS_OLD_SALE = "f.at < :since AND f.operation IN ('CAPTURE', 'AUTH')"

const REPEATED = `
    SELECT (SELECT count(*) FROM draft_row WHERE state = 'READY') AS sent, count(*) AS duplicates, max(f.at) AS "lastMs",
      coalesce(sum(CASE WHEN ${IS_OLD_SALE} THEN 1 ELSE 0 END), 0) AS "oldSales", max(CASE WHEN ${IS_OLD_SALE} THEN f.at END) AS "lastOldMs"
    FROM (SELECT ${recordedAt('i')} AS at, i.operation FROM draft_row d JOIN instruction i ON i.id = d.duplicate_of JOIN batch b ON b.id = i.batch_id
      WHERE d.state = 'DUPLICATE') AS f`

function* repeatsIn(header: DraftHeader): Script<number | null> {
  const { fedBack, onlyNew, runKey, nowMs } = header
  if (fedBack) return null
  const since = longAgoMs(header)
  const isGrowing = onlyNew === true && (runKey === null || !isMonthOver(runKey, nowMs))
  return repeatsAt((yield* one<Repeated>(REPEATED, { since }))!, since, isGrowing)
}

const INSERT_BATCH = `
    INSERT INTO batch (id, account_id, source, source_day, stage, file_name, file_sha256, run_key, reading, columns, sandbox, created_at,
      created_by, rows, canary_rows, canary_execute_at, canary_row_no, max_declined, actor_id, fed_back, needs_file, lookalikes_allowed,
      capture_tolerance, expires_after, repeats_at)
    VALUES (:batchId, :accountId, :source, :sourceDay, 'draft', :fileName, :fileSha256, :runKey, :fingerprint, :columns, :sandbox, :nowMs,
      :createdBy, :rows, :canaryRows, :canaryExecuteAtMs, :canaryRowNo, :maxDeclinedPercent, :actorId, :fedBack, :needsFile, :lookalikesAllowed,
      :captureTolerance, :expiresAfterMs, :repeatsAtMs)
    ON CONFLICT DO NOTHING RETURNING id`

function* insertBatch(header: DraftHeader, actor: Actor, batchId: BatchId, figures: Figures): Script<void> {
  const { accountId, fileName, fileSha256, runKey, fingerprint, nowMs, maxDeclinedPercent, queued } = header
  const { rows, canary, needsFile, repeatsAtMs, lookalikesAllowed } = figures
  const inserted = yield* all(INSERT_BATCH, {
    batchId,
    accountId,
    source: queued === undefined ? 'file' : 'queue',
    sourceDay: queued === undefined ? null : namedSource(queued.name),
    fileName,
    fileSha256,
    runKey,
    fingerprint,
    columns: JSON.stringify(header.columns),
    sandbox: header.sandbox ? 1 : 0,
    fedBack: header.fedBack ? 1 : 0,
    nowMs,
    createdBy: queued === undefined ? byOf(actor) : BY_MESSAGES,
    actorId: queued === undefined ? yield* actorIdOf(actor) : null,
    rows,
    canaryRows: canary?.rows ?? null,
    canaryExecuteAtMs: canary?.executeAtMs ?? null,
    canaryRowNo: canary?.rowNo ?? null,
    maxDeclinedPercent,
    needsFile: needsFile ? 1 : 0,
    lookalikesAllowed,
    captureTolerance: header.captureTolerance,
    expiresAfterMs: header.expiresAfterMs ?? null,
    repeatsAtMs,
  })
  if (inserted.length === 0) throw takenFault() // a message took the name
}

/** A message may have taken one of the references after the review: that row is left out, which tells. */
const COPY = `
    INSERT INTO instruction (batch_id, account_id, ${SHARED})
    SELECT :batchId, :accountId, ${SHARED.replace('holds_reference', 'CASE WHEN supersedes IS NULL THEN holds_reference ELSE 0 END')}
    FROM draft_row WHERE row_no > :after AND EXISTS (SELECT 1 FROM batch WHERE id = :batchId AND ${IS_ALIVE})
    ORDER BY row_no LIMIT ${ROWS_PER_COPY}
    ON CONFLICT DO NOTHING RETURNING row_no`

interface Copying {
  readonly batchId: BatchId
  readonly digest: Hash
  /** The last row that is there already; 0: none is. */
  readonly after: number
  readonly most: number
}

/** Resolves to the last row that was copied. */
async function copyRows(
  engine: Engine,
  header: DraftHeader,
  { batchId, digest, after, most }: Copying,
): Promise<number> {
  const { accountId } = header
  const copied = await engine.write(() => all<{ row_no: number }>(COPY, { batchId, accountId, after }), WITH_OTHERS)
  if (copied.length === 0 && !(await engine.read(() => isAlive(batchId)))) throw overtakenFault()
  if (copied.length < most) throw takenFault()
  const lastRow = Math.max(...copied.map(({ row_no }) => row_no))
  await engine.read(() => addToDigest(digest, batchId, after + 1, lastRow))
  return lastRow
}

function* isAlive(batchId: BatchId): Script<boolean> {
  return yield* exists(`SELECT 1 FROM batch WHERE id = :batchId AND ${IS_ALIVE}`, { batchId })
}

const INSERT_SUM = `
    INSERT INTO tally (batch_id, operation, currency, state, count, amount_minor)
    VALUES (:batchId, :operation, :currency, :state, :count, :amount)`

interface BecomingVisible extends Pick<Recording, 'actor' | 'seen'> {
  readonly recorded: Omit<Recorded, 'id'>
  readonly figures: Figures
}

/** The one moment in which the batch comes into being: references change hands, counts appear, rows may be claimed. */
function* makeVisible(header: DraftHeader, { actor, recorded, seen, figures }: BecomingVisible): Script<boolean> {
  const batchId = recorded.batch_id as BatchId
  const { accountId, nowMs, notCards = [], queued } = header
  const submitter = queued === undefined ? identityOf(actor) : BY_MESSAGES
  if (!(yield* holdsStill(header, { seen, batchId }))) return false
  yield* takeReferences(batchId, figures)
  for (const sum of figures.sums) yield* change(INSERT_SUM, { batchId, ...sum })
  yield* askForApproval({ batchId, accountId, submitter, sums: toSend(figures.sums), nowMs })
  for (const reason of notCards)
    yield* recordAct({ what: 'not-a-card', atMs: nowMs, actor, batchId, accountId, reason })
  const opened = yield* all(`UPDATE batch SET stage = 'open' WHERE id = :batchId AND ${IS_ALIVE} RETURNING id`, {
    batchId,
  })
  if (opened.length !== 1) throw overtakenFault()
  yield* keepDigest(recorded)
  yield* keepSpelling(header)
  yield* keepReplyTo(batchId, queued?.replyTo)
  yield* keepReplyToOfFormer(batchId)
  yield* noteAccepted()
  return true
}

function toSend(sums: readonly Sum[]): Asking['sums'] {
  return sums.flatMap(({ operation, currency, state, amount, largest }) =>
    state === 'READY'
      ? [
          {
            operation: operation as Operation,
            currency: currency as Currency,
            amountMinor: amount,
            largestMinor: largest,
          },
        ]
      : [],
  )
}

const LET_GO = 'UPDATE instruction SET holds_reference = 0 WHERE id = :supersedes AND holds_reference = 1 RETURNING id'
const TAKE_OVER = 'UPDATE instruction SET holds_reference = 1 WHERE batch_id = :batchId AND row_no = :rowNo'
/** Results that say what became of the row no longer tell how the instruction stands. */
const OUTDATE = `
    UPDATE batch SET version = version + 1 WHERE id IN (
      SELECT d.batch_id FROM instruction s JOIN instruction d ON d.reference = s.reference AND d.account_id = s.account_id
      WHERE s.id = :supersedes AND (d.state = 'DUPLICATE' OR ${isSubmittedAgain('d')}))`

/** A row that runs again takes its reference over from the one before. */
function* takeReferences(batchId: BatchId, { retried }: Figures): Script<void> {
  for (const { rowNo, supersedes } of retried) {
    const letGo = yield* all(LET_GO, { supersedes })
    if (letGo.length !== 1) throw takenFault() // another submit retried it, or a person corrected what was found
    yield* change(TAKE_OVER, { batchId, rowNo })
    yield* change(OUTDATE, { supersedes })
  }
}

/** Deletes what dead submits left. */
export async function deleteDrafts(engine: Engine): Promise<void> {
  const drafts = await engine.read(() => all<{ id: BatchId }>("SELECT id FROM batch WHERE stage = 'draft'"))
  for (const { id } of drafts) await deleteDraft(engine, id)
}

const GIVE_UP = "UPDATE batch SET hold = 'cancelled' WHERE id = :id AND stage = 'draft'"
const DELETE_ROWS = `
    DELETE FROM instruction WHERE id IN (SELECT id FROM instruction WHERE batch_id = :id ORDER BY row_no LIMIT ${ROWS_PER_COPY})
      AND EXISTS (SELECT 1 FROM batch WHERE id = :id AND stage = 'draft') RETURNING id`
const DELETE_BATCH = "DELETE FROM batch WHERE id = :id AND stage = 'draft'"

/**
 * In short transactions. The lock may have been removed, so that its submit is alive, or deletes as well, and either may stand
 * still between two statements: given up first, the draft takes no row and is never visible; then each statement looks again.
 */
async function deleteDraft(engine: Engine, id: BatchId): Promise<void> {
  await engine.write(() => change(GIVE_UP, { id }), FAULTING)
  for (let deleted = 1; deleted > 0; ) {
    deleted = (await engine.write(() => all(DELETE_ROWS, { id }), FAULTING)).length
  }
  await engine.write(() => change(DELETE_BATCH, { id }), FAULTING)
}
