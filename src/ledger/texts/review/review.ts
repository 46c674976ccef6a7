// A draft held against the record: what is bad, what is recorded already, what looks like another row, and what it adds up to.

import type { DraftHeader, DraftReview } from '../../../domain/draft.ts'
import { Fault } from '../../../domain/fault.ts'
import { MOST_MINOR } from '../../rules/arriving.ts'
import { CORRECTED } from '../../rules/lookalikes.ts'
import type { OddNeighbour } from '../../rules/neighbours.ts'
import { EXECUTED, IS_VISIBLE, isAnyRecorded, LAST_RESTORED_AT, listOf } from '../conditions.ts'
import { refuseOtherSpelling } from '../intake/run-keys.ts'
import { change, count, exists, one, type Script } from '../script.ts'
import { aboveLimit } from './above-limit.ts'
import {
  cancelledBefore,
  correctionOf,
  findChanged,
  findLostChanged,
  isInFile,
  meetEarlierFiles,
  runCancelled,
} from './corrections.ts'
import { farDates, lateForOrder, refuseExpired } from './dates.ts'
import { DRAFT_FAULT, IS_LIKE, OTHER_CONTENT, RETRIED, retriedBy } from './draft-rows.ts'
import { countFaults } from './faults.ts'
import { countAgain, countUnidentified, identifyLines, meetLines, refuseExecuted } from './fed-back.ts'
import { nameAsGiven } from './given-references.ts'
import { FORMER_ROW, LOST_LOOKALIKE, lookalikeSince, RECORDED_LOOKALIKE } from './lookalikes.ts'
import { markQuestions, meetOrders, ROUGH_SUM } from './order-book.ts'
import { noteOtherCells } from './other-cells.ts'
import { countDeclinedCards, nameLastAttempts, reattempt } from './reattempts.ts'
import { sumUp } from './sums.ts'
import { customerIn } from './targets/of-customers.ts'
import { markTargets, meetTargets } from './targets.ts'
import { leaveOutTaken, refuseFirstXtlRepeats, refuseXtlRepeats, refuseXtlTaken } from './xtl-order-ids.ts'

/** `odd`: rows that are asked about for the rows above them. */
export function* review(header: DraftHeader, odd: readonly OddNeighbour[]): Script<Omit<DraftReview, 'amountsUnread'>> {
  yield* compare(header, odd)
  const lookalikes = yield* findLookalikes(header)
  return {
    ...(yield* sumUp()),
    lookalikes,
    heldByDoubt: yield* countHeldByDoubt(header),
    declinedCards: yield* countDeclinedCards(header),
    unidentified: yield* countUnidentified(header),
    again: yield* countAgain(header),
    correction: yield* correctionOf(header),
    cancelledBefore: yield* cancelledBefore(),
    aboveLimit: yield* aboveLimit(header),
    faults: yield* countFaults(),
    farDates: yield* farDates(header),
    late: yield* lateForOrder(header),
  }
}

function* compare(header: DraftHeader, odd: readonly OddNeighbour[]): Script<void> {
  yield* refuseBoundless()
  yield* refuseOtherSpelling(header)
  if (header.fedBack) yield* identifyLines(header)
  yield* nameAsGiven(header.accountId)
  yield* nameLastAttempts(header)
  yield* tellMade(header)
  yield* nameRejects(header)
  yield* reattempt(header)
  yield* leaveOutTaken(header)
  yield* refuseRepeats(header)
  yield* meetRecorded(header)
  if (header.fedBack) yield* meetLines(header)
  yield* meetEarlierFiles(header)
  yield* refuseExecuted(header)
  yield* refuseExpired(header)
  yield* refuseFaulty() // rows that cannot be sent do nothing to their order
  yield* refuseXtlRepeats()
  yield* refuseFirstXtlRepeats(header)
  yield* refuseFaulty()
  if (yield* isAnyRecorded(header.accountId)) yield* refuseXtlTaken(header)
  yield* meetOrders(header)
  yield* meetTargets(header, odd)
  yield* refuseFaulty()
  yield* runCancelled()
  yield* noteOtherCells(header)
}

/**
 * Whether a reference was made is what is recorded of it: results and rejects name those that were made, and their rows have them
 * as if they were people's own.
 */
function* tellMade({ accountId: account }: DraftHeader): Script<void> {
  if (!(yield* isAnyRecorded(account))) return
  yield* change(
    `
    UPDATE draft_row AS d SET made = 1 - d.made WHERE EXISTS (SELECT 1 FROM instruction i
      WHERE i.account_id = :account AND i.reference = d.reference AND i.made <> d.made AND ${IS_VISIBLE})`,
    { account },
  )
}

/** A mended row of rejects is the bad row whose made reference it has. */
function* nameRejects({ accountId: account }: DraftHeader): Script<void> {
  if (!(yield* isAnyRecorded(account))) return
  const bad = "i.account_id = :account AND i.reference = d.reference AND i.state = 'INVALID' AND i.made = 1"
  yield* change(
    `
    UPDATE draft_row AS d SET bad_row = (SELECT max(i.id) FROM instruction i WHERE ${bad} AND ${IS_VISIBLE})
    WHERE d.made = 1 AND EXISTS (SELECT 1 FROM instruction i WHERE ${bad})`,
    { account },
  )
}

function* refuseBoundless(): Script<void> {
  const found = yield* one<{ sum: number }>(`SELECT ${ROUGH_SUM} AS sum FROM draft_row`)
  if (found!.sum <= MOST_MINOR) return
  throw new Fault(
    'refused',
    'The amounts of this file add up to more than can be counted exactly. Nothing was recorded and nothing was sent. Check the amounts, or send it in parts.',
  )
}

function* refuseRepeats({ fedBack }: DraftHeader): Script<void> {
  const [problem, remedy] = fedBack
    ? ['another line is of the same recorded row', 'leave one of these lines in the file']
    : [
        'the reference is in more than one row of this file',
        'give every row a reference of its own, or take the row out if it was entered twice',
      ]
  yield* change(`
    INSERT INTO ${DRAFT_FAULT}
    SELECT d.row_no, d.line, 'reference', coalesce(d.given, d.reference), '${problem} (line ' ||
      (SELECT min(o.line) FROM draft_row o WHERE o.reference = d.reference AND o.row_no <> d.row_no) || ')', '${remedy}'
    FROM draft_row d
    WHERE d.reference IN (SELECT reference FROM draft_row GROUP BY reference HAVING count(*) > 1)`)
}

/** The content of these rows ends with a mark of the customer. */
const HAS_MARK = "d.operation IN ('VAULT_CREATE', 'VAULT_UPDATE')"
const UNMARKED = 'substr(d.content, 1, length(d.content) - 9)'

/** Whether the row itself says it: what its file set for all rows is no content. */
const NAMES_EXPIRY = (row: 'd' | 'i') => `${row}.content LIKE '%|until %'`

/** Which parts of the content differ, as a list for people. */
const DIFFERENCES = `ltrim(
  CASE WHEN d.operation IS DISTINCT FROM i.operation THEN ', operation' ELSE '' END ||
  CASE WHEN d.amount_minor IS DISTINCT FROM i.amount_minor THEN ', amount' ELSE '' END ||
  CASE WHEN d.currency IS DISTINCT FROM i.currency THEN ', currency' ELSE '' END ||
  CASE WHEN d.order_key IS DISTINCT FROM i.order_key THEN ', order id' ELSE '' END ||
  CASE WHEN ltrim(d.vault_id, '0') IS DISTINCT FROM ltrim(i.vault_id, '0') THEN ', vault id' ELSE '' END ||
  CASE WHEN d.card IS DISTINCT FROM i.card THEN ', card' ELSE '' END ||
  CASE WHEN d.execute_at IS DISTINCT FROM i.execute_at THEN ', execute_at' ELSE '' END ||
  CASE WHEN d.expires_at IS DISTINCT FROM i.expires_at AND (${NAMES_EXPIRY('d')} OR ${NAMES_EXPIRY('i')}) THEN ', expires_at' ELSE '' END ||
  CASE WHEN ${HAS_MARK} AND d.content <> i.content AND ${UNMARKED} = substr(i.content, 1, length(i.content) - 9)
    THEN ', record of the customer' ELSE '' END, ', ')`

/** A reference that is recorded already is the same instruction again, or an error. */
function* meetRecorded(header: DraftHeader): Script<void> {
  if (header.onlyNew === true) yield* leaveOutChanged(header)
  yield* refuseOtherContent(header)
  yield* runAgain(header)
  yield* repeat(header)
}

/**
 * Where only new rows are wanted, one that is recorded with other content is none. Unless most rows are so, or one has the content of
 * another row of that batch: then the references no longer name what they did, as where lines are numbered and one was put in between.
 */
function* leaveOutChanged({ accountId: account, nowMs: now }: DraftHeader): Script<void> {
  const recorded = `FROM instruction i
    WHERE d.state = 'READY' AND i.account_id = :account AND i.reference = d.reference AND i.holds_reference = 1 AND ${IS_VISIBLE}`
  const found = yield* one<{ changed: number; same: number; moved: number }>(
    `
    SELECT coalesce(sum(CASE WHEN d.content <> i.content THEN 1 ELSE 0 END), 0) AS changed,
      coalesce(sum(CASE WHEN d.content = i.content THEN 1 ELSE 0 END), 0) AS same,
      coalesce(sum(CASE WHEN d.content <> i.content AND EXISTS (
        SELECT 1 FROM instruction n WHERE n.account_id = i.account_id AND n.lookalike = d.lookalike AND n.content = d.content
          AND n.lookalike IS NOT NULL AND n.batch_id = i.batch_id) THEN 1 ELSE 0 END), 0) AS moved
    ${recorded.replace('FROM', 'FROM draft_row d,')}`,
    { account },
  )
  const { changed, same, moved } = found!
  if (changed > same || moved > 0) return
  yield* change(
    `
    UPDATE draft_row AS d SET state = 'DUPLICATE', holds_reference = 0, duplicate_of = i.id, completed_at = :now, reason = ${DIFFERENCES}
    ${recorded} AND d.content <> i.content`,
    { account, now },
  )
}

function* refuseOtherContent({ accountId: account }: DraftHeader): Script<void> {
  yield* change(
    `
    INSERT INTO ${DRAFT_FAULT}
    SELECT d.row_no, d.line, 'reference', coalesce(d.given, d.reference),
      ${OTHER_CONTENT.problem(DIFFERENCES)}, ${OTHER_CONTENT.remedy}
    FROM draft_row d JOIN instruction i ON i.account_id = :account AND i.reference = d.reference AND i.holds_reference = 1 AND ${IS_VISIBLE}
    WHERE d.state = 'READY' AND d.not_asked IS NULL AND d.content <> i.content`,
    { account },
  )
}

/** What was asked to run again, if it was not executed. An INVALID row holds no reference. */
function* runAgain(header: DraftHeader): Script<void> {
  yield* change(
    `
    UPDATE draft_row AS d SET supersedes = i.id, attempt = i.attempt, ever_in_doubt = i.ever_in_doubt, reattempt_of = i.reattempt_of
    FROM instruction i
    WHERE d.state = 'READY' AND i.account_id = :account AND i.reference = d.reference AND i.holds_reference = 1 AND ${IS_VISIBLE}
      AND d.content = i.content AND NOT EXISTS (SELECT 1 FROM instruction e WHERE ${EXECUTED}) AND i.state IN (${RETRIED})`,
    { account: header.accountId, ...retriedBy({ retry: header.retry.filter((status) => status !== 'INVALID') }) },
  )
}

function* repeat({ accountId: account, nowMs: now }: DraftHeader): Script<void> {
  yield* change(
    `
    UPDATE draft_row AS d SET state = 'DUPLICATE', holds_reference = 0, duplicate_of = i.id, completed_at = :now
    FROM instruction i
    WHERE d.state = 'READY' AND d.supersedes IS NULL AND i.account_id = :account AND i.reference = d.reference AND i.holds_reference = 1 AND ${IS_VISIBLE}
      AND (d.content = i.content OR d.not_asked IS NOT NULL)`,
    { account, now },
  )
}

function* refuseFaulty(): Script<void> {
  yield* change(`
    UPDATE draft_row AS d SET state = 'INVALID', holds_reference = 0, duplicate_of = NULL, supersedes = NULL, attempt = 0, ever_in_doubt = 0,
      reference = coalesce((SELECT i.reference FROM instruction i WHERE i.id = d.declined_row), d.reference), reattempt_of = NULL, declined_row = NULL,
      reason = (SELECT string_agg(coalesce(f.column_name || ': ', '') || f.problem, '; ' ORDER BY f.id) FROM draft_fault f WHERE f.row_no = d.row_no)
    WHERE d.row_no IN (SELECT row_no FROM draft_fault)`)
}

/** Whether the reference of row `d` is that of the other one with such a word behind it. */
const isCorrectionOf = (other: 'o' | 'i') =>
  `(substr(d.reference, 1, length(${other}.reference)) = ${other}.reference
        AND lower(rtrim(ltrim(substr(d.reference, length(${other}.reference) + 1), ' -_.~/('), ' .)')) IN (${listOf(CORRECTED)}))`

/** Whether another run has both rows, under their references and with this card and amount. */
const inOtherRun = (other: 'o' | 'i') => `EXISTS (
        SELECT 1 FROM instruction p JOIN instruction q ON q.account_id = p.account_id AND q.lookalike = p.lookalike AND q.run_key = p.run_key
        WHERE p.account_id = :account AND p.lookalike = d.lookalike AND p.lookalike IS NOT NULL AND p.run_key <> d.run_key
          AND p.reference = p.run_key || substr(d.reference, length(d.run_key) + 1)
          AND q.reference = q.run_key || substr(${other}.reference, length(d.run_key) + 1))`

/**
 * Whether row `d` and another one are two sales of one roster: two customers of one run, by their names or since an earlier run, each
 * under a reference of its own, may share card and price. Of a recorded row this holds only as long as the file still has it: else
 * references may have moved on.
 */
function isOfOneRoster(other: 'o' | 'i'): string {
  return `(d.run_key IS NOT NULL AND ${other}.run_key = d.run_key AND d.order_id IS NULL AND d.operation IN ('CAPTURE', 'AUTH')
        AND d.made = 0 AND ${other}.made = 0 AND NOT ${isCorrectionOf(other)}
        AND (coalesce(${customerIn('d')} <> ${customerIn(other)}, FALSE) OR ${inOtherRun(other)}))`
}

/** Marks accepted rows that look like an earlier row of the file or a recorded one under another reference; counts them. */
function* findLookalikes(header: DraftHeader): Script<number> {
  yield* change(
    `
    UPDATE draft_row AS d SET like_row = (
      SELECT min(o.row_no) FROM draft_row o
      WHERE o.lookalike = d.lookalike AND o.row_no < d.row_no AND o.state = 'READY' AND NOT ${isOfOneRoster('o')})
    WHERE d.state = 'READY' AND d.lookalike IN (
      SELECT r.lookalike FROM draft_row r WHERE r.lookalike IS NOT NULL GROUP BY r.lookalike HAVING count(*) > 1)`,
    { account: header.accountId },
  )
  if (yield* isAnyRecorded(header.accountId)) yield* findRecordedLookalikes(header)
  yield* findChanged(header)
  yield* markQuestions()
  yield* markTargets()
  yield* findLost(header)
  return yield* count(`SELECT count(*) AS n FROM draft_row d WHERE (${IS_LIKE})`)
}

/** Most rows look like none, and a row that is written costs more than one that is looked up. */
function* findRecordedLookalikes(header: DraftHeader): Script<void> {
  yield* change(
    `
    UPDATE draft_row AS d SET like_recorded = coalesce((${RECORDED_LOOKALIKE} AND NOT (${isOfOneRoster('i')} AND ${isInFile('i')})), d.like_recorded)
    WHERE d.state = 'READY' AND d.lookalike IS NOT NULL AND EXISTS (
      SELECT 1 FROM instruction r WHERE r.account_id = :account AND r.lookalike = d.lookalike AND r.lookalike IS NOT NULL)`,
    lookalikeSince(header),
  )
}

/**
 * Marks rows that are to run again and had ended when an older state was put back: in what was lost they may have run again. Rows like
 * them are marked for as long as they would be, had those been sent in that moment.
 */
function* findLost(header: DraftHeader): Script<void> {
  const found = yield* one<{ restoredAt: number | null }>(`SELECT ${LAST_RESTORED_AT} AS "restoredAt"`)
  const { restoredAt } = found!
  if (restoredAt === null) return
  yield* change(
    `
    UPDATE draft_row AS d SET lost_row = (
      SELECT i.id FROM instruction i JOIN batch b ON b.id = i.batch_id
      WHERE coalesce(i.completed_at, b.created_at) <= :restoredAt AND i.id = coalesce(${FORMER_ROW}, d.earlier))
    WHERE d.state = 'READY'`,
    { restoredAt },
  )
  yield* change(
    `
    UPDATE draft_row AS d SET lost_row = (${LOST_LOOKALIKE} AND NOT (${isInFile('i')} AND ${isOfOneRoster('i')}))
    WHERE d.state = 'READY' AND d.lookalike IS NOT NULL AND NOT (${IS_LIKE})`,
    { ...lookalikeSince(header), restoredAt },
  )
  yield* findLostChanged(header, restoredAt)
}

function* countHeldByDoubt({ accountId: account }: DraftHeader): Script<number> {
  const isAnyInDoubt = yield* exists(
    "SELECT 1 FROM instruction WHERE account_id = :account AND state = 'IN_DOUBT' LIMIT 1",
    { account },
  )
  if (!isAnyInDoubt) return 0
  return yield* count(
    `
    SELECT count(*) AS n FROM draft_row d WHERE d.state = 'READY' AND d.order_key IS NOT NULL AND EXISTS (
      SELECT 1 FROM instruction i WHERE i.account_id = :account AND i.order_key = d.order_key AND i.order_key IS NOT NULL
        AND i.state = 'IN_DOUBT')`,
    { account },
  )
}
