// Rows that may have been executed: the worklist, and what a person found out about one of them.

import type { Actor } from '../../../domain/actor.ts'
import {
  type DoubtRow,
  type Foreseen,
  PROPOSAL_LIVES_MS,
  type Resolution,
  type Resolved,
} from '../../../domain/doubt.ts'
import { Fault } from '../../../domain/fault.ts'
import type { AccountId, RowId } from '../../../domain/ids.ts'
import type { Operation } from '../../../domain/instruction.ts'
import type { DoubtLedger } from '../../../ports/ledger/doubts.ts'
import {
  judgedBefore,
  movedMeanwhile,
  type Refusal,
  type ResolvingStep,
  type RowToResolve,
  resolvingStep,
  rowFound,
  rowMeant,
  type SettledRow,
} from '../../rules/resolving.ts'
import { isSameTransaction, NO_FACTS } from '../../rules/settling.ts'
import { lapseOfRow } from '../approving/lapsing.ts'
import { policyInForce } from '../approving/policy.ts'
import {
  askSecondPerson,
  judgeWord,
  noteConfirmed,
  type Resent,
  refuseProposal,
  standingProposals,
  takesTwo,
} from '../approving/proposals.ts'
import { reopenApproval } from '../approving/waiting.ts'
import { LAST_RESTORED_AT } from '../conditions.ts'
import { type Engine, FAULTING } from '../engine.ts'
import { fromColumns, INSTRUCTION_COLUMNS, type InstructionColumns } from '../instruction-columns.ts'
import type { Book } from '../record/book.ts'
import { answeredBy } from '../record/recorded.ts'
import type { Counted } from '../record/tally.ts'
import { all, change, type Script } from '../script.ts'
import { pauseAlike } from './alike-waiting.ts'
import type { Looks } from './looks.ts'
import { settledBy } from './taken.ts'

/**
 * When the request of row `i` may have left at the latest. If its process died, the first byte was not seen: it left
 * before its send-by, or before the row was found. Of one that was in doubt already when an older state of the ledger was
 * put back, it is unknown whether a person had it sent again in what was lost.
 */
const LEFT_BY = `@greatest(
  coalesce(i.sent_at, CASE WHEN i.send_by < i.completed_at THEN i.send_by ELSE i.completed_at END, 0),
  coalesce(${LAST_RESTORED_AT}, 0))`

/** By how much the wall clock was set forward since that row came into doubt. */
export type SetForward = (rowId: number) => Script<number>

const NOT_RECORDED = 'Nothing was recorded: what you found may be of an earlier request than the last.'

/** An older state uses attempt numbers again, so the ledger is checked before a finding is recorded. */
export function doubtsOn(engine: Engine, setForward: SetForward, { assertNewest, whyUnsure }: Looks): DoubtLedger {
  return {
    doubts: () => engine.read(() => doubtsIn(setForward)),
    foresee: (resolutions, actor, nowMs) => engine.read(() => foresee(setForward, resolutions, actor, nowMs)),
    async resolve(resolution, actor, nowMs) {
      await assertNewest(NOT_RECORDED)
      const resolved = await engine.write(function* (book) {
        return (yield* whyUnsure()) ?? (yield* resolve(book, setForward, resolution, actor, nowMs))
      }, FAULTING)
      if (resolved instanceof Fault) throw resolved
      return resolved
    },
    proposals: (nowMs) => engine.read(() => standingProposals(nowMs)),
    refuseProposal: (refusal, actor, nowMs) => engine.write(() => refuseProposal(refusal, actor, nowMs), FAULTING),
  }
}

const IN_DOUBT = `
    SELECT i.id, i.batch_id AS "batchId", i.row_no AS "rowNo", a.name AS merchant, i.attempt, i.sent_at AS "sentAtMs",
      i.claimed_at AS "claimedAtMs", ${LEFT_BY} AS "leftByMs", a.doubt_rest AS "restMs", i.reason,
      ${INSTRUCTION_COLUMNS.replaceAll(/\w+/g, 'i.$&')},
      (SELECT count(*) FROM instruction w WHERE w.account_id = i.account_id AND w.order_key = i.order_key
        AND w.order_key IS NOT NULL AND w.state = 'READY') AS "holdsUp",
      b.approvals_needed AS "approvalsNeeded", p.by AS "proposedBy", p.reason AS "proposedReason", p.at AS "proposedAtMs"
    FROM instruction i JOIN account a ON a.id = i.account_id JOIN batch b ON b.id = i.batch_id
      LEFT JOIN proposal p ON p.row_id = i.id AND p.attempt = i.attempt
    WHERE i.state = 'IN_DOUBT' ORDER BY i.id`

type FoundDoubt = Omit<DoubtRow, 'instruction' | 'rowId' | 'twoPeople' | 'proposal'> &
  InstructionColumns &
  FoundProposal & { readonly id: RowId; readonly approvalsNeeded: number; readonly operation: Operation }

interface FoundProposal {
  /** null: there is none; so are the other two. */
  readonly proposedBy: string | null
  readonly proposedReason: string | null
  readonly proposedAtMs: number | null
}

function* doubtsIn(setForward: SetForward): Script<DoubtRow[]> {
  const doubts: DoubtRow[] = []
  const policy = yield* policyInForce()
  for (const row of yield* all<FoundDoubt>(IN_DOUBT)) {
    const twoPeople = takesTwo(policy, row)
    doubts.push({
      rowId: row.id,
      batchId: row.batchId,
      rowNo: row.rowNo,
      merchant: row.merchant,
      attempt: row.attempt,
      sentAtMs: row.sentAtMs,
      claimedAtMs: row.claimedAtMs,
      leftByMs: row.leftByMs + (yield* setForward(row.id)),
      restMs: row.restMs,
      holdsUp: row.holdsUp,
      reason: row.reason,
      twoPeople,
      proposal: twoPeople ? proposalOf(row) : null,
      instruction: fromColumns(row),
    })
  }
  return doubts
}

function proposalOf({
  proposedBy: by,
  proposedReason: reason,
  proposedAtMs: atMs,
}: FoundProposal): DoubtRow['proposal'] {
  if (by === null || reason === null || atMs === null) return null
  return { by, reason, atMs, untilMs: atMs + PROPOSAL_LIVES_MS }
}

/** A row as the move of it needs it, and as the rules do. */
interface FoundRow
  extends Counted,
    Omit<RowToResolve, 'lastCauseBefore'>,
    Pick<Resent, 'approvalsNeeded' | 'submitterParts'> {
  readonly id: number
  readonly account_id: AccountId
  readonly supersedes: number | null
}

const FOUND_ROW = `
    SELECT i.id, i.batch_id, i.batch_id AS "batchId", i.account_id, a.name AS merchant, i.row_no AS "rowNo", i.state, i.attempt,
      i.claimed_at AS "claimedAtMs", ${LAST_RESTORED_AT} AS "restoredAtMs", ${LEFT_BY} AS "leftByMs", a.doubt_rest AS "restMs",
      b.hold, b.approvals_needed AS "approvalsNeeded", s.parts AS "submitterParts", i.operation, i.currency, i.amount_minor, i.transaction_id AS "transactionId", i.execute_at AS "executeAtMs",
      i.expires_at AS "expiresAtMs", i.order_id AS "orderId",
      i.money_warning AS "moneyWarning", i.supersedes,
      (SELECT m.cause FROM move m WHERE m.row_id = i.id ORDER BY m.id DESC LIMIT 1) AS "lastCause",
      CASE WHEN EXISTS (SELECT 1 FROM move m WHERE m.row_id = i.id AND m.cause = 'resolve') THEN 1 ELSE 0 END AS "wasJudged"
    FROM instruction i JOIN batch b ON b.id = i.batch_id JOIN account a ON a.id = i.account_id LEFT JOIN actor s ON s.id = b.actor_id`

const BY_REFERENCE = `${FOUND_ROW}
    WHERE i.reference = :reference AND i.state NOT IN ('INVALID', 'DUPLICATE') AND b.stage = 'open'
      AND (CAST(:merchant AS TEXT) IS NULL OR a.name = :merchant) AND (i.holds_reference = 1 OR i.state = 'IN_DOUBT')`

/** Itself, and then the rows that it was to run again. */
const WITH_RETRIED = `
    WITH RECURSIVE retried (id) AS (
      SELECT CAST(:id AS BIGINT) UNION SELECT r.supersedes FROM retried JOIN instruction r ON r.id = retried.id WHERE r.supersedes IS NOT NULL)
    ${FOUND_ROW} WHERE i.id IN (SELECT id FROM retried) ORDER BY i.id DESC`

// What the answer in doubt said stays in the history: beside what a person found it could be of another request.
const RESOLVE = `
    UPDATE instruction SET state = :to, reason = :reason, transaction_id = :transactionId, completed_at = :completedAtMs,
      due_at = :dueAtMs, answered_order_id = NULL, answered_record_id = NULL, answered_amount = NULL,
      answered_currency = NULL, answered_vault_id = NULL, answered_xtl_order_id = NULL, answered_customer_id = NULL, answered_card = NULL
    WHERE id = :id AND state = :from AND attempt = :attempt RETURNING id`

/** A person has looked at this one. What is held stays so until they resume it. */
const LOOKED = 'UPDATE account SET new_doubts = @greatest(0, new_doubts - 1) WHERE id = :accountId'

interface Judging {
  readonly setForward: SetForward
  readonly resolution: Resolution
  readonly actor: Actor
  readonly nowMs: number
}

interface Judged {
  readonly holder: FoundRow
  readonly row: FoundRow & RowToResolve
  readonly step: ResolvingStep
}

/** A finding that comes before, as if it were recorded. */
interface Earlier extends SettledRow {
  readonly row: FoundRow
  readonly transactionId: string | null
}

/** Which row is meant, and what the finding makes of it. Changes nothing. */
function* judge(
  { setForward, resolution, actor, nowMs }: Judging,
  earlier: readonly Earlier[] = [],
): Script<Judged | Refusal> {
  const holder = yield* findMeant(resolution, earlier)
  if ('kind' in holder) return holder
  const [, ...before] = yield* all<FoundRow>(WITH_RETRIED, { id: holder.id })
  const found = holder.state === 'CANCELLED' ? rowFound([holder, ...before]) : holder
  const leftByMs = found.leftByMs + (yield* setForward(found.id)) // as the clock tells it now
  const row = { ...found, lastCauseBefore: lastCauseOfFound(before), leftByMs }
  const taken = (yield* takenBy(row, resolution.transactionId)) ?? takenEarlier(row, resolution, earlier)
  return { holder, row, step: resolvingStep(row, resolution, { taken, actor, nowMs }) }
}

function* resolve(
  book: Book,
  setForward: SetForward,
  resolution: Resolution,
  actor: Actor,
  nowMs: number,
): Script<Resolved> {
  const judged = yield* judge({ setForward, resolution, actor, nowMs })
  if ('kind' in judged) return judged
  const { holder, row, step } = judged
  if (step.kind !== 'move') return step
  const { transactionId, reason } = resolution
  const { id, attempt, batchId, rowNo, hold } = row
  const second = step.to === 'READY' ? yield* askSecondPerson(resentOf(row), resolution, actor, nowMs) : null
  if (second !== null && second.kind !== 'confirmed') return second
  const { kind: _, ...values } = step
  const moved = yield* all(RESOLVE, { ...values, from: row.state, transactionId, id, attempt })
  if (moved.length !== 1) return movedMeanwhile(row, resolution)
  if (second !== null) yield* noteConfirmed(row, second, resolution, actor, nowMs)
  if (step.to === 'READY') yield* reopenApproval(batchId, nowMs)
  if (row.state === 'IN_DOUBT') yield* endDoubt(row, nowMs)
  if (id !== holder.id) yield* handBack(holder.id, id)
  const answered = answeredBy({ ...NO_FACTS, transactionId })
  yield* book.move(row, step.to, 'resolve', { attempt, atMs: nowMs, actor, reason, answered })
  // A row in doubt counted all along: a row like it was asked about when it came.
  const cameToCount = row.state !== 'IN_DOUBT' && step.to === 'APPROVED'
  const paused = cameToCount ? yield* pauseAlike(row, nowMs) : []
  return { kind: 'resolved', batchId, rowNo, state: step.to, hold, paused }
}

/** Each by the same judgement, as if those before it were recorded: a row moves once, and a transaction settles one row. */
function* foresee(
  setForward: SetForward,
  resolutions: readonly Resolution[],
  actor: Actor,
  nowMs: number,
): Script<Foreseen[]> {
  const doubts = new Map((yield* doubtsIn(setForward)).map((doubt) => [Number(doubt.rowId), doubt]))
  const earlier: Earlier[] = []
  const answers: Foreseen[] = []
  for (const resolution of resolutions) {
    const { reference, transactionId } = resolution
    const judged = yield* judge({ setForward, resolution, actor, nowMs }, earlier)
    if ('kind' in judged) answers.push(judged)
    else if (judged.step.kind !== 'move') answers.push(judged.step)
    else {
      const { row, step } = judged
      const alone = step.to === 'READY' ? yield* foreseeWord(row, doubts, resolution, actor, nowMs) : null
      if (alone !== null) {
        answers.push(alone)
        continue
      }
      const doubt = earlier.some((one) => one.row.id === row.id) ? undefined : doubts.get(row.id)
      answers.push(
        doubt === undefined ? judgedBefore(row, resolution) : { kind: 'would-resolve', doubt, state: step.to },
      )
      earlier.push({ row, transactionId, reference, batchId: row.batchId, rowNo: row.rowNo })
    }
  }
  return answers
}

/** null: the row would be sent. */
function* foreseeWord(
  row: FoundRow & RowToResolve,
  doubts: ReadonlyMap<number, DoubtRow>,
  resolution: Resolution,
  actor: Actor,
  nowMs: number,
): Script<Foreseen | null> {
  const word = yield* judgeWord(resentOf(row), resolution, actor, nowMs)
  const doubt = doubts.get(row.id)
  if (word === 'propose') return doubt === undefined ? null : { kind: 'would-propose', doubt }
  return word === null || word.kind === 'confirmed' || word.kind === 'resolved' ? null : word
}

function resentOf(row: FoundRow & RowToResolve): Resent {
  return { ...row, operation: row.operation as Operation }
}

function* endDoubt({ id, account_id: accountId }: FoundRow, nowMs: number): Script<void> {
  yield* change(LOOKED, { accountId })
  yield* lapseOfRow(id, nowMs)
}

/** Of two rows of one name in doubt, one is left when an earlier finding has moved the other. */
function* findMeant(resolution: Resolution, earlier: readonly Earlier[]): Script<FoundRow | Refusal> {
  const { reference, merchant } = resolution
  const rows = yield* all<FoundRow>(BY_REFERENCE, { reference, merchant })
  const left = rows.filter(({ id }) => !earlier.some(({ row }) => row.id === id))
  return rowMeant(left.some(({ state }) => state === 'IN_DOUBT') ? left : rows, resolution)
}

function takenEarlier(
  { account_id: accountId }: FoundRow,
  { transactionId }: Resolution,
  earlier: readonly Earlier[],
): SettledRow | null {
  return (
    earlier.find((one) => one.row.account_id === accountId && isSameTransaction(one.transactionId, transactionId)) ??
    null
  )
}

function* takenBy(row: FoundRow, transactionId: string | null): Script<SettledRow | null> {
  const other = transactionId === null ? undefined : yield* settledBy(row.account_id, transactionId)
  return other === undefined || other.id === row.id ? null : other
}

/** null: there is none. */
function lastCauseOfFound([latest, ...earlier]: readonly FoundRow[]): RowToResolve['lastCauseBefore'] {
  return latest === undefined ? null : rowFound([latest, ...earlier]).lastCause
}

/** A cancelled retry gives the reference back to the row that it was to run again: under it nothing else can be sent. */
function* handBack(from: number, to: number): Script<void> {
  yield* change('UPDATE instruction SET holds_reference = 0 WHERE id = :from', { from })
  yield* change('UPDATE instruction SET holds_reference = 1 WHERE id = :to', { to })
}
