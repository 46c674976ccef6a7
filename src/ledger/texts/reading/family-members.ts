// Which batches are one family: states of one file, what of it was mended among its rejects or ran again, and the earlier files whose
// rows it holds. A row is known by its key: the reference of its instruction's first attempt.

import type { BatchId } from '../../../domain/ids.ts'
import { all, change, exists, one, type Script } from '../script.ts'

/** To row `i` the row `b` that it repeats; else itself. */
export const BASE = 'JOIN instruction b ON b.id = coalesce(i.duplicate_of, i.id)'

/** The key of a row that is no duplicate. A bad row may have only the reference of a later attempt. */
export function keyOf(row: 'b'): string {
  return `coalesce(${row}.reattempt_of, (SELECT h.reattempt_of FROM instruction h
    WHERE h.account_id = ${row}.account_id AND h.reference = ${row}.reference AND h.holds_reference = 1), ${row}.reference)`
}

/**
 * Whether a row that is no duplicate is of that key. With an OR of the two columns SQLite reads all rows of the account, and left to
 * choose it joins in the wrong order: so each has its own index here, and whatever joins by this uses CROSS JOIN.
 */
export function isOfKey(row: 'b' | 'e' | 'h' | 'o', account: string, key: string): string {
  return `${row}.id @among SELECT first.id FROM instruction first WHERE first.account_id = ${account} AND first.reference = ${key}
    UNION ALL SELECT later.id FROM instruction later WHERE later.account_id = ${account} AND later.reattempt_of = ${key} @end`
}

/** The row in which the instruction of that key stands now; NULL: only bad rows have it. */
export function lastOf(account: string, key: string): string {
  return `(SELECT max(h.id) FROM instruction h JOIN batch v ON v.id = h.batch_id AND v.stage = 'open'
    WHERE ${isOfKey('h', account, key)} AND h.holds_reference = 1)`
}

export const MEMBER_TABLES = [
  `CREATE TEMP TABLE family_member (batch_id @text PRIMARY KEY, rows @whole, bad @whole, first_id @whole, is_state @whole NOT NULL)`,
  `CREATE TEMP TABLE family_key (key @text, batch_id @text, is_bad @whole NOT NULL, PRIMARY KEY (key, batch_id)) @without_rowid`,
  `CREATE TEMP TABLE family_slot (id @whole, batch_id @text, key @text, is_bad @whole, is_sent @whole, kind @text, nth @whole)`,
  `CREATE TEMP TABLE family_sent (row_id BIGINT PRIMARY KEY, key @text NOT NULL)`,
]

/**
 * Fills `family_member` and `family_key`; answers with the newest state of the file. What leads back from a batch need not
 * lead to it again: then the family is that of a nearer file, so that every row which the batch sent is told.
 */
export function* findMembers(batchId: BatchId): Script<BatchId> {
  for (const first of (yield* wayBack(batchId)).toReversed()) {
    for (const text of EMPTY) yield* change(text)
    yield* addMembers([{ batchId: first }], true)
    while (yield* addMembers(yield* all(LATER_STATES), true));
    while (yield* addMembers(yield* all(OTHERS), false));
    if (!(yield* exists(LEFT_OUT, { batchId }))) break
  }
  return (yield* one<{ batchId: BatchId }>(NEWEST_STATE))!.batchId
}

const EMPTY = ['DELETE FROM family_member', 'DELETE FROM family_key']

/** A row that the batch sent, or was to send, under a key that the family does not have. */
const LEFT_OUT = `
    SELECT 1 FROM instruction b WHERE b.batch_id = :batchId AND b.state NOT IN ('DUPLICATE', 'INVALID')
      AND ${keyOf('b')} NOT IN (SELECT key FROM family_key) LIMIT 1`

const NEWEST_STATE = `
    SELECT batch_id AS "batchId" FROM family_member WHERE is_state = 1 ORDER BY first_id DESC LIMIT 1`

const ADD = `
    INSERT INTO family_member (batch_id, rows, bad, first_id, is_state)
    SELECT b.id, b.rows, (SELECT count(*) FROM instruction WHERE batch_id = b.id AND state = 'INVALID'),
      coalesce((SELECT min(id) FROM instruction WHERE batch_id = b.id), 0), :isState FROM batch b WHERE b.id = :batchId`

const ADD_KEYS = `
    INSERT INTO family_key (key, batch_id, is_bad)
    SELECT ${keyOf('b')}, i.batch_id, min(CASE WHEN i.state = 'INVALID' THEN 1 ELSE 0 END)
    FROM instruction i ${BASE} WHERE i.batch_id = :batchId GROUP BY 1, 2`

/** Whether there was any. */
function* addMembers(found: readonly { readonly batchId: BatchId }[], isState: boolean): Script<boolean> {
  for (const { batchId } of found) {
    yield* change(ADD, { batchId, isState: isState ? 1 : 0 })
    yield* change(ADD_KEYS, { batchId })
  }
  return found.length > 0
}

/** From a batch to the first file that it comes from, as rejects, rows that ran again or a later state; of any other batch, itself alone. */
function* wayBack(batchId: BatchId): Script<readonly BatchId[]> {
  const seen = [batchId]
  for (;;) {
    const before = yield* fileBefore(seen.at(-1) as BatchId)
    if (before === undefined || seen.includes(before.batchId)) return seen
    seen.push(before.batchId)
  }
}

function* fileBefore(batchId: BatchId): Script<{ batchId: BatchId } | undefined> {
  return (yield* one<{ batchId: BatchId }>(ORIGIN, { batchId })) ?? (yield* one(EARLIER_STATE, { batchId }))
}

/**
 * What tells where a batch comes from: rows that it sent, or was to send. Where it has none its duplicates do, and its bad rows only
 * where it has nothing else: they come mended. Of results, every row.
 */
const IS_OWN = `(x.fed_back = 1 OR i.state NOT IN ('DUPLICATE', 'INVALID')
    OR (NOT EXISTS (SELECT 1 FROM instruction e WHERE e.batch_id = :batchId AND e.state NOT IN ('DUPLICATE', 'INVALID'))
      AND (i.state = 'DUPLICATE' OR NOT EXISTS (SELECT 1 FROM instruction e WHERE e.batch_id = :batchId AND e.state = 'DUPLICATE'))))`

const ORIGIN = `
  SELECT o.batch_id AS "batchId"
  FROM instruction i JOIN batch x ON x.id = i.batch_id ${BASE} CROSS JOIN instruction o CROSS JOIN batch ob
  WHERE ${isOfKey('o', 'b.account_id', keyOf('b'))} AND ob.id = o.batch_id AND ob.stage = 'open' AND ob.source = 'file'
    AND i.batch_id = :batchId AND ${IS_OWN} AND o.batch_id <> i.batch_id AND o.id < i.id AND o.state <> 'DUPLICATE'
  GROUP BY o.batch_id
  HAVING count(DISTINCT i.id) * 2 >= (SELECT count(*) FROM instruction i JOIN batch x ON x.id = i.batch_id WHERE i.batch_id = :batchId AND ${IS_OWN})
  ORDER BY max(o.id) DESC LIMIT 1`

/**
 * At least half of the later one's rows are rows of a state before it, and at least half of that one's are in it; bad rows, which come
 * mended, count in neither. Results that are fed back are no state of the file, nor are its rejects, which repeat nothing.
 */
const IS_LATER_STATE = `n.fed_back = 0 AND held.rows * 2 >= n.rows - p.bad AND held.rows * 2 >= p.rows - p.bad`

const LATER_STATES = `
  SELECT DISTINCT held.batch_id AS "batchId" FROM (
    SELECT d.batch_id, k.batch_id AS state, count(DISTINCT d.id) AS rows
    FROM family_member m CROSS JOIN family_key k CROSS JOIN batch a CROSS JOIN instruction b CROSS JOIN instruction d
    WHERE k.batch_id = m.batch_id AND a.id = m.batch_id AND ${isOfKey('b', 'a.account_id', 'k.key')}
      AND (d.id = b.id AND (b.supersedes IS NOT NULL OR b.reattempt_of IS NOT NULL) OR d.duplicate_of = b.id) AND m.is_state = 1 AND k.is_bad = 0 AND d.id > m.first_id AND d.batch_id NOT IN (SELECT batch_id FROM family_member) GROUP BY 1, 2) AS held
  JOIN batch n ON n.id = held.batch_id AND n.stage = 'open' AND n.source = 'file'
  JOIN family_member p ON p.batch_id = held.state
  WHERE ${IS_LATER_STATE}`

/** The newest that the batch is a later state of. What it sent may all be new: what it repeats tells where it comes from. */
const EARLIER_STATE = `
  SELECT held.batch_id AS "batchId" FROM (
    SELECT q.batch_id, count(DISTINCT i.id) AS rows, max(q.id) AS last_id
    FROM instruction i ${BASE} CROSS JOIN instruction e CROSS JOIN instruction q
    WHERE ${isOfKey('e', 'b.account_id', keyOf('b'))} AND (q.id = e.id OR q.duplicate_of = e.id) AND i.batch_id = :batchId AND q.batch_id <> :batchId AND q.id < i.id AND 'INVALID' NOT IN (i.state, q.state) GROUP BY 1) AS held
  JOIN batch n ON n.id = :batchId
  JOIN (SELECT p.*, (SELECT count(*) FROM instruction WHERE batch_id = p.id AND state = 'INVALID') AS bad FROM batch p) AS p
    ON p.id = held.batch_id AND p.stage = 'open' AND p.source = 'file' AND p.fed_back = 0
  WHERE ${IS_LATER_STATE} ORDER BY held.last_id DESC LIMIT 1`

/** Of whose own rows, those that are no duplicates, at least half are rows of the family. */
const OTHERS = `
  SELECT own.batch_id AS "batchId" FROM (
    SELECT o.batch_id, count(DISTINCT o.id) AS rows
    FROM (SELECT DISTINCT key FROM family_key) AS k
    CROSS JOIN batch a CROSS JOIN instruction o
    WHERE a.id = (SELECT batch_id FROM family_member LIMIT 1) AND ${isOfKey('o', 'a.account_id', 'k.key')} AND o.state <> 'DUPLICATE' AND o.batch_id NOT IN (SELECT batch_id FROM family_member) GROUP BY 1) AS own
  JOIN batch n ON n.id = own.batch_id AND n.stage = 'open' AND n.source = 'file'
  WHERE own.rows * 2 >= (SELECT count(*) FROM instruction WHERE batch_id = n.id AND state <> 'DUPLICATE')`

/** The cells of a row without those that were at fault. */
const sound = (cells: string, mask: string) => `(
  SELECT coalesce(CAST(@json_list(CASE WHEN EXISTS (SELECT 1 FROM json_each(${mask}) f WHERE CAST(f.value AS BIGINT) = c.key) THEN NULL ELSE trim(c.value) END) AS TEXT), '[]')
  FROM json_each(${cells}) c)`

/**
 * Fills `family_slot`: bad rows have another key in every file where references are made from its bytes, so they are known by their cells.
 * Rows of one kind have the same columns and the same cells, but for those that are at fault in one of them; in each batch they are
 * numbered, the sound ones first, and the same number of the same kind is the same row. A bad row counts where its key comes first: what is
 * fed back, or comes with the rejects, may be few of the rows of a kind.
 */
export const FILL_SLOTS = `
  INSERT INTO family_slot (id, batch_id, key, is_bad, is_sent, kind, nth)
  WITH bad AS MATERIALIZED (
    SELECT b.id, ${keyOf('b')} AS key, b.cells, w.columns, (
      SELECT coalesce(CAST(@json_list(c.key) AS TEXT), '[]') FROM json_each(w.columns) c WHERE @position('; ' || b.reason, '; ' || trim(c.value) || ': ') > 0) AS mask
    FROM family_member m JOIN instruction b ON b.batch_id = m.batch_id JOIN batch w ON w.id = b.batch_id
    WHERE b.state = 'INVALID' AND b.reason IS NOT NULL),
  kinds AS MATERIALIZED (SELECT DISTINCT l.columns || l.mask || ${sound('l.cells', 'l.mask')} AS kind FROM bad l),
  alike AS MATERIALIZED (
    SELECT i.id, i.batch_id, b.account_id, ${keyOf('b')} AS key, CASE WHEN b.state = 'INVALID' THEN 1 ELSE 0 END AS is_bad,
      q.columns || q.mask || ${sound('i.cells', 'q.mask')} AS kind
    FROM (SELECT DISTINCT columns, mask FROM bad) AS q JOIN family_member m ON TRUE JOIN batch w ON w.id = m.batch_id AND w.columns = q.columns
    JOIN instruction i ON i.batch_id = m.batch_id ${BASE})
  SELECT s.id, s.batch_id, s.key, s.is_bad, CASE WHEN ${lastOf('s.account_id', 's.key')} IS NULL THEN 0 ELSE 1 END, s.kind, s.nth
  FROM (
    SELECT a.*, row_number() OVER (PARTITION BY a.batch_id, a.kind ORDER BY a.is_bad, a.id) AS nth
    FROM alike a WHERE a.kind IN (SELECT kind FROM kinds)) AS s
  WHERE s.is_bad = 0 OR s.id IN (SELECT min(id) FROM bad GROUP BY key)`

const SAME_ROW = (a: string, b: string) => `${b}.kind = ${a}.kind AND ${b}.nth = ${a}.nth AND ${b}.key <> ${a}.key`

/** Keys of bad rows that stand for a row which is told under another key: in the newest file (:batchId), sent, or bad later. */
export const TOLD_ELSEWHERE = `
  SELECT l.key FROM family_slot l JOIN family_slot f ON ${SAME_ROW('l', 'f')}
  WHERE l.is_bad = 1 AND (f.batch_id = :batchId OR f.is_sent = 1 OR f.id > l.id)`

/** Bad rows of the newest file (:batchId), and the key that was sent of the same row: as where it was mended among the rejects. */
export const FILL_SENT = `
  INSERT INTO family_sent (row_id, key)
  SELECT n.id, max(f.key) FROM family_slot n JOIN family_slot f ON ${SAME_ROW('n', 'f')}
  WHERE n.batch_id = :batchId AND n.is_sent = 0 AND f.is_sent = 1 AND f.key NOT IN (SELECT key FROM family_key WHERE batch_id = :batchId)
  GROUP BY 1`
