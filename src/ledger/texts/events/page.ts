// Events as they are read: moves of rows and what was gathered beside them, in one order. What an event is called never changes: its
// table and number, and a digest of what was recorded there, so that an older state of the ledger which was put back has other names.

import { hash } from 'node:crypto'
import {
  type EventFact,
  type EventPosition,
  type EventType,
  isForProducers,
  type MovedRow,
} from '../../../domain/event.ts'
import type { BatchId } from '../../../domain/ids.ts'
import type { Currency } from '../../../domain/money.ts'
import { isFinal, type State } from '../../../domain/states.ts'
import { partsOfReason } from '../../../domain/wrong-field.ts'
import type { EventPage, RowsAsked } from '../../../ports/ledger/events.ts'
import { all, one, type Script } from '../script.ts'

/** So many are in memory. */
const EVENTS_PER_PAGE = 500
/** So many moves are looked at in one go, however few of them are wanted. */
const MOVES_PER_LOOK = 20_000

const END = `
    SELECT (SELECT coalesce(max(id), 0) FROM move) AS move, (SELECT coalesce(max(id), 0) FROM event) AS event`

export function* endOf(): Script<EventPosition> {
  return (yield* one<EventPosition>(END))!
}

/** Moves that are told: into a state in which a row stays, and out of doubt. */
export const IS_TOLD = "(m.to_state NOT IN ('READY', 'SENDING') OR m.from_state = 'IN_DOUBT')"

const MOVE = `
    SELECT m.id, m.row_id AS "rowId", m.attempt, m.from_state AS "from", m.to_state AS "to", m.cause, m.at AS "atMs", m.reason, m.answered,
      i.batch_id AS "batchId", i.row_no AS "rowNo", a.name AS merchant, i.reference, i.operation,
      CAST(i.amount_minor AS TEXT) AS "amountMinor", i.currency, i.order_id AS "orderId", i.xtl_order_id AS "xtlOrderId", i.warning
    FROM move m JOIN instruction i ON i.id = m.row_id JOIN account a ON a.id = i.account_id`
export const NAMES_QUEUE = 'EXISTS (SELECT 1 FROM reply_to r WHERE r.row_id = m.row_id)'
const ROWS: Readonly<Record<RowsAsked, string>> = {
  all: IS_TOLD,
  doubts: "(m.to_state = 'IN_DOUBT' OR m.from_state = 'IN_DOUBT')",
  asked: `${IS_TOLD} AND ${NAMES_QUEUE}`,
}
const movesOf = (asked: RowsAsked) =>
  `${MOVE} WHERE m.id > :move AND m.id <= :upTo AND ${ROWS[asked]} ORDER BY m.id LIMIT ${EVENTS_PER_PAGE}`
const ONE_MOVE = `${MOVE} WHERE m.id = :no`

const EVENT = `
    SELECT e.id, e.after_move AS "afterMove", e.type, e.at AS "atMs", e.batch_id AS "batchId", e.said,
      e.account_id AS "accountId", a.name AS merchant
    FROM event e LEFT JOIN account a ON a.id = e.account_id`
const EVENTS = `
    ${EVENT} WHERE e.id > :event AND e.id <= :upTo AND e.after_move <= :upToMove AND e.endpoint IS NULL
    ORDER BY e.id LIMIT ${EVENTS_PER_PAGE}`
const ONE_EVENT = `${EVENT} WHERE e.id = :no`

interface FoundMove {
  readonly id: number
  readonly rowId: number
  readonly attempt: number
  readonly from: State
  readonly to: State
  readonly cause: string
  readonly atMs: number
  readonly reason: string | null
  readonly answered: string | null
  readonly batchId: BatchId
  readonly rowNo: number
  readonly merchant: string
  readonly reference: string
  readonly operation: string | null
  readonly amountMinor: string | null
  readonly currency: Currency | null
  readonly orderId: string | null
  readonly xtlOrderId: string | null
  readonly warning: string | null
}

interface FoundEvent {
  readonly id: number
  readonly afterMove: number
  readonly type: EventType
  readonly atMs: number
  readonly batchId: BatchId | null
  readonly accountId: number | null
  readonly merchant: string | null
  readonly said: string
}

export function* eventsBetween(
  ledgerId: string,
  after: EventPosition,
  upTo: EventPosition,
  asked: RowsAsked,
): Script<EventPage> {
  const upToMove = Math.min(upTo.move, after.move + MOVES_PER_LOOK)
  const moves = yield* all<FoundMove>(movesOf(asked), { move: after.move, upTo: upToMove })
  const others = yield* all<FoundEvent>(EVENTS, { event: after.event, upTo: upTo.event, upToMove })
  const facts: EventFact[] = []
  let at = after
  // A move gives up to two events, which are never parted: a position is behind both.
  while (facts.length < EVENTS_PER_PAGE && (moves.length > 0 || others.length > 0)) {
    const [move] = moves
    const [other] = others
    if (other !== undefined && (move === undefined || other.afterMove < move.id)) {
      others.shift()
      at = { move: Math.max(at.move, other.afterMove), event: other.id }
      facts.push(yield* otherFact(ledgerId, other, at))
    } else if (move !== undefined) {
      moves.shift()
      at = { move: move.id, event: at.event }
      facts.push(...(yield* moveFacts(ledgerId, move, at)))
    }
  }
  if (facts.length >= EVENTS_PER_PAGE) return { facts, reached: at }
  return { facts, reached: { move: upToMove, event: upToMove === upTo.move ? upTo.event : at.event } }
}

/** Those that came before a move in the one order. */
const BEFORE = 'SELECT coalesce(max(id), 0) AS event FROM event WHERE after_move < :no'

/** null: the ledger has no such event. */
export function* factsOf(ledgerId: string, id: string): Script<readonly EventFact[]> {
  const [, kind, digits] = /^([mde])(\d{1,15})-[0-9a-f]{12}$/.exec(id) ?? []
  if (digits === undefined) return []
  const no = Number(digits)
  if (kind === 'e') {
    const found = yield* one<FoundEvent>(ONE_EVENT, { no })
    if (found === undefined) return []
    const fact = yield* otherFact(ledgerId, found, { move: found.afterMove, event: no })
    return fact.id === id ? [fact] : []
  }
  const found = yield* one<FoundMove>(ONE_MOVE, { no })
  if (found === undefined) return []
  const { event } = (yield* one<{ event: number }>(BEFORE, { no }))!
  const facts = yield* moveFacts(ledgerId, found, { move: no, event })
  return facts.filter((fact) => fact.id === id)
}

// ───────────────────────────────────────────────────────────── Moves

const QUEUES = 'SELECT queue FROM reply_to WHERE row_id = :rowId ORDER BY queue'

function* moveFacts(ledgerId: string, move: FoundMove, at: EventPosition): Script<EventFact[]> {
  const { rowId, attempt, from, to, cause, atMs, batchId, merchant } = move
  const digest = digestOf(ledgerId, [move.id, rowId, attempt, from, to, cause, atMs])
  const replyTo = (yield* all<{ queue: string }>(QUEUES, { rowId })).map(({ queue }) => queue)
  const of = { atMs, at, batchId, merchant, replyTo, row: rowOf(move), said: {} }
  const settled = to === 'READY' ? [] : [{ ...of, id: `m${move.id}-${digest}`, type: 'row.settled' as const }]
  const doubt = doubtOn(from, to)
  return doubt === null ? settled : [...settled, { ...of, id: `d${move.id}-${digest}`, type: doubt }]
}

function doubtOn(from: State, to: State): EventType | null {
  if (to === 'IN_DOUBT') return 'doubt.opened'
  return from === 'IN_DOUBT' ? 'doubt.resolved' : null
}

/** In the order in which `answeredBy` keeps them. */
type Answered = readonly [transactionId?: string | null, orderId?: string | null]

function rowOf(move: FoundMove): MovedRow {
  const [transactionId = null, answeredOrderId = null] = (
    move.answered === null ? [] : JSON.parse(move.answered)
  ) as Answered
  const { to, reason, amountMinor } = move
  return {
    rowNo: move.rowNo,
    reference: move.reference,
    operation: move.operation,
    amountMinor: amountMinor === null ? null : BigInt(amountMinor),
    currency: move.currency,
    state: to,
    attempt: move.attempt,
    orderId: answeredOrderId ?? move.orderId,
    transactionId,
    xtlOrderId: move.xtlOrderId,
    reason: to === 'APPROVED' ? null : reason,
    warning: isFinal(to) ? move.warning : null,
  }
}

// ───────────────────────────────────────────────────────────── Other events

/** Of the rows of a batch: the queues that are told of each are told of what holds it. */
const QUEUES_OF_BATCH = `
    SELECT DISTINCT r.queue FROM instruction i JOIN reply_to r ON r.row_id = i.id WHERE i.batch_id = :batchId ORDER BY r.queue`
/** Of who joins it while it is held: that one alone is told. */
const QUEUES_OF_ROW = `
    SELECT r.queue FROM instruction i JOIN reply_to r ON r.row_id = i.id
    WHERE i.batch_id = :batchId AND i.row_no = :row ORDER BY r.queue`
/** Of rows that wait, or waited when it happened. */
const QUEUES_OF_ACCOUNT = `
    SELECT DISTINCT r.queue FROM reply_to r JOIN instruction i ON i.id = r.row_id
    WHERE i.account_id = :accountId
      AND (i.state IN ('READY', 'SENDING') OR EXISTS (SELECT 1 FROM move m WHERE m.row_id = i.id AND m.id > :afterMove))
    ORDER BY r.queue`
const REASONS = `
    SELECT f.reasons FROM refused r JOIN refusal f ON f.source_id = r.source_id WHERE r.id = :refusal`

function* otherFact(ledgerId: string, found: FoundEvent, at: EventPosition): Script<EventFact> {
  const { type, atMs, batchId } = found
  const { replyTo, refusal, merchant, ...said } = JSON.parse(found.said) as Record<string, unknown>
  const own = typeof replyTo === 'string' ? [replyTo] : []
  const queues = yield* queuesOf(found, said)
  return {
    id: nameOf(ledgerId, found),
    ...{ type, atMs, at, batchId },
    merchant: typeof merchant === 'string' ? merchant : found.merchant,
    replyTo: [...own, ...queues.map(({ queue }) => queue)],
    row: null,
    said: typeof refusal === 'number' ? { ...said, ...(yield* reasonsOf(refusal)) } : said,
  }
}

function* queuesOf(
  { type, batchId, accountId, afterMove }: FoundEvent,
  { row }: Readonly<Record<string, unknown>>,
): Script<readonly { readonly queue: string }[]> {
  if (batchId !== null)
    return typeof row === 'number'
      ? yield* all(QUEUES_OF_ROW, { batchId, row })
      : yield* all(QUEUES_OF_BATCH, { batchId })
  return accountId !== null && isForProducers(type) ? yield* all(QUEUES_OF_ACCOUNT, { accountId, afterMove }) : []
}

function* reasonsOf(refusal: number): Script<Record<string, unknown>> {
  const found = yield* one<{ reasons: string }>(REASONS, { refusal })
  const reasons = found === undefined ? [] : (JSON.parse(found.reasons) as string[])
  const [first] = reasons
  return first === undefined ? { reason: null } : { code: partsOfReason(first).code, reason: reasons.join('; ') }
}

/** Of one that was noted. */
export function* nameOfEvent(ledgerId: string, no: number): Script<string | null> {
  const found = yield* one<FoundEvent>(ONE_EVENT, { no })
  return found === undefined ? null : nameOf(ledgerId, found)
}

function nameOf(ledgerId: string, { id, type, atMs, batchId, accountId, afterMove }: FoundEvent): string {
  return `e${id}-${digestOf(ledgerId, [id, type, atMs, batchId, accountId, afterMove])}`
}

function digestOf(ledgerId: string, recorded: readonly unknown[]): string {
  return hash('sha256', JSON.stringify([ledgerId, ...recorded])).slice(0, 12)
}
