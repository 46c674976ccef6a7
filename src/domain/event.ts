// What other programs are told of batches and rows, each event made of what the ledger recorded. Pure.

import { formatDecimal } from './decimal.ts'
import type { BatchId } from './ids.ts'
import { type Currency, exponentOf, formatAmount } from './money.ts'
import { categoryOfReason, type ReasonRule } from './reason-categories.ts'
import { type State, statusOf } from './states.ts'

/** One for each row. */
export const ROW_EVENTS = ['row.settled', 'row.refused', 'row.held'] as const
/** Who may come in, and from where somebody came: with names and addresses of people of the console. */
const ACCESS_EVENTS = ['access.person_added', 'access.roles_changed', 'access.key_added', 'access.new_address'] as const
export const EVENT_TYPES = [
  ...ROW_EVENTS,
  ...ACCESS_EVENTS,
  'batch.accepted',
  'batch.awaiting_approval',
  'batch.approved',
  'batch.rejected',
  'batch.started',
  'batch.paused',
  'batch.resumed',
  'batch.cancelled',
  'batch.needs_attention',
  'batch.finished',
  'results.stale',
  'doubt.opened',
  'doubt.resolved',
  'account.stopped',
  'account.resumed',
  'endpoint.disabled',
  'endpoint.recovered',
  'ping',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** What else is said than of a row: short texts, numbers and lists of them. */
export type EventContent = Readonly<Record<string, unknown>>

/** How far a reader has come: the number of the last move, and of the last of the other events. */
export interface EventPosition {
  readonly move: number
  readonly event: number
}

/** A row as one of its moves left it. */
export interface MovedRow {
  readonly rowNo: number
  readonly reference: string
  readonly operation: string | null
  readonly amountMinor: bigint | null
  readonly currency: Currency | null
  readonly state: State
  readonly attempt: number
  readonly orderId: string | null
  readonly transactionId: string | null
  readonly xtlOrderId: string | null
  readonly reason: string | null
  readonly warning: string | null
}

/** As the ledger has it. */
export interface EventFact {
  /** The same whenever it is read. */
  readonly id: string
  readonly type: EventType
  readonly atMs: number
  readonly at: EventPosition
  readonly batchId: BatchId | null
  readonly merchant: string | null
  /** Queues that a message named to be told in. */
  readonly replyTo: readonly string[]
  /** Of `row.settled`, `doubt.opened` and `doubt.resolved`. */
  readonly row: MovedRow | null
  readonly said: EventContent
}

/** CloudEvents 1.0, structured; with `timestamp` it is the body of Standard Webhooks too. */
export interface EventBody {
  readonly specversion: '1.0'
  readonly id: string
  readonly source: string
  readonly type: EventType
  readonly time: string
  readonly timestamp: string
  readonly subject: string
  readonly datacontenttype: 'application/json'
  readonly dataschema: string
  readonly data: EventContent
}

export const EVENT_SCHEMA = 'https://tranche.invalid/schemas/event.schema.json'
export const ADVICE = 'do not send again'

/** `rules`: of the merchant, for the category of a reason. */
export function eventBody(fact: EventFact, ledgerId: string, rules: readonly ReasonRule[]): EventBody {
  const time = new Date(fact.atMs).toISOString()
  return {
    specversion: '1.0',
    id: fact.id,
    source: `/ledger/${ledgerId}`,
    type: fact.type,
    time,
    timestamp: time,
    subject: subjectOf(fact),
    datacontenttype: 'application/json',
    dataschema: EVENT_SCHEMA,
    data: contentOf(fact, rules),
  }
}

function subjectOf({ batchId, row, merchant, said }: EventFact): string {
  const rowNo = row?.rowNo ?? said.row
  if (batchId !== null) return typeof rowNo === 'number' ? `batch/${batchId}/row/${rowNo}` : `batch/${batchId}`
  if (typeof said.endpoint === 'string') return `endpoint/${said.endpoint}`
  if (typeof said.person === 'string') return `person/${said.person}`
  if (typeof said.key === 'string') return `key/${said.key}`
  return merchant === null ? 'ledger' : `account/${merchant}`
}

function contentOf({ row, batchId, merchant, said, at }: EventFact, rules: readonly ReasonRule[]): EventContent {
  const of = { ...(batchId !== null && { batch: batchId }), ...(merchant !== null && { merchant }) }
  return { ...of, ...(row === null ? {} : rowContent(row, rules)), ...said, version: versionOf(at) }
}

/** Grows from each event to the next. */
function versionOf({ move, event }: EventPosition): number {
  return move + event
}

function rowContent(row: MovedRow, rules: readonly ReasonRule[]): EventContent {
  const { reason, state, amountMinor, currency } = row
  const isRefused = state === 'DECLINED' || state === 'FAILED'
  return {
    ...finality(isOver(state)),
    reference: row.reference,
    row: row.rowNo,
    operation: row.operation,
    amount: amountMinor === null || currency === null ? null : formatAmount({ amountMinor, currency }),
    currency,
    state: statusOf(state),
    attempt: row.attempt,
    order_id: row.orderId,
    transaction_id: row.transactionId,
    xtl_order_id: row.xtlOrderId,
    reason,
    category: isRefused ? categoryOfReason(reason ?? '', rules) : null,
    warning: row.warning,
  }
}

/** What is in doubt or waits may have been executed, or may be yet. */
function isOver(state: State): boolean {
  return state !== 'IN_DOUBT' && state !== 'READY' && state !== 'SENDING'
}

export function finality(isFinal: boolean): EventContent {
  return isFinal ? { final: true } : { final: false, advice: ADVICE }
}

/** Of what rows are held for, their producers are told: they are not lost. */
const HOLDS = ['account.stopped', 'batch.paused', 'batch.awaiting_approval'] as const
const HELD: ReadonlySet<EventType> = new Set(HOLDS)
const ENDED_BY_PEOPLE: ReadonlySet<EventType> = new Set([
  'account.resumed',
  'batch.approved',
  'batch.rejected',
  'batch.resumed',
  'batch.cancelled',
])

/** Whether a queue for outcomes is told of it, beside its rows. */
export function isForProducers(type: EventType): boolean {
  return ROW_EVENTS.some((one) => one === type) || HELD.has(type) || ENDED_BY_PEOPLE.has(type)
}

/** What holds rows that wait, as the event that began it is called. */
export interface Held {
  readonly by: (typeof HOLDS)[number]
  readonly reason: string | null
}

/** Beside what is said of it: whether its rows may still be sent. */
export function holdContent(type: EventType): EventContent {
  return HELD.has(type) ? finality(false) : {}
}

export function totalText(amountMinor: bigint, currency: Currency | ''): string {
  return formatDecimal({ digits: amountMinor, decimals: currency === '' ? 0 : exponentOf(currency) })
}

// ───────────────────────────────────────────────────────────── Which events are asked for

function isEventType(text: string): text is EventType {
  return EVENT_TYPES.some((type) => type === text)
}

/** A type, or a group such as `batch.*`. */
export function isEventPattern(text: string): boolean {
  return isEventType(text) || EVENT_TYPES.some((type) => `${groupOf(type)}.*` === text)
}

function groupOf(type: EventType): string {
  return type.split('.')[0] as string
}

const BY_SUBSCRIPTION: readonly EventType[] = [...ROW_EVENTS, ...ACCESS_EVENTS]

/** Whether people and keys may be named in it. */
export function isOfAccess(type: EventType): boolean {
  return ACCESS_EVENTS.some((one) => one === type)
}

/** `patterns` null: all but those that come by subscription only. */
export function isAskedFor(type: EventType, patterns: readonly string[] | null): boolean {
  if (patterns === null) return !BY_SUBSCRIPTION.includes(type)
  return patterns.some((pattern) => pattern === type || pattern === `${groupOf(type)}.*`)
}
