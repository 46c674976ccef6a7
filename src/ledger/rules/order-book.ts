// The order book: what is recorded of an order, and which captures, voids and refunds of it are too much, too late, or must be asked about.
// Pure.

import type { Operation } from '../../domain/instruction.ts'
import { type Currency, formatAmount } from '../../domain/money.ts'
import type { State } from '../../domain/states.ts'

/** Operations that take money for the order that they were answered with. An AUTH takes none before its capture. */
export const SALES: readonly Operation[] = ['CAPTURE', 'CAUTH']

/** Operations that name an order which is there already. */
export const OF_AN_ORDER: readonly Operation[] = ['CAUTH', 'CANCEL', 'REFUND']

/** In these states a row of an order moved money, or may have. */
export const ORDER_MOVED_IN: readonly State[] = ['SENDING', 'IN_DOUBT', 'APPROVED']

/** What waits to be sent counts too, where another row is handed in. */
export const ORDER_COUNTS_IN: readonly State[] = ['READY', ...ORDER_MOVED_IN]

/** Where a row is recorded. */
export interface Place {
  /** null: in the same file. */
  readonly batchId: string | null
  readonly rowNo: number
}

/** Several rows of one order. */
export interface Sum {
  readonly amountMinor: bigint
  /** null: they were declared in several. */
  readonly currency: string | null
  /** Of the first row of an authorization or a sale, and of the last row of anything else. */
  readonly at: Place
}

/** What is recorded of an order as done, waiting or in doubt. null: nothing. */
export interface Done {
  readonly captured: Sum | null
  /** Of those: captures that are no known sale yet. */
  readonly open: Sum | null
  readonly refunded: Sum | null
  readonly voided: Place | null
}

export interface Order {
  readonly orderId: string
  /** By the authorizations that the gateway approved. null: none is recorded, or what is recorded is no exact sum of one currency. */
  readonly authorized: Sum | null
  /** By approved sales and captures. null: as above. */
  readonly sold: Sum | null
  /** There are such, but what they add up to is not known: an answer differed about money, for one. */
  readonly isSaleUnsure: boolean
  readonly recorded: Done
  /** The last capture, and the last refund, that may have been executed. null: none. */
  readonly inDoubt: { readonly CAUTH: Place | null; readonly REFUND: Place | null }
  /** By earlier rows of the same file. */
  readonly inFile: Done
}

/** An instruction that names an order. */
export interface OfOrder {
  readonly operation: Operation
  /** null: a CANCEL needs none. */
  readonly amountMinor: bigint | null
  readonly currency: string | null
}

export interface OrderRules {
  /** Per cent by which captures may exceed their authorization. */
  readonly captureTolerance: number
}

/** `wrong`: it contradicts what is recorded. `asked`: a person says that it is meant. */
export type OrderVerdict = 'fits' | OrderFault | OrderQuestion

export interface OrderFault {
  readonly kind: 'wrong'
  /** For programs. */
  readonly code: 'over_capture' | 'over_refund' | 'other_currency' | 'after_void' | 'after_refund'
  readonly column: 'amount' | 'request_currency' | 'request_ref_po_id'
  readonly problem: string
  readonly remedy: string
}

export interface OrderQuestion {
  readonly kind: 'asked'
  readonly why: 'refunded-before' | 'beside-void' | 'beside-doubt'
  /** All refunds before it; null: it is not about those. */
  readonly before: Pick<Sum, 'amountMinor' | 'currency'> | null
  readonly at: Place
  readonly problem: string
}

export const NOTHING_DONE: Done = { captured: null, open: null, refunded: null, voided: null }

export function judgeOrder(order: Order, row: OfOrder, rules: OrderRules): OrderVerdict {
  switch (row.operation) {
    case 'CAUTH':
      return (
        whyNotAfterVoid(order) ??
        whyNotCaptured(order, row, rules) ??
        besideVoid(order) ??
        besideDoubt(order, 'CAUTH') ??
        'fits'
      )
    case 'REFUND':
      return (
        whyNotAfterVoid(order) ??
        whyNotRefunded(order, row) ??
        besideVoid(order) ??
        refundedBefore(order, row) ??
        besideDoubt(order, 'REFUND') ??
        'fits'
      )
    case 'CANCEL':
      return whyNotVoided(order) ?? besideMoney(order) ?? 'fits'
    default:
      return 'fits'
  }
}

/** The same order, once the row is in the file as well. */
export function withRow(order: Order, { operation, amountMinor, currency }: OfOrder, rowNo: number): Order {
  const { inFile } = order
  const at: Place = { batchId: null, rowNo }
  if (operation === 'CANCEL') return { ...order, inFile: { ...inFile, voided: at } }
  const sum = { amountMinor: amountMinor ?? 0n, currency, at }
  if (operation === 'REFUND') return { ...order, inFile: { ...inFile, refunded: addUp(inFile.refunded, sum) } }
  const captured = addUp(inFile.captured, sum)
  return { ...order, inFile: { ...inFile, captured, open: captured } }
}

function addUp(before: Sum | null, after: Sum | null): Sum | null {
  if (before === null || after === null) return after ?? before
  const currency = before.currency === after.currency ? after.currency : null
  return { amountMinor: before.amountMinor + after.amountMinor, currency, at: after.at }
}

function whyNotAfterVoid({ orderId, recorded }: Order): OrderFault | null {
  if (recorded.voided === null) return null
  return {
    kind: 'wrong',
    code: 'after_void',
    column: 'request_ref_po_id',
    problem: `a void of the order is recorded (order ${orderId}: ${placeText(recorded.voided)})`,
    remedy:
      'nothing is captured or refunded after a void: take the row out, or correct the order id. A void that waits can be cancelled first',
  }
}

function whyNotVoided({ orderId, recorded: { refunded } }: Order): OrderFault | null {
  if (refunded === null) return null
  return {
    kind: 'wrong',
    code: 'after_refund',
    column: 'request_ref_po_id',
    problem: `a refund of the order is recorded (order ${orderId}: refunds ${ofSum(refunded)}, last by ${placeText(refunded.at)})`,
    remedy: 'what is refunded cannot be voided: take the row out, or refund the rest of the order',
  }
}

function whyNotCaptured(order: Order, row: OfOrder, { captureTolerance }: OrderRules): OrderFault | null {
  const { authorized, recorded, inFile } = order
  if (authorized === null) return whyNotInCurrency(order, row)
  const most = authorized.amountMinor + (authorized.amountMinor * BigInt(captureTolerance)) / 100n
  return whyTooMuch(order, row, {
    ...{ of: authorized, most, before: addUp(recorded.captured, inFile.captured) },
    problem: 'more of the order would be captured than was authorized',
    otherCurrency: 'the order was authorized in another currency',
    ...{ done: 'authorized', verb: 'capture' },
    hint: captureTolerance === 0 ? '' : ` (${captureTolerance} % more is allowed)`,
  })
}

/** Of what is not authorized here, captures say at least the currency. */
function whyNotInCurrency({ orderId, recorded, inFile }: Order, { currency }: OfOrder): OrderFault | null {
  const before = addUp(recorded.captured, inFile.captured)
  if (before === null || before.currency === null || before.currency === currency) return null
  return {
    kind: 'wrong',
    code: 'other_currency',
    column: 'request_currency',
    problem: `the order was captured in another currency (order ${orderId}: captures ${ofSum(before)}, last by ${placeText(before.at)})`,
    remedy: 'a capture is made in the currency of its order: check the amount and the currency',
  }
}

function whyNotRefunded(order: Order, row: OfOrder): OrderFault | null {
  const { authorized, recorded, inFile } = order
  const paid = paidOf(order)
  const limit = {
    before: addUp(recorded.refunded, inFile.refunded),
    problem: 'more of the order would be refunded than was paid',
    otherCurrency: 'the order was paid in another currency',
    verb: 'refund',
  } as const
  if (paid !== null)
    return whyTooMuch(order, row, { ...limit, of: paid, most: paid.amountMinor, done: 'paid', hint: '' })
  if (authorized === null || isCaptured(order)) return null
  return whyTooMuch(order, row, { ...limit, of: authorized, most: 0n, done: 'authorized', hint: ', not captured,' })
}

/** Or may be, or will: how much is another matter. */
function isCaptured({ sold, isSaleUnsure, recorded, inFile }: Order): boolean {
  return isSaleUnsure || sold !== null || recorded.open !== null || inFile.open !== null
}

/** What waits to be captured, or may have been, is as good as paid. null: it is not known here, or is of several currencies. */
function paidOf({ sold, isSaleUnsure, recorded, inFile }: Order): Sum | null {
  if (isSaleUnsure) return null
  const paid = addUp(addUp(sold, recorded.open), inFile.open)
  return paid?.currency === null ? null : paid
}

interface Limit {
  readonly of: Sum
  readonly most: bigint
  /** null: nothing yet. */
  readonly before: Sum | null
  readonly problem: string
  readonly otherCurrency: string
  readonly done: string
  readonly verb: 'capture' | 'refund'
  readonly hint: string
}

/** An order has one currency, and no more of it can be taken than there is. What belongs to the one row stands in brackets, so that many with one trouble can be told as one. */
function whyTooMuch({ orderId }: Order, { amountMinor, currency }: OfOrder, limit: Limit): OrderFault | null {
  const { of, most, before, done, verb, hint } = limit
  const source = `order ${orderId}: ${done} ${sumText(of)}${hint} by ${placeText(of.at)}`
  if (currency !== of.currency) {
    return {
      kind: 'wrong',
      code: 'other_currency',
      column: 'request_currency',
      problem: `${limit.otherCurrency} (${source})`,
      remedy: `a ${verb} is made in the currency of its order: check the amount and the currency`,
    }
  }
  const row = { amountMinor: amountMinor ?? 0n, currency }
  if ((before?.amountMinor ?? 0n) + row.amountMinor <= most) return null
  const earlier = before === null ? '' : `, ${verb}s ${ofSum(before)}, last by ${placeText(before.at)}`
  return {
    kind: 'wrong',
    code: verb === 'capture' ? 'over_capture' : 'over_refund',
    column: 'amount',
    problem: `${limit.problem} (${source}${earlier}; this row asks for ${sumText(row)})`,
    remedy: `take out the ${verb} that is too much, or correct the amount or the order id`,
  }
}

/** What one file wants both ways may be two steps of a plan, or a mistake. */
function besideVoid({ orderId, inFile: { voided } }: Order): OrderQuestion | null {
  if (voided === null) return null
  return beside(voided, `order ${orderId} is voided by ${placeText(voided)}`)
}

function besideMoney({ orderId, inFile: { captured, refunded } }: Order): OrderQuestion | null {
  const other = refunded ?? captured
  if (other === null) return null
  return beside(
    other.at,
    `order ${orderId} is ${refunded === null ? 'captured' : 'refunded'} by ${placeText(other.at)}`,
  )
}

function beside(at: Place, problem: string): OrderQuestion {
  return { kind: 'asked', why: 'beside-void', before: null, at, problem }
}

/** Who was not answered tries again, and not always with the same amount. */
function besideDoubt({ orderId, inDoubt }: Order, operation: 'CAUTH' | 'REFUND'): OrderQuestion | null {
  const at = inDoubt[operation]
  if (at === null) return null
  const what = operation === 'CAUTH' ? 'capture' : 'refund'
  const problem = `a ${what} of order ${orderId} is in doubt and may have been executed (${placeText(at)})`
  return { kind: 'asked', why: 'beside-doubt', before: null, at, problem }
}

/** A refund of an order whose sale is not recorded that repeats or exceeds all earlier ones together, or names another currency than they. */
function refundedBefore(order: Order, { amountMinor, currency }: OfOrder): OrderQuestion | null {
  const { orderId, recorded, inFile } = order
  const before = addUp(recorded.refunded, inFile.refunded)
  if (paidOf(order) !== null || before === null) return null
  if (before.currency === currency && before.amountMinor > (amountMinor ?? 0n)) return null
  const what =
    before.currency === null
      ? `order ${orderId} was refunded before, in more than one currency`
      : `${sumText(before)} of order ${orderId} was refunded before`
  const problem = `${what}, and its sale is not recorded here`
  return { kind: 'asked', why: 'refunded-before', before, at: before.at, problem }
}

/**
 * Whether the gateway's word that the order has too little left contradicts the record, which has nothing that took it. `order`: without
 * the row. Of an order whose sale is not recorded, or by an answer that differed about money, that nothing at all is left.
 */
export function isShortageUnexplained(order: Order, row: OfOrder, reason: string): boolean {
  const { authorized, sold, isSaleUnsure, recorded } = order
  if (recorded.voided !== null) return false
  const paid = isSaleUnsure ? null : (sold ?? authorized)
  const [source, done] = row.operation === 'CAUTH' ? [authorized, recorded.captured] : [paid, recorded.refunded]
  if (source === null) return done === null && NOTHING_LEFT.test(reason)
  if (row.operation !== 'REFUND') return done === null && fitsIn(source, 0n, row)
  return sold !== null && fitsIn(sold, done?.amountMinor ?? 0n, row)
}

/** A void may have no amount. */
function fitsIn(source: Sum, doneMinor: bigint, { amountMinor, currency }: OfOrder): boolean {
  if (amountMinor === null) return true
  return source.currency === currency && doneMinor + amountMinor <= source.amountMinor
}

/** "Order balance: 0.00, requested: 12.30". */
const NOTHING_LEFT = /balance[^\d.,]{0,30}0+(?:[.,]0+)?(?![\d.,]*\d)/i

/** Why a row is not sent that fitted when it was handed in. */
export function misfitReason({ problem }: OrderFault): string {
  return `not sent, because it does not fit what is recorded of its order by now: ${problem}`
}

export function placeText({ batchId, rowNo }: Place): string {
  return batchId === null ? `row ${rowNo} of this file` : `row ${rowNo} of batch ${batchId}`
}

function ofSum(sum: Sum): string {
  return sum.currency === null ? sumText(sum) : `of ${sumText(sum)}`
}

export function sumText({ amountMinor, currency }: Pick<Sum, 'amountMinor' | 'currency'>): string {
  return currency === null ? 'in several currencies' : `${amountText(amountMinor, currency)} ${currency}`
}

export function amountText(amountMinor: bigint, currency: string): string {
  return formatAmount({ amountMinor, currency: currency as Currency })
}
