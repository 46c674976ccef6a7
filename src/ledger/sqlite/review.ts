// A draft held against the record: what is bad, what is recorded already, what looks like another row, and what it adds up to.

import type { DatabaseSync } from 'node:sqlite'
import type { Total } from '../../domain/batch.ts'
import type { DraftHeader, DraftReview, Extent, Lookalike } from '../../domain/draft.ts'
import { Fault } from '../../domain/fault.ts'
import type { Currency } from '../../domain/money.ts'
import type { Pages } from '../../domain/pages.ts'
import type { State } from '../../domain/states.ts'
import { MOST_MINOR } from '../rules/arriving.ts'
import { LAST_RESTORED_AT } from './acts.ts'
import { countFaults, FAULT_INDEX } from './draft-faults.ts'
import { EXECUTED } from './executed-before.ts'
import { countAgain, countUnidentified, identifyLines, meetLines, refuseExecuted } from './fed-back.ts'
import { findRow, findRows } from './found.ts'
import { lookalikeSince, RECORDED_LOOKALIKE } from './lookalikes.ts'
import { nameAsRecorded } from './odd-references.ts'
import { pagesOf, ROWS_PER_PAGE } from './pages.ts'
import { markRepeats, meetRefunds } from './refunds.ts'
import { refuseXtlRepeats, refuseXtlTaken } from './xtl-order-ids.ts'

/** The last row recorded when the draft was reviewed: what comes after it has not been compared yet. */
export type SeenUpTo = { id: number }

export function review(db: DatabaseSync, header: DraftHeader, seen: SeenUpTo): Omit<DraftReview, 'amountsUnread'> {
  seen.id = lastVisible(db)
  db.exec('CREATE INDEX IF NOT EXISTS temp.draft_reference ON draft_row (reference)')
  db.exec('CREATE INDEX IF NOT EXISTS temp.draft_lookalike ON draft_row (lookalike, row_no)')
  db.exec(FAULT_INDEX)
  refuseBoundless(db)
  nameAsRecorded(db, header.accountId)
  if (header.fedBack) identifyLines(db, header)
  refuseRepeats(db)
  meetRecorded(db, header)
  if (header.fedBack) meetLines(db, header)
  refuseExecuted(db, header)
  refuseFaulty(db) // rows that cannot be sent refund nothing
  refuseXtlRepeats(db)
  refuseFaulty(db)
  refuseXtlTaken(db, header)
  meetRefunds(db, header)
  refuseFaulty(db)
  const lookalikes = findLookalikes(db, header)
  const count = (state: State) =>
    (db.prepare('SELECT count(*) AS n FROM temp.draft_row WHERE state = ?').get(state) as { n: number }).n
  const accepted = count('READY')
  const duplicate = count('DUPLICATE')
  const invalid = count('INVALID')
  return {
    rows: accepted + duplicate + invalid,
    accepted,
    duplicate,
    invalid,
    lookalikes,
    heldByDoubt: countHeldByDoubt(db, header),
    unidentified: countUnidentified(db, header),
    again: countAgain(db, header),
    totals: totalsOf(db, "state = 'READY'"),
    totalsRead: totalsOf(db, 'operation IS NOT NULL OR amount_minor IS NOT NULL'),
    extents: extentsOf(db),
    faults: countFaults(db),
  }
}

/** Not the rows of a draft, nor what came after them: another submit may make it visible once this one has looked. */
function lastVisible(db: DatabaseSync): number {
  const firstOf = '(SELECT id FROM instruction WHERE batch_id = b.id ORDER BY row_no LIMIT 1)'
  const last = db.prepare(`
      SELECT coalesce((SELECT min(${firstOf}) - 1 FROM batch b WHERE b.stage = 'draft'), (SELECT max(id) FROM instruction), 0) AS id`)
  return findRow<SeenUpTo>(last)!.id
}

function refuseBoundless(db: DatabaseSync): void {
  const { sum } = db.prepare('SELECT total(amount_minor) AS sum FROM temp.draft_row').get() as { sum: number }
  if (sum <= MOST_MINOR) return
  throw new Fault(
    'refused',
    'The amounts of this file add up to more than can be counted exactly. Nothing was recorded and nothing was sent. Check the amounts, or send it in parts.',
  )
}

function refuseRepeats(db: DatabaseSync): void {
  db.exec(`
    INSERT INTO temp.draft_fault
    SELECT d.row_no, d.line, 'reference', d.reference, 'the reference stands in more than one row of this file (line ' ||
      (SELECT min(o.line) FROM temp.draft_row o WHERE o.reference = d.reference AND o.row_no <> d.row_no) || ')',
      'give every row a reference of its own, or take the row out if it was entered twice'
    FROM temp.draft_row d
    WHERE d.reference IN (SELECT reference FROM temp.draft_row GROUP BY reference HAVING count(*) > 1)`)
}

/** A look at a file takes no lock, so that another submit may be under way: what it has not finished is not there yet. */
const IS_VISIBLE = "EXISTS (SELECT 1 FROM batch v WHERE v.id = i.batch_id AND v.stage = 'open')"

/** Which parts of the content differ, as a list for people. */
const DIFFERENCES = `ltrim(
  CASE WHEN d.operation IS NOT i.operation THEN ', operation' ELSE '' END ||
  CASE WHEN d.amount_minor IS NOT i.amount_minor THEN ', amount' ELSE '' END ||
  CASE WHEN d.currency IS NOT i.currency THEN ', currency' ELSE '' END ||
  CASE WHEN d.order_key IS NOT i.order_key THEN ', order id' ELSE '' END ||
  CASE WHEN ltrim(d.vault_id, '0') IS NOT ltrim(i.vault_id, '0') THEN ', vault id' ELSE '' END ||
  CASE WHEN d.execute_at IS NOT i.execute_at THEN ', execute_at' ELSE '' END, ', ')`

/** A reference that is recorded already is the same instruction again, or an error. */
function meetRecorded(db: DatabaseSync, header: DraftHeader): void {
  const account = Number(header.accountId)
  db.prepare(`
    INSERT INTO temp.draft_fault
    SELECT d.row_no, d.line, 'reference', d.reference,
      'the reference is recorded with other content: ' || ${DIFFERENCES} || ' not the same (row ' || i.row_no || ' of batch ' || i.batch_id || ', ' || i.state || ')',
      'use a new reference only for a new instruction: it is sent beside the recorded one, not in its place'
    FROM temp.draft_row d JOIN instruction i ON i.account_id = ? AND i.reference = d.reference AND i.holds_reference = 1 AND ${IS_VISIBLE}
    WHERE d.state = 'READY' AND d.content <> i.content`).run(account)
  const retry = header.retry.filter((status) => status !== 'INVALID')
  const names = retry.map(() => '?').join(', ')
  db.prepare(`
    UPDATE temp.draft_row AS d SET supersedes = i.id, attempt = i.attempt, ever_in_doubt = i.ever_in_doubt
    FROM instruction i
    WHERE d.state = 'READY' AND i.account_id = ? AND i.reference = d.reference AND i.holds_reference = 1 AND ${IS_VISIBLE}
      AND d.content = i.content AND NOT EXISTS (SELECT 1 FROM instruction e WHERE ${EXECUTED}) AND i.state IN (${names})`).run(
    account,
    ...retry,
  )
  db.prepare(`
    UPDATE temp.draft_row AS d SET state = 'DUPLICATE', holds_reference = 0, duplicate_of = i.id, completed_at = ?
    FROM instruction i
    WHERE d.state = 'READY' AND d.supersedes IS NULL AND i.account_id = ? AND i.reference = d.reference AND i.holds_reference = 1 AND ${IS_VISIBLE}
      AND d.content = i.content`).run(header.nowMs, account)
}

function refuseFaulty(db: DatabaseSync): void {
  db.exec(`
    UPDATE temp.draft_row AS d SET state = 'INVALID', holds_reference = 0, duplicate_of = NULL, supersedes = NULL, attempt = 0, ever_in_doubt = 0,
      reason = (SELECT group_concat(coalesce(f.column_name || ': ', '') || f.problem, '; ') FROM temp.draft_fault f WHERE f.row_no = d.row_no)
    WHERE d.row_no IN (SELECT row_no FROM temp.draft_fault)`)
}

/** Marks accepted rows that look like an earlier row of the file or a recorded one under another reference; counts them. */
function findLookalikes(db: DatabaseSync, header: DraftHeader): number {
  db.exec(`
    UPDATE temp.draft_row AS d SET like_row = (
      SELECT min(o.row_no) FROM temp.draft_row o WHERE o.lookalike = d.lookalike AND o.row_no < d.row_no AND o.state = 'READY')
    WHERE d.state = 'READY' AND d.lookalike IS NOT NULL`)
  db.prepare(`
    UPDATE temp.draft_row AS d SET like_recorded = (${RECORDED_LOOKALIKE})
    WHERE d.state = 'READY' AND d.lookalike IS NOT NULL`).run(lookalikeSince(header))
  markRepeats(db)
  findLost(db)
  const found = db
    .prepare(
      'SELECT count(*) AS n FROM temp.draft_row WHERE like_row IS NOT NULL OR like_recorded IS NOT NULL OR lost_row IS NOT NULL',
    )
    .get()
  return (found as { n: number }).n
}

/** Marks rows that are to run again and had ended when an older state was put back: in what was lost they may have run again. */
function findLost(db: DatabaseSync): void {
  const { restoredAtMs } = db.prepare(`SELECT ${LAST_RESTORED_AT} AS restoredAtMs`).get() as {
    restoredAtMs: number | null
  }
  if (restoredAtMs === null) return
  db.prepare(`
    UPDATE temp.draft_row AS d SET lost_row = (
      SELECT i.id FROM instruction i JOIN batch b ON b.id = i.batch_id
      WHERE coalesce(i.completed_at, b.created_at) <= ? AND i.id = coalesce(d.supersedes, (
        SELECT c.id FROM instruction c WHERE c.batch_id = d.came_batch AND c.row_no = d.came_row)))
    WHERE d.state = 'READY'`).run(restoredAtMs)
}

function countHeldByDoubt(db: DatabaseSync, { accountId }: DraftHeader): number {
  const found = db
    .prepare(`
      SELECT count(*) AS n FROM temp.draft_row d WHERE d.state = 'READY' AND d.order_key IS NOT NULL AND EXISTS (
        SELECT 1 FROM instruction i WHERE i.account_id = ? AND i.order_key = d.order_key AND i.order_key IS NOT NULL
          AND i.state = 'IN_DOUBT')`)
    .get(Number(accountId))
  return (found as { n: number }).n
}

export function lookalikesOf(db: DatabaseSync): Pages<Lookalike> {
  const page = db.prepare(`
    SELECT d.row_no AS rowNo, d.line, d.reference, i.batch_id AS batchId, coalesce(o.row_no, i.row_no) AS likeRowNo,
      coalesce(o.reference, i.reference) AS likeReference, CASE WHEN o.row_no IS NULL THEN i.state END AS likeState,
      d.lost_row IS NOT NULL AS lost,
      CASE WHEN d.lost_row IS NULL AND coalesce(o.lookalike, i.lookalike) <> d.lookalike THEN CAST(p.before_minor AS TEXT) END AS refundedMinor,
      p.before_currency AS currency, CASE i.money_warning WHEN 1 THEN i.warning END AS moneyWarning
    FROM temp.draft_row d
    LEFT JOIN temp.draft_row o ON o.row_no = d.like_row AND d.lost_row IS NULL
    LEFT JOIN instruction i ON i.id = coalesce(d.lost_row, d.like_recorded) AND o.row_no IS NULL
    LEFT JOIN temp.draft_repeat p ON p.row_no = d.row_no
    WHERE d.row_no > ? AND (d.like_row IS NOT NULL OR d.like_recorded IS NOT NULL OR d.lost_row IS NOT NULL)
    ORDER BY d.row_no LIMIT ${ROWS_PER_PAGE}`)
  const read = (last: FoundLookalike | null) => findRows<FoundLookalike>(page, last?.rowNo ?? 0)
  return pagesOf(read, toLookalike)
}

interface FoundLookalike extends Pick<Lookalike, 'rowNo' | 'line' | 'reference' | 'moneyWarning'> {
  readonly batchId: string | null
  readonly likeRowNo: number
  readonly likeReference: string
  readonly likeState: State | null
  readonly lost: number
  readonly refundedMinor: string | null
  readonly currency: Currency | null
}

function toLookalike(found: FoundLookalike): Lookalike {
  const { rowNo, line, reference, batchId, likeRowNo, likeReference, likeState, refundedMinor, currency } = found
  return {
    ...{ rowNo, line, reference },
    like: { batchId, rowNo: likeRowNo, reference: likeReference, state: likeState },
    lost: found.lost === 1,
    refundedBefore: refundedMinor === null ? null : { amountMinor: BigInt(refundedMinor), currency },
    moneyWarning: found.moneyWarning,
  }
}

function totalsOf(db: DatabaseSync, where: string): Total[] {
  const statement = db.prepare(`
    SELECT coalesce(operation, '') AS operation, coalesce(currency, '') AS currency, count(*) AS count,
      coalesce(sum(amount_minor), 0) AS amountMinor
    FROM temp.draft_row WHERE ${where} GROUP BY 1, 2 ORDER BY 1, 2`)
  statement.setReadBigInts(true)
  const rows = findRows<Omit<Total, 'count'> & { count: bigint }>(statement)
  return rows.map((row) => ({ ...row, count: Number(row.count) }))
}

function extentsOf(db: DatabaseSync): Extent[] {
  const statement = db.prepare(`
    SELECT e.operation, e.currency, e.least, e.most, min(CASE WHEN d.amount_minor = e.least THEN d.line END) AS leastLine,
      min(CASE WHEN d.amount_minor = e.most THEN d.line END) AS mostLine
    FROM (SELECT operation, currency, min(amount_minor) AS least, max(amount_minor) AS most FROM temp.draft_row
      WHERE state = 'READY' AND amount_minor IS NOT NULL GROUP BY 1, 2) e
    JOIN temp.draft_row d ON d.state = 'READY' AND d.operation = e.operation AND d.currency = e.currency
    GROUP BY 1, 2 ORDER BY 1, 2`)
  statement.setReadBigInts(true)
  const found = findRows<
    Pick<Extent, 'operation' | 'currency'> & Record<'least' | 'most' | 'leastLine' | 'mostLine', bigint>
  >(statement)
  return found.map(({ operation, currency, least, most, leastLine, mostLine }) => ({
    operation,
    currency,
    smallest: { line: Number(leastLine), amountMinor: least },
    largest: { line: Number(mostLine), amountMinor: most },
  }))
}
