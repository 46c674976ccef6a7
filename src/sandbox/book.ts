// What the sandbox knows: the orders, the records of its vault, and the sequence that all its ids come from.

import type { CardMask } from '../domain/card.ts'
import type { Currency } from '../domain/money.ts'

export interface Order {
  readonly orderId: string
  readonly currency: Currency
  /** Reserved on the card while authorized, charged from the capture on. */
  readonly takenMinor: bigint
  readonly refundedMinor: bigint
  readonly voidedMinor: bigint
  /** null: authorized, not captured. */
  readonly capturedAtMs: number | null
  /** Its whole remaining balance was cancelled. */
  readonly voided: boolean
  readonly vaultId: string | null
  readonly xtlOrderId: string | null
}

export interface Holder {
  readonly firstName: string
  readonly lastName: string
}

/** A stored card, as far as anything of it is kept: the number and the security code end where the body is parsed. */
export interface VaultRecord extends Holder {
  readonly customerId: string
  readonly card: CardMask
}

export interface OrderBook {
  readonly orders: Map<string, Order>
  /** null: a prepared record; only its id is known. */
  readonly vault: Map<string, VaultRecord | null>
  readonly settleAfterMs: number
  lastId: number
}

/** Fifteen digits that begin with 7: no card number does. */
const FIRST_ID = 700_000_000_000_000

/** Ids continue from the time of opening, so that a restarted sandbox does not give out an earlier id again. */
export function createOrderBook(settleAfterMs: number, nowMs: number): OrderBook {
  return { orders: new Map(), vault: new Map(), settleAfterMs, lastId: FIRST_ID + Math.max(0, Math.trunc(nowMs)) * 10 }
}

/** Ids of all kinds come from one sequence: none is ever right by accident where another kind was meant. */
export function freshId(book: OrderBook): string {
  do book.lastId += 1
  while (book.orders.has(String(book.lastId)) || book.vault.has(String(book.lastId)))
  return String(book.lastId)
}

/** Keeps the record under a new id, which pays for sales and authorizations at once. */
export function storeRecord(book: OrderBook, holder: Holder, card: CardMask): string {
  const vaultId = freshId(book)
  book.vault.set(vaultId, { ...holder, customerId: freshId(book), card })
  return vaultId
}
