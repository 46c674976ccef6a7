// A row that stands for another one: what a duplicate repeats, and what runs in the place of a row that was submitted again.

/** When row `i` of batch `b` was sent, or else recorded. */
export const recordedAt = (row: 'i' | 'o') => `coalesce(${row}.sent_at, ${row}.arrived_at, b.created_at)`

/** Whether the row ended and a retry has taken its reference over. */
export const isSubmittedAgain = (row: 'd' | 'i') =>
  `(${row}.holds_reference = 0 AND ${row}.state IN ('FAILED', 'CANCELLED'))`

/**
 * To a duplicate row: row `p`, which it repeated when it came, and row `o`, which stands for that instruction now. They differ
 * where a retry has taken the reference over, and where a bad row, which never held its reference, came mended under it later. To a row
 * that was submitted again: `p` is that row itself.
 */
export function originalOf(row: 'd' | 'i', join: 'JOIN' | 'LEFT JOIN'): string {
  return `${join} instruction p ON p.id = CASE WHEN ${isSubmittedAgain(row)} THEN ${row}.id ELSE ${row}.duplicate_of END ${join} instruction o ON o.id = CASE
    WHEN p.holds_reference = 1 THEN p.id
    ELSE coalesce((SELECT h.id FROM instruction h JOIN batch hb ON hb.id = h.batch_id AND hb.stage = 'open'
      WHERE h.account_id = p.account_id AND h.reference = p.reference AND h.holds_reference = 1 AND (p.state <> 'INVALID' OR h.id > p.id)), p.id) END`
}
