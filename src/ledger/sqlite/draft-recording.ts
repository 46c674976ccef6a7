// A reviewed draft on its way into the record: copied in short transactions, made visible in one, or deleted without a trace.

import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../../domain/actor.ts'
import { assertNotInterrupted, type DraftHeader } from '../../domain/draft.ts'
import { Fault } from '../../domain/fault.ts'
import type { BatchId } from '../../domain/ids.ts'
import { holdsStill, type SeenUpTo } from '../texts/since-review.ts'
import { byOf, prepareActorIds, prepareActs } from './acts.ts'
import { canaryOfDraft } from './canary.ts'
import type { Committer } from './commit.ts'
import { prepareAccepting } from './copies/identity.ts'
import { findRows } from './found.ts'
import { prepareNamed } from './named.ts'
import { prepareDigests, prepareRecorded, type Recorded } from './recorded.ts'
import { isSubmittedAgain } from './rows.ts'
import { runNow } from './run-script.ts'

const ROWS_PER_COPY = 500
const SQLITE_CONSTRAINT = 19

/** Columns that a draft row and a recorded row share, in one order. */
const SHARED = `row_no, line, cells, state, reference, made, given, holds_reference, run_key, operation, amount_minor, currency, order_id,
  order_key, vault_id, card, xtl_order_id, save_card, details, execute_at, content, lookalike, due_at, attempt, ever_in_doubt,
  completed_at, reason, duplicate_of, supersedes, reattempt_of`

/** A draft that its submit may still fill: no other has begun to delete it. */
const IS_ALIVE = "stage = 'draft' AND hold = 'none'"

/** Faults where it was not recorded: nothing of it is left then. */
export async function recordDraft(
  db: DatabaseSync,
  committer: Committer,
  header: DraftHeader,
  actor: Actor,
  batchId: BatchId,
  seen: SeenUpTo,
  signal: AbortSignal | undefined,
): Promise<BatchId> {
  const { n: rows } = db.prepare('SELECT count(*) AS n FROM temp.draft_row').get() as { n: number }
  try {
    await insertBatch(db, committer, header, actor, batchId, rows)
    const copyRows = db.prepare(`
      INSERT INTO instruction (batch_id, account_id, ${SHARED})
      SELECT ?1, ?2, ${SHARED.replace('holds_reference', 'holds_reference AND supersedes IS NULL')}
      FROM temp.draft_row WHERE row_no > ?3 AND EXISTS (SELECT 1 FROM batch WHERE id = ?1 AND ${IS_ALIVE})
      ORDER BY row_no LIMIT ${ROWS_PER_COPY}`)
    const digests = prepareDigests(db)
    const digest = digests.begin(batchId)
    let lastRow = 0
    const lastOf = db.prepare('SELECT max(row_no) AS last FROM instruction WHERE batch_id = ?')
    for (let left = rows; left > 0; left -= ROWS_PER_COPY) {
      const from = lastRow
      const copied = await committer.write(
        () => {
          const rows = unlessTaken(() => copyRows.run(batchId, Number(header.accountId), from))
          if (rows?.changes === 0) throw overtakenFault()
          return rows && (lastOf.get(batchId) as { last: number })
        },
        { kind: 'faulting' },
      )
      if (copied === null) throw takenFault()
      lastRow = copied.last
      digests.add(digest, batchId, from + 1, lastRow)
      assertNotInterrupted(signal)
    }
    const recorded = { batch_id: batchId, first_row: 0, last_row: lastRow, digest: digest.digest('hex') }
    if (!(await makeVisible(db, committer, header, actor, recorded, seen))) throw takenFault()
    return batchId
  } catch (error) {
    await deleteDraft(db, committer, batchId).catch(() => {}) // what is left of it is invisible, and the next submit deletes it
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
    'After the file was read, a message arrived that repeats a row of it, looks like one, has its xtl_order_id or refunds the same order; or a recorded row on which the file bears was answered, cancelled or resolved. Nothing was recorded and nothing was sent. Run it again: it will then be compared.',
  )
}

function overtakenFault(): Fault {
  return new Fault(
    'stopped',
    'This submit was suspended, and another one deleted its draft. Nothing was recorded and nothing was sent. Run it again. Something may have removed submit.lock from the data directory: leave it there.',
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
  const insert = prepareNamed(
    db,
    `INSERT INTO batch (id, account_id, source, stage, file_name, file_sha256, run_key, reading, columns, sandbox, created_at,
      created_by, rows, canary_rows, canary_execute_at, canary_row_no, max_declined, actor_id, fed_back, needs_file)
    VALUES (:batchId, :accountId, 'file', 'draft', :fileName, :fileSha256, :runKey, :fingerprint, :columns, :sandbox, :nowMs,
      :createdBy, :rows, :canaryRows, :canaryExecuteAtMs, :canaryRowNo, :maxDeclinedPercent, :actorId, :fedBack,
      EXISTS (SELECT 1 FROM temp.draft_row WHERE card IS NOT NULL AND state = 'READY'))`,
  )
  const actorIdOf = prepareActorIds(db)
  const canary = canaryOfDraft(db, header)
  const { accountId, fileName, fileSha256, runKey, fingerprint, nowMs, maxDeclinedPercent } = header
  const values = {
    batchId,
    accountId,
    fileName,
    fileSha256,
    runKey,
    fingerprint,
    columns: JSON.stringify(header.columns),
    sandbox: header.sandbox ? 1 : 0,
    fedBack: header.fedBack ? 1 : 0,
    nowMs,
    createdBy: byOf(actor),
    rows,
    canaryRows: canary?.rows ?? null,
    canaryExecuteAtMs: canary?.executeAtMs ?? null,
    canaryRowNo: canary?.rowNo ?? null,
    maxDeclinedPercent,
  }
  await committer.write(() => void insert({ ...values, actorId: actorIdOf(actor) }), { kind: 'faulting' })
}

/** The one moment in which the batch comes into being: references change hands, counts appear, rows may be claimed. */
function makeVisible(
  db: DatabaseSync,
  committer: Committer,
  header: DraftHeader,
  actor: Actor,
  recorded: Omit<Recorded, 'id'>,
  seen: SeenUpTo,
): Promise<boolean> {
  const { batch_id: batchId } = recorded
  const { accountId, nowMs, notCards = [] } = header
  const takeReferences = prepareTakingReferences(db, batchId)
  const count = prepareCounting(db, batchId)
  const open = db.prepare(`UPDATE batch SET stage = 'open' WHERE id = ? AND ${IS_ALIVE}`)
  const keepDigest = prepareRecorded(db)
  const act = prepareActs(db)
  const accept = prepareAccepting(db)
  return committer.write(
    () => {
      if (!runNow(db, holdsStill(header, { seen, batchId }))) return false
      takeReferences()
      count()
      for (const reason of notCards) act({ what: 'not-a-card', atMs: nowMs, actor, batchId, accountId, reason })
      if (open.run(batchId).changes !== 1) throw overtakenFault()
      keepDigest(recorded)
      accept()
      return true
    },
    { kind: 'faulting' },
  )
}

/** A row that runs again takes its reference over from the one before. */
function prepareTakingReferences(db: DatabaseSync, batchId: string): () => void {
  const retried = findRows<{ rowNo: number; supersedes: number }>(
    db.prepare('SELECT row_no AS rowNo, supersedes FROM temp.draft_row WHERE supersedes IS NOT NULL'),
  )
  const letGo = db.prepare('UPDATE instruction SET holds_reference = 0 WHERE id = ? AND holds_reference = 1')
  const takeOver = db.prepare('UPDATE instruction SET holds_reference = 1 WHERE batch_id = ? AND row_no = ?')
  // Results that say what became of the row no longer tell how the instruction stands.
  const outdate = db.prepare(`
    UPDATE batch SET version = version + 1 WHERE id IN (
      SELECT d.batch_id FROM instruction s JOIN instruction d ON d.reference = s.reference AND d.account_id = s.account_id
      WHERE s.id = ? AND (d.state = 'DUPLICATE' OR ${isSubmittedAgain('d')}))`)
  return () => {
    for (const { rowNo, supersedes } of retried) {
      if (letGo.run(supersedes).changes !== 1) throw takenFault() // another submit retried it, or a person corrected what was found
      takeOver.run(batchId, rowNo)
      outdate.run(supersedes)
    }
  }
}

function prepareCounting(db: DatabaseSync, batchId: string): () => void {
  const tallies = db.prepare(`
      SELECT coalesce(operation, '') AS operation, coalesce(currency, '') AS currency, state, count(*) AS count,
        coalesce(sum(amount_minor), 0) AS amount
      FROM temp.draft_row GROUP BY 1, 2, 3`)
  tallies.setReadBigInts(true)
  const counted = findRows<{ operation: string; currency: string; state: string; count: bigint; amount: bigint }>(
    tallies,
  )
  const insertTally = db.prepare('INSERT INTO tally VALUES (?, ?, ?, ?, ?, ?)')
  return () => {
    for (const { operation, currency, state, count, amount } of counted)
      insertTally.run(batchId, operation, currency, state, count, amount)
  }
}

/** Deletes what dead submits left. */
export async function deleteDrafts(db: DatabaseSync, committer: Committer): Promise<void> {
  const drafts = db.prepare("SELECT id FROM batch WHERE stage = 'draft'").all() as Array<{ id: string }>
  for (const { id } of drafts) await deleteDraft(db, committer, id)
}

/**
 * In short transactions. The lock may have been removed, so that its submit is alive, or deletes as well, and either may stand
 * still between two statements: given up first, the draft takes no row and is never visible; then each statement looks again.
 */
async function deleteDraft(db: DatabaseSync, committer: Committer, id: string): Promise<void> {
  const giveUp = db.prepare("UPDATE batch SET hold = 'cancelled' WHERE id = ? AND stage = 'draft'")
  const rows = db.prepare(`
    DELETE FROM instruction WHERE id IN (SELECT id FROM instruction WHERE batch_id = ?1 LIMIT ${ROWS_PER_COPY})
      AND EXISTS (SELECT 1 FROM batch WHERE id = ?1 AND stage = 'draft')`)
  const batch = db.prepare("DELETE FROM batch WHERE id = ? AND stage = 'draft'")
  const write = (run: () => number) => committer.write(run, { kind: 'faulting' })
  await write(() => Number(giveUp.run(id).changes))
  while ((await write(() => Number(rows.run(id).changes))) > 0);
  await write(() => Number(batch.run(id).changes))
}
