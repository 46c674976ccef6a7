// What a batch shows of itself: counts, totals, what holds it up and whether its results are still true.

import type { Approval } from '../../../domain/approval.ts'
import type { BatchTotal, BatchView, ClockHold, Hold, OpenOriginals, SharedRows } from '../../../domain/batch.ts'
import type { ShortRefunds } from '../../../domain/decline-limit.ts'
import type { AccountId, BatchId } from '../../../domain/ids.ts'
import type { Environment } from '../../../domain/merchant.ts'
import type { State } from '../../../domain/states.ts'
import { type DoneLongAgo, doneLongAgo } from '../../../domain/submission.ts'
import { isConstant } from '../../rules/lookalikes.ts'
import { approversOf } from '../approving/sheet.ts'
import { EXECUTED, IS_MONEY_UNSEEN, IS_UNSEEN } from '../conditions.ts'
import { HOLDING_UP, IS_BLOCKED, ORDERS_HELD, ORDERS_IN_DOUBT, WAITS_FOR_CLOCK, WITHIN_CANARY } from '../orders.ts'
import { isSubmittedAgain, originalOf, recordedAt } from '../originals.ts'
import { toActor } from '../record/acts.ts'
import { CANCELLED_ALONE } from '../review/corrections.ts'
import { all, allExact, count, exists, one, type Script } from '../script.ts'
import { parseHealth } from '../work/accounts.ts'
import { limitReached } from '../work/daily-limit.ts'

interface BatchColumns {
  readonly source: 'file' | 'queue'
  readonly account_id: AccountId
  readonly merchant: string
  readonly environment: Environment | null
  readonly file_name: string | null
  readonly file_sha256: string | null
  readonly run_key: string | null
  readonly repeats_at: number | null
  readonly short_refunds: string
  readonly reading: string
  readonly sandbox: number
  readonly created_at: number
  readonly created_by: string
  readonly hold: Hold
  readonly hold_reason: string | null
  readonly stopped_reason: string | null
  readonly held_reason: string | null
  readonly wait_until: number | null
  readonly condition: string | null
  readonly clock_ahead: number | null
  readonly clock_ahead_at: number | null
  readonly late_answers: number
  readonly purged_at: number | null
  readonly results_move: number | null
  readonly rows: number
  readonly version: number
  readonly columns: string
  readonly results_path: string | null
  readonly results_version: number | null
  readonly needs_file: number
  readonly lookalikes_allowed: number
  readonly actor_id: number | null
  readonly approvals_needed: number
  readonly approvals_given: number
  readonly approval_until: number | null
}

const COLUMNS = `
    SELECT b.*, a.name AS merchant, a.environment, a.stopped_reason, a.held_reason, a.wait_until, a.condition, a.clock_ahead, a.clock_ahead_at
    FROM batch b JOIN account a ON a.id = b.account_id WHERE b.id = :batchId`

export function* columnsOf(batchId: BatchId): Script<BatchColumns> {
  return (yield* one<BatchColumns>(COLUMNS, { batchId }))!
}

const MONEY_WARNINGS = 'SELECT count(*) AS n FROM instruction WHERE batch_id = :batchId AND money_warning = 1'

const MONEY_UNSEEN = `SELECT count(*) AS n FROM instruction i WHERE i.batch_id = :batchId AND ${IS_MONEY_UNSEEN}`

/** As it is in one moment: a row that is claimed between two statements would be counted as waiting, and be due in none. */
export function* viewOf(batchId: BatchId): Script<BatchView> {
  const batch = yield* columnsOf(batchId)
  const totals = yield* totalsOf(batchId)
  const counts = countsIn(totals)
  const hasDuplicates = counts.DUPLICATE !== undefined
  const hasWaiting = counts.READY !== undefined
  const moneyWarnings = yield* count(MONEY_WARNINGS, { batchId })
  return {
    batchId,
    source: batch.source,
    accountId: batch.account_id,
    merchant: batch.merchant,
    environment: batch.environment,
    fileName: batch.file_name,
    fileSha256: batch.file_sha256,
    runKey: batch.run_key,
    fingerprint: batch.reading,
    sandbox: batch.sandbox === 1,
    createdAtMs: batch.created_at,
    createdBy: batch.created_by,
    hold: batch.hold,
    holdReason: batch.hold_reason,
    approval: batch.approvals_needed === 0 ? null : yield* approvalOf(batchId, batch),
    accountStopped: batch.stopped_reason,
    accountHeld: batch.held_reason,
    accountWaitsUntilMs: batch.wait_until,
    gatewayHealth: batch.condition === null ? null : parseHealth(batch.condition),
    rows: batch.rows,
    counts,
    totals,
    badRows: counts.INVALID === undefined || batch.source !== 'file' ? 0 : yield* badRowsIn(batchId, batch),
    expired: counts.CANCELLED === undefined ? 0 : yield* count(EXPIRED, { batchId }),
    shortRefunds: (JSON.parse(batch.short_refunds) as ShortRefunds).at.length,
    moneyWarnings,
    moneyUnseen: moneyWarnings === 0 ? 0 : yield* count(MONEY_UNSEEN, { batchId }),
    duplicateMoneyWarnings: hasDuplicates ? yield* count(DUPLICATE_MONEY_WARNINGS, { batchId }) : 0,
    ...(hasDuplicates ? yield* duplicatesOf(batchId) : NO_DUPLICATES),
    leftOut: hasDuplicates ? yield* leftOutOf(batchId) : [],
    doneLongAgo: yield* originalsAt(batchId, batch),
    numberBefore: batch.lookalikes_allowed === 0 ? null : yield* numberBefore(batch),
    limitReached: hasWaiting ? yield* limitReached(batchId, batch.account_id) : null,
    ...(hasWaiting ? yield* nextDueIn(batchId) : NOTHING_DUE),
    clockHold: hasWaiting ? yield* clockHoldOf(batchId, batch) : null,
    ...(hasWaiting ? yield* blockedIn(batchId, batch.account_id, counts.READY ?? 0) : NOTHING_BLOCKED),
    lateAnswers: batch.late_answers,
    needsFile: batch.needs_file === 1,
    resultsPath: batch.results_path,
    resultsStale: batch.results_path !== null && (yield* hasMovedSince(batchId, batch, counts)),
    purgedAtMs: batch.purged_at,
  }
}

const LOOKED_AT = "SELECT 1 FROM act WHERE batch_id = :batchId AND what = 'resume' LIMIT 1"

/** A later file that begins with a row of this one is this one, mended; what is bad there is told of that one. */
const CAME_AGAIN = `
    SELECT 1 FROM batch n WHERE n.account_id = :accountId AND n.stage = 'open' AND n.source = 'file' AND n.created_at >= :createdAt AND n.id <> :batchId
      AND (SELECT o.batch_id FROM instruction d JOIN instruction o ON o.id = d.duplicate_of
        WHERE d.batch_id = n.id AND d.state = 'DUPLICATE' ORDER BY d.row_no LIMIT 1) = :batchId LIMIT 1`

const UNMENDED = `
    SELECT count(*) AS n FROM instruction i WHERE i.batch_id = :batchId AND i.state = 'INVALID' AND NOT EXISTS (
      SELECT 1 FROM instruction h JOIN batch hb ON hb.id = h.batch_id AND hb.stage = 'open'
      WHERE h.account_id = i.account_id AND h.reference = i.reference AND h.holds_reference = 1 AND h.id > i.id)`

/** What a person cancelled after its moment had come did not expire. */
const EXPIRED = `
    SELECT count(*) AS n FROM instruction i
    WHERE i.batch_id = :batchId AND i.state = 'CANCELLED' AND i.expires_at IS NOT NULL AND i.holds_reference = 1
      AND EXISTS (SELECT 1 FROM move m WHERE m.row_id = i.id AND m.cause = 'expiry')
      AND ${IS_UNSEEN}`

function* badRowsIn(batchId: BatchId, { account_id: accountId, created_at: createdAt }: BatchColumns): Script<number> {
  if (yield* exists(LOOKED_AT, { batchId })) return 0
  if (yield* exists(CAME_AGAIN, { batchId, accountId, createdAt })) return 0
  return yield* count(UNMENDED, { batchId })
}

function* approvalOf(batchId: BatchId, batch: BatchColumns): Script<Approval> {
  const { approvals_needed: needed, approvals_given: given, approval_until: untilMs } = batch
  const by = (yield* approversOf(batchId)).map((approver) => approver.by)
  return { needed, given, untilMs: untilMs ?? 0, by }
}

const TOTALS = `
    SELECT operation, currency, state, count, amount_minor AS "amountMinor" FROM tally
    WHERE batch_id = :batchId AND count > 0 ORDER BY operation, currency, state`

function* totalsOf(batchId: BatchId): Script<BatchTotal[]> {
  const found = yield* allExact<Omit<BatchTotal, 'count'> & { count: bigint }>(TOTALS, { batchId })
  return found.map((total) => ({ ...total, count: Number(total.count) }))
}

export function countsIn(totals: readonly BatchTotal[]): BatchView['counts'] {
  const counts: Partial<Record<State, number>> = {}
  for (const { state, count } of totals) counts[state] = (counts[state] ?? 0) + count
  return counts
}

/** Whether anything of it has changed since its results were written. */
function* hasMovedSince(batchId: BatchId, batch: BatchColumns, counts: BatchView['counts']): Script<boolean> {
  if (batch.version !== batch.results_version) return true
  return yield* originalsMoved(batchId, batch.results_move, counts)
}

const originalMoved = (which: string) => `
    SELECT 1 FROM instruction d ${originalOf('d', 'JOIN')} JOIN move m ON m.row_id IN (p.id, o.id)
    WHERE d.batch_id = :batchId AND ${which} AND m.id > :lastMove LIMIT 1`

/** Whether a row has moved, since the results were written, that stands for a duplicate or for a row that was submitted again. */
function* originalsMoved(
  batchId: BatchId,
  lastMove: number | null,
  { DUPLICATE, FAILED, CANCELLED }: BatchView['counts'],
): Script<boolean> {
  if (lastMove === null) return false
  if (DUPLICATE !== undefined && (yield* exists(originalMoved("d.state = 'DUPLICATE'"), { batchId, lastMove })))
    return true
  if (FAILED === undefined && CANCELLED === undefined) return false
  return yield* exists(originalMoved(isSubmittedAgain('d')), { batchId, lastMove })
}

const DUPLICATE_MONEY_WARNINGS = `
    SELECT count(*) AS n FROM instruction d ${originalOf('d', 'JOIN')}
    WHERE d.batch_id = :batchId AND d.state = 'DUPLICATE' AND (p.money_warning = 1 OR o.money_warning = 1)`

type Duplicates = Pick<BatchView, 'duplicateOf' | 'duplicatesChanged' | 'openOriginals'>

const NO_DUPLICATES: Duplicates = { duplicateOf: {}, duplicatesChanged: 0, openOriginals: [] }

const DUPLICATES = `
    SELECT f.state, f."openIn", b.file_name AS "fileName", f.count, f.changed FROM (
      SELECT o.state, CASE WHEN o.state IN ('READY', 'SENDING', 'IN_DOUBT') THEN o.batch_id END AS "openIn", min(o.batch_id) AS "anyIn",
        count(*) AS count, sum(CASE WHEN d.reason IS NULL THEN 0 ELSE 1 END) AS changed
      FROM instruction d ${originalOf('d', 'JOIN')} WHERE d.batch_id = :batchId AND d.state = 'DUPLICATE' GROUP BY 1, 2) AS f
    JOIN batch b ON b.id = f."anyIn" ORDER BY 1, 2`

function* duplicatesOf(batchId: BatchId): Script<Duplicates> {
  const found = yield* all<Omit<OpenOriginals, 'batchId'> & { openIn: BatchId | null; changed: number }>(DUPLICATES, {
    batchId,
  })
  const duplicateOf: Partial<Record<State, number>> = {}
  for (const { state, count } of found) duplicateOf[state] = (duplicateOf[state] ?? 0) + count
  const duplicatesChanged = found.reduce((sum, { changed }) => sum + changed, 0)
  const openOriginals = found.flatMap(({ openIn, fileName, state, count }) =>
    openIn === null ? [] : [{ batchId: openIn, fileName, state, count }],
  )
  return { duplicateOf, duplicatesChanged, openOriginals }
}

/**
 * Rows `d` of batch `b` were left out for rows `o` of batch `c`, and that one was cancelled later. Not where a person meant that one
 * instruction, nor where the gateway may have executed it: it must not be handed in again.
 */
const IS_LEFT_OUT = `d.state = 'DUPLICATE' AND c.hold = 'cancelled' AND b.hold <> 'cancelled' AND o.completed_at >= b.created_at
      AND EXISTS (SELECT 1 FROM instruction i WHERE i.id = o.id AND i.state = 'CANCELLED' AND i.holds_reference = 1
        AND i.ever_in_doubt = 0 AND NOT ${CANCELLED_ALONE} AND NOT EXISTS (SELECT 1 FROM instruction e WHERE ${EXECUTED}))`
const BATCHES = 'JOIN batch b ON b.id = d.batch_id JOIN batch c ON c.id = o.batch_id'

const LEFT_OUT = `
    SELECT o.batch_id AS "batchId", count(*) AS rows FROM instruction d ${originalOf('d', 'JOIN')} ${BATCHES}
    WHERE d.batch_id = :batchId AND ${IS_LEFT_OUT} AND NOT EXISTS (
      SELECT 1 FROM act x WHERE x.batch_id = d.batch_id AND x.what = 'resume' AND x.at >= o.completed_at)
    GROUP BY 1 ORDER BY 1`

const LEFT_OUT_FOR = `
    SELECT d.batch_id AS "batchId", count(*) AS rows FROM instruction o JOIN instruction d ON d.duplicate_of = o.id ${BATCHES}
    WHERE o.batch_id = :batchId AND ${IS_LEFT_OUT} GROUP BY 1 ORDER BY 1`

function* leftOutOf(batchId: BatchId): Script<readonly SharedRows[]> {
  return yield* all<SharedRows>(LEFT_OUT, { batchId })
}

/** The same, seen from the batch that was cancelled: by the batches that left rows out for it. */
export function* leftOutFor(batchId: BatchId): Script<readonly SharedRows[]> {
  return yield* all<SharedRows>(LEFT_OUT_FOR, { batchId })
}

const OLD_ORIGINALS = `
    SELECT max(o.batch_id) AS "batchId", count(*) AS rows FROM instruction d ${originalOf('d', 'JOIN')} JOIN batch b ON b.id = o.batch_id
    WHERE d.batch_id = :batchId AND d.state = 'DUPLICATE' AND ${recordedAt('o')} <= :atMs`

function* originalsAt(batchId: BatchId, { repeats_at: atMs, created_at: nowMs }: BatchColumns) {
  if (atMs === null) return null
  const { rows, ...last } = (yield* one<Pick<DoneLongAgo, 'batchId' | 'rows'>>(OLD_ORIGINALS, { batchId, atMs }))!
  return rows === 0 ? null : doneLongAgo({ ...last, rows, atMs }, nowMs)
}

const SAME_NUMBER = `
    SELECT e.id AS "batchId", e.lookalikes_allowed AS rows, e.created_at AS "atMs" FROM batch e
    WHERE e.account_id = :accountId AND e.stage = 'open' AND e.source = 'file' AND e.lookalikes_allowed = :allowed AND e.created_at < :createdAt
    ORDER BY e.created_at DESC LIMIT 1`
const ACTOR = 'SELECT parts FROM actor WHERE id = :id'

function* numberBefore(batch: BatchColumns): Script<BatchView['numberBefore']> {
  const { account_id: accountId, actor_id: id, lookalikes_allowed: allowed, created_at: createdAt } = batch
  const actor = id === null ? undefined : yield* one<{ parts: string }>(ACTOR, { id })
  if (!isConstant(toActor(actor?.parts ?? null))) return null
  return (yield* one<NonNullable<BatchView['numberBefore']>>(SAME_NUMBER, { accountId, allowed, createdAt })) ?? null
}

type Blocked = Pick<BatchView, 'blocked' | 'blockedDue'>

const NOTHING_BLOCKED: Blocked = { blocked: 0, blockedDue: 0 }

/** How many rows wait in batches that may hold up others. */
const HELD = `
    SELECT coalesce(sum(t.count), 0) AS n FROM batch eb JOIN tally t ON t.batch_id = eb.id
    WHERE ${HOLDING_UP} AND t.state = 'READY'`

const IS_DUE = 'coalesce(i.execute_at, 0) <= @clock_ms + 60000'

/** Counted no further than a screen needs, those that are due first. */
const BLOCKED = `
    SELECT count(*) AS blocked, coalesce(sum(f.due), 0) AS "blockedDue" FROM (
      SELECT CASE WHEN ${IS_DUE} THEN 1 ELSE 0 END AS due FROM instruction i
      WHERE i.batch_id = :batchId AND i.state = 'READY' AND ${IS_BLOCKED} ORDER BY i.due_at LIMIT 10000) AS f`

/** Order by order: a comparison of `batch_id` that no index stands for keeps an engine from reading the whole batch for each. */
const countOfOrder = (which: string) => `(SELECT count(*) FROM instruction i
      WHERE i.account_id = o.account_id AND i.order_key = o.order_key AND i.order_key IS NOT NULL
        AND i.state IN ('READY', 'SENDING', 'IN_DOUBT') AND i.state = 'READY' AND coalesce(i.batch_id, '') = :batchId
        AND ${which} AND ${IS_BLOCKED})`

const blockedOf = (orders: string) => `
    SELECT coalesce(sum(f.blocked), 0) AS blocked, coalesce(sum(f.due), 0) AS "blockedDue" FROM (
      SELECT ${countOfOrder('1 = 1')} AS blocked, ${countOfOrder(IS_DUE)} AS due FROM (${orders}) AS o) AS f`

const BLOCKED_BY_DOUBTS = blockedOf(`${ORDERS_IN_DOUBT} GROUP BY account_id, order_key`)
const BLOCKED_BESIDE_HELD = blockedOf(`${ORDERS_IN_DOUBT} UNION ${ORDERS_HELD}`)

/** By the rows that hold others up, where they are the fewer ones: a status need not look at every row that waits. */
function* blockedIn(batchId: BatchId, accountId: AccountId, waiting: number): Script<Blocked> {
  const held = yield* count(HELD, { batchId, accountId })
  if (held === 0) return (yield* one<Blocked>(BLOCKED_BY_DOUBTS, { batchId }))!
  if (held < waiting) return (yield* one<Blocked>(BLOCKED_BESIDE_HELD, { batchId, accountId }))!
  return (yield* one<Blocked>(BLOCKED, { batchId }))!
}

type NextDue = Pick<BatchView, 'nextDueAtMs' | 'nextExecuteAtMs'>

const NOTHING_DUE: NextDue = { nextDueAtMs: null, nextExecuteAtMs: null }

const nextDue = (also: string) => `
    SELECT i.due_at AS "nextDueAtMs", i.execute_at AS "nextExecuteAtMs" FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.batch_id = :batchId AND i.state = 'READY'${also} AND NOT ${IS_BLOCKED} AND ${WITHIN_CANARY} ORDER BY i.due_at LIMIT 1`
const NEXT_DUE = nextDue('')
const NEXT_BESIDE_CLOCK = nextDue(` AND NOT ${WAITS_FOR_CLOCK}`)

function* nextDueIn(batchId: BatchId): Script<NextDue> {
  return (yield* one<NextDue>(NEXT_DUE, { batchId })) ?? NOTHING_DUE
}

function* clockHoldOf(batchId: BatchId, { clock_ahead, clock_ahead_at }: BatchColumns): Script<ClockHold | null> {
  if (clock_ahead === null || clock_ahead_at === null) return null
  const next = yield* one<NextDue>(NEXT_BESIDE_CLOCK, { batchId })
  return { aheadMs: clock_ahead, atMs: clock_ahead_at, nextDueAtMs: next?.nextDueAtMs ?? null }
}
