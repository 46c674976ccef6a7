// Whose order and whose card: a row is held against what is recorded of the target that it names. Pure.

import { type Beside, type Instruction, type Operation, plainId } from '../../domain/instruction.ts'
import { nameKey } from '../../domain/person-name.ts'
import { amountText, type Place, placeText, sumText } from './order-book.ts'

const DAY_MS = 86_400_000

/** A recorded row, or a row of the same file, whose `id` is null. */
export interface At extends Place {
  readonly id: number | null
  readonly reference: string
}

export interface TargetRow {
  readonly operation: Operation
  readonly amountMinor: bigint | null
  readonly currency: string | null
  /** Without leading zeros. */
  readonly orderKey: string | null
  readonly vaultId: string | null
  readonly beside: Beside | null
  /** Of a vault record, of a sale, or of the order that it names. */
  readonly customer: Customer
}

/** An authorization, sale or capture that was approved and answered with the order id. */
export interface KnownSale {
  readonly operation: Operation
  readonly at: At
  /** That it was charged to, or stored under. */
  readonly vaultIds: readonly string[]
  /** The last four digits of a card whose details were sent. */
  readonly card: string | null
  /** That its file or message gave it. */
  readonly xtlOrderId: string | null
  /** null: an answer differed about money. */
  readonly amountMinor: bigint | null
  readonly currency: string
}

/** An approved authorization with the card and currency of a sale and its amount or more, or with its xtl_order_id. */
export interface KnownAuthorization {
  readonly at: At
  /** The amount too, or the xtl_order_id, is that of the sale. */
  readonly isEqual: boolean
  readonly amountMinor: bigint
  readonly currency: string
  readonly orderId: string | null
  readonly sentAtMs: number
  readonly isVoided: boolean
  readonly isCaptured: boolean
  /** It and the sale have different run keys. */
  readonly isOfOtherRun: boolean
}

export interface TargetFacts {
  /** Of the order that the row names. */
  readonly sales: readonly KnownSale[]
  /** What the order id is known as instead: a transaction id, of the order that it was answered with. */
  readonly transaction: { readonly orderId: string; readonly at: At } | null
  /** The authorization of another order that has the xtl_order_id of a capture. */
  readonly otherOrder: { readonly orderId: string; readonly xtlOrderId: string; readonly at: At } | null
  readonly authorizations: readonly KnownAuthorization[]
  /** In the run before: whose vault id this was, and which one the reference had. */
  readonly lastRun: { readonly at: At; readonly ownVaultId: string } | null
  /** The largest sale of the vault id that was ever approved. */
  readonly largest: { readonly amountMinor: bigint; readonly currency: string; readonly at: At } | null
  /** Of the vault record that an update replaces; of the sale of its order; of the last sale of the vault id. */
  readonly stored: { readonly at: At; readonly details: Customer } | null
  /** In another account: the order; the same reference, target and amount; the row of a file of the same bytes. */
  readonly elsewhere: { readonly at: At; readonly what: 'order' | 'row' | 'file' } | null
}

export type Customer = Instruction['details']

export const NOTHING_KNOWN: TargetFacts = {
  ...{ sales: [], transaction: null, otherOrder: null, authorizations: [] },
  ...{ lastRun: null, largest: null, stored: null, elsewhere: null },
}

/** For how long an authorization or a sale counts. */
export interface TargetRules {
  readonly nowMs: number
  readonly authorizationDays: number
  readonly saleDays: number
  /** Under another run key. */
  readonly lookalikeDays: number
}

export interface TargetFault {
  readonly kind: 'wrong'
  /** For programs. */
  readonly code: 'other_target' | 'transaction_id'
  readonly column: 'customer_vault_id' | 'pmt_numb' | 'xtl_order_id' | 'request_ref_po_id'
  readonly value: string
  readonly problem: string
  readonly remedy: string
}

export type TargetWhy =
  | 'authorized'
  | 'part-void'
  | 'other-reference'
  | 'large'
  | 'other-customer'
  | 'other-payer'
  | 'order-elsewhere'
  | 'row-elsewhere'
  | 'file-elsewhere'
  | 'series'
  | 'subtotal'

export function isOfOtherAccount(why: TargetWhy): boolean {
  return why.endsWith('-elsewhere')
}

export interface TargetQuestion {
  readonly kind: 'asked'
  readonly why: TargetWhy
  readonly at: At
  /** What the row does, for the middle of a sentence. */
  readonly problem: string
}

/** Ids of two gateways may be the same by chance, most of those of a file hardly. */
export function isMostlyElsewhere(foundElsewhere: number, all: number): boolean {
  return foundElsewhere > 0 && foundElsewhere * 2 >= all
}

export type TargetVerdict = 'fits' | TargetFault | TargetQuestion

export function judgeTarget(row: TargetRow, facts: TargetFacts, rules: TargetRules): TargetVerdict {
  return (
    isTransaction(row, facts) ??
    contradicts(row, facts) ??
    ofOtherOrder(row, facts) ??
    inOtherAccount(row, facts) ??
    isAuthorized(row, facts, rules) ??
    voidsMore(row, facts) ??
    underOtherReference(row, facts) ??
    muchLarger(row, facts) ??
    ofOtherCustomer(row, facts) ??
    'fits'
  )
}

function isTransaction({ orderKey }: TargetRow, { transaction }: TargetFacts): TargetFault | null {
  if (transaction === null || orderKey === null) return null
  return {
    ...{ kind: 'wrong', code: 'transaction_id', column: 'request_ref_po_id', value: orderKey },
    problem: `is a transaction id here, and no order id (order ${transaction.orderId}, by ${placeText(transaction.at)})`,
    remedy: `write the order id, ${transaction.orderId}`,
  }
}

/** An order has one customer, card and number, or several that all fit it: those that some row of it was recorded with. */
function contradicts({ orderKey, beside }: TargetRow, { sales }: TargetFacts): TargetFault | null {
  if (beside === null || orderKey === null) return null
  const { vaultId, card, xtlOrderId } = beside
  const vaults = sales.filter(({ vaultIds }) => vaultIds.length > 0)
  const [vault] = vaults
  if (vault !== undefined && vaultId !== null && vaults.every(({ vaultIds }) => !vaultIds.includes(vaultId)))
    return otherTarget('customer_vault_id', vaultId, {
      problem: `the order is of another customer (order ${orderKey}: vault id ${vault.vaultIds[0]}, by ${placeText(vault.at)})`,
      what: 'the vault id',
    })
  const cards = sales.filter((sale) => sale.card !== null)
  if (card !== null && cards[0] !== undefined && cards.every((sale) => sale.card !== card))
    return otherTarget('pmt_numb', card, {
      problem: `the order is of another card (order ${orderKey}: one that ends in ${cards[0].card}, by ${placeText(cards[0].at)})`,
      what: 'the card',
    })
  const named = sales.filter((sale) => sale.xtlOrderId !== null)
  if (xtlOrderId === null || named[0] === undefined || named.some((sale) => sale.xtlOrderId === xtlOrderId)) return null
  return otherTarget('xtl_order_id', xtlOrderId, {
    problem: `the order has another xtl_order_id (order ${orderKey}: ${named[0].xtlOrderId}, by ${placeText(named[0].at)})`,
    what: 'the xtl_order_id',
  })
}

function otherTarget(
  column: TargetFault['column'],
  value: string,
  { problem, what }: { readonly problem: string; readonly what: string },
): TargetFault {
  return {
    ...{ kind: 'wrong', code: 'other_target', column, value, problem },
    remedy: `correct the order id; if it is right, correct ${what} or leave that cell empty`,
  }
}

/** The capture of one authorization under the number of another one. */
function ofOtherOrder({ orderKey }: TargetRow, { otherOrder }: TargetFacts): TargetFault | null {
  if (otherOrder === null || orderKey === null) return null
  return otherTarget('xtl_order_id', otherOrder.xtlOrderId, {
    problem: `the xtl_order_id is that of another authorization (order ${otherOrder.orderId}, by ${placeText(otherOrder.at)}; this row names order ${orderKey})`,
    what: 'the xtl_order_id',
  })
}

function inOtherAccount({ orderKey }: TargetRow, { elsewhere }: TargetFacts): TargetQuestion | null {
  if (elsewhere === null) return null
  const { at, what } = elsewhere
  // Nameless: whoever hands it in may have nothing to do with the other account.
  const problem = {
    order: `names order ${orderKey}, which another account of this ledger knows and this one does not`,
    row: 'is recorded for another account of this ledger, with the same reference, target and amount',
    file: 'is in a file of the same bytes, which was recorded for another account of this ledger',
  }[what]
  return { kind: 'asked', why: `${what}-elsewhere`, at, problem }
}

/** A sale makes an order of its own: the customer is charged, and the authorization is held or captured besides. */
function isAuthorized(
  { operation }: TargetRow,
  { authorizations }: TargetFacts,
  rules: TargetRules,
): TargetQuestion | null {
  if (operation !== 'CAPTURE') return null
  const found = authorizations.find((authorization) => stillCounts(authorization, rules))
  if (found === undefined) return null
  const { at, orderId, isCaptured, isEqual } = found
  const order = orderId === null ? 'an order' : `order ${plainId(orderId)}`
  const problem = isCaptured
    ? `is a sale, and ${order} was authorized and captured for the same`
    : `is a sale of its own, and ${order} is authorized for ${isEqual ? 'the same' : sumText(found)}: is its capture meant (CAUTH)?`
  return { kind: 'asked', why: 'authorized', at, problem }
}

function stillCounts(authorization: KnownAuthorization, rules: TargetRules): boolean {
  const { isVoided, isCaptured, isEqual, isOfOtherRun, sentAtMs } = authorization
  if (isVoided || (isCaptured && !isEqual)) return false
  const days = isOfOtherRun ? rules.lookalikeDays : isCaptured ? rules.saleDays : rules.authorizationDays
  return sentAtMs >= rules.nowMs - days * DAY_MS
}

/** A void of a part may be meant, or its amount be that of another row; and some gateways release all of the order. */
function voidsMore({ operation, orderKey, ...row }: TargetRow, { sales }: TargetFacts): TargetQuestion | null {
  if (operation !== 'CANCEL') return null
  if (row.amountMinor === null) return voidsCaptured(orderKey, sales)
  const money = sales.filter((sale) => sale.operation !== 'AUTH')
  const known = money.length > 0 ? money : sales
  const [first] = known
  if (first === undefined || known.some(({ currency }) => currency !== row.currency)) return null
  if (known.some((sale) => sale.amountMinor === null)) return null
  const amountMinor = known.reduce((sum, sale) => sum + (sale.amountMinor ?? 0n), 0n)
  if (row.amountMinor >= amountMinor) return null
  const { currency } = first
  const problem = `voids ${amountText(row.amountMinor, currency)} of order ${orderKey}, ${sumText({ amountMinor, currency })}; the gateway may release all of it`
  return { kind: 'asked', why: 'part-void', at: first.at, problem }
}

/** Whoever gives no amount may mean to release the authorization: what was captured of it is taken back. */
function voidsCaptured(orderKey: string | null, sales: readonly KnownSale[]): TargetQuestion | null {
  const captured = sales.find(({ operation }) => operation === 'CAUTH')
  if (captured === undefined) return null
  const problem = `voids all of order ${orderKey}, of which money was captured, and gives no amount`
  return { kind: 'asked', why: 'part-void', at: captured.at, problem }
}

/** Every customer stays under their reference from one run of a roster to the next: ids that have moved have slipped. */
function underOtherReference({ vaultId }: TargetRow, { lastRun }: TargetFacts): TargetQuestion | null {
  if (lastRun === null || vaultId === null) return null
  const { at, ownVaultId } = lastRun
  const problem = `charges vault id ${plainId(vaultId)}, which was that of ${at.reference} in the run before; its own was ${plainId(ownVaultId)}`
  return { kind: 'asked', why: 'other-reference', at, problem }
}

/** A sale of more than so many times the largest one is asked about. */
export const LARGE_TIMES = 10

function muchLarger({ amountMinor, currency, vaultId }: TargetRow, { largest }: TargetFacts): TargetQuestion | null {
  if (largest === null || amountMinor === null || largest.currency !== currency || vaultId === null) return null
  if (amountMinor <= largest.amountMinor * BigInt(LARGE_TIMES)) return null
  const problem = `charges more than ${LARGE_TIMES} times the largest sale that vault id ${plainId(vaultId)} was approved for, ${sumText(largest)}`
  return { kind: 'asked', why: 'large', at: largest.at, problem }
}

/** Of a domain that moved the names in front of it stay. */
const KNOWN_BY: readonly ((customer: Customer) => string | undefined)[] = [
  (customer) => customer.first_name ?? customer.cust_fname,
  (customer) => customer.last_name ?? customer.cust_lname,
  (customer) => (customer.email ?? customer.cust_email)?.split('@')[0],
]

/** How many of those both have; 0 where one of them is the same. */
function differencesOf(one: Customer, other: Customer): number {
  const both = KNOWN_BY.map((by) => [nameKey(by(one) ?? ''), nameKey(by(other) ?? '')]).filter(
    (pair) => !pair.includes(''),
  )
  return both.some(([own, before]) => own === before) ? 0 : both.length
}

/** A record that changes hands keeps its vault id, and the next charge follows it. */
function ofOtherCustomer(row: TargetRow, { stored }: TargetFacts): TargetQuestion | null {
  const { operation, orderKey, customer } = row
  const differences = stored === null ? 0 : differencesOf(customer, stored.details)
  const isUpdate = operation === 'VAULT_UPDATE'
  if (stored === null || differences < (isUpdate ? KNOWN_BY.length : 1)) return null
  const { at } = stored
  const vaultId = plainId(row.vaultId ?? '')
  if (!isUpdate && orderKey === null) {
    const problem = `charges vault id ${vaultId} for a customer with another name or e-mail than before, as do the rows beside it`
    return { kind: 'asked', why: 'other-payer', at, problem }
  }
  const problem = isUpdate
    ? `changes the record of vault id ${vaultId}, whose first name, last name and e-mail are all different`
    : `names order ${orderKey}, whose customer has another name or e-mail`
  return { kind: 'asked', why: 'other-customer', at, problem }
}
