// The order book: what is recorded of an order, and which captures, voids and refunds of it are too much, too late, or must be asked about.
// Pure. DOING names all rules, in the order in which a row is held against them: the first that objects is what is said.

import type { Operation } from '../../domain/instruction.ts'
import { type Currency, formatAmount } from '../../domain/money.ts'
import type { Problem } from '../../domain/problem.ts'
import type { State } from '../../domain/states.ts'

/** Operations that take money for the order that they were answered with. An AUTH takes none before its capture. */
export const SALES: readonly Operation[] = ['CAPTURE', 'CAUTH']

/** In these states a row of an order moved money, or may have. */
export const ORDER_MOVED_IN: readonly State[] = ['SENDING', 'IN_DOUBT', 'APPROVED']

/** What waits to be sent counts too, where another row is handed in. */
export const ORDER_COUNTS_IN: readonly State[] = ['READY', ...ORDER_MOVED_IN]

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
  /** The last capture (or else authorization), and refund (or else sale), in doubt or with another answer than asked. null: none. */
  readonly unsure: { readonly CAUTH: Place | null; readonly REFUND: Place | null }
  /** By earlier rows of the same file. */
  readonly inFile: Done
}

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

/** A row contradicts what is recorded. `code`: for programs. */
export interface Wrong<Code extends string, Column extends string> extends Problem {
  readonly kind: 'wrong'
  readonly code: Code
  readonly column: Column
}

/** A person says that a row is meant. */
export interface Asked<Why extends string, At extends Place> {
  readonly kind: 'asked'
  readonly why: Why
  readonly at: At
  readonly problem: string
}

type Code = 'over_capture' | 'over_refund' | 'over_void' | 'other_currency' | 'after_void' | 'after_refund'
export type OrderFault = Wrong<Code, 'amount' | 'request_currency' | 'request_ref_po_id'>

export interface OrderQuestion extends Asked<'refunded-before' | 'beside-void' | 'beside-doubt', Place> {
  /** All refunds before it; null: it is not about those. */
  readonly before: Pick<Sum, 'amountMinor' | 'currency'> | null
}

export type OrderVerdict = 'fits' | OrderFault | OrderQuestion

export const NOTHING_DONE: Done = { captured: null, open: null, refunded: null, voided: null }

interface Doing {
  readonly verb: 'capture' | 'refund' | 'void'
  readonly done: 'captured' | 'refunded' | 'voided'
  readonly rules: readonly ((order: Order, row: Row, rules: OrderRules) => OrderFault | OrderQuestion | null)[]
}
type Row = OfOrder & Doing

const DOING: Readonly<Partial<Record<Operation, Doing>>> = {
  CAUTH: { verb: 'capture', done: 'captured', rules: [afterVoid, tooMuch, besideVoid, besideUnsure] },
  CANCEL: { verb: 'void', done: 'voided', rules: [afterRefund, tooMuch, besideMoney] },
  REFUND: { verb: 'refund', done: 'refunded', rules: [afterVoid, tooMuch, besideVoid, refundedBefore, besideUnsure] },
}

/** Operations that name an order which is there already. */
export const OF_AN_ORDER = Object.keys(DOING) as readonly Operation[]

export function judgeOrder(order: Order, row: OfOrder, rules: OrderRules): OrderVerdict {
  const doing = DOING[row.operation]
  for (const rule of doing?.rules ?? []) {
    const objection = rule(order, { ...row, ...doing } as Row, rules)
    if (objection !== null) return objection
  }
  return 'fits'
}

function afterVoid(order: Order): OrderFault | null {
  const { voided } = order.recorded
  if (voided === null || voidedOf(order) !== null) return null
  const problem = `a void of the order is recorded (order ${order.orderId}: ${placeText(voided.at)})`
  const remedy = 'nothing is captured or refunded after a void: take the row out, or correct the order id'
  return wrong('after_void', 'request_ref_po_id', problem, `${remedy}. A void that waits can be cancelled first`)
}

function afterRefund({ orderId, recorded: { refunded } }: Order): OrderFault | null {
  if (refunded === null) return null
  const problem = `a refund of the order is recorded (order ${orderId}: ${doneText('refund', refunded)})`
  const remedy = 'what is refunded cannot be voided: take the row out, or refund the rest of the order'
  return wrong('after_refund', 'request_ref_po_id', problem, remedy)
}

/**
 * An order has one currency, and no more of it can be taken than there is; of what is not authorized here, captures say the currency. What
 * belongs to the one row stands in brackets, so that many with one trouble can be told as one.
 */
function tooMuch(order: Order, row: Row, rules: OrderRules): OrderFault | null {
  const { orderId, authorized, recorded, inFile } = order
  const { operation, verb, done, currency } = row
  const before = addUp(recorded[done], inFile[done])
  const earlier = before === null ? '' : doneText(verb, before)
  const limit = limitOf(order, row, rules)
  if (limit === null) {
    const isOther = operation === 'CAUTH' && (before?.currency ?? currency) !== currency
    return isOther ? otherCurrency(verb, done, `order ${orderId}: ${earlier}`) : null
  }
  const { of, most, hint = '' } = limit
  const there = of === authorized ? 'authorized' : 'paid'
  const source = `order ${orderId}: ${there} ${sumText(of)}${hint} by ${placeText(of.at)}`
  if (currency !== of.currency) return otherCurrency(verb, there, source)
  const amountMinor = row.amountMinor ?? 0n
  if ((before?.amountMinor ?? 0n) + amountMinor <= most) return null
  const voids = verb === 'void' || recorded.voided === null ? '' : `voids ${ofSum(recorded.voided)}`
  const sums = [source, voids, earlier].filter((text) => text !== '').join(', ')
  const problem = `more of the order would be ${done} than was ${verb === 'refund' ? 'paid' : there}`
  const remedy = `take out the ${verb} that is too much, or correct the amount or the order id`
  const asking = sumText({ amountMinor, currency })
  return wrong(`over_${verb}`, 'amount', `${problem} (${sums}; this row asks for ${asking})`, remedy)
}

function otherCurrency(verb: Doing['verb'], done: string, source: string): OrderFault {
  const problem = `the order was ${done} in another currency (${source})`
  const remedy = `a ${verb} is made in the currency of its order: check the amount and the currency`
  return wrong('other_currency', 'request_currency', problem, remedy)
}

/** What one file wants both ways may be two steps of a plan, or a mistake. */
function besideVoid({ orderId, inFile: { voided } }: Order): OrderQuestion | null {
  if (voided === null) return null
  return asked('beside-void', voided.at, `order ${orderId} is voided by ${placeText(voided.at)}`)
}

/** So may a void of what a recorded row waits to capture, or may have captured; of what that one leaves, it fits. */
function besideMoney(order: Order, { amountMinor }: Row): OrderQuestion | null {
  const { captured, refunded } = order.inFile
  const { open } = order.recorded
  const whole = amountMinor === null ? 0n : (wholeOf(order)?.amountMinor ?? 0n)
  const other = refunded ?? captured ?? (open !== null && open.amountMinor + (amountMinor ?? 0n) > whole ? open : null)
  if (other === null) return null
  const done = other === refunded ? 'refunded' : 'captured'
  return asked('beside-void', other.at, `order ${order.orderId} is ${done} by ${placeText(other.at)}`)
}

/** A refund of an order whose sale is not recorded that repeats or exceeds all earlier ones together, or names another currency than they. */
function refundedBefore(order: Order, { amountMinor, currency }: Row): OrderQuestion | null {
  const { orderId, recorded, inFile } = order
  const before = addUp(recorded.refunded, inFile.refunded)
  if (paidOf(order) !== null || before === null) return null
  if (before.currency === currency && before.amountMinor > (amountMinor ?? 0n)) return null
  const problem = `order ${orderId} was refunded before (${sumText(before)}), and its sale is not recorded here`
  return { ...asked('refunded-before', before.at, problem), before }
}

/** Who was not answered tries again, and not always with the same amount. Where an answer differed, another sum moved than was asked. */
function besideUnsure({ orderId, unsure }: Order, { operation }: Row): OrderQuestion | null {
  const at = unsure[operation as keyof typeof unsure]
  if (at === null) return null
  const why = `is in doubt, or was answered otherwise than asked (${placeText(at)})`
  return asked('beside-doubt', at, `a row of order ${orderId} ${why}`)
}

function wrong(code: Code, column: OrderFault['column'], problem: string, remedy: string): OrderFault {
  return { kind: 'wrong', code, column, problem, remedy }
}

function asked(why: OrderQuestion['why'], at: Place, problem: string): OrderQuestion {
  return { kind: 'asked', why, before: null, at, problem }
}

/** Of how much there can be no more, and how much that is. null: it is not known here. */
function limitOf(
  order: Order,
  row: Row,
  { captureTolerance }: OrderRules,
): { of: Sum; most: bigint; hint?: string } | null {
  const { authorized, sold, isSaleUnsure, recorded, inFile } = order
  const [whole, paid, voided] = [wholeOf(order), paidOf(order), voidedOf(order) ?? 0n]
  if (row.operation === 'CANCEL')
    return whole === null || row.amountMinor === null ? null : { of: whole, most: whole.amountMinor }
  if (row.operation === 'CAUTH') {
    if (authorized === null) return null
    const hint = captureTolerance === 0 ? '' : ` (${captureTolerance} % more is allowed)`
    return { of: authorized, most: (authorized.amountMinor * BigInt(100 + captureTolerance)) / 100n - voided, hint }
  }
  if (paid !== null) {
    // A void takes what is not captured first.
    const left = (whole ?? paid).amountMinor - voided
    return { of: paid, most: left < paid.amountMinor ? left : paid.amountMinor }
  }
  // Money was captured, or may be, or will: how much is another matter.
  const isCaptured = isSaleUnsure || (sold ?? recorded.open ?? inFile.open) !== null
  return authorized === null || isCaptured ? null : { of: authorized, most: 0n, hint: ', not captured,' }
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
  const left = source.amountMinor - voided - (done?.amountMinor ?? 0n)
  // A void may have no amount.
  const fits = row.amountMinor === null || (source.currency === row.currency && row.amountMinor <= left)
  if (row.operation === 'REFUND') return sold !== null && fits
  // Where some is captured, all else may be released: nothing is left of the order then, and not just what the row leaves.
  if (done !== null)
    return row.operation === 'CAUTH' && fits && (row.amountMinor === left || !NOTHING_LEFT.test(reason))
  // A merchant may capture somewhat more than was authorized: that nothing is left is no consequence of that.
  return fits || NOTHING_LEFT.test(reason)
}

/** "Order balance: 0.00, requested: 12.30". */
const NOTHING_LEFT = /balance[^\d.,]{0,30}0+(?:[.,]0+)?(?![\d.,]*\d)/i

export function placeText({ batchId, rowNo }: Place): string {
  return batchId === null ? `row ${rowNo} of this file` : `row ${rowNo} of batch ${batchId}`
}

/** "refunds of 6.00 EUR, last by row 5 of this file". */
function doneText(verb: Doing['verb'], sum: Sum): string {
  return `${verb}s ${ofSum(sum)}, last by ${placeText(sum.at)}`
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
