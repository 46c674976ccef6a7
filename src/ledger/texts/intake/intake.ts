// What comes in: accounts, submits one at a time, messages of other services.

import type { Draft, DraftHeader } from '../../../domain/draft.ts'
import { Fault } from '../../../domain/fault.ts'
import type { AccountId, BatchId } from '../../../domain/ids.ts'
import type { Brake, UnfinishedBatch } from '../../../domain/submission.ts'
import type { IntakeLedger, WaitingToSubmit } from '../../../ports/ledger/intake.ts'
import { type AskedAccount, identifyAccount } from '../../rules/accounts.ts'
import { accountsLike } from '../accounts.ts'
import { type Engine, FAULTING } from '../engine.ts'
import { all, change, one, type Script } from '../script.ts'
import { isCanaryOf } from './canary.ts'
import { deleteDrafts } from './drafts.ts'
import { duplicatesIn, type NewBatchId, namedBatch, recordMessage } from './messages.ts'
import { recordRefusal, refusedBefore } from './refusals.ts'
import { keepReplyTo } from './reply-to.ts'
import { knownSpelling } from './run-keys.ts'

export interface IntakeParts {
  /** Makes the id of a new batch. */
  readonly newBatchId: NewBatchId
  /** Lets one submit at a time into the ledger; resolves to what lets the next one in. */
  readonly lockSubmit: (waiting?: WaitingToSubmit) => Promise<() => void>
  /** `release`: called when the draft is closed. */
  readonly openDraft: (header: DraftHeader, release: () => void) => Promise<Draft>
  /** In the transaction that records an instruction: throws where it may be lost, because another state of the ledger may go on. */
  readonly assertGoesOn?: () => Script<void>
}

export function intakeOn(engine: Engine, parts: IntakeParts): IntakeLedger {
  const { newBatchId, lockSubmit, openDraft, assertGoesOn } = parts
  return {
    async account(name, url, username, nowMs, ownAccount = false) {
      const found = await engine.write(() => accountOf({ name, url, username, ownAccount }, nowMs), FAULTING)
      if (found instanceof Fault) throw found
      return found
    },

    async openDraft(header, waiting) {
      if (header.lookOnly === true) return openDraft(header, () => {})
      const release = await lockSubmit(waiting)
      try {
        await deleteDrafts(engine)
        return await openDraft(header, release)
      } catch (error) {
        release()
        throw error
      }
    },

    findUnfinished: (header) => engine.read(() => findUnfinished(header)),
    otherBrakes: (batchId, asked) => engine.read(() => otherBrakes(batchId, asked)),

    async recordMessage(message) {
      for (;;) {
        const answer = await engine.write(function* (book) {
          if (assertGoesOn !== undefined) yield* assertGoesOn()
          return yield* recordMessage(book, newBatchId, message)
        }, FAULTING)
        if (answer !== 'held-by-draft') return answer
        // Neither free nor taken: wait for the submit to end. A draft that is still there then belongs to a dead one.
        const release = await lockSubmit()
        await deleteDrafts(engine).finally(release)
      }
    },

    namedBatch: (accountId, name) => engine.read(() => namedBatch(accountId, name)),
    duplicatesIn: (batchId) => engine.read(() => duplicatesIn(batchId)),
    askForOutcomes: (batchId, queue) => engine.write(() => keepReplyTo(batchId, queue), FAULTING),
    knownSpelling: (accountId, runKey, nowMs) => engine.read(() => knownSpelling({ accountId, runKey, nowMs })),
    recordRefusal: (refusal) => engine.write(() => recordRefusal(refusal), FAULTING),
    refusedBefore: (sourceId) => engine.read(() => refusedBefore(sourceId)),

    ...queueOwnersOn(engine),
    ...inboxesOn(engine),
  }
}

function queueOwnersOn(engine: Engine): Pick<IntakeLedger, 'queueOwner' | 'keepQueueOwner'> {
  const ownerKey = (queue: string) => `queue_owner ${queue}`
  return {
    async queueOwner(queue) {
      const found = await engine.read(() =>
        one<{ value: string }>('SELECT value FROM meta WHERE key = :key', { key: ownerKey(queue) }),
      )
      return found?.value ?? null
    },
    keepQueueOwner: (queue, ledgerId) =>
      engine.write(
        () =>
          change(
            `INSERT INTO meta (key, value) VALUES (:key, :ledgerId)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
            { key: ownerKey(queue), ledgerId },
          ),
        FAULTING,
      ),
  }
}

const INBOX = 'inbox '

function inboxesOn(engine: Engine): Pick<IntakeLedger, 'inboxes' | 'keepInbox'> {
  return {
    async inboxes() {
      const found = await engine.read(() =>
        all<{ key: string }>(`SELECT key FROM meta WHERE substr(key, 1, ${INBOX.length}) = '${INBOX}' ORDER BY key`),
      )
      return found.map(({ key }) => key.slice(INBOX.length))
    },
    keepInbox: (path) =>
      engine.write(
        () =>
          change("INSERT INTO meta (key, value) VALUES (:key, '') ON CONFLICT (key) DO NOTHING", {
            key: `${INBOX}${path}`,
          }),
        FAULTING,
      ),
  }
}

const IS_OPEN = `EXISTS (
    SELECT 1 FROM tally t WHERE t.batch_id = b.id AND t.count > 0 AND t.state IN ('READY', 'SENDING', 'IN_DOUBT'))`

const UNFINISHED = `
    SELECT b.id, b.reading, CASE WHEN b.hold = 'cancelled' AND NOT ${IS_OPEN} THEN 1 ELSE 0 END AS "givenUp" FROM batch b
    WHERE b.file_sha256 = :fileSha256 AND b.account_id = :accountId AND b.run_key IS NOT DISTINCT FROM :runKey AND b.stage = 'open'
      AND (b.results_path IS NULL OR ${IS_OPEN})
    ORDER BY CASE WHEN b.reading = :fingerprint THEN 0 ELSE 1 END, b.created_at DESC, b.rowid DESC LIMIT 1`

function* findUnfinished({
  accountId,
  fileSha256,
  runKey,
  fingerprint,
}: Parameters<IntakeLedger['findUnfinished']>[0]): Script<UnfinishedBatch | null> {
  const found = yield* one<{ id: BatchId; reading: string; givenUp: number }>(UNFINISHED, {
    ...{ accountId, fileSha256, runKey, fingerprint },
  })
  return found === undefined ? null : { batchId: found.id, fingerprint: found.reading, givenUp: found.givenUp === 1 }
}

function* otherBrakes(
  batchId: BatchId,
  {
    canaryRows,
    maxDeclinedPercent,
    expiresAfterMs = null,
  }: Pick<DraftHeader, 'canaryRows' | 'maxDeclinedPercent' | 'expiresAfterMs'>,
): Script<readonly Brake[]> {
  const { most, after } = (yield* one<{ most: number | null; after: number | null }>(
    'SELECT max_declined AS most, expires_after AS after FROM batch WHERE id = :batchId',
    { batchId },
  ))!
  const canary = canaryRows !== null && !(yield* isCanaryOf(batchId, canaryRows))
  const declines = maxDeclinedPercent !== null && maxDeclinedPercent !== most
  const expires = expiresAfterMs !== null && expiresAfterMs !== after
  return [
    ...(canary ? (['canary'] as const) : []),
    ...(declines ? (['max-declined'] as const) : []),
    ...(expires ? (['expires-after'] as const) : []),
  ]
}

const INSERT_ACCOUNT = `
    INSERT INTO account (name, url, username, created_at) VALUES (:name, :url, :username, :nowMs) RETURNING id`

function* accountOf(asked: AskedAccount, nowMs: number): Script<AccountId | Fault> {
  const found = identifyAccount(asked, yield* accountsLike(asked))
  if (found !== 'new') return found
  const { name, url, username } = asked
  return (yield* one<{ id: AccountId }>(INSERT_ACCOUNT, { name, url, username, nowMs }))!.id
}
