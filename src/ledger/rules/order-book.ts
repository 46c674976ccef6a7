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
  /** `isWhole`: one of them names no amount, or its answer another than asked. */
  readonly voided: (Sum & { readonly isWhole: boolean }) | null
}

export interface Order {
  readonly orderId: string
  /** By the authorizations that the gateway approved. null: none is recorded, or what is recorded is no exact sum of one currency. */
  readonly authorized: Sum | null
  /** There are such, but what they add up to is not known: an answer differed about money, for one. */
  readonly isAuthorizationUnsure: boolean
  /** By approved sales and captures. null: as above. */
  readonly sold: Sum | null
  readonly isSaleUnsure: boolean
  readonly recorded: Done
  /** The last capture, and the last refund, that is in doubt or whose answer differs from what was asked. null: none. */
  readonly unsure: { readonly CAUTH: Place | null; readonly REFUND: Place | null }
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
  readonly code: 'over_capture' | 'over_refund' | 'over_void' | 'other_currency' | 'after_void' | 'after_refund'
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
  const { operation } = row
  if (operation === 'CANCEL')
    return whyNotVoided(order, row) ?? besideMoney(order, row) ?? besideWholeVoid(order) ?? 'fits'
  if (operation !== 'CAUTH' && operation !== 'REFUND') return 'fits'
  return (
    whyNotAfterVoid(order) ??
    (operation === 'CAUTH' ? whyNotCaptured(order, row, rules) : whyNotRefunded(order, row)) ??
    besideVoid(order) ??
    besideTakenBack(order, row) ??
    refundedBefore(order, row) ??
    besideUnsure(order, operation) ??
    'fits'
  )
}

/** The same order, once the row is in the file as well. */
export function withRow(order: Order, { operation, amountMinor, currency }: OfOrder, rowNo: number): Order {
  const { captured, open, refunded, voided } = order.inFile
  const sum = { amountMinor: amountMinor ?? 0n, currency, at: { batchId: null, rowNo } }
  const withIt = (done: Partial<Done>): Order => ({ ...order, inFile: { ...order.inFile, ...done } })
  if (operation === 'REFUND') return withIt({ refunded: addUp(refunded, sum) })
  if (operation === 'CAUTH') return withIt({ captured: addUp(captured, sum), open: addUp(open, sum) })
  const isWhole = amountMinor === null || voided?.isWhole === true
  return withIt({ voided: { ...sum, ...addUp(voided, sum), isWhole } })
}

function addUp(before: Sum | null, after: Sum | null): Sum | null {
  if (before === null || after === null) return after ?? before
  const currency = before.currency === after.currency ? after.currency : null
  return { amountMinor: before.amountMinor + after.amountMinor, currency, at: after.at }
}

/** What waits to be captured, or may have been, is as good as paid. null: it is not known here, or is of several currencies. */
function paidOf({ sold, isSaleUnsure, recorded, inFile }: Order): Sum | null {
  if (isSaleUnsure) return null
  const paid = addUp(addUp(sold, recorded.open), inFile.open)
  return paid?.currency === null ? null : paid
}

/** All that there is of it, authorized or paid. null: it is not known here. */
function wholeOf(order: Order): Sum | null {
  const { authorized, isAuthorizationUnsure } = order
  const paid = isAuthorizationUnsure ? null : paidOf(order)
  if (authorized === null || paid === null) return authorized ?? paid
  return paid.currency === authorized.currency && paid.amountMinor > authorized.amountMinor ? paid : authorized
}

/** What was voided of it. null: all, as far as is known here. */
function voidedOf(order: Order): bigint | null {
  const { voided } = order.recorded
  if (voided === null) return 0n
  const whole = voided.isWhole ? null : wholeOf(order)
  if (whole === null || voided.currency !== whole.currency) return null
  return voided.amountMinor < whole.amountMinor ? voided.amountMinor : null
}

function whyNotAfterVoid(order: Order): OrderFault | null {
  const { voided } = order.recorded
  if (voided === null || voidedOf(order) !== null) return null
  return wrong('after_void', 'request_ref_po_id', {
    problem: `a void of the order is recorded (order ${order.orderId}: ${placeText(voided.at)})`,
    remedy:
      'nothing is captured or refunded after a void: take the row out, or correct the order id. A void that waits can be cancelled first',
  })
}

function whyNotVoided(order: Order, row: OfOrder): OrderFault | null {
  const { orderId, recorded, inFile } = order
  const { refunded, voided } = recorded
  if (refunded !== null)
    return wrong('after_refund', 'request_ref_po_id', {
      problem: `a refund of the order is recorded (order ${orderId}: refunds ${ofSum(refunded)}, last by ${placeText(refunded.at)})`,
      remedy: 'what is refunded cannot be voided: take the row out, or refund the rest of the order',
    })
  const of = row.amountMinor === null ? null : wholeOf(order)
  if (of === null) return null
  return whyTooMuch(order, row, { of, most: of.amountMinor, before: addUp(voided, inFile.voided), verb: 'void' })
}

function whyNotCaptured(order: Order, row: OfOrder, { captureTolerance }: OrderRules): OrderFault | null {
  const { authorized: of, recorded, inFile } = order
  const before = addUp(recorded.captured, inFile.captured)
  if (of === null) return whyNotInCurrency(order, row, before)
  const most = of.amountMinor + (of.amountMinor * BigInt(captureTolerance)) / 100n - (voidedOf(order) ?? 0n)
  const hint = captureTolerance === 0 ? '' : ` (${captureTolerance} % more is allowed)`
  return whyTooMuch(order, row, { of, most, before, verb: 'capture', hint })
}

/** Of what is not authorized here, captures say at least the currency. */
function whyNotInCurrency({ orderId }: Order, { currency }: OfOrder, before: Sum | null): OrderFault | null {
  if (before === null || before.currency === null || before.currency === currency) return null
  const source = `order ${orderId}: captures ${ofSum(before)}, last by ${placeText(before.at)}`
  return otherCurrency('capture', `the order was captured in another currency (${source})`)
}

/** A void takes what is not captured first. */
function whyNotRefunded(order: Order, row: OfOrder): OrderFault | null {
  const { authorized, sold, isSaleUnsure, recorded, inFile } = order
  const limit = { before: addUp(recorded.refunded, inFile.refunded), verb: 'refund' } as const
  const of = paidOf(order)
  if (of !== null) {
    const left = (wholeOf(order) ?? of).amountMinor - (voidedOf(order) ?? 0n)
    return whyTooMuch(order, row, { ...limit, of, most: left < of.amountMinor ? left : of.amountMinor })
  }
  // Money was captured, or may be, or will: how much is another matter.
  const isCaptured = isSaleUnsure || (sold ?? recorded.open ?? inFile.open) !== null
  if (authorized === null || isCaptured) return null
  return whyTooMuch(order, row, { ...limit, of: authorized, most: 0n, hint: ', not captured,' })
}

interface Limit {
  readonly of: Sum
  readonly most: bigint
  /** null: nothing yet. */
  readonly before: Sum | null
  readonly verb: keyof typeof DOES
  readonly hint?: string
}

const DOES = { capture: 'captured', refund: 'refunded', void: 'voided' } as const

/** An order has one currency, and no more of it can be taken than there is. What belongs to the one row stands in brackets, so that many with one trouble can be told as one. */
function whyTooMuch(order: Order, { amountMinor, currency }: OfOrder, limit: Limit): OrderFault | null {
  const { of, most, before, verb, hint = '' } = limit
  const { authorized, recorded } = order
  const done = of === authorized ? 'authorized' : 'paid'
  const source = `order ${order.orderId}: ${done} ${sumText(of)}${hint} by ${placeText(of.at)}`
  if (currency !== of.currency) return otherCurrency(verb, `the order was ${done} in another currency (${source})`)
  const row = { amountMinor: amountMinor ?? 0n, currency }
  if ((before?.amountMinor ?? 0n) + row.amountMinor <= most) return null
  const voids = verb === 'void' || recorded.voided === null ? '' : `, voids ${ofSum(recorded.voided)}`
  const earlier = before === null ? '' : `, ${verb}s ${ofSum(before)}, last by ${placeText(before.at)}`
  const there = verb === 'refund' ? 'paid' : done
  return wrong(`over_${verb}`, 'amount', {
    problem: `more of the order would be ${DOES[verb]} than was ${there} (${source}${voids}${earlier}; this row asks for ${sumText(row)})`,
    remedy: `take out the ${verb} that is too much, or correct the amount or the order id`,
  })
}

function otherCurrency(verb: Limit['verb'], problem: string): OrderFault {
  const remedy = `a ${verb} is made in the currency of its order: check the amount and the currency`
  return wrong('other_currency', 'request_currency', { problem, remedy })
}

function wrong(
  code: OrderFault['code'],
  column: OrderFault['column'],
  says: Pick<OrderFault, 'problem' | 'remedy'>,
): OrderFault {
  return { kind: 'wrong', code, column, ...says }
}

/** What one file wants both ways may be two steps of a plan, or a mistake. */
function besideVoid({ orderId, inFile: { voided } }: Order): OrderQuestion | null {
  if (voided === null) return null
  return asked('beside-void', voided.at, `order ${orderId} is voided by ${placeText(voided.at)}`)
}

/** A gateway may have voided what was captured, in place of what was not yet. */
function besideTakenBack(order: Order, { operation, amountMinor }: OfOrder): OrderQuestion | null {
  const { recorded, inFile, orderId } = order
  const [paid, voided] = [paidOf(order), recorded.voided]
  if (operation !== 'REFUND' || paid === null || voided === null) return null
  const refunded = addUp(recorded.refunded, inFile.refunded)?.amountMinor ?? 0n
  if (refunded + (amountMinor ?? 0n) + voided.amountMinor <= paid.amountMinor) return null
  return asked('beside-void', voided.at, `of order ${orderId} ${sumText(voided)} was voided by ${placeText(voided.at)}`)
}

/** What is voided as a whole has nothing left to void. */
function besideWholeVoid(order: Order): OrderQuestion | null {
  const { voided } = order.recorded
  if (voided === null || voidedOf(order) !== null) return null
  return asked('beside-void', voided.at, `order ${order.orderId} is voided by ${placeText(voided.at)}`)
}

/** So may a void of what a recorded row waits to capture, or may have captured; of what that one leaves, it fits. */
function besideMoney(order: Order, { amountMinor }: OfOrder): OrderQuestion | null {
  const { captured, refunded } = order.inFile
  const { open } = order.recorded
  const whole = amountMinor === null ? 0n : (wholeOf(order)?.amountMinor ?? 0n)
  const other = refunded ?? captured ?? (open !== null && open.amountMinor + (amountMinor ?? 0n) > whole ? open : null)
  if (other === null) return null
  const done = other === refunded ? 'refunded' : 'captured'
  return asked('beside-void', other.at, `order ${order.orderId} is ${done} by ${placeText(other.at)}`)
}

/** Who was not answered tries again, and not always with the same amount. Where an answer differed, another sum moved than was asked. */
function besideUnsure({ orderId, unsure }: Order, operation: 'CAUTH' | 'REFUND'): OrderQuestion | null {
  const at = unsure[operation]
  if (at === null) return null
  const what = operation === 'CAUTH' ? 'capture' : 'refund'
  const why = `is in doubt, or was answered otherwise than asked (${placeText(at)})`
  return asked('beside-doubt', at, `a ${what} of order ${orderId} ${why}`)
}

function asked(why: OrderQuestion['why'], at: Place, problem: string): OrderQuestion {
  return { kind: 'asked', why, before: null, at, problem }
}

/** A refund of an order whose sale is not recorded that repeats or exceeds all earlier ones together, or names another currency than they. */
function refundedBefore(order: Order, { operation, amountMinor, currency }: OfOrder): OrderQuestion | null {
  const { orderId, recorded, inFile } = order
  const before = addUp(recorded.refunded, inFile.refunded)
  if (operation !== 'REFUND' || paidOf(order) !== null || before === null) return null
  if (before.currency === currency && before.amountMinor > (amountMinor ?? 0n)) return null
  const what =
    before.currency === null
      ? `order ${orderId} was refunded before, in more than one currency`
      : `${sumText(before)} of order ${orderId} was refunded before`
  const problem = `${what}, and its sale is not recorded here`
  return { ...asked('refunded-before', before.at, problem), before }
}

/**
 * Whether the gateway's word that the order has too little left contradicts the record, which has nothing that took it. `order`: without
 * the row. Of an order whose sale is not recorded, or by an answer that differed about money, that nothing at all is left.
 */
export function isShortageUnexplained(order: Order, row: OfOrder, reason: string): boolean {
  const { authorized, sold, isSaleUnsure, recorded } = order
  const voided = voidedOf(order)
  // Some gateways release all of an order by a void of a part.
  if (voided === null || (voided > 0n && (row.amountMinor === null || NOTHING_LEFT.test(reason)))) return false
  const paid = isSaleUnsure ? null : (sold ?? authorized)
  const [source, done] = row.operation === 'CAUTH' ? [authorized, recorded.captured] : [paid, recorded.refunded]
  if (source === null) return done === null && NOTHING_LEFT.test(reason)
  // A merchant may capture somewhat more than was authorized: that nothing is left is no consequence of that.
  if (row.operation !== 'REFUND') return done === null && (fitsIn(source, voided, row) || NOTHING_LEFT.test(reason))
  return sold !== null && fitsIn(sold, voided + (done?.amountMinor ?? 0n), row)
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
