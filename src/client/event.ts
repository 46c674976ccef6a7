// What a service is told of its instructions: one event, whichever way it comes. It may come twice, with the same id.

import type { LooksLike } from './errors.ts'
import type { State } from './instruction.ts'

/** What holds a row that waits: as the event that began it is called. */
export interface Held {
  readonly by: 'account.stopped' | 'batch.paused' | 'batch.awaiting_approval'
  readonly reason: string | null
}

export interface RowOutcome {
  /** false: it may change, or a refused request is recorded otherwise (`looks_like`). Not to be sent again: a person finds out. */
  readonly final: boolean
  readonly advice?: 'do not send again'
  readonly reference: string
  /** Of a refused batch. */
  readonly batch_name: string
  /** Of a refusal: what its first reason is about. */
  readonly code: string
  /** Of a refusal: the recorded instruction that has its reference, or that it may repeat. What becomes of that one its own events tell. */
  readonly looks_like: LooksLike
  readonly batch: string
  readonly row: number
  readonly merchant: string
  readonly operation: string
  readonly amount: string | null
  readonly currency: string | null
  readonly state: State
  readonly attempt: number
  readonly order_id: string | null
  readonly transaction_id: string | null
  readonly xtl_order_id: string | null
  readonly reason: string | null
  readonly category: string | null
  readonly warning: string | null
  readonly held: Held
  /** Grows with the batch: tells a late event from an early one. */
  readonly version: number
}

interface Envelope<Type extends string, Content> {
  readonly specversion: '1.0'
  /** The same each time it is delivered. */
  readonly id: string
  readonly source: string
  readonly type: Type
  readonly time: string
  readonly timestamp: string
  readonly subject: string
  readonly data: Content
}

export type RowEvent = Envelope<
  'row.settled' | 'row.refused' | 'row.held',
  Partial<RowOutcome> & Pick<RowOutcome, 'final'>
>
type OtherType =
  | `batch.${string}`
  | `doubt.${string}`
  | `access.${string}`
  | `account.${string}`
  | `endpoint.${string}`
  | 'results.stale'
  | 'ping'
export type OtherEvent = Envelope<OtherType, Readonly<Record<string, unknown>>>
export type OutcomeEvent = RowEvent | OtherEvent

/** Resolves when the event need not come again. Whatever it rejects with, the event comes again. */
export type OutcomeHandler = (event: OutcomeEvent) => Promise<void> | void

export interface Listening {
  /**
   * Resolves when it was closed. Rejects with a ListeningError where no event can come until somebody mends something: until then it waits.
   * Await it or catch it: like every rejection that nobody handles, it ends the process.
   */
  readonly ended: Promise<void>
  close(): Promise<void>
}
