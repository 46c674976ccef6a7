// The tables of a draft, as the texts know them. Each engine makes them, and fills `draft_row` and `draft_fault` with what was read:
// - draft_row: one row of a file;
// - draft_fault: one thing wrong with a row, in the order of `id`, which the engine gives;
// - draft_order: an order that the draft captures, voids or refunds, and what is recorded of it;
// - draft_of_order: a row of such an order that is held against what comes before it;
// - draft_question: such a row that a person is asked about;
// - draft_target: a row that a person is asked about for what is recorded of its target, with what it does, in words.

import type { DraftHeader, RetryStatus } from '../../../domain/draft.ts'

/** For INSERT. */
export const DRAFT_FAULT = 'draft_fault (row_no, line, column_name, value, problem, remedy)'

/**
 * The states that run again, inside `IN (…)`: always as many, because PostgreSQL takes no empty list. The parameters are those of
 * `retriedBy`.
 */
export const RETRIED = ':retried, :retriedAlso, :retriedAsWell'

/** No state is called `''`. */
export function retriedBy({ retry }: Pick<DraftHeader, 'retry'>) {
  const [retried = '', retriedAlso = '', retriedAsWell = ''] = [...new Set<RetryStatus>(retry)]
  return { retried, retriedAlso, retriedAsWell }
}

/** Whether a row `d` is a recorded one that runs again. */
export const RUNS_AGAIN = 'd.supersedes IS NOT NULL OR d.declined_row IS NOT NULL'

/** Of a row `d` whose reference is that of the recorded row `i`, and which asks for something else. */
export const OTHER_CONTENT = {
  problem: (differences: string) =>
    `'the reference is recorded with other content: ' || ${differences} || ' not the same (row ' || i.row_no || ' of batch ' || i.batch_id || ', ' || CASE i.state WHEN 'READY' THEN 'PENDING' ELSE i.state END || ')'`,
  remedy: `CASE WHEN i.operation IN ('VAULT_CREATE', 'VAULT_UPDATE') AND i.operation IS DISTINCT FROM coalesce(d.operation, d.said_operation)
      THEN 'that row stored a card and charged nothing: take its result_vault_id as customer_vault_id in a list of your own, without the columns result_…'
      WHEN i.state = 'READY' THEN 'the recorded one is not sent yet: to have this one in its place, cancel or reject that batch first, or cancel the row by its reference, and then use a new reference'
      ELSE 'use a new reference only for a new instruction: it is sent beside the recorded one, not in its place' END`,
}

/** Whether a row `d` is to be asked about. */
export const IS_LIKE =
  'd.like_row IS NOT NULL OR d.like_recorded IS NOT NULL OR d.changed_row IS NOT NULL OR d.lost_row IS NOT NULL'
