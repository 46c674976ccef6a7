// The log of what people did, read from the record by time: acts, files that were recorded, doubts that were resolved.

import type { ActDetails, LogEntry, LogPosition } from '../../../domain/acts.ts'
import type { BatchId } from '../../../domain/ids.ts'
import type { Pages } from '../../../domain/pages.ts'
import type { Engine } from '../engine.ts'
import { pagesOf, ROWS_PER_PAGE } from '../pages.ts'
import { toActor } from '../record/acts.ts'
import { all, type Script } from '../script.ts'

/** Entries of one moment come in the order of their kinds, and of one kind in that of their ids. */
const after = (at: string, kind: number, id: string) =>
  `${at} >= :atMs AND (${at}, ${kind}, ${id}) > (:atMs, :kind, :id)`

/** `of`: what each of the three must be of besides. */
const entries = (of: { readonly act: string; readonly row: string; readonly batch: string }) => `
    SELECT a.at AS "atMs", 0 AS kind, a.id, a.what, a.by, a.actor_id, a.batch_id AS "batchId", a.account_id,
      NULL AS reference, NULL AS "rowNo", NULL AS attempt, NULL AS "from", NULL AS "to", a.reason, a.details
    FROM act a WHERE ${of.act} ${after('a.at', 0, 'a.id')}
    UNION ALL
    SELECT m.at, 1, m.id, 'resolve', m.by, m.actor_id, i.batch_id, i.account_id,
      i.reference, i.row_no, m.attempt, m.from_state, m.to_state, m.reason, NULL
    FROM move m JOIN instruction i ON i.id = m.row_id WHERE m.cause = 'resolve' AND ${of.row} ${after('m.at', 1, 'm.id')}
    UNION ALL
    SELECT b.created_at, 2, b.rowid, 'submit', b.created_by, b.actor_id, b.id, b.account_id,
      NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM batch b WHERE b.stage = 'open' AND b.source = 'file' AND ${of.batch} ${after('b.created_at', 2, 'b.rowid')}
    ORDER BY 1, 2, 3 LIMIT :most`

const page = (ofWhat: Parameters<typeof entries>[0]) => `
    SELECT e.*, (SELECT parts FROM actor WHERE id = e.actor_id) AS parts,
      (SELECT name FROM account WHERE id = e.account_id) AS merchant,
      b.file_name AS file, b.file_sha256 AS sha256, b.rows, b.run_key, b.reading
    FROM (${entries(ofWhat)}) AS e LEFT JOIN batch b ON e.kind = 2 AND b.id = e."batchId" ORDER BY e."atMs", e.kind, e.id`

const PAGE = page({ act: '', row: '', batch: '' })
const PAGE_OF_BATCH = page({
  act: 'a.batch_id = :batchId AND',
  row: 'i.batch_id = :batchId AND',
  batch: 'b.id = :batchId AND',
})

interface Found extends Omit<LogEntry, 'actor' | 'details' | 'position'>, SubmittedFile {
  readonly kind: number
  readonly id: number
  readonly actor_id: number | null
  readonly account_id: number | null
  readonly parts: string | null
  readonly details: string | null
}

interface SubmittedFile {
  readonly file: string
  readonly sha256: string
  readonly rows: number
  readonly run_key: string | null
  readonly reading: string
}

/** No transaction is left open while a person reads, and the ledger's log can be cleared. */
export function readLog(engine: Engine, sinceMs: number | null): Pages<LogEntry> {
  return pagesOf(engine, (last: Found | null) => foundAfter(last ?? beginningOf(sinceMs), ROWS_PER_PAGE), toEntry)
}

export function* logAfter(
  sinceMs: number | null,
  after: LogPosition | null,
  most: number,
  batchId: BatchId | null = null,
): Script<LogEntry[]> {
  const from = after ?? beginningOf(sinceMs)
  return (yield* batchId === null ? foundAfter(from, most) : foundOf(batchId, from, most)).map(toEntry)
}

function beginningOf(sinceMs: number | null): LogPosition {
  return { atMs: sinceMs ?? 0, kind: -1, id: 0 }
}

function foundAfter({ atMs, kind, id }: LogPosition, most: number): Script<Found[]> {
  return all<Found>(PAGE, { atMs, kind, id, most })
}

function foundOf(batchId: BatchId, { atMs, kind, id }: LogPosition, most: number): Script<Found[]> {
  return all<Found>(PAGE_OF_BATCH, { batchId, atMs, kind, id, most })
}

function toEntry(found: Found): LogEntry {
  const {
    kind,
    id,
    actor_id: _,
    account_id: __,
    parts,
    details,
    file,
    sha256,
    rows,
    run_key,
    reading,
    ...entry
  } = found
  const told = kind === 2 ? { file, sha256, rows, run_key, reading } : details === null ? null : JSON.parse(details)
  return {
    ...entry,
    position: { atMs: entry.atMs, kind, id },
    actor: toActor(parts),
    details: told as ActDetails | null,
  }
}
