// The log of what people did, read from the record by time: acts, files that were recorded, doubts that were resolved.

import type { DatabaseSync } from 'node:sqlite'
import type { ActDetails, LogEntry } from '../../domain/acts.ts'
import type { Pages } from '../../domain/pages.ts'
import { toActor } from './acts.ts'
import { findRows } from './found.ts'
import { pagesOf, ROWS_PER_PAGE } from './pages.ts'

/** Entries of one moment come in the order of their kinds, and of one kind in that of their ids. */
const after = (at: string, kind: number, id: string) => `${at} >= ?1 AND (${at}, ${kind}, ${id}) > (?1, ?2, ?3)`

const PAGE = `
  SELECT a.at AS atMs, 0 AS kind, a.id AS id, a.what, a.by, a.actor_id, a.batch_id AS batchId, a.account_id,
    NULL AS reference, NULL AS rowNo, NULL AS attempt, NULL AS "from", NULL AS "to", a.reason, a.details
  FROM act a WHERE ${after('a.at', 0, 'a.id')}
  UNION ALL
  SELECT m.at, 1, m.id, 'resolve', m.by, m.actor_id, i.batch_id, i.account_id,
    i.reference, i.row_no, m.attempt, m.from_state, m.to_state, m.reason, NULL
  FROM move m JOIN instruction i ON i.id = m.row_id WHERE m.cause = 'resolve' AND ${after('m.at', 1, 'm.id')}
  UNION ALL
  SELECT b.created_at, 2, b.rowid, 'submit', b.created_by, b.actor_id, b.id, b.account_id,
    NULL, NULL, NULL, NULL, NULL, NULL,
    json_object('file', b.file_name, 'sha256', b.file_sha256, 'rows', b.rows, 'run_key', b.run_key, 'reading', b.reading)
  FROM batch b WHERE b.stage = 'open' AND b.source = 'file' AND ${after('b.created_at', 2, 'b.rowid')}
  ORDER BY 1, 2, 3 LIMIT ${ROWS_PER_PAGE}`

interface Found extends Omit<LogEntry, 'actor' | 'details'> {
  readonly kind: number
  readonly id: number
  readonly parts: string | null
  readonly details: string | null
}

/** No transaction is left open while a person reads, and the ledger's log can be cleared. */
export function readLog(db: DatabaseSync, sinceMs: number | null): Pages<LogEntry> {
  const page = db.prepare(`
    SELECT atMs, kind, p.id, what, by, batchId, reference, rowNo, attempt, "from", "to", reason, details,
      (SELECT parts FROM actor WHERE id = p.actor_id) AS parts, (SELECT name FROM account WHERE id = p.account_id) AS merchant
    FROM (${PAGE}) p ORDER BY atMs, kind, p.id`)
  const read = (last: Found | null) =>
    findRows<Found>(page, last?.atMs ?? sinceMs ?? 0, last?.kind ?? -1, last?.id ?? 0)
  return pagesOf(read, ({ kind: _, id: __, parts, details, ...entry }) => ({
    ...entry,
    actor: toActor(parts),
    details: details === null ? null : (JSON.parse(details) as ActDetails),
  }))
}
