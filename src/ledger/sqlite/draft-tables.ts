// The tables of a draft, which `texts/draft.ts` explains: temporary, so that only this connection sees them.

import type { DatabaseSync } from 'node:sqlite'
import { IS_LIKE, RUNS_AGAIN } from '../texts/review/draft-rows.ts'

const DROP = ['draft_row', 'draft_fault', 'draft_order', 'draft_repeat']
  .map((table) => `DROP TABLE IF EXISTS temp.${table};`)
  .join(' ')

const TABLES = `
  CREATE TEMP TABLE draft_row (
    row_no INTEGER PRIMARY KEY, line INTEGER, cells TEXT, state TEXT, reference TEXT, made INTEGER NOT NULL DEFAULT 0, given TEXT,
    holds_reference INTEGER, run_key TEXT,
    operation TEXT, amount_minor INTEGER, currency TEXT, order_id TEXT, order_key TEXT, vault_id TEXT, card TEXT, xtl_order_id TEXT,
    save_card INTEGER, details TEXT, execute_at INTEGER, content TEXT, lookalike TEXT, due_at INTEGER, attempt INTEGER,
    ever_in_doubt INTEGER NOT NULL DEFAULT 0, completed_at INTEGER, reason TEXT, duplicate_of INTEGER, supersedes INTEGER,
    came_batch TEXT, came_row INTEGER, like_row INTEGER, like_recorded INTEGER, lost_row INTEGER,
    earlier INTEGER, changed_row INTEGER, reattempt_of TEXT, declined_row INTEGER, bad_row INTEGER, not_asked TEXT);
  CREATE TEMP TABLE draft_fault (
    id INTEGER PRIMARY KEY, row_no INTEGER, line INTEGER, column_name TEXT, value TEXT, problem TEXT, remedy TEXT);
  CREATE TEMP TABLE draft_order (
    order_key TEXT PRIMARY KEY, refunds INTEGER, sold_minor INTEGER, sold_currency TEXT, sale_row INTEGER,
    refunded_minor INTEGER, refunded_currency TEXT, refund_row INTEGER) WITHOUT ROWID;
  CREATE TEMP TABLE draft_repeat (
    row_no INTEGER PRIMARY KEY, before_minor INTEGER, before_currency TEXT, before_row INTEGER, recorded_row INTEGER);
`

/** Of few rows, from the beginning: what asks for those rows reads no others. */
const INDEXES_OF_FEW = `
  CREATE INDEX temp.draft_earlier ON draft_row (earlier) WHERE earlier IS NOT NULL;
  CREATE INDEX temp.draft_duplicate ON draft_row (duplicate_of) WHERE duplicate_of IS NOT NULL;
  CREATE INDEX temp.draft_again ON draft_row (row_no) WHERE ${RUNS_AGAIN.replaceAll('d.', '')};
  CREATE INDEX temp.draft_like ON draft_row (row_no) WHERE ${IS_LIKE.replaceAll('d.', '')};`

/**
 * Once all rows are there. Without that of faults every bad row would be looked up among all of them. That of xtl_order_ids has them
 * as they are as well: whoever groups by it reads no rows then, which lie in another order.
 */
const INDEXES = `
  CREATE INDEX IF NOT EXISTS temp.draft_reference ON draft_row (reference);
  CREATE INDEX IF NOT EXISTS temp.draft_lookalike ON draft_row (lookalike, row_no);
  CREATE INDEX IF NOT EXISTS temp.draft_xtl ON draft_row (ltrim(xtl_order_id, '0'), xtl_order_id) WHERE xtl_order_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS temp.draft_fault_row ON draft_fault (row_no);`

export function makeDraftTables(db: DatabaseSync): void {
  db.exec(DROP)
  db.exec(TABLES)
  db.exec(INDEXES_OF_FEW)
}

export function indexDraftTables(db: DatabaseSync): void {
  db.exec(INDEXES)
}

export function dropDraftTables(db: DatabaseSync): void {
  db.exec(DROP)
}
