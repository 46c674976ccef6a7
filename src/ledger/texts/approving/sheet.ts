// What an approval is of: everything that is shown, and a digest over all of it.

import { createHash, hash } from 'node:crypto'
import type { AllowedLookalike, ApprovalSheet, KeyOfBatch } from '../../../domain/approval.ts'
import type { BatchTotal } from '../../../domain/batch.ts'
import type { AccountId, BatchId } from '../../../domain/ids.ts'
import { MERCHANT_DEFAULTS } from '../../../domain/merchant.ts'
import type { Currency } from '../../../domain/money.ts'
import type { AccountOf } from '../../../domain/person.ts'
import type { State } from '../../../domain/states.ts'
import { allPeople } from '../doors/people.ts'
import type { Engine } from '../engine.ts'
import { addToDigest, beginDigest, type Recorded } from '../record/recorded.ts'
import { EARLIER_LOOKALIKE, lookalikeSince } from '../review/lookalikes.ts'
import { all, allExact, one, type Script } from '../script.ts'
import { earlierSums } from './needed.ts'

export interface SheetColumns {
  readonly account_id: number
  readonly source: 'file' | 'queue'
  readonly file_name: string | null
  readonly file_sha256: string | null
  readonly run_key: string | null
  readonly reading: string
  readonly rows: number
  readonly canary_rows: number | null
  readonly max_declined: number | null
  readonly lookalikes_allowed: number
  readonly created_at: number
  readonly created_by: string
  readonly submitter: string
  readonly approvals_needed: number
  readonly approvals_given: number
  readonly approval_until: number | null
  readonly merchant: string
  readonly url: string
  readonly username: string
}

const COLUMNS = `
    SELECT b.*, a.name AS merchant, a.url, a.username FROM batch b JOIN account a ON a.id = b.account_id
    WHERE b.id = :batchId AND b.stage = 'open'`

const TOTALS = `
    SELECT operation, currency, state, count, amount_minor AS "amountMinor" FROM tally
    WHERE batch_id = :batchId AND count > 0 ORDER BY operation, currency, state`

const RECORDED =
  'SELECT id, batch_id, first_row, last_row, digest FROM recorded WHERE batch_id = :batchId ORDER BY first_row'

/** Oldest first. */
const APPROVERS = `
    SELECT a.identity, a.by FROM approval a WHERE a.batch_id = :batchId ORDER BY a.at, a.identity`

export interface Approver {
  readonly identity: string
  readonly by: string
}

export function* approversOf(batchId: BatchId): Script<Approver[]> {
  return yield* all<Approver>(APPROVERS, { batchId })
}

/** What the digest is over. */
export type Shown = Omit<ApprovalSheet, 'largest' | 'lookalikes' | 'keys' | 'accounts' | 'earlier'>

/** null: there is no such batch, or it needs no approval. */
export function* shownOf(ledgerId: string, batchId: BatchId): Script<Shown | null> {
  const batch = yield* one<SheetColumns>(COLUMNS, { batchId })
  if (batch === undefined || batch.approvals_needed === 0) return null
  const totals = yield* totalsOf(batchId)
  const by = (yield* approversOf(batchId)).map((approver) => approver.by)
  const recorded = yield* all<Recorded>(RECORDED, { batchId })
  const rowsDigest = hash(
    'sha256',
    recorded.map(({ first_row, last_row, digest }) => `${first_row}-${last_row} ${digest}\n`).join(''),
  )
  const shown = {
    batchId,
    merchant: batch.merchant,
    url: batch.url,
    username: batch.username,
    source: batch.source,
    fileName: batch.file_name,
    fileSha256: batch.file_sha256,
    runKey: batch.run_key,
    fingerprint: batch.reading,
    rows: batch.rows,
    totals,
    canaryRows: batch.canary_rows,
    maxDeclinedPercent: batch.max_declined,
    lookalikesAllowed: batch.lookalikes_allowed,
    submittedBy: batch.created_by,
    submittedAtMs: batch.created_at,
    rowsDigest,
  }
  const digest = hash('sha256', `approval of ${ledgerId}\n${canonical(shown)}`)
  const { approvals_needed: needed, approvals_given: given } = batch
  return { ...shown, digest, needed, given, untilMs: batch.approval_until ?? 0, by }
}

/** In the order in which they stand in the object, which is the same each time. */
function canonical(shown: object): string {
  return JSON.stringify(shown, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

function* totalsOf(batchId: BatchId): Script<BatchTotal[]> {
  const found = yield* allExact<Omit<BatchTotal, 'count'> & { count: bigint }>(TOTALS, { batchId })
  return found.map((total) => ({ ...total, count: Number(total.count) }))
}

/** Of several rows with that amount, the first. */
const LARGEST = `
    SELECT r.currency, r.amount_minor AS "amountMinor", r.row_no AS "rowNo", r.reference FROM instruction r
    JOIN (SELECT i.currency, min(i.row_no) AS first FROM instruction i
      JOIN (SELECT l.currency, max(l.amount_minor) AS most FROM instruction l
        WHERE l.batch_id = :batchId AND l.state = 'READY' AND l.currency IS NOT NULL GROUP BY 1) AS m
        ON m.currency = i.currency AND m.most = i.amount_minor
      WHERE i.batch_id = :batchId AND i.state = 'READY' GROUP BY 1) AS f ON f.first = r.row_no
    WHERE r.batch_id = :batchId ORDER BY 1`

const LOOKALIKES_MOST = 10
const LOOKALIKES = `
    SELECT d.row_no AS "rowNo", d.reference, i.row_no AS "likeRow", i.batch_id AS "batchId", i.reference AS "likeReference", i.state
    FROM instruction d JOIN instruction i ON i.id = (${EARLIER_LOOKALIKE})
    WHERE d.batch_id = :batchId AND d.state = 'READY' ORDER BY d.row_no LIMIT ${LOOKALIKES_MOST}`

/** As at the moment in which it was handed in, when a person allowed them. */
function* lookalikesOf(batchId: BatchId, { account_id, created_at: nowMs }: SheetColumns): Script<AllowedLookalike[]> {
  const since = lookalikeSince({
    accountId: account_id as AccountId,
    nowMs,
    lookalikeDays: MERCHANT_DEFAULTS.lookalikeDays,
  })
  const found = yield* all<LookalikeColumns>(LOOKALIKES, { ...since, batchId })
  return found.map(({ rowNo, reference, likeRow, likeReference, ...like }) => ({
    ...{ rowNo, reference },
    like: { ...like, rowNo: likeRow, reference: likeReference },
  }))
}

type LookalikeColumns = Readonly<
  Record<'rowNo' | 'likeRow', number> & Record<'reference' | 'likeReference', string>
> & {
  readonly batchId: BatchId
  readonly state: State
}

const KEYS = `
    SELECT k.id, k.name, k.created_by AS "createdBy", k.makers FROM api_key k
    WHERE k.id IN (SELECT o.key_id FROM batch_key o WHERE o.batch_id = :batchId)
      OR k.id = (SELECT substr(b.submitter, 5) FROM batch b WHERE b.id = :batchId AND b.submitter LIKE 'key:%') ORDER BY k.id`

/** By which it, or messages of it, were handed in. */
export function* keysOf(batchId: BatchId): Script<KeyOfBatch[]> {
  const found = yield* all<Omit<KeyOfBatch, 'makers'> & { readonly makers: string }>(KEYS, { batchId })
  return found.map((key) => ({ ...key, makers: JSON.parse(key.makers) as string[] }))
}

/** Of those of these identities that are people. */
export function* accountsOf(identities: readonly string[]): Script<AccountOf[]> {
  const people = yield* allPeople()
  return people
    .filter(({ id }) => identities.includes(`person:${id}`))
    .map(({ name, createdAtMs, createdBy, confirmedBy, signedIn }) => ({
      ...{ name, createdAtMs, createdBy, confirmedBy, signedIn },
    }))
}

type Largest = ApprovalSheet['largest'][number]

/** With what helps to judge it. */
export function* sheetOf(ledgerId: string, batchId: BatchId): Script<ApprovalSheet | null> {
  const shown = yield* shownOf(ledgerId, batchId)
  if (shown === null) return null
  const batch = (yield* one<SheetColumns>(COLUMNS, { batchId }))!
  const found = yield* allExact<{ currency: Currency; amountMinor: bigint; rowNo: bigint; reference: string }>(
    LARGEST,
    {
      batchId,
    },
  )
  const largest: Largest[] = found.map(({ rowNo, ...row }) => ({ ...row, rowNo: Number(rowNo) }))
  const earlier = yield* earlierSums(batchId, batch.submitter, batch.account_id, batch.created_at)
  const approvers = (yield* approversOf(batchId)).map(({ identity }) => identity)
  const accounts = yield* accountsOf([batch.submitter, ...approvers])
  const lookalikes = batch.lookalikes_allowed === 0 ? [] : yield* lookalikesOf(batchId, batch)
  return { ...shown, largest, lookalikes, keys: yield* keysOf(batchId), accounts, earlier }
}

const ROWS_AT_ONCE = 5_000

/** Whether the rows are those that were recorded. Reads all of them, in steps between which others may work. */
export async function isAsRecorded(engine: Engine, batchId: BatchId): Promise<boolean> {
  const recorded = await engine.read(() => all<Recorded>(RECORDED, { batchId }))
  for (const { first_row, last_row, digest } of recorded) {
    const made = first_row === 0 ? await engine.read(() => beginDigest(batchId)) : createHash('sha256')
    for (let from = first_row; from <= last_row; from += ROWS_AT_ONCE) {
      const to = Math.min(last_row, from + ROWS_AT_ONCE - 1)
      await engine.read(() => addToDigest(made, batchId, from, to))
    }
    if (made.digest('hex') !== digest) return false
  }
  return recorded.length > 0
}
