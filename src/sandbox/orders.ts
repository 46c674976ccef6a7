// The sandbox's own truth about orders and balances: what each operation does to them. No I/O: time comes from outside.
// Nothing here knows how the client reads an answer.

import type { CardMask } from '../domain/card.ts'
import type { TransactionType } from '../domain/instruction.ts'
import { formatAmount, type Money, parseAmount, sameAmount } from '../domain/money.ts'
import type { GatewayAnswer } from './answer.ts'
import { freshId, type Holder, type Order, type OrderBook, storeRecord } from './book.ts'

export type CardSource =
  | { readonly kind: 'card'; readonly card: CardMask }
  | { readonly kind: 'vault'; readonly vaultId: string }

interface Asked {
  /** As sent; null only for a CANCEL without one. */
  readonly amount: string | null
  readonly xtlOrderId: string | null
}

interface SaleRequest extends Asked {
  readonly operation: 'CAPTURE' | 'AUTH'
  readonly money: Money
  readonly source: CardSource
  /** Whose card is kept in the vault; null: it is not kept. */
  readonly saveFor: Holder | null
}

interface CaptureRequest extends Asked {
  readonly operation: 'CAUTH'
  readonly money: Money
  readonly orderId: string
}

/** Neither names a currency: the amount is in the order's. */
interface ReturnRequest extends Asked {
  readonly operation: 'REFUND' | 'CANCEL'
  readonly orderId: string
}

/** A well-formed request. Ids are digits without leading zeros. */
export type TransactionRequest = SaleRequest | CaptureRequest | ReturnRequest

export type OrderState = 'authorized' | 'pending settlement' | 'settled' | 'voided'

export interface Execution {
  readonly answer: GatewayAnswer
  readonly operation: TransactionType
  readonly orderId: string
  /** null where the order's currency is not known, or nothing was named and nothing could be cancelled. */
  readonly money: Money | null
  readonly vaultId: string | null
  /** Where the request had card details. */
  readonly card: CardMask | null
  readonly xtlOrderId: string | null
}

/** `ordered`: why it is declined whatever it asks for; null: it goes by the book. */
export function execute(
  book: OrderBook,
  request: TransactionRequest,
  nowMs: number,
  ordered: string | null = null,
): Execution {
  switch (request.operation) {
    case 'CAPTURE':
    case 'AUTH':
      return executeSale(book, request, nowMs, ordered)
    case 'CAUTH':
    case 'REFUND':
    case 'CANCEL':
      return executeOnOrder(book, request, nowMs, ordered)
  }
}

// ───────────────────────────────────────────────────────────── Sale and authorization

function executeSale(book: OrderBook, request: SaleRequest, nowMs: number, ordered: string | null): Execution {
  const { operation, money, xtlOrderId } = request
  const transactionId = freshId(book)
  const recordId = freshId(book)
  const orderId = freshId(book)
  const advice = ordered ?? refusalOfSale(book, request)
  const vaultId = advice === null ? vaultIdFor(book, request) : null
  if (advice === null) {
    book.orders.set(orderId, {
      orderId,
      currency: money.currency,
      takenMinor: money.amountMinor,
      refundedMinor: 0n,
      voidedMinor: 0n,
      capturedAtMs: operation === 'CAPTURE' ? nowMs : null,
      voided: false,
      vaultId,
      xtlOrderId,
    })
  }
  const answer: GatewayAnswer = {
    action: operation,
    status: advice === null ? 'APPROVED' : 'DECLINED',
    value: formatAmount(money),
    transactionId,
    recordId,
    orderId,
    xtlOrderId,
    currency: money.currency,
    savedVaultId: request.saveFor === null ? null : vaultId,
    advice,
  }
  const { source } = request
  const namedVaultId = source.kind === 'vault' ? source.vaultId : vaultId
  const card = source.kind === 'card' ? source.card : null
  return { answer, operation, orderId, money, vaultId: namedVaultId, card, xtlOrderId }
}

function refusalOfSale(book: OrderBook, request: SaleRequest): string | null {
  const { source, money } = request
  if (source.kind === 'vault' && !book.vault.has(source.vaultId)) {
    return `Customer vault id ${source.vaultId} is not known`
  }
  return isProcessorDecline(money) ? PROCESSOR_DECLINE : null
}

/** The vault id the order belongs to; a card that is to be kept gets one. */
function vaultIdFor(book: OrderBook, request: SaleRequest): string | null {
  if (request.source.kind === 'vault') return request.source.vaultId
  return request.saveFor === null ? null : storeRecord(book, request.saveFor, request.source.card)
}

// ───────────────────────────────────────────────────────────── Operations on an earlier order

type OnOrder = CaptureRequest | ReturnRequest

type Decision =
  | { readonly kind: 'approved'; readonly order: Order; readonly money: Money }
  | { readonly kind: 'declined'; readonly money: Money | null; readonly advice: string }

const NOT_OPEN = 'Only an open authorization can be captured.'
const NOT_PENDING = 'Only transactions pending settlement can be voided.'

/** What an operation is told in each state of the order; null: it goes ahead, as far as the balance allows. */
const REFUSALS = {
  CAUTH: { authorized: null, 'pending settlement': NOT_OPEN, settled: NOT_OPEN, voided: NOT_OPEN },
  REFUND: {
    authorized: 'Only a sale can be refunded, and this authorization was not captured.',
    'pending settlement': null,
    settled: null,
    voided: 'A voided transaction cannot be refunded.',
  },
  CANCEL: { authorized: null, 'pending settlement': null, settled: NOT_PENDING, voided: NOT_PENDING },
} as const satisfies Record<OnOrder['operation'], Record<OrderState, string | null>>

export function stateOf(order: Order, nowMs: number, settleAfterMs: number): OrderState {
  if (order.voided) return 'voided'
  if (order.capturedAtMs === null) return 'authorized'
  return nowMs - order.capturedAtMs >= settleAfterMs ? 'settled' : 'pending settlement'
}

/** What can still be captured, refunded or cancelled. */
export function balanceMinorOf(order: Order): bigint {
  return order.takenMinor - order.refundedMinor - order.voidedMinor
}

function executeOnOrder(book: OrderBook, request: OnOrder, nowMs: number, ordered: string | null): Execution {
  const { operation, orderId, xtlOrderId } = request
  const transactionId = freshId(book)
  const order = book.orders.get(orderId)
  const decision =
    ordered === null ? decideOnOrder(book, order, request, transactionId, nowMs) : declined(null, ordered)
  if (decision.kind === 'approved') book.orders.set(orderId, decision.order)
  const approved = decision.kind === 'approved'
  // A capture alone says its own currency; what it asked for stays true where the order is in another.
  const money = decision.money ?? (request.operation === 'CAUTH' ? request.money : null)
  const answer: GatewayAnswer = {
    action: operation === 'CAUTH' ? 'CAPTURE' : operation,
    status: approved ? 'APPROVED' : 'DECLINED',
    value: money === null ? request.amount : formatAmount(money),
    transactionId,
    recordId: recordIdFor(book, request, approved),
    orderId,
    xtlOrderId,
    currency: money?.currency ?? order?.currency ?? null,
    savedVaultId: null,
    advice: approved ? null : decision.advice,
  }
  return { answer, operation, orderId, money, vaultId: order?.vaultId ?? null, card: null, xtlOrderId }
}

/** A tracking id for a capture; for refund and cancel documented as the order id, and absent from a declined refund. */
function recordIdFor(book: OrderBook, request: OnOrder, approved: boolean): string | null {
  if (request.operation === 'CAUTH') return freshId(book)
  return approved || request.operation === 'CANCEL' ? request.orderId : null
}

function decideOnOrder(
  book: OrderBook,
  order: Order | undefined,
  request: OnOrder,
  transactionId: string,
  nowMs: number,
): Decision {
  if (order === undefined) return declined(null, `Order id ${request.orderId} is not known`)
  const money = moneyOf(order, request)
  if (typeof money === 'string') return declined(null, money)
  const refusal = REFUSALS[request.operation][stateOf(order, nowMs, book.settleAfterMs)]
  if (refusal !== null) return declined(money, `${refusal} Ref id ${transactionId}`)
  if (request.amount !== null && isProcessorDecline(money)) return declined(money, PROCESSOR_DECLINE)
  const balanceMinor = balanceMinorOf(order)
  if (money.amountMinor > balanceMinor || balanceMinor === 0n) {
    return declined(money, overdrawn(request.operation, { amountMinor: balanceMinor, currency: order.currency }, money))
  }
  return { kind: 'approved', order: moved(order, request, money, nowMs), money }
}

/** The amount in the order's currency, or why it is none. A CANCEL without an amount means the whole balance. */
function moneyOf(order: Order, request: OnOrder): Money | string {
  const { currency } = order
  if (request.operation === 'CAUTH') {
    return request.money.currency === currency ? request.money : `The authorization is in ${currency}`
  }
  if (request.amount === null) return { amountMinor: balanceMinorOf(order), currency }
  const money = parseAmount(request.amount, currency)
  return typeof money === 'string' ? `The amount is not an amount in ${currency}` : money
}

function moved(order: Order, request: OnOrder, money: Money, nowMs: number): Order {
  switch (request.operation) {
    case 'CAUTH':
      // The rest of the authorization is released: from here on only what was captured counts.
      return { ...order, takenMinor: money.amountMinor, voidedMinor: 0n, capturedAtMs: nowMs }
    case 'REFUND':
      return { ...order, refundedMinor: order.refundedMinor + money.amountMinor }
    case 'CANCEL':
      return {
        ...order,
        voidedMinor: order.voidedMinor + money.amountMinor,
        voided: money.amountMinor === balanceMinorOf(order),
      }
  }
}

function overdrawn(operation: OnOrder['operation'], balance: Money, asked: Money): string {
  const amounts = `Order balance: ${inWords(balance)}, requested amount: ${inWords(asked)}`
  switch (operation) {
    case 'CAUTH':
      return `The capture is greater than the authorization. ${amounts}`
    case 'REFUND':
      return `The refund is greater than the balance of the order. ${amounts}`
    case 'CANCEL':
      return `The cancellation is greater than the balance of the order. ${amounts}`
  }
}

function declined(money: Money | null, advice: string): Decision {
  return { kind: 'declined', money, advice }
}

// ───────────────────────────────────────────────────────────── Shared by all operations

export const PROCESSOR_DECLINE = 'Declined by the processor'

/** The amount that the test environment of the gateway always declines. */
export const DECLINED_AMOUNT = '5.02'

function isProcessorDecline(money: Money): boolean {
  return sameAmount(DECLINED_AMOUNT, money)
}

function inWords(money: Money): string {
  return `${formatAmount(money)} ${money.currency}`
}
