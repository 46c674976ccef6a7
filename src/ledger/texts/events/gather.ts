// What the record says beside the moves of rows, noted as events: what was accepted, what people and the machine did, where a batch has
// come to. It is done by who reads events, in a transaction of its own; nothing that sends waits for it or writes for it.

import { type BatchTotal, sourceOf } from '../../../domain/batch.ts'
import {
  type EventContent,
  type EventType,
  finality,
  type Held,
  holdContent,
  totalText,
} from '../../../domain/event.ts'
import { isFinal, type State, statusOf } from '../../../domain/states.ts'
import { headOf } from '../record/chain.ts'
import { all, allExact, change, count, exists, one, type Script } from '../script.ts'
import { HELD_BY, HELD_FOR } from './held.ts'

export interface NewEvent {
  readonly type: EventType
  readonly atMs: number
  readonly batchId?: string | null
  readonly accountId?: number | null
  /** It is for this endpoint alone. */
  readonly endpoint?: string | null
  readonly said?: EventContent
}

const NOTE = `
    INSERT INTO event (after_move, type, at, batch_id, account_id, endpoint, said)
    VALUES ((SELECT coalesce(max(id), 0) FROM move), :type, :atMs, :batchId, :accountId, :endpoint, :said) RETURNING id`

/** In a transaction that is alone. Resolves to its number. */
export function* noteEvent(event: NewEvent): Script<number> {
  const { type, atMs, batchId = null, accountId = null, endpoint = null, said = {} } = event
  const text = JSON.stringify(said)
  return (yield* one<{ id: number }>(NOTE, { type, atMs, batchId, accountId, endpoint, said: text }))!.id
}

const AHEAD = (['act', 'recorded', 'refused'] as const).map(
  (table) =>
    `(SELECT coalesce(max(id), 0) FROM ${table}) > coalesce((SELECT last FROM event_position WHERE name = '${table}'), 0)`,
)
const IS_AHEAD = `SELECT 1 AS n WHERE ${AHEAD.join(' OR ')}`

export function* hasNews(): Script<boolean> {
  if (yield* exists(IS_AHEAD)) return true
  for (const batch of yield* changedBatches()) if ((yield* newsOf(batch)) !== null) return true
  return false
}

/** Each source in the order in which it was recorded: a batch is accepted before anything is done to it. */
export function* gather(nowMs: number): Script<void> {
  yield* gatherFrom('recorded', ACCEPTED, (accepted: Accepted) => acceptedEvents(accepted, nowMs))
  yield* gatherFrom('refused', REFUSED, (refused: Refused) => [refusedEvent(refused)])
  yield* gatherFrom('act', ACTS, actEvents)
  for (const batch of yield* changedBatches()) {
    const news = yield* newsOf(batch)
    if (news === null) continue
    yield* keepTold(news)
    for (const event of news.events) yield* noteEvent({ ...event, atMs: nowMs })
  }
}

const POSITION = 'SELECT coalesce(max(last), 0) AS n FROM event_position WHERE name = :name'
const REACHED = `
    INSERT INTO event_position (name, last) VALUES (:name, :last) ON CONFLICT (name) DO UPDATE SET last = excluded.last`

function* gatherFrom<Found extends { readonly id: number }>(
  name: 'act' | 'recorded' | 'refused',
  text: string,
  toEvents: (found: Found) => readonly NewEvent[],
): Script<void> {
  const after = yield* count(POSITION, { name })
  const found = yield* all<Found>(text, { after })
  for (const one of found) for (const event of toEvents(one)) yield* noteEvent(event)
  const last = found.at(-1)?.id
  if (last !== undefined) yield* change(REACHED, { name, last })
}

/** `waits`: of a message its reference, of a batch that of its first row that waits, where something holds them. */
const ACCEPTED = `
    SELECT r.id, b.id AS "batchId", b.account_id AS "accountId", b.created_at AS "atMs", b.source, b.rows, b.file_sha256 AS sha256,
      r.first_row AS "firstRow", ${HELD_BY} AS by, ${HELD_FOR} AS reason,
      CASE WHEN ${HELD_BY} IS NOT NULL THEN (
        SELECT i.reference FROM instruction i WHERE i.batch_id = r.batch_id AND i.row_no BETWEEN r.first_row AND r.last_row
          AND i.state = 'READY' AND b.source = 'queue' ORDER BY i.row_no LIMIT 1) END AS waits
    FROM recorded r LEFT JOIN batch b ON b.id = r.batch_id AND b.stage = 'open' LEFT JOIN account a ON a.id = b.account_id
    WHERE r.id > :after ORDER BY r.id`

interface Accepted {
  readonly id: number
  readonly batchId: string | null
  readonly accountId: number
  readonly atMs: number
  readonly source: 'file' | 'queue'
  readonly rows: number
  readonly sha256: string | null
  /** Of a message its row, of what comes whole 0. */
  readonly firstRow: number
  readonly by: Held['by'] | null
  readonly reason: string | null
  readonly waits: string | null
}

function acceptedEvents(accepted: Accepted, nowMs: number): NewEvent[] {
  const { batchId, accountId, firstRow, by, reason, waits, rows } = accepted
  if (batchId === null) return []
  const begins = firstRow === 0 ? [acceptedEvent(accepted)] : []
  // That it waits for approvals is told of every new batch.
  if (by === null || waits === null || (firstRow === 0 && by === 'batch.awaiting_approval')) return begins
  const which = firstRow === 0 ? { rows } : { row: firstRow, reference: waits }
  const said = { ...finality(false), ...which, held: { by, reason } }
  return [...begins, { type: 'row.held', atMs: nowMs, batchId, accountId, said }]
}

/** Of messages each comes by itself: how many will be in the batch is not known yet. */
function acceptedEvent({ batchId, accountId, atMs, source, rows, sha256 }: Accepted): NewEvent {
  const said = { source: sourceOf({ source }), ...(sha256 !== null && { rows, sha256 }) }
  return { type: 'batch.accepted', atMs, batchId, accountId, said }
}

const REFUSED = `
    SELECT r.id, r.said, r.reply_to AS "replyTo", f.account_name AS merchant, f.at AS "atMs"
    FROM refused r JOIN refusal f ON f.source_id = r.source_id WHERE r.id > :after ORDER BY r.id`

interface Refused {
  readonly id: number
  readonly said: string
  readonly replyTo: string | null
  readonly merchant: string
  readonly atMs: number
}

/** The reasons stay where they are kept: a purge takes them. */
function refusedEvent({ id, said, replyTo, merchant, atMs }: Refused): NewEvent {
  const kept = JSON.parse(said) as EventContent
  return { type: 'row.refused', atMs, said: { ...kept, merchant, refusal: id, replyTo } }
}

const ACTS = `
    SELECT id, what, at AS "atMs", batch_id AS "batchId", account_id AS "accountId", reason, details, actor_id AS "actorId"
    FROM act WHERE id > :after ORDER BY id`

interface Act {
  readonly id: number
  readonly what: string
  readonly atMs: number
  readonly batchId: string | null
  readonly accountId: number | null
  readonly reason: string | null
  readonly details: string | null
  readonly actorId: number | null
}

interface Details {
  readonly needed?: number
  readonly approvals?: number
  readonly accounts?: string
  readonly name?: string
  readonly roles?: string
  /** Roles, where they were changed. */
  readonly after?: string
  readonly key?: string
  readonly scopes?: string
  readonly new_address?: string
}

/** Who acted is in the log. */
function actEvents({ what, atMs, batchId, accountId, reason, details, actorId }: Act): NewEvent[] {
  const said = details === null ? {} : (JSON.parse(details) as Details)
  const type = typeOfAct(what, batchId !== null, said)
  if (type === null) return []
  const { needed, accounts } = said
  const content = {
    ...(reason !== null && { reason }),
    by: actorId === null ? 'machine' : 'person',
    ...(needed !== undefined && { approvals_needed: needed }),
    // By whom they were made and from where they are used: the one thing by which a second look finds two people who are one.
    ...(accounts !== undefined && { accounts }),
    ...holdContent(type),
    ...accessContent(type, said),
  }
  return [{ type, atMs, batchId, accountId, said: content }]
}

function accessContent(type: EventType, { name, key, scopes, new_address: address, ...told }: Details): EventContent {
  const roles = told.roles ?? told.after
  switch (type) {
    case 'access.key_added':
      return { key, name, scopes }
    case 'access.new_address':
      return { person: name, address }
    case 'access.person_added':
    case 'access.roles_changed':
      return { person: name, roles }
    default:
      return {}
  }
}

function typeOfAct(what: string, isOfBatch: boolean, said: Details): EventType | null {
  switch (what) {
    case 'pause':
      return isOfBatch ? 'batch.paused' : 'account.stopped'
    case 'resume':
      return 'batch.resumed'
    case 'cancel':
      return 'batch.cancelled'
    case 'await-approval':
      return 'batch.awaiting_approval'
    case 'approve':
      return (said.approvals ?? 0) >= (said.needed ?? 0) ? 'batch.approved' : null
    case 'reject':
    case 'expire-approval':
      return 'batch.rejected'
    case 'stop-account':
      return 'account.stopped'
    case 'resume-account':
      return 'account.resumed'
    case 'add-person':
      return 'access.person_added'
    case 'join':
      return said.roles === undefined ? null : 'access.person_added' // the first administrator, added by no other person
    case 'set-roles':
    case 'confirm-person':
      return 'access.roles_changed'
    case 'add-key':
      return 'access.key_added'
    case 'sign-in':
      return said.new_address === undefined ? null : 'access.new_address'
    default:
      return null
  }
}

// ───────────────────────────────────────────────────────────── Where batches have come to

type Told = 'accepted' | 'started' | 'needs_attention' | 'finished'

const CHANGED = `
    SELECT b.id AS "batchId", b.account_id AS "accountId", b.version, b.late_answers AS "lateAnswers", b.rows,
      CASE WHEN b.results_path IS NULL THEN NULL ELSE b.results_version END AS "resultsVersion",
      t.version AS "toldVersion", t.state AS told, t.stale
    FROM batch b LEFT JOIN told_batch t ON t.batch_id = b.id
    WHERE b.stage = 'open' AND (t.batch_id IS NULL OR t.version <> b.version OR t.late_answers <> b.late_answers)
    ORDER BY b.rowid`

interface ChangedBatch {
  readonly batchId: string
  readonly accountId: number
  readonly version: number
  readonly lateAnswers: number
  readonly rows: number
  readonly resultsVersion: number | null
  readonly toldVersion: number | null
  readonly told: Told | null
  /** The version of the results that were said to be stale last. */
  readonly stale: number | null
}

function* changedBatches(): Script<readonly ChangedBatch[]> {
  return yield* all<ChangedBatch>(CHANGED)
}

interface News extends Pick<ChangedBatch, 'batchId' | 'version' | 'lateAnswers'> {
  readonly state: Told
  readonly stale: number | null
  readonly events: readonly Omit<NewEvent, 'atMs'>[]
}

const TOTALS = `
    SELECT operation, currency, state, count, amount_minor AS "amountMinor" FROM tally
    WHERE batch_id = :batchId AND count > 0 ORDER BY operation, currency, state`

/** null: nothing that is told. While rows move, the batch is looked at again, and nothing is written. */
function* newsOf(batch: ChangedBatch): Script<News | null> {
  const { batchId, accountId, version, lateAnswers, told, resultsVersion, rows } = batch
  const totals = yield* allExact<BatchTotal>(TOTALS, { batchId })
  const state = stateOf(totals, lateAnswers)
  const isOver = state === 'finished' || state === 'needs_attention'
  const isStale = isOver && resultsVersion !== null && resultsVersion !== version && resultsVersion !== batch.stale
  if (state === told && !isOver) return null
  const of = { batchId, accountId }
  const types = state === told ? [] : eventsOn(told, state, totals)
  // Whoever keeps the end of the chain can prove later what was recorded up to then.
  const end: EventContent = isOver && types.length > 0 ? { audit_head: yield* headOf() } : {}
  const said = { rows, ...sumsOf(totals) }
  const events: Omit<NewEvent, 'atMs'>[] = types.map((type) => ({
    ...{ ...of, type },
    said: type === 'batch.started' ? said : { ...said, ...end },
  }))
  if (isStale) events.push({ ...of, type: 'results.stale' })
  return { batchId, version, lateAnswers, state, stale: isStale ? resultsVersion : batch.stale, events }
}

function stateOf(totals: readonly BatchTotal[], lateAnswers: number): Told {
  const has = (of: (state: State) => boolean) => totals.some(({ state }) => of(state))
  if (has((state) => state === 'READY' || state === 'SENDING')) return has(isSent) ? 'started' : 'accepted'
  return lateAnswers > 0 || has((state) => state === 'IN_DOUBT') ? 'needs_attention' : 'finished'
}

function isSent(state: State): boolean {
  return ['SENDING', 'APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT'].includes(state)
}

/** A batch that was over between two looks was started all the same. One that takes more messages goes on without a word. */
function eventsOn(told: Told | null, state: Told, totals: readonly BatchTotal[]): EventType[] {
  const begins = (told === null || told === 'accepted') && totals.some((total) => isSent(total.state))
  const ends = state === 'finished' || state === 'needs_attention' ? [`batch.${state}` as const] : []
  return [...(begins ? (['batch.started'] as const) : []), ...ends]
}

function sumsOf(totals: readonly BatchTotal[]): EventContent {
  const counts: Record<string, number> = {}
  for (const { state, count: rows } of totals) counts[statusOf(state)] = (counts[statusOf(state)] ?? 0) + Number(rows)
  return {
    counts,
    totals: totals.map(({ operation, currency, state, count: rows, amountMinor }) => ({
      ...{ operation, currency, status: statusOf(state), count: Number(rows) },
      amount: totalText(BigInt(amountMinor), currency),
    })),
    ...finality(totals.every(({ state }) => isFinal(state))),
  }
}

const KEEP_TOLD = `
    INSERT INTO told_batch (batch_id, version, late_answers, state, stale)
    VALUES (:batchId, :version, :lateAnswers, :state, :stale)
    ON CONFLICT (batch_id) DO UPDATE SET version = excluded.version, late_answers = excluded.late_answers,
      state = excluded.state, stale = excluded.stale`

function* keepTold({ batchId, version, lateAnswers, state, stale }: News): Script<void> {
  yield* change(KEEP_TOLD, { batchId, version, lateAnswers, state, stale })
}
