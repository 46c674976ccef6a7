// Messages that were not taken: each is refused once, under what names it, and stays refused.

import { hash } from 'node:crypto'
import { type EventContent, finality } from '../../../domain/event.ts'
import { type EarlierRow, MAYBE_EXECUTED, toLooksLike } from '../../../domain/message.ts'
import { partsOfReason } from '../../../domain/wrong-field.ts'
import type { IntakeLedger } from '../../../ports/ledger/intake.ts'
import { recordAct } from '../record/acts.ts'
import { all, change, one, type Script } from '../script.ts'
import { whyMaybeExecuted } from './queued-before.ts'

const REFUSE = `
    INSERT INTO refusal (source_id, account_name, reasons, text, at)
    VALUES (:sourceId, :accountName, :reasonsText, :text, :nowMs) ON CONFLICT DO NOTHING RETURNING source_id`

/** The order in which it is told of. */
const REFUSED = 'INSERT INTO refused (source_id, said, reply_to) VALUES (:sourceId, :said, :replyTo)'

type Refusal = Parameters<IntakeLedger['recordRefusal']>[0]

type Told = Awaited<ReturnType<IntakeLedger['recordRefusal']>>

export function* recordRefusal(refusal: Refusal): Script<Told> {
  const isWarned = refusal.reasons.some((reason) => reason.endsWith(MAYBE_EXECUTED))
  const isUnsure = !isWarned && (yield* whyMaybeExecuted(refusal)) !== null
  const reasons = isUnsure ? [...refusal.reasons, MAYBE_EXECUTED] : refusal.reasons
  const recorded = refusal.looksLike === undefined ? yield* recordedUnder(refusal) : undefined
  const looksLike = refusal.looksLike ?? recorded
  yield* keep({ ...refusal, reasons }, saidOf({ ...refusal, looksLike }, isWarned || isUnsure))
  // Who asked may have nothing to do with the merchant of that row.
  return recorded !== undefined && recorded.merchant !== refusal.accountName ? { reasons } : { reasons, looksLike }
}

const RECORDED = `
    SELECT a.name AS merchant, i.reference, i.batch_id AS "batchId", i.row_no AS "rowNo", i.state
    FROM instruction i JOIN account a ON a.id = i.account_id JOIN batch b ON b.id = i.batch_id
    WHERE (a.name = :accountName OR NOT EXISTS (SELECT 1 FROM account WHERE name = :accountName))
      AND i.reference = :reference AND i.holds_reference = 1 AND b.stage = 'open'
    ORDER BY i.id DESC LIMIT 1`

/** Whatever is wrong with the message: it may have been refused before anyone looked at its reference, or for a merchant that nobody knows. */
function* recordedUnder({
  accountName,
  recordedAs = [],
}: Refusal): Script<(EarlierRow & { readonly merchant: string }) | undefined> {
  for (const reference of recordedAs) {
    const found = yield* one<EarlierRow & { readonly merchant: string }>(RECORDED, { accountName, reference })
    if (found !== undefined) return found
  }
  return undefined
}

/** Who keeps orders by their references must not take a paid one for refused: what is recorded beside a refusal goes on, or is done. */
function saidOf({ reference, batchName, looksLike, reasons }: Refusal, mayBeExecuted: boolean): EventContent {
  // Of another merchant's row nothing is told but that there is one.
  const isAlike = reasons.some((reason) => partsOfReason(reason).code === 'lookalike')
  return {
    ...finality(looksLike === undefined && !isAlike && !mayBeExecuted),
    ...(typeof reference === 'string' && { reference }),
    ...(typeof batchName === 'string' && { batch_name: batchName }),
    ...(looksLike !== undefined && { looks_like: toLooksLike(looksLike) }),
  }
}

function* keep(refusal: Refusal, said: EventContent): Script<void> {
  const { sourceId, accountName, reasons, text, cards, nowMs } = refusal
  const kept = yield* all(REFUSE, {
    sourceId: keyOf(sourceId),
    accountName,
    reasonsText: JSON.stringify(reasons),
    text,
    nowMs,
  })
  if (kept.length === 0) return
  const { replyTo = null } = refusal
  yield* change(REFUSED, { sourceId: keyOf(sourceId), said: JSON.stringify(said), replyTo })
  if (cards === null) return
  const details = { source: 'message', message: sourceId, merchant: accountName }
  yield* recordAct({ what: 'card-refused', atMs: nowMs, actor: null, reason: cards, details })
}

const REASONS = 'SELECT reasons FROM refusal WHERE source_id = :sourceId'
const PURGED =
  'it was refused before, and why was purged since: nothing of it was recorded. Hand it in again as a new job'

/** Its producer was told, or will be: whatever has changed since, it is not taken any more. */
export function* refusedBefore(sourceId: string): Script<readonly string[] | null> {
  const found = yield* one<{ reasons: string }>(REASONS, { sourceId: keyOf(sourceId) })
  if (found === undefined) return null
  const reasons = JSON.parse(found.reasons) as string[]
  return reasons.length === 0 ? [PURGED] : reasons
}

/** A key has room for no more. */
const LONGEST_KEY = 500

function keyOf(sourceId: string): string {
  return sourceId.length <= LONGEST_KEY ? sourceId : hash('sha256', sourceId)
}
