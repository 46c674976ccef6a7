// The tables of a draft: temporary, so that only their connection sees them. `draft-rows.ts` says what is in them.

import { change, type Script } from '../script.ts'
import { IS_LIKE, RUNS_AGAIN } from './draft-rows.ts'

const TABLES = [
  `CREATE TEMP TABLE draft_row (
    row_no @whole PRIMARY KEY, line @whole, cells @text, state @text, reference @text, made @whole NOT NULL DEFAULT 0, given @text,
    holds_reference @whole, run_key @text,
    operation @text, amount_minor @whole, currency @text, order_id @text, order_key @text, vault_id @text, card @text, xtl_order_id @text,
    save_card @whole, details @text, execute_at @whole, expires_at @whole, content @text, lookalike @text, due_at @whole, attempt @whole,
    ever_in_doubt @whole NOT NULL DEFAULT 0, completed_at @whole, reason @text, duplicate_of @whole, supersedes @whole,
    came_batch @text, came_row @whole, like_row @whole, like_recorded @whole, lost_row @whole,
     earlier @whole, changed_row @whole, reattempt_of @text, declined_row @whole, bad_row @whole, not_asked @text, beside @text,
     accepted_limit @whole, holder @text, said_operation @text, said_card @text)`,
  `CREATE TEMP TABLE draft_fault (
    id @counting, row_no @whole, line @whole, column_name @text, value @text, problem @text, remedy @text)`,
  `CREATE TEMP TABLE draft_order (
    order_key @text PRIMARY KEY, rows @whole, captures @whole,
    authorized_minor @whole, authorized_currency @text, authorized_row @whole, authorized_unsure @whole,
    sold_minor @whole, sold_currency @text, sold_row @whole, sold_unsure @whole,
    captured_minor @whole, captured_currency @text, captured_row @whole, open_minor @whole, open_currency @text, open_row @whole,
    refunded_minor @whole, refunded_currency @text, refunded_row @whole,
    voided_minor @whole, voided_currency @text, voided_row @whole, whole_void @whole, unsure_capture @whole, unsure_refund @whole) @without_rowid`,
  'CREATE TEMP TABLE draft_of_order (order_key @text, row_no @whole, PRIMARY KEY (order_key, row_no)) @without_rowid',
  `CREATE TEMP TABLE draft_question (
    row_no @whole PRIMARY KEY, why @text, before_minor @whole, before_currency @text, before_row @whole, recorded_row @whole)`,
  'CREATE TEMP TABLE draft_target (row_no @whole PRIMARY KEY, why @text, problem @text, before_row @whole, recorded_row @whole)',
  // Of few rows, from the beginning: what asks for those rows reads no others.
  'CREATE INDEX @of_temp draft_earlier ON draft_row (earlier) WHERE earlier IS NOT NULL',
  'CREATE INDEX @of_temp draft_duplicate ON draft_row (duplicate_of) WHERE duplicate_of IS NOT NULL',
  `CREATE INDEX @of_temp draft_again ON draft_row (row_no) WHERE ${RUNS_AGAIN.replaceAll('d.', '')}`,
  `CREATE INDEX @of_temp draft_like ON draft_row (row_no) WHERE ${IS_LIKE.replaceAll('d.', '')}`,
]

/**
 * Once all rows are there. Without that of faults every bad row would be looked up among all of them. That of xtl_order_ids has them
 * as they are as well: whoever groups by it reads no rows then, which lie in another order.
 */
const INDEXES = [
  'CREATE INDEX IF NOT EXISTS @of_temp draft_reference ON draft_row (reference)',
  'CREATE INDEX IF NOT EXISTS @of_temp draft_lookalike ON draft_row (lookalike, row_no)',
  `CREATE INDEX IF NOT EXISTS @of_temp draft_xtl ON draft_row (ltrim(xtl_order_id, '0'), xtl_order_id) WHERE xtl_order_id IS NOT NULL`,
  'CREATE INDEX IF NOT EXISTS @of_temp draft_fault_row ON draft_fault (row_no)',
]

export const TABLES_OF_DRAFTS = [
  'draft_row',
  'draft_fault',
  'draft_order',
  'draft_of_order',
  'draft_question',
  'draft_target',
]

export function* makeDraftTables(): Script<void> {
  for (const text of TABLES) yield* change(text)
}

export function* indexDraftTables(): Script<void> {
  for (const text of INDEXES) yield* change(text)
}

/** Where the connection is used again. */
export function* dropDraftTables(): Script<void> {
  for (const name of TABLES_OF_DRAFTS) yield* change(`DROP TABLE IF EXISTS @temp ${name}`)
}
