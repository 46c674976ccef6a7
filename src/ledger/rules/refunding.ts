// What is a sale and what a refund of an order, and which refunds are too much or must be asked about. Pure.

import type { Operation } from '../../domain/instruction.ts'
import { type Currency, formatAmount } from '../../domain/money.ts'
import type { State } from '../../domain/states.ts'

/** Operations that take money for the order that they were answered with. An AUTH takes none before its capture. */
export const SALES: readonly Operation[] = ['CAPTURE', 'CAUTH']

/** An operation that takes money for the order that it named itself. */
export const SALE_OF_ITS_ORDER: Operation = 'CAUTH'

/** Refunds that moved money, may have, or are going to. */
export const REFUND_COUNTS_IN: readonly State[] = ['READY', 'SENDING', 'IN_DOUBT', 'APPROVED']

export interface Refund {
  readonly orderKey: string
  readonly amountMinor: bigint
  readonly currency: string
}

/** The one known sale of an order. */
export interface Sale {
  readonly soldMinor: bigint
  readonly soldCurrency: string
}

/** Where that sale is recorded. */
export interface SalePlace {
  readonly batchId: string
  readonly saleRowNo: bigint | number
}

/** All refunds of an order so far. */
export interface Refunded {
  readonly refundedMinor: bigint
  /** null: they were declared in several. */
  readonly currency: string | null
}

/** A refund as part of all refunds of its order. */
export interface RefundOfSale extends Sale, SalePlace {
  readonly orderId: string
  readonly currency: string
  /** Before this row and with it. */
  readonly refundedMinor: bigint
}

export interface RefundFault {
  readonly column: 'amount' | 'request_currency'
  readonly problem: string
  readonly remedy: string
}

/** An order has one currency, and no more of it can be refunded than was paid. `refundedMinor`: with this refund. */
export function isBeyondSale({
  currency,
  refundedMinor,
  soldMinor,
  soldCurrency,
}: Omit<RefundOfSale, keyof SalePlace>) {
  return currency !== soldCurrency || refundedMinor > soldMinor
}

/** What belongs to the one row stands in brackets, so that many with one trouble can be told as one. */
export function faultBeyondSale(row: RefundOfSale): RefundFault {
  const sale = `its sale, row ${row.saleRowNo} of batch ${row.batchId}, was`
  if (row.currency !== row.soldCurrency) {
    return {
      column: 'request_currency',
      problem: `the order was paid in another currency (order ${row.orderId}: ${sale} in ${row.soldCurrency})`,
      remedy: 'a refund is made in the currency of its order: check the amount and the currency',
    }
  }
  const asked = `${amountText(row.refundedMinor, row.currency)} ${row.currency}`
  return {
    column: 'amount',
    problem: `more of the order would be refunded than was paid (with this row ${asked} of order ${row.orderId}; ${sale} ${amountText(row.soldMinor, row.currency)} ${row.currency})`,
    remedy: 'take out the refund that is too much, or correct the amount or the order id',
  }
}

/**
 * Why a refund of an order whose sale is not recorded must be asked about: it repeats or exceeds all earlier ones together, or
 * names another currency than they. null: nothing speaks against it.
 */
export function refundedBefore({ orderKey, amountMinor, currency }: Refund, before: Refunded): string | null {
  if (before.refundedMinor === 0n || (before.currency === currency && before.refundedMinor > amountMinor)) return null
  const what =
    before.currency === null
      ? `order ${orderKey} was refunded before, in more than one currency`
      : `${amountText(before.refundedMinor, before.currency)} ${before.currency} of order ${orderKey} was refunded before`
  return `${what}, and its sale is not recorded here`
}

export function amountText(amountMinor: bigint, currency: string): string {
  return formatAmount({ amountMinor, currency: currency as Currency })
}
