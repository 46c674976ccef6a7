// Results fed back: which recorded row each line is, and that nothing of it is sent but what may run again. A spreadsheet
// has often been at such a file, so a line is known by two things that must agree: its reference, and the batch and row it names.

import type { Again, DraftHeader } from '../../../domain/draft.ts'
import { Fault } from '../../../domain/fault.ts'
import type { AccountId } from '../../../domain/ids.ts'
import { UNREAD_REFERENCE } from '../../../domain/instruction.ts'
import { words } from '../../../domain/words.ts'
import { OTHER_CELLS } from '../../rules/other-cells.ts'
import { EXECUTED } from '../conditions.ts'
import { all, change, count, one, type Script } from '../script.ts'
import { DRAFT_FAULT, OTHER_CONTENT, RETRIED, RUNS_AGAIN, retriedBy } from './draft-rows.ts'

/** Before references are compared with anything: first they must be those that were written. */
export function* identifyLines(header: DraftHeader): Script<void> {
  yield* refuseStrangers()
  yield* refuseOtherAccounts(header.accountId)
  yield* restoreZeros()
  yield* refuseDisagreeing()
  yield* leaveOutAgain(header)
  yield* nameOriginals()
}

/** Results of another ledger say nothing about this one. */
function* refuseStrangers(): Script<void> {
  const stranger = yield* one<{ line: number; batch: string }>(`
    SELECT line, came_batch AS batch FROM draft_row
    WHERE came_batch IS NOT NULL AND came_batch NOT IN (SELECT id FROM batch WHERE stage = 'open') ORDER BY row_no LIMIT 1`)
  if (stranger === undefined) return
  throw new Fault(
    'refused',
    `Line ${stranger.line} comes from batch ${stranger.batch}, which this ledger does not know. Nothing was recorded and nothing was sent. ` +
      'Feed the results back to the ledger that wrote them (TRANCHE_DATA_DIR).',
  )
}

/** A row that took no reference is known by batch and row alone: it would run here and, by the same file, at its own account as well. */
function* refuseOtherAccounts(account: AccountId): Script<void> {
  const other = yield* one<{ line: number; batch: string; merchant: string }>(
    `
    SELECT d.line, b.id AS batch, a.name AS merchant FROM draft_row d
    JOIN batch b ON b.id = d.came_batch JOIN account a ON a.id = b.account_id WHERE b.account_id <> :account ORDER BY d.row_no LIMIT 1`,
    { account },
  )
  if (other === undefined) return
  throw new Fault(
    'refused',
    words`Line ${other.line} comes from batch ${other.batch}, which is of merchant ${other.merchant}. Nothing was recorded and nothing was sent. What was sent to one gateway account says nothing about another: feed it back with ${{ set: 'merchant', to: other.merchant }}, each merchant's results in a file of its own.`,
  )
}

const IS_DIGITS = (column: string) => `ltrim(${column}, '0123456789') = ''`

/** A spreadsheet takes `000123` for a number and saves `123`. Batch and row say which reference that was. */
function* restoreZeros(): Script<void> {
  yield* change(`
    UPDATE draft_row AS d SET reference = i.reference FROM instruction i
    WHERE i.batch_id = d.came_batch AND i.row_no = d.came_row AND i.reference <> d.reference
      AND ${IS_DIGITS('d.reference')} AND ${IS_DIGITS('i.reference')} AND ltrim(i.reference, '0') = ltrim(d.reference, '0')`)
}

/** A column sorted or pasted without its neighbours gives lines the reference of one row and the place of another. */
function* refuseDisagreeing(): Script<void> {
  yield* change(`
    INSERT INTO ${DRAFT_FAULT}
    SELECT d.row_no, d.line, 'result_reference', d.reference,
      'the reference is not that of the row which the line names (row ' || d.came_row || ' of batch ' || d.came_batch ||
        coalesce(' has the reference ' || i.reference, ' does not exist') || ')',
      'sort and paste whole lines only, and leave result_reference as it is; for an intact file, write the results of batch ' || d.came_batch || ' again'
    FROM draft_row d LEFT JOIN instruction i ON i.batch_id = d.came_batch AND i.row_no = d.came_row
    WHERE d.came_batch IS NOT NULL AND i.reference IS DISTINCT FROM d.reference
      AND NOT EXISTS (SELECT 1 FROM draft_fault f WHERE f.row_no = d.row_no AND ${IS_OF_REFERENCE})`)
}

/** Left out of its file because it asks for something else than the recorded row: as long as it still does, it is left out. */
function* leaveOutAgain({ nowMs: now }: DraftHeader): Script<void> {
  yield* change(
    `
    UPDATE draft_row AS d SET state = 'DUPLICATE', holds_reference = 0, duplicate_of = i.duplicate_of, completed_at = :now, reason = i.reason
    FROM instruction i
    WHERE d.state = 'READY' AND ${IS_LINE_OF} AND i.state = 'DUPLICATE' AND i.reason IS NOT NULL AND i.content = d.content`,
    { now },
  )
}

/**
 * The line of a duplicate is a line of the row that it repeats, under that row's reference: in a corrected file it has another one,
 * under which nothing was ever sent. What was repeated is never a duplicate itself.
 */
function* nameOriginals(): Script<void> {
  yield* change(`
    UPDATE draft_row AS d SET reference = p.reference, xtl_order_id = p.xtl_order_id, came_batch = p.batch_id, came_row = p.row_no
    FROM instruction i JOIN instruction p ON p.id = i.duplicate_of
    WHERE d.state <> 'DUPLICATE' AND ${IS_LINE_OF} AND i.state = 'DUPLICATE'`)
}

/** Whether line `d` is one of row `i`: its columns agree. */
const IS_LINE_OF = 'i.batch_id = d.came_batch AND i.row_no = d.came_row AND i.reference = d.reference'

const IS_OF_REFERENCE = "lower(f.column_name) IN ('reference', 'result_reference')"

/** After the rows that can be read have met what is recorded under their references. */
export function* meetLines(header: DraftHeader): Script<void> {
  yield* refuseReadOtherwise(header)
  yield* repeatUnread(header)
  if (!header.retry.includes('INVALID')) yield* repeatInvalid(header)
  yield* keepRunKeys()
  yield* change(`
    DELETE FROM draft_fault WHERE row_no IN (
      SELECT d.row_no FROM draft_row d JOIN instruction i ON i.id = d.duplicate_of
      WHERE d.state = 'DUPLICATE' AND (d.content IS NULL OR i.state = 'INVALID'))`)
  yield* refuseUnnamed()
  yield* refuseNew()
}

/** Whether line `d` cannot be read, and is one of a row `i` that would not run again anyway. */
const IS_UNREAD = `d.state = 'INVALID' AND d.came_batch IS NOT NULL AND i.account_id = :account AND i.reference = d.reference AND i.holds_reference = 1
      AND i.state NOT IN (${RETRIED}) AND NOT (i.state = 'DECLINED' AND :asks = 1)
      AND NOT EXISTS (SELECT 1 FROM draft_fault f WHERE f.row_no = d.row_no AND ${IS_OF_REFERENCE})`

function askingOf(header: DraftHeader) {
  return { account: header.accountId, asks: header.reattempt ? 1 : 0, ...retriedBy(header) }
}

/** What of an unread line can be read, and is not as recorded. */
const READ_OTHERWISE = `ltrim(
  CASE WHEN d.said_operation <> i.operation THEN ', operation' ELSE '' END ||
  CASE WHEN d.amount_minor IS NOT NULL AND d.amount_minor IS DISTINCT FROM i.amount_minor THEN ', amount' ELSE '' END ||
  CASE WHEN d.currency IS NOT NULL AND d.currency IS DISTINCT FROM i.currency THEN ', currency' ELSE '' END ||
  CASE WHEN d.said_card <> substr(i.card, 1, 11) THEN ', card' ELSE '' END, ', ')`

/**
 * Results have masked cards, so that no line of them can be read whole: what it asks for may be another thing all the same. Its other
 * faults are not shown: with the whole number it would not be sent either.
 */
function* refuseReadOtherwise(header: DraftHeader): Script<void> {
  const differing = `FROM draft_row d, instruction i WHERE ${IS_UNREAD} AND ${READ_OTHERWISE} <> ''`
  yield* change(`DELETE FROM draft_fault WHERE row_no IN (SELECT d.row_no ${differing})`, askingOf(header))
  yield* change(
    `
    INSERT INTO ${DRAFT_FAULT}
    SELECT d.row_no, d.line, 'reference', coalesce(d.given, d.reference), ${OTHER_CONTENT.problem(READ_OTHERWISE)}, ${OTHER_CONTENT.remedy}
    ${differing}`,
    askingOf(header),
  )
}

/**
 * Lines that cannot be read any more, of rows that would not run again anyway: what a spreadsheet did to their cells is of
 * no consequence. A line that can be read and says something else is not forgiven: it may be meant.
 */
function* repeatUnread(header: DraftHeader): Script<void> {
  yield* change(
    `
    UPDATE draft_row AS d SET state = 'DUPLICATE', holds_reference = 0, duplicate_of = i.id, completed_at = :now
    FROM instruction i
    WHERE ${IS_UNREAD}`,
    { now: header.nowMs, ...askingOf(header) },
  )
}

/** Rows that took no reference the first time run if that was asked for, and only then. */
function* repeatInvalid({ nowMs: now }: DraftHeader): Script<void> {
  yield* change(
    `
    UPDATE draft_row AS d SET state = 'DUPLICATE', holds_reference = 0, duplicate_of = i.id, completed_at = :now
    FROM instruction i
    WHERE d.state IN ('READY', 'INVALID') AND d.supersedes IS NULL AND i.batch_id = d.came_batch AND i.row_no = d.came_row AND i.state = 'INVALID'`,
    { now },
  )
}

/** The key stands in front of the reference already. Without it the next month's row would be asked about as a look-alike. */
function* keepRunKeys(): Script<void> {
  yield* change(`
    UPDATE draft_row AS d SET run_key = i.run_key FROM instruction i
    WHERE d.state = 'READY' AND i.reference = d.reference
      AND (i.id = d.supersedes OR (d.supersedes IS NULL AND i.batch_id = d.came_batch AND i.row_no = d.came_row))`)
}

/**
 * Rows whose own reference was bad stand under one that was made up. Mended in a file of rejects they run under their own,
 * and would run once more from here.
 */
function* refuseUnnamed(): Script<void> {
  yield* change(`
    INSERT INTO ${DRAFT_FAULT}
    SELECT d.row_no, d.line, 'result_reference', d.reference, 'the row was recorded without its reference, which was bad',
      'correct its reference and hand the row in as a new instruction, in a file without the columns result_…'
    FROM draft_row d JOIN instruction i ON i.batch_id = d.came_batch AND i.row_no = d.came_row
    WHERE d.state <> 'DUPLICATE' AND i.state = 'INVALID' AND i.made = 1 AND i.reference LIKE '%${UNREAD_REFERENCE}'`)
}

function* refuseNew(): Script<void> {
  yield* change(`
    INSERT INTO ${DRAFT_FAULT}
    SELECT d.row_no, d.line, 'result_reference', d.reference, 'the line is not a result of this ledger',
      'put new instructions into a file of their own: a results file repeats or retries, it adds nothing'
    FROM draft_row d
    WHERE d.state = 'READY' AND d.supersedes IS NULL AND d.declined_row IS NULL AND NOT EXISTS (
      SELECT 1 FROM instruction i WHERE i.batch_id = d.came_batch AND i.row_no = d.came_row AND i.state = 'INVALID')
      AND NOT EXISTS (SELECT 1 FROM draft_fault f WHERE f.row_no = d.row_no)`)
}

/** A row that was to run again, although a late answer said that it was executed. */
export function* refuseExecuted(header: DraftHeader): Script<void> {
  yield* change(
    `
    INSERT INTO ${DRAFT_FAULT}
    SELECT d.row_no, d.line, 'result_reference', d.reference, 'it may have been executed after all: ' || e.warning,
      'look it up at the gateway; take the row out, or give it a new reference if it is to be executed once more'
    FROM draft_row d JOIN instruction i ON i.id = d.duplicate_of JOIN instruction e ON ${EXECUTED}
    WHERE d.state = 'DUPLICATE' AND i.state IN (${RETRIED}) ORDER BY d.row_no, e.id`,
    retriedBy(header),
  )
}

/**
 * Bad lines that cannot be matched to a row. Recorded as INVALID under whatever reference they have now, they could
 * come back and run as something new, although that very instruction may have been executed: such a file is refused whole.
 */
export function* countUnidentified({ fedBack, accountId }: DraftHeader): Script<number> {
  if (!fedBack) return 0
  return yield* count(
    `
    SELECT count(*) AS n FROM draft_row d WHERE d.state = 'INVALID'
      AND NOT EXISTS (SELECT 1 FROM instruction h WHERE h.account_id = :account AND h.reference = d.reference AND h.holds_reference = 1)
      AND NOT EXISTS (SELECT 1 FROM instruction i WHERE i.batch_id = d.came_batch AND i.row_no = d.came_row AND i.reference = d.reference)`,
    { account: accountId },
  )
}

/** After all rows have met what is recorded: what runs again and what does not, by the state of the row it is. */
export function* countAgain({ fedBack }: DraftHeader): Script<Again> {
  const repeated = yield* all<Again['repeated'][number]>(`
    SELECT i.state, count(*) AS count FROM draft_row d JOIN instruction i ON i.id = d.duplicate_of
    WHERE d.state = 'DUPLICATE' GROUP BY 1 ORDER BY 1`)
  const differ = "SELECT count(*) AS n FROM draft_row WHERE duplicate_of IS NOT NULL AND state = 'DUPLICATE' AND reason"
  const changed = yield* count(`${differ} NOT LIKE '${OTHER_CELLS}%'`)
  const otherCells = yield* count(`${differ} LIKE '${OTHER_CELLS}%'`)
  const retried = yield* all<Again['retried'][number]>(`
    SELECT coalesce(i.state, 'INVALID') AS state, count(*) AS count
    FROM draft_row d LEFT JOIN instruction i ON i.id = coalesce(d.supersedes, d.declined_row)
    WHERE d.state = 'READY' AND ${fedBack ? 'TRUE' : `(${RUNS_AGAIN})`} GROUP BY 1 ORDER BY 1`)
  const notAsked = yield* all<Again['notAsked'][number]>(
    "SELECT not_asked AS why, count(*) AS count FROM draft_row WHERE duplicate_of IS NOT NULL AND state = 'DUPLICATE' AND not_asked IS NOT NULL GROUP BY 1 ORDER BY 1",
  )
  return { repeated, retried, changed, otherCells, notAsked }
}
