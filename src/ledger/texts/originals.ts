// A row that stands for another one: what a duplicate repeats, and what runs in the place of a row that was submitted again.

/** Whether the row ended and a retry has taken its reference over. */
export const isSubmittedAgain = (row: 'd' | 'i') =>
  `(${row}.holds_reference = 0 AND ${row}.state IN ('FAILED', 'CANCELLED'))`

/**
 * To a duplicate row: row `p`, which it repeated when it came, and row `o`, which stands for that instruction now. They differ
 * where a retry has taken the reference over. An INVALID row never held its reference. To a row that was submitted again: `p` is
 * that row itself.
 */
export function originalOf(row: 'd' | 'i', join: 'JOIN' | 'LEFT JOIN'): string {
  return `${join} instruction p ON p.id = CASE WHEN ${isSubmittedAgain(row)} THEN ${row}.id ELSE ${row}.duplicate_of END ${join} instruction o ON o.id = CASE
    WHEN p.holds_reference = 1 OR p.state = 'INVALID' THEN p.id
    ELSE coalesce((SELECT h.id FROM instruction h
      WHERE h.account_id = p.account_id AND h.reference = p.reference AND h.holds_reference = 1), p.id) END`
}
