// Whether the record agrees with itself: sums with rows, rows with their moves, and all of it with the chain. Reads row by
// row in one read transaction, holds up no writer, and changes nothing.

import type { DatabaseSync } from 'node:sqlite'
import type { Disagreement } from '../../ports/ledger/audit.ts'
import { digestOf, type Recorded } from '../texts/record/recorded.ts'
import { auditChain, comparedWith } from './audit-chain.ts'
import { auditRows } from './audit-rows.ts'
import { schemaDifferences } from './copies/foreign-schema.ts'
import { prepareRunning } from './run-script.ts'

/** `head`: one that was written down earlier, elsewhere; null: none is to be compared. */
export function* audit(db: DatabaseSync, head: string | null): Iterable<Disagreement> {
  db.exec('BEGIN')
  yield* pages(db)
  yield* schema(db)
  yield* batches(db)
  yield* submitted(db)
  yield* approvals(db)
  yield* proposals(db)
  yield* tallies(db)
  yield* auditRows(db)
  yield* transactions(db)
  yield* gaps(db)
  yield* auditChain(db)
  if (head !== null) yield* comparedWith(db, head)
}

/** Indexes are held against their tables: a guard that is asked of an index is as good as the index. */
function* pages(db: DatabaseSync): Iterable<Disagreement> {
  for (const { integrity_check: found } of db.prepare('PRAGMA integrity_check(20)').all()) {
    if (found !== 'ok')
      yield {
        where: 'pages',
        means: `${String(found).replaceAll('\n', ' ')}. The ledger is damaged: restore the newest backup`,
      }
  }
}

function* schema(db: DatabaseSync): Iterable<Disagreement> {
  for (const { type, name, how } of schemaDifferences(db)) {
    const means = {
      missing: 'it is missing. What it guards against, a second sending among them, is not guarded',
      foreign: 'it was not made by this program. The person who made it could have changed anything here',
      other: 'it has another form than this program gives it. What is read from it may not be true',
    }[how]
    yield { where: `${type} ${name}`, means }
  }
}

function* batches(db: DatabaseSync): Iterable<Disagreement> {
  const found = db.prepare(`
    SELECT b.id, b.rows, (SELECT count(*) FROM instruction i WHERE i.batch_id = b.id) AS counted
    FROM batch b WHERE b.stage = 'open' AND b.rows <> counted`)
  for (const { id, rows: said, counted } of found.iterate()) {
    const means = `it was recorded with ${said} rows and has ${counted}. A row that was lost would be sent again with its file`
    yield { where: `batch ${id}`, means }
  }
  const strays = db.prepare(`
    SELECT m.id FROM move m WHERE NOT EXISTS (SELECT 1 FROM instruction i WHERE i.id = m.row_id)`)
  for (const { id } of strays.iterate()) {
    yield {
      where: `move ${id}`,
      means: 'it is of no row. The row was removed, or the move was put in: what was sent may not be known',
    }
  }
}

/** Everything that was submitted still has its digest, and there is nothing without one. */
function* submitted(db: DatabaseSync): Iterable<Disagreement> {
  const run = prepareRunning(db)
  const kept = db.prepare('SELECT * FROM recorded ORDER BY batch_id, first_row')
  for (const one of kept.iterate() as Iterable<unknown> as Iterable<Recorded>) {
    const { batch_id: batch, first_row: first, last_row: last, digest } = one
    if (run(digestOf(batch, first, last)) === digest) continue
    yield {
      where: first === last && first > 0 ? `row ${first} of batch ${batch}` : `batch ${batch}`,
      means:
        'it is not what was submitted: a reference, an amount, a target, or where it came from changed since. Pause it, and compare it with its file and with a backup',
    }
  }
  const planted = db.prepare(`
    SELECT b.id AS batch, i.row_no AS row, i.reference FROM batch b LEFT JOIN instruction i ON i.batch_id = b.id
    WHERE b.stage = 'open' AND coalesce((
      SELECT r.last_row FROM recorded r WHERE r.batch_id = b.id AND r.first_row <= coalesce(i.row_no, 0)
      ORDER BY r.first_row DESC LIMIT 1), -1) < coalesce(i.row_no, 0)`)
  for (const { batch, row, reference } of planted.iterate()) {
    yield {
      where: row === null ? `batch ${batch}` : `${reference} (row ${row} of batch ${batch})`,
      means: 'it was never submitted: it was put in by other means. It would be sent: pause its batch',
    }
  }
}

/** What a batch needs and has is what acts, which the chain binds, say of it. */
function* approvals(db: DatabaseSync): Iterable<Disagreement> {
  const batches = db.prepare(`
    SELECT b.id FROM batch b WHERE b.stage = 'open' AND (
      b.approvals_given <> (SELECT count(*) FROM approval a WHERE a.batch_id = b.id)
      OR b.approvals_needed <> coalesce((SELECT max(json_extract(w.details, '$.needed')) FROM act w
        WHERE w.batch_id = b.id AND w.what = 'await-approval'), 0))`)
  for (const { id } of batches.iterate()) {
    yield {
      where: `approvals of batch ${id}`,
      means:
        'how many it needs or has is not what was recorded. It may be sent without anybody having approved it: pause it',
    }
  }
  const given = db.prepare(`
    SELECT a.batch_id AS batch, a.identity FROM approval a WHERE NOT EXISTS (
      SELECT 1 FROM act w WHERE w.batch_id = a.batch_id AND w.what = 'approve' AND w.actor_id = a.actor_id
        AND json_extract(w.details, '$.digest') = a.digest)`)
  for (const { batch, identity } of given.iterate()) {
    yield {
      where: `approval of batch ${batch} by ${identity}`,
      means: 'nobody gave it: it was put in by other means. Pause the batch',
    }
  }
}

const SAME_ROW = `json_extract(e.details, '$.row') = json_extract(w.details, '$.row')
  AND json_extract(e.details, '$.attempt') = json_extract(w.details, '$.attempt')`
const ENDS_PROPOSAL = `e.what IN ('refuse-send-again', 'confirm-send-again', 'lapse-send-again') AND ${SAME_ROW}`

/** Whoever confirms one that nobody made would have the row sent again by themselves. */
function* proposals(db: DatabaseSync): Iterable<Disagreement> {
  const planted = db.prepare(`
    SELECT i.batch_id AS batch, i.row_no AS row, i.reference, p.by FROM proposal p JOIN instruction i ON i.id = p.row_id
    WHERE p.batch_id <> i.batch_id OR NOT EXISTS (
      SELECT 1 FROM act w WHERE w.batch_id = p.batch_id AND w.what = 'propose-send-again'
        AND w.actor_id = p.actor_id AND w.by = p.by AND w.reason = p.reason AND w.at = p.at
        AND json_extract(w.details, '$.row') = i.row_no AND json_extract(w.details, '$.attempt') = p.attempt
        AND NOT EXISTS (SELECT 1 FROM act e WHERE e.batch_id = w.batch_id AND e.id > w.id AND ${ENDS_PROPOSAL}))`)
  for (const { batch, row, reference, by } of planted.iterate()) {
    yield {
      where: `proposal of ${by} to send ${reference} (row ${row} of batch ${batch}) again`,
      means: 'nobody made it: it was put in by other means. Refuse it',
    }
  }
  const alone = db.prepare(`
    SELECT e.batch_id AS batch, e.by, json_extract(e.details, '$.row') AS row FROM act e
    WHERE e.what = 'confirm-send-again' AND NOT EXISTS (
      SELECT 1 FROM act w WHERE w.batch_id = e.batch_id AND w.what = 'propose-send-again' AND w.id < e.id AND ${SAME_ROW})`)
  for (const { batch, by, row } of alone.iterate()) {
    yield {
      where: `row ${row} of batch ${batch}`,
      means: `${by} alone had it sent again: nobody had proposed it. Look it up at the gateway`,
    }
  }
}

/** Batch by batch: sums of one batch are all that is in memory. */
function* tallies(db: DatabaseSync): Iterable<Disagreement> {
  const counted = db.prepare(`
    SELECT coalesce(operation, '') AS operation, coalesce(currency, '') AS currency, state, count(*) AS count,
      coalesce(sum(amount_minor), 0) AS amount
    FROM instruction WHERE batch_id = ? GROUP BY 1, 2, 3`)
  const kept = db.prepare(
    'SELECT operation, currency, state, count, amount_minor AS amount FROM tally WHERE batch_id = ? AND count > 0',
  )
  for (const statement of [counted, kept]) statement.setReadBigInts(true)
  for (const { id } of db.prepare("SELECT id FROM batch WHERE stage = 'open'").iterate()) {
    const sums = (found: ReturnType<typeof kept.all>) =>
      new Map(
        found.map(({ operation, currency, state, count, amount }) => [
          `${operation} ${currency} ${state}`,
          `${count} rows, ${amount} minor units`,
        ]),
      )
    const [rowsSay, tallySays] = [sums(counted.all(id as string)), sums(kept.all(id as string))]
    for (const name of new Set([...rowsSay.keys(), ...tallySays.keys()])) {
      const [rows = 'no row', tally = 'no row'] = [rowsSay.get(name), tallySays.get(name)]
      if (rows === tally) continue
      yield {
        where: `tally of batch ${id}, ${name}`,
        means: `it counts ${tally}, and there are ${rows}. Totals and results would not tell the truth`,
      }
    }
  }
}

function* transactions(db: DatabaseSync): Iterable<Disagreement> {
  const found = db.prepare(`
    SELECT min(transaction_id) AS id, count(*) AS count FROM instruction WHERE transaction_id IS NOT NULL
    GROUP BY account_id, ltrim(transaction_id, '0') HAVING count(*) > 1`)
  for (const { id, count } of found.iterate()) {
    yield {
      where: `transaction ${id}`,
      means: `${count} rows say that it settled them, and one transaction moves money once. Look all of them up at the gateway`,
    }
  }
}

/** Moves and acts of a server have gaps in their numbers, of transactions that were rolled back. */
export const NUMBERS_SKIP = 'numbers_skip'

/** Nothing here ever removes a move or an act. Of a ledger that comes from a server the chain alone tells. */
function* gaps(db: DatabaseSync): Iterable<Disagreement> {
  if (db.prepare('SELECT 1 FROM meta WHERE key = ?').get(NUMBERS_SKIP) !== undefined) return
  for (const table of ['move', 'act'] as const) {
    const { count, last } = db
      .prepare(`SELECT count(*) AS count, coalesce(max(id), 0) AS last FROM ${table}`)
      .get() as { count: number; last: number }
    if (count === last) continue
    const { id } = db
      .prepare(`
      SELECT min(id) + 1 AS id FROM (SELECT 0 AS id UNION ALL SELECT id FROM ${table}) p
      WHERE NOT EXISTS (SELECT 1 FROM ${table} n WHERE n.id = p.id + 1)`)
      .get() as { id: number }
    const what =
      table === 'move' ? 'A row whose moves were removed could be sent again' : 'What a person did is no longer told'
    yield {
      where: `${table} ${id}`,
      means: `it was removed, with ${last - count} in all. ${what}: compare with a backup before anything is sent`,
    }
  }
}
