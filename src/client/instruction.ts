// What a service hands in, as types: what an operation needs and is missing does not compile. The ledger checks all of it again.

import type { Held } from './event.ts'

export interface CardholderDetails {
  readonly cust_fname?: string
  readonly cust_lname?: string
  readonly cust_email?: string
  readonly cust_phone?: string
  readonly bill_addr?: string
  readonly bill_addr_city?: string
  readonly bill_addr_state?: string
  readonly bill_addr_zip?: string
  readonly bill_addr_country?: string
}

/** Which world an installation belongs to: money moves in `live` alone. */
export type Environment = 'live' | 'test'

interface Referred {
  /** Yours: unique for the account for ever. The same reference again is never executed again. */
  readonly reference: string
  /** ISO 8601 with an offset: the earliest moment to send. */
  readonly execute_at?: string
  /** ISO 8601 with an offset: from this moment on it is not sent any more but CANCELLED. */
  readonly expires_at?: string
}

interface Money {
  /** In units of the currency, with exactly its decimals: `12.30` of EUR, `1230` of JPY. Never a number. */
  readonly amount: string
  /** ISO 4217. For REFUND and CANCEL it is declared, not sent. */
  readonly request_currency: string
}

interface OfOrder {
  /** The gateway's order id (TRANS_ORDER_ID) of the earlier transaction. */
  readonly request_ref_po_id: string
}

interface OfCard extends CardholderDetails {
  readonly customer_vault_id: string
  /** 1 to 32 letters and digits; derived from the reference where absent. */
  readonly xtl_order_id?: string
}

/** Never both: an amount without its currency means nothing. */
type MaybeMoney = Money | { readonly amount?: never; readonly request_currency?: never }

/** A sale. */
export interface Capture extends Referred, Money, OfCard {
  readonly transaction_type: 'CAPTURE'
  readonly save_card_on_file?: 'Y'
}
export interface Authorization extends Referred, Money, OfCard {
  readonly transaction_type: 'AUTH'
}
/** Captures an authorization. */
export interface CaptureOfAuthorization extends Referred, Money, OfOrder, CardholderDetails {
  readonly transaction_type: 'CAUTH'
  readonly xtl_order_id?: string
}
export interface Refund extends Referred, Money, OfOrder {
  readonly transaction_type: 'REFUND'
}
export type Cancel = Referred & OfOrder & MaybeMoney & { readonly transaction_type: 'CANCEL' }

/** One instruction of a batch. */
export type BatchInstruction = Capture | Authorization | CaptureOfAuthorization | Refund | Cancel

export type Instruction = BatchInstruction & {
  /** As the configuration of the installation names it. Needed where it has several. */
  readonly merchant?: string
  /** Put before the reference with a `/`. */
  readonly run_key?: string
  /** The batch that takes it: `[A-Za-z0-9._-]{1,64}`. Absent: that of the day or the hour. */
  readonly batch?: string
  /** The reference of the instruction that it was refused for looking like: this one is meant all the same. */
  readonly allow_lookalike_of?: string
  /** The codes of questions that it was refused with: what they ask about is meant. */
  readonly accept?: readonly ('execute_at' | 'above_limit')[]
}

type Type = BatchInstruction['transaction_type']
type OfType<Named extends Type> = Extract<BatchInstruction, { readonly transaction_type: Named }>
type Lacking<One, Field extends PropertyKey> = One extends unknown
  ? Omit<One, Field> & { readonly [Lacked in Field & keyof One]?: One[Lacked] }
  : never
/** Up to 1,000. */
type Rows<One> = { readonly instructions: readonly [One, ...One[]] }

interface NoType {
  readonly transaction_type?: never
}
interface NoCurrency {
  readonly request_currency?: never
}
interface OneCurrency {
  /** Of amounts that name none. */
  readonly request_currency: string
}
interface OneType<Named extends Type> {
  /** Of instructions that name none. */
  readonly transaction_type: Named
}

/** What its instructions have in common stands beside them once. */
type Common =
  | (NoType & NoCurrency & Rows<BatchInstruction>)
  | (NoType & OneCurrency & Rows<Lacking<BatchInstruction, 'request_currency'>>)
  | {
      [Named in Type]: OneType<Named> &
        (
          | (NoCurrency & Rows<BatchInstruction | Lacking<OfType<Named>, 'transaction_type'>>)
          | (OneCurrency &
              Rows<
                | Lacking<BatchInstruction, 'request_currency'>
                | Lacking<OfType<Named>, 'transaction_type' | 'request_currency'>
              >)
        )
    }[Type]

export type Batch = BatchOptions & Common

interface BatchOptions {
  /** ISO 8601 with an offset; of instructions that name none. */
  readonly execute_at?: string
  readonly expires_at?: string
  /** Yours: one name is one batch of the account for ever, `[A-Za-z0-9._-]{1,64}`. */
  readonly batch: string
  /** Needed where the installation has several. */
  readonly merchant?: string
  readonly run_key?: string
  /** How many instructions are meant although they look like others. */
  readonly allow_lookalikes?: number
  /** How many instructions are meant although their `execute_at` is more than a day ago or more than 400 days ahead. */
  readonly allow_execute_at?: number
  /** How many instructions are meant although their amount is above the limit of a day. */
  readonly allow_above_limit?: number
}

export type State = 'PENDING' | 'SENDING' | 'APPROVED' | 'DECLINED' | 'FAILED' | 'CANCELLED' | 'IN_DOUBT'

/**
 * The ledger has it. `duplicate`: it had it before, and `state` is how that one stands. `accepted` with `IN_DOUBT`: it was queued before
 * an older state of the ledger was put back, and a person has to look up whether it was sent.
 */
export interface Submitted {
  readonly status: 'accepted' | 'duplicate'
  readonly reference: string
  readonly batch: string
  readonly row: number
  readonly state: State
  /** Of a duplicate: when it was recorded first, in ISO 8601. */
  readonly first_at?: string
  /** Absent: nothing holds it. */
  readonly held?: Held
  /** Of a duplicate: how it was answered otherwise than asked. Absent: it was not. */
  readonly warning?: string
}

export interface SubmittedBatch {
  readonly status: 'accepted' | 'duplicate'
  readonly batch: string
  readonly rows: number
  /** How many of the rows were recorded before this batch: they are not sent again. */
  readonly duplicates: number
  /** When the batch, or the first of its duplicates, was recorded first, in ISO 8601. Absent: nothing of it was recorded before. */
  readonly first_at?: string
  /** Absent: nothing holds it. */
  readonly held?: Held
}
