// What comes in: accounts, submits one at a time, messages of other services.

import type { DatabaseSync } from 'node:sqlite'
import type { DraftHeader } from '../../domain/draft.ts'
import { Fault } from '../../domain/fault.ts'
import type { AccountId, BatchId } from '../../domain/ids.ts'
import type { Brake, UnfinishedBatch } from '../../domain/submission.ts'
import type { IntakeLedger, WaitingToSubmit } from '../../ports/ledger/intake.ts'
import { type Account, identifyAccount } from '../rules/accounts.ts'
import { accountsLike } from './accounts.ts'
import { prepareActs } from './acts.ts'
import { isCanaryOf } from './canary.ts'
import type { Committer } from './commit.ts'
import { openDraftOn } from './draft.ts'
import { deleteDrafts } from './draft-recording.ts'
import { prepareMessageRecording } from './message-recording.ts'
import type { Tally } from './tally.ts'

export interface IntakeParts {
  readonly newBatchId: (nowMs: number) => BatchId
  /** The kernel lock that lets one submit at a time into the ledger; resolves to what frees it. */
  readonly lockSubmit: (waiting?: WaitingToSubmit) => Promise<() => void>
}

export function prepareIntake(db: DatabaseSync, committer: Committer, tally: Tally, parts: IntakeParts): IntakeLedger {
  const recordMessage = prepareMessageRecording(db, tally, parts.newBatchId)
  const act = prepareActs(db)
  const refuse = db.prepare('INSERT INTO refusal VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING')

  return {
    account: (name, url, username, nowMs) =>
      committer
        .write(() => accountOf(db, { name, url, username }, nowMs), { kind: 'faulting' })
        .then((found) => {
          if (found instanceof Fault) throw found
          return found
        }),

    async openDraft(header, waiting) {
      if (header.lookOnly === true)
        return openDraftOn(db, committer, header, { newBatchId: parts.newBatchId, release: () => {} })
      const release = await parts.lockSubmit(waiting)
      try {
        await deleteDrafts(db, committer)
        return openDraftOn(db, committer, header, { newBatchId: parts.newBatchId, release })
      } catch (error) {
        release()
        throw error
      }
    },

    findUnfinished: async (header) => findUnfinished(db, header),
    otherBrakes: async (batchId, asked) => otherBrakes(db, batchId, asked),

    async recordMessage(message) {
      for (;;) {
        const answer = await committer.write(() => recordMessage(message), { kind: 'faulting' })
        if (answer !== 'held-by-draft') return answer
        // Neither free nor taken: wait for the submit to end. A draft that is still there then belongs to a dead one.
        const release = await parts.lockSubmit()
        await deleteDrafts(db, committer).finally(release)
      }
    },

    async recordRefusal({ sourceId, accountName, reasons, text, cards, nowMs }) {
      const details = { source: 'message', message: sourceId, merchant: accountName }
      const keep = () => {
        const isNew = refuse.run(sourceId, accountName, JSON.stringify(reasons), text, nowMs).changes > 0
        if (isNew && cards !== null) act({ what: 'card-refused', atMs: nowMs, actor: null, reason: cards, details })
      }
      await committer.write(keep, { kind: 'faulting' })
    },

    ...prepareQueueOwners(db, committer),
  }
}

function prepareQueueOwners(
  db: DatabaseSync,
  committer: Committer,
): Pick<IntakeLedger, 'queueOwner' | 'keepQueueOwner'> {
  const read = db.prepare('SELECT value FROM meta WHERE key = ?')
  const keep = db.prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value')
  const keyOf = (queue: string) => `queue_owner ${queue}`
  return {
    queueOwner: async (queue) => (read.get(keyOf(queue)) as { value: string } | undefined)?.value ?? null,
    async keepQueueOwner(queue, ledgerId) {
      await committer.write(() => keep.run(keyOf(queue), ledgerId).changes, { kind: 'faulting' })
    },
  }
}

function findUnfinished(
  db: DatabaseSync,
  { accountId, fileSha256, runKey, fingerprint }: Parameters<IntakeLedger['findUnfinished']>[0],
): UnfinishedBatch | null {
  const isOpen = `EXISTS (
    SELECT 1 FROM tally t WHERE t.batch_id = b.id AND t.count > 0 AND t.state IN ('READY', 'SENDING', 'IN_DOUBT'))`
  const found = db
    .prepare(`
      SELECT id, reading, hold = 'cancelled' AND NOT ${isOpen} AS givenUp FROM batch b
      WHERE file_sha256 = ? AND account_id = ? AND run_key IS ? AND stage = 'open'
        AND (results_path IS NULL OR ${isOpen})
      ORDER BY reading = ? DESC, created_at DESC, rowid DESC LIMIT 1`)
    .get(fileSha256, Number(accountId), runKey, fingerprint) as
    | { id: string; reading: string; givenUp: number }
    | undefined
  if (found === undefined) return null
  return { batchId: found.id as BatchId, fingerprint: found.reading, givenUp: found.givenUp === 1 }
}

function otherBrakes(
  db: DatabaseSync,
  batchId: BatchId,
  { canaryRows, maxDeclinedPercent }: Pick<DraftHeader, 'canaryRows' | 'maxDeclinedPercent'>,
): readonly Brake[] {
  const { limit } = db.prepare('SELECT max_declined AS "limit" FROM batch WHERE id = ?').get(batchId) as {
    limit: number | null
  }
  const canary = canaryRows !== null && !isCanaryOf(db, batchId, canaryRows)
  const declines = maxDeclinedPercent !== null && maxDeclinedPercent !== limit
  return [...(canary ? (['canary'] as const) : []), ...(declines ? (['max-declined'] as const) : [])]
}

function accountOf(db: DatabaseSync, asked: Account, nowMs: number): AccountId | Fault {
  const found = identifyAccount(asked, accountsLike(db, asked))
  if (found !== 'new') return found
  const insert = db.prepare('INSERT INTO account (name, url, username, created_at) VALUES (?, ?, ?, ?)')
  return Number(insert.run(asked.name, asked.url, asked.username, nowMs).lastInsertRowid) as AccountId
}
