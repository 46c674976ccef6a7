// A file on its way in: gathered in temporary tables of this connection, checked against the record, then copied into it.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { assert, Fault } from '../domain/fault.ts'
import type { Currency } from '../domain/money.ts'
import type {
  Actor,
  BatchId,
  Draft,
  DraftHeader,
  DraftReview,
  DraftRow,
  Extent,
  Lookalike,
  Total,
} from '../domain/ports.ts'
import type { State } from '../domain/states.ts'
import { type Committer, whyNotWritten } from './commit.ts'
import { causesIn, countFaults, FAULT_INDEX, faultsIn, rejectsIn } from './draft-faults.ts'
import { countAgain, countUnidentified, identifyLines, meetLines, refuseExecuted } from './fed-back.ts'
import { meetRefunds, REFUNDED_BEFORE, stillFits } from './refunds.ts'
import { toColumns } from './rows.ts'

const ROWS_PER_COPY = 500
const DAY_MS = 86_400_000
const LOOKALIKE_DAYS = 30
const SQLITE_CONSTRAINT = 19

/** Columns that a draft row and a recorded row share, in one order. */
const SHARED = `row_no, line, cells, state, reference, holds_reference, run_key, operation, amount_minor, currency, order_id,
  order_key, vault_id, xtl_order_id, save_card, details, execute_at, content, lookalike, due_at, attempt, ever_in_doubt,
  completed_at, reason, duplicate_of, supersedes`

const TABLES = `
  DROP TABLE IF EXISTS temp.draft_row;
  DROP TABLE IF EXISTS temp.draft_fault;
  CREATE TEMP TABLE draft_row (
    row_no INTEGER PRIMARY KEY, line INTEGER, cells TEXT, state TEXT, reference TEXT, holds_reference INTEGER, run_key TEXT,
    operation TEXT, amount_minor INTEGER, currency TEXT, order_id TEXT, order_key TEXT, vault_id TEXT, xtl_order_id TEXT,
    save_card INTEGER, details TEXT, execute_at INTEGER, content TEXT, lookalike TEXT, due_at INTEGER, attempt INTEGER,
    ever_in_doubt INTEGER NOT NULL DEFAULT 0, completed_at INTEGER, reason TEXT, duplicate_of INTEGER, supersedes INTEGER,
    came_batch TEXT, came_row INTEGER, like_row INTEGER, like_recorded INTEGER);
  CREATE TEMP TABLE draft_fault (row_no INTEGER, line INTEGER, column_name TEXT, value TEXT, problem TEXT, remedy TEXT);`

export interface DraftEnds {
  /** Makes the id of the new batch. */
  readonly newBatchId: (nowMs: number) => BatchId
  /** Lets the next submit begin. */
  readonly release: () => void
}

export function openDraftOn(db: DatabaseSync, committer: Committer, header: DraftHeader, ends: DraftEnds): Draft {
  db.exec(TABLES)
  const adding = openAdding(db, header)
  let amountsUnread = 0
  const seen: SeenUpTo = { id: Number.MAX_SAFE_INTEGER }
  let open = true

  function close(): void {
    if (!open) return
    open = false
    db.exec(
      'DROP TABLE IF EXISTS temp.draft_row; DROP TABLE IF EXISTS temp.draft_fault; DROP TABLE IF EXISTS temp.draft_order',
    )
    ends.release()
  }

  return {
    async add(rows) {
      assert(open, 'a row was added to a closed draft')
      // Only temporary tables are written: this transaction takes no lock that anyone else could feel.
      db.exec('BEGIN')
      try {
        for (const row of rows) {
          adding(row)
          if (row.money === 'unread') amountsUnread += 1
        }
        db.exec('COMMIT')
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK')
        throw toDraftFault(error)
      }
    },
    async review() {
      try {
        return { ...review(db, header, seen), amountsUnread }
      } catch (error) {
        throw toDraftFault(error)
      }
    },
    faults: () => faultsIn(db),
    causes: (limit) => causesIn(db, limit),
    rejects: () => rejectsIn(db),
    lookalikes: () => lookalikesOf(db),
    async record(actor) {
      assert(open, 'a closed draft was recorded')
      assert(header.lookOnly !== true, 'a draft that was only to be looked at was recorded')
      try {
        return await copy(db, committer, header, actor, ends.newBatchId(header.nowMs), seen)
      } finally {
        close()
      }
    },
    discard: async () => close(),
  }
}

/** Temporary tables live in the temporary directory, which may be another disk than the ledger's. */
function toDraftFault(error: unknown): unknown {
  if (whyNotWritten(error) !== 'full') return error
  return new Fault(
    'full',
    'The disk of temporary files is full (SQLITE_TMPDIR, TMPDIR, /var/tmp or /tmp). Nothing was recorded and nothing was sent. Free some space and run it again.',
    { cause: error },
  )
}

function openAdding(db: DatabaseSync, header: DraftHeader): (row: DraftRow) => void {
  const insertRow = db.prepare(`
    INSERT INTO temp.draft_row (row_no, line, cells, state, reference, holds_reference, run_key, operation, amount_minor, currency,
      order_id, order_key, vault_id, xtl_order_id, save_card, details, execute_at, content, lookalike, due_at, attempt, came_batch, came_row)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)`)
  const insertFault = db.prepare('INSERT INTO temp.draft_fault VALUES (?, ?, ?, ?, ?, ?)')
  return (row) => {
    const asked = row.instruction === null ? null : toColumns(row.instruction)
    const { money = null } = row
    const read = money === null || money === 'unread' ? null : money
    const holds = row.faults.length === 0 ? 1 : 0
    insertRow.run(
      row.rowNo,
      row.line,
      JSON.stringify(row.cells),
      holds === 1 ? 'READY' : 'INVALID',
      row.reference,
      holds,
      header.runKey,
      asked?.operation ?? null,
      asked?.amount_minor ?? (read === null ? null : Number(read.amountMinor)),
      asked?.currency ?? read?.currency ?? null,
      asked?.order_id ?? null,
      asked?.order_key ?? null,
      asked?.vault_id ?? null,
      asked?.xtl_order_id ?? null,
      asked?.save_card ?? 0,
      asked?.details ?? null,
      asked?.execute_at ?? null,
      asked?.content ?? null,
      asked?.lookalike ?? null,
      asked?.execute_at ?? header.nowMs,
      row.cameFrom?.batchId ?? null,
      row.cameFrom?.rowNo ?? null,
    )
    for (const { rowNo, line, column, value, problem, remedy } of row.faults) {
      insertFault.run(rowNo, line, column, value, problem, remedy)
    }
  }
}

/** The last row recorded when the draft was reviewed: what comes after it has not been compared yet. */
type SeenUpTo = { id: number }

function review(db: DatabaseSync, header: DraftHeader, seen: SeenUpTo): Omit<DraftReview, 'amountsUnread'> {
  seen.id = (db.prepare('SELECT coalesce(max(id), 0) AS id FROM instruction').get() as unknown as SeenUpTo).id
  db.exec('CREATE INDEX IF NOT EXISTS temp.draft_reference ON draft_row (reference)')
  db.exec('CREATE INDEX IF NOT EXISTS temp.draft_lookalike ON draft_row (lookalike, row_no)')
  db.exec(FAULT_INDEX)
  refuseBoundless(db)
  if (header.fedBack) identifyLines(db, header)
  refuseRepeats(db)
  meetRecorded(db, header)
  if (header.fedBack) meetLines(db, header)
  refuseExecuted(db, header)
  refuseFaulty(db) // rows that cannot be sent refund nothing
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

/** Sums are kept in SQLite's integers, of which eight digits more than one amount has are left. */
const MOST_MINOR = 4e18

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
      AND d.content = i.content AND i.money_warning = 0 AND i.state IN (${names})`).run(account, ...retry)
  db.prepare(`
    UPDATE temp.draft_row AS d SET state = 'DUPLICATE', holds_reference = 0, duplicate_of = i.id, completed_at = ?
    FROM instruction i
    WHERE d.state = 'READY' AND d.supersedes IS NULL AND i.account_id = ? AND i.reference = d.reference AND i.holds_reference = 1 AND ${IS_VISIBLE}
      AND d.content = i.content`).run(header.nowMs, account)
}

function refuseFaulty(db: DatabaseSync): void {
  db.exec(`
    UPDATE temp.draft_row AS d SET state = 'INVALID', holds_reference = 0, duplicate_of = NULL, supersedes = NULL,
      reason = (SELECT group_concat(coalesce(f.column_name || ': ', '') || f.problem, '; ') FROM temp.draft_fault f WHERE f.row_no = d.row_no)
    WHERE d.row_no IN (SELECT row_no FROM temp.draft_fault)`)
}

/** Marks accepted rows that look like an earlier row of the file or a recorded one under another reference; counts them. */
function findLookalikes(db: DatabaseSync, header: DraftHeader): number {
  const { nowMs, lookalikeDays, accountId } = header
  db.exec(`
    UPDATE temp.draft_row AS d SET like_row = (
      SELECT min(o.row_no) FROM temp.draft_row o WHERE o.lookalike = d.lookalike AND o.row_no < d.row_no AND o.state = 'READY')
    WHERE d.state = 'READY' AND d.lookalike IS NOT NULL`)
  db.prepare(`
    UPDATE temp.draft_row AS d SET like_recorded = coalesce((${RECORDED_LOOKALIKE}), (${REFUNDED_BEFORE}))
    WHERE d.state = 'READY' AND d.lookalike IS NOT NULL`).run(
    Number(accountId),
    nowMs - lookalikeDays * DAY_MS,
    nowMs - LOOKALIKE_DAYS * DAY_MS,
  )
  const found = db
    .prepare('SELECT count(*) AS n FROM temp.draft_row WHERE like_row IS NOT NULL OR like_recorded IS NOT NULL')
    .get()
  return (found as { n: number }).n
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

/** Parameters: account, earliest moment between different run keys, earliest moment otherwise. `d` is the row asked about. */
export const RECORDED_LOOKALIKE = `
  SELECT max(i.id) FROM instruction i JOIN batch b ON b.id = i.batch_id
  WHERE i.account_id = ? AND i.lookalike = d.lookalike AND i.reference <> d.reference AND i.lookalike IS NOT NULL
    AND i.state IN ('READY', 'SENDING', 'IN_DOUBT', 'APPROVED') AND b.stage = 'open'
    AND coalesce(i.sent_at, i.claimed_at, i.completed_at, b.created_at) >=
      CASE WHEN i.run_key IS NOT NULL AND d.run_key IS NOT NULL AND i.run_key <> d.run_key THEN ? ELSE ? END`

function* lookalikesOf(db: DatabaseSync): Iterable<Lookalike> {
  const rows = db.prepare(`
    SELECT d.row_no AS rowNo, d.line, d.reference, i.batch_id AS batchId, coalesce(o.row_no, i.row_no) AS likeRowNo,
      coalesce(o.reference, i.reference) AS likeReference, CASE WHEN o.row_no IS NULL THEN i.state END AS likeState,
      CASE WHEN i.lookalike <> d.lookalike THEN p.refunded_minor END AS refundedMinor, p.refunded_currency AS currency
    FROM temp.draft_row d
    LEFT JOIN temp.draft_row o ON o.row_no = d.like_row
    LEFT JOIN instruction i ON i.id = d.like_recorded AND o.row_no IS NULL
    LEFT JOIN temp.draft_order p ON p.order_key = d.order_key
    WHERE d.like_row IS NOT NULL OR d.like_recorded IS NOT NULL ORDER BY d.row_no`)
  for (const found of rows.iterate()) {
    const { rowNo, line, reference, batchId, likeRowNo, likeReference, likeState, refundedMinor, currency } =
      found as unknown as {
        rowNo: number
        line: number
        reference: string
        batchId: string | null
        likeRowNo: number
        likeReference: string
        likeState: State | null
        refundedMinor: number | null
        currency: Currency | null
      }
    const refundedBefore = refundedMinor === null ? null : { amountMinor: BigInt(refundedMinor), currency }
    const like = { batchId, rowNo: likeRowNo, reference: likeReference, state: likeState }
    yield { rowNo, line, reference, like, refundedBefore }
  }
}

function totalsOf(db: DatabaseSync, where: string): Total[] {
  const statement = db.prepare(`
    SELECT coalesce(operation, '') AS operation, coalesce(currency, '') AS currency, count(*) AS count,
      coalesce(sum(amount_minor), 0) AS amountMinor
    FROM temp.draft_row WHERE ${where} GROUP BY 1, 2 ORDER BY 1, 2`)
  statement.setReadBigInts(true)
  const rows = statement.all() as unknown as Array<Omit<Total, 'count'> & { count: bigint }>
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
  const found = statement.all() as unknown as Array<
    Pick<Extent, 'operation' | 'currency'> & Record<'least' | 'most' | 'leastLine' | 'mostLine', bigint>
  >
  return found.map(({ operation, currency, least, most, leastLine, mostLine }) => ({
    operation,
    currency,
    smallest: { line: Number(leastLine), amountMinor: least },
    largest: { line: Number(mostLine), amountMinor: most },
  }))
}

async function copy(
  db: DatabaseSync,
  committer: Committer,
  header: DraftHeader,
  actor: Actor,
  batchId: BatchId,
  seen: SeenUpTo,
): Promise<BatchId> {
  const { n: rows } = db.prepare('SELECT count(*) AS n FROM temp.draft_row').get() as { n: number }
  try {
    await insertBatch(db, committer, header, actor, batchId, rows)
    const copyRows = db.prepare(`
      INSERT INTO instruction (batch_id, account_id, ${SHARED})
      SELECT ?, ?, ${SHARED.replace('holds_reference', 'holds_reference AND supersedes IS NULL')}
      FROM temp.draft_row WHERE row_no > ? ORDER BY row_no LIMIT ${ROWS_PER_COPY}`)
    const lastOf = db.prepare('SELECT max(row_no) AS last FROM instruction WHERE batch_id = ?')
    for (let last = 0, left = rows; left > 0; left -= ROWS_PER_COPY) {
      const from = last
      const copied = await committer.write(
        () =>
          unlessTaken(() => copyRows.run(batchId, Number(header.accountId), from)) &&
          (lastOf.get(batchId) as { last: number }),
        { kind: 'faulting' },
      )
      if (copied === null) throw takenFault()
      last = copied.last
    }
    if (!(await makeVisible(db, committer, header, batchId, seen))) throw takenFault()
    return batchId
  } catch (error) {
    await deleteDrafts(db, committer).catch(() => {}) // what is left of it is invisible, and the next submit deletes it
    throw error
  }
}

/** null: a message took one of the references after the review. The statement undid itself; its neighbours stand. */
function unlessTaken<T>(run: () => T): T | null {
  try {
    return run()
  } catch (error) {
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null
    if (code === SQLITE_CONSTRAINT) return null
    throw error
  }
}

function takenFault(): Fault {
  return new Fault(
    'refused',
    'While the file was read, a message arrived that repeats a row of it, looks like one or refunds the same order; or an answer, for a row that was to run again. Nothing was recorded and nothing was sent. Run it again: it will then be compared.',
  )
}

async function insertBatch(
  db: DatabaseSync,
  committer: Committer,
  header: DraftHeader,
  actor: Actor,
  batchId: BatchId,
  rows: number,
): Promise<void> {
  const insert = db.prepare(`
    INSERT INTO batch (id, account_id, source, stage, file_name, file_sha256, run_key, reading, columns, sandbox, created_at, created_by, rows,
      canary_rows, canary_execute_at, canary_row_no, max_declined)
    VALUES (?, ?, 'file', 'draft', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const canary = canaryOf(db, header)
  const values: SQLInputValue[] = [
    batchId,
    Number(header.accountId),
    header.fileName,
    header.fileSha256,
    header.runKey,
    header.reading,
    JSON.stringify(header.columns),
    header.sandbox ? 1 : 0,
    header.nowMs,
    byOf(actor),
    rows,
    canary?.rows ?? null,
    canary?.executeAtMs ?? null,
    canary?.rowNo ?? null,
    header.maxDeclinedPercent,
  ]
  await committer.write(() => void insert.run(...values), { kind: 'faulting' })
}

interface Canary {
  readonly rows: number
  /** Rows with a later `execute_at` are none of it. */
  readonly executeAtMs: number
  /** The last row of it. */
  readonly rowNo: number
}

/** The first rows that could be sent now; where all are due later, the first of those. null: the whole batch, or none asked for. */
function canaryOf(db: DatabaseSync, { canaryRows, nowMs }: DraftHeader): Canary | null {
  if (canaryRows === null) return null
  const { n: ready } = db.prepare("SELECT count(*) AS n FROM temp.draft_row WHERE state = 'READY'").get() as {
    n: number
  }
  if (ready <= canaryRows) return null
  const first = db.prepare(`
    SELECT count(*) AS rows, max(row_no) AS rowNo FROM (
      SELECT row_no FROM temp.draft_row WHERE state = 'READY' AND coalesce(execute_at, 0) <= ? ORDER BY row_no LIMIT ?)`)
  for (const executeAtMs of [nowMs, Number.MAX_SAFE_INTEGER]) {
    const { rows, rowNo } = first.get(executeAtMs, canaryRows) as { rows: number; rowNo: number }
    if (rows > 0) return { rows, rowNo, executeAtMs }
  }
  return null
}

/** The one moment in which the batch comes into being: references change hands, counts appear, rows may be claimed. */
async function makeVisible(
  db: DatabaseSync,
  committer: Committer,
  header: DraftHeader,
  batchId: BatchId,
  seen: SeenUpTo,
): Promise<boolean> {
  const tallies = db.prepare(`
      SELECT coalesce(operation, '') AS operation, coalesce(currency, '') AS currency, state, count(*) AS count,
        coalesce(sum(amount_minor), 0) AS amount
      FROM temp.draft_row GROUP BY 1, 2, 3`)
  tallies.setReadBigInts(true)
  const counted = tallies.all() as Array<{
    operation: string
    currency: string
    state: string
    count: bigint
    amount: bigint
  }>
  const retried = db
    .prepare('SELECT row_no AS rowNo, supersedes FROM temp.draft_row WHERE supersedes IS NOT NULL')
    .all()
  const insertTally = db.prepare('INSERT INTO tally VALUES (?, ?, ?, ?, ?, ?)')
  const letGo = db.prepare('UPDATE instruction SET holds_reference = 0 WHERE id = ? AND holds_reference = 1')
  const takeOver = db.prepare('UPDATE instruction SET holds_reference = 1 WHERE batch_id = ? AND row_no = ?')
  const open = db.prepare("UPDATE batch SET stage = 'open' WHERE id = ?")
  const newcomer = db.prepare(`
    SELECT 1 FROM instruction i JOIN batch b ON b.id = i.batch_id JOIN temp.draft_row d ON d.lookalike = i.lookalike
    WHERE i.id > ? AND i.account_id = ? AND b.stage = 'open' AND i.state IN ('READY', 'SENDING', 'IN_DOUBT', 'APPROVED')
      AND i.lookalike IS NOT NULL AND i.reference <> d.reference AND d.state = 'READY' LIMIT 1`)
  const refundSince = db.prepare(`
    SELECT 1 FROM instruction i
    WHERE EXISTS (SELECT 1 FROM temp.draft_order) AND i.id > ? AND i.account_id = ? AND i.batch_id <> ? AND i.operation = 'REFUND'
      AND i.order_key IN (SELECT order_key FROM temp.draft_order) LIMIT 1`)
  const answeredSince = db.prepare(`
    SELECT 1 FROM temp.draft_row d JOIN instruction i ON i.id = d.supersedes
    WHERE i.money_warning = 1 OR i.state NOT IN ('FAILED', 'CANCELLED') LIMIT 1`)
  return committer.write(
    () => {
      // A late answer may have said that a row was executed which is about to run again.
      if (answeredSince.get() !== undefined) return false
      // A message that arrived after the review may look like a row of this file, or refund an order of it: nobody was asked.
      if (newcomer.get(seen.id, Number(header.accountId)) !== undefined) return false
      if (refundSince.get(seen.id, Number(header.accountId), batchId) !== undefined && !stillFits(db, header))
        return false
      for (const { rowNo, supersedes } of retried as Array<{ rowNo: number; supersedes: number }>) {
        assert(letGo.run(supersedes).changes === 1, 'a row to be retried had lost its reference')
        takeOver.run(batchId, rowNo)
      }
      for (const { operation, currency, state, count, amount } of counted) {
        insertTally.run(batchId, operation, currency, state, count, amount)
      }
      open.run(batchId)
      return true
    },
    { kind: 'faulting' },
  )
}

/** Deletes what a dead submit left, in short transactions. Only while no other submit is under way. */
export async function deleteDrafts(db: DatabaseSync, committer: Committer): Promise<void> {
  const drafts = db.prepare("SELECT id FROM batch WHERE stage = 'draft'").all() as Array<{ id: string }>
  const rows = db.prepare(
    `DELETE FROM instruction WHERE id IN (SELECT id FROM instruction WHERE batch_id = ? LIMIT ${ROWS_PER_COPY})`,
  )
  const batch = db.prepare("DELETE FROM batch WHERE id = ? AND stage = 'draft'")
  for (const { id } of drafts) {
    while ((await committer.write(() => Number(rows.run(id).changes), { kind: 'faulting' })) > 0);
    await committer.write(() => void batch.run(id), { kind: 'faulting' })
  }
}

export function byOf(actor: Actor): string {
  return actor.as === null ? actor.user : `${actor.as} (${actor.user})`
}
