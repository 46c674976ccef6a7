// The history of a reference: how it came, and every move of it since.

import type { DatabaseSync } from 'node:sqlite'
import type { HistoryMove } from '../../domain/reconciliation.ts'
import { toActor } from './acts.ts'
import { findRows } from './found.ts'
import { prepareOddReferences } from './odd-references.ts'

type StoredMove = Omit<HistoryMove, 'actor'> & { readonly parts: string | null }

export function historyOf(db: DatabaseSync, reference: string): HistoryMove[] {
  const arrived = db.prepare(`
      SELECT i.batch_id AS batchId, i.row_no AS rowNo, 0 AS attempt, NULL AS "from",
        CASE WHEN i.state IN ('INVALID', 'DUPLICATE') THEN i.state ELSE 'READY' END AS "to",
        'recorded' AS cause, coalesce(i.arrived_at, b.created_at) AS atMs, b.created_by AS "by",
        (SELECT parts FROM actor WHERE id = b.actor_id) AS parts, NULL AS httpStatus, NULL AS answerText,
        CASE WHEN i.state IN ('INVALID', 'DUPLICATE') THEN i.reason WHEN i.reference <> ?1 THEN 'asked for once more, as ' || i.reference || ' (now ' || i.state || ')'
          WHEN i.reattempt_of IS NOT NULL THEN 'asks once more for ' || i.reattempt_of END AS reason,
        i.id AS rowId, CASE WHEN i.reference = ?1 THEN 1 ELSE 0 END AS isOwn
      FROM instruction i JOIN batch b ON b.id = i.batch_id
      WHERE (i.reference = ?1 OR (i.reattempt_of = ?1 AND i.account_id IN (SELECT id FROM account))) AND b.stage = 'open' ORDER BY i.id`)
  const arrivals = findRows<StoredMove & { rowId: number; isOwn: number }>(arrived, reference)
  const odd = arrivals.length === 0 ? prepareOddReferences(db)(reference, null) : null
  if (odd !== null) return historyOf(db, odd)
  const moves = db.prepare(`
    SELECT attempt, from_state AS "from", to_state AS "to", cause, at AS atMs, by,
      (SELECT parts FROM actor WHERE id = actor_id) AS parts, http_status AS httpStatus, answer AS answerText, reason
    FROM move WHERE row_id = ? ORDER BY id`)
  return arrivals.flatMap(({ rowId, isOwn, ...arrival }) => {
    const { batchId, rowNo } = arrival
    const later = isOwn === 1 ? findRows<Omit<StoredMove, 'batchId' | 'rowNo'>>(moves, rowId) : []
    const made = [arrival, ...later.map((move) => ({ batchId, rowNo, ...move }))]
    return made.map(({ parts, ...move }) => ({ ...move, actor: toActor(parts) }))
  })
}
