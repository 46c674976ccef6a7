// Whose order and whose card: a row is held against what is recorded of the target that it names. Pure. RULES has one for each kind of
// fact; they stand below in the same order.

import { type Beside, type Instruction, type Operation, plainId } from '../../domain/instruction.ts'
import { type Currency, exponentOf } from '../../domain/money.ts'
import { nameKey } from '../../domain/person-name.ts'
import { isPeriodFar, isSameMonth } from '../../domain/run-key.ts'
import { CORRECTED } from './lookalikes.ts'
import { type Asked, amountText, type Place, placeText, SALES, sumText, type Wrong } from './order-book.ts'

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

/** An authorization, sale or capture that was approved and answered with the order id; or an approved void of it that names an amount. */
export interface KnownSale {
  readonly operation: Operation
  readonly at: At
  /** What it was recorded with, by what a row may say of it; vault ids: that it was charged to, or stored under. */
  readonly known: Readonly<Record<(typeof BESIDE)[number]['said'], readonly string[]>>
  /** null: an answer differed about money. */
  readonly amountMinor: bigint | null
  readonly currency: string
}

/** An authorization with the card and currency of a sale, or with its xtl_order_id. It was approved, or may be. */
export interface KnownAuthorization {
  readonly at: At
  /** The amount too, or the xtl_order_id, is that of the sale. */
  readonly isEqual: boolean
  readonly amountMinor: bigint
  readonly currency: string
  readonly orderId: string | null
  /** null: it has still to be answered. */
  readonly sentAtMs: number | null
  readonly isVoided: boolean
  readonly isCaptured: boolean
  /** It and the sale have different run keys. */
  readonly isOfOtherRun: boolean
}

/** One kind of what is recorded of the target of a row. */
export type TargetFact =
  /** Of the order that the row names. */
  | { readonly of: 'sales'; readonly sales: readonly KnownSale[] }
  /** What the order id is known as instead: a transaction id, of the order that it was answered with. */
  | { readonly of: 'transaction'; readonly orderId: string; readonly at: At }
  /** Or the number of the merchant's own. */
  | { readonly of: 'own-number'; readonly orderId: string; readonly at: At }
  /** The only sale or authorization that was answered with it. */
  | { readonly of: 'declined'; readonly at: At }
  /** The authorization of another order that has the xtl_order_id of a capture. */
  | { readonly of: 'other-order'; readonly orderId: string; readonly xtlOrderId: string; readonly at: At }
  | { readonly of: 'authorizations'; readonly authorizations: readonly KnownAuthorization[] }
  /**
   * A sale or authorization of the same amount and card: of the other kind, or with the card under its other name. Or a sale of at least the
   * amount of a capture, to the vault id of its authorization and after that. vaultId: null: by its number.
   */
  | { readonly of: 'like'; readonly at: At; readonly operation: Operation; readonly vaultId: string | null }
  /** In the run before, or of a row that runs again with another card in its own: whose vault id this was, and which one the reference had. */
  | { readonly of: 'run'; readonly at: At; readonly ownVaultId: string }
  /** Of a row that runs again: a later sale of the same amount to the same e-mail. */
  | { readonly of: 'paid'; readonly at: At }
  /** Recorded rows of the same order, or vault id, and operation. */
  | { readonly of: 'reference'; readonly own: string; readonly others: readonly At[] }
  /** In another run: the last charge of the vault id. */
  | { readonly of: 'far-run'; readonly at: At; readonly ownKey: string }
  /** The same row of a run whose key has this one's in it, or is in it. */
  | { readonly of: 'same-month'; readonly at: At; readonly ownKey: string; readonly otherKey: string }
  /** In the run before, where no row of the file was executed: what failed under the reference. */
  | { readonly of: 'failed-run'; readonly at: At }
  /** The vault id. */
  | { readonly of: 'deleted'; readonly at: At }
  /** The largest sale of the vault id, or that of the order, in the currency of the row; or in the only one that it was ever charged in. */
  | { readonly of: 'largest'; readonly amountMinor: bigint; readonly currency: string; readonly at: At }
  /** Of the vault record that an update replaces; of the sale of its order; of the last sale of the vault id. */
  | { readonly of: 'customer'; readonly at: At; readonly details: Customer }
  /** In another account: the order; the same reference, target and amount; the same order and amount, to be sent; the row of a file of the same bytes. */
  | { readonly of: 'elsewhere'; readonly at: At; readonly what: 'order' | 'row' | 'waiting' | 'file' }

type Fact<Of extends TargetFact['of']> = TargetFact & { readonly of: Of }

export type Customer = Instruction['details']

/** For how long an authorization or a sale counts. */
export interface TargetRules {
  readonly nowMs: number
  readonly authorizationDays: number
  readonly saleDays: number
  /** Under another run key. */
  readonly lookalikeDays: number
}

export interface TargetFault
  extends Wrong<
    'other_target' | 'transaction_id' | 'over_capture' | 'over_refund',
    (typeof BESIDE)[number]['column'] | 'request_ref_po_id'
  > {
  readonly value: string
}

/** `series` and `subtotal` are told of neighbours in one file. */
export type TargetWhy =
  | 'authorized'
  | 'charged'
  | 'same-card'
  | 'part-void'
  | 'other-reference'
  | 'own-number'
  | 'paid'
  | 'correction'
  | 'failed-run'
  | 'large'
  | 'small'
  | 'currency'
  | 'other-customer'
  | 'other-payer'
  | 'other-month'
  | 'same-month'
  | 'far-run'
  | 'deleted'
  | 'series'
  | 'subtotal'
  | `${Fact<'elsewhere'>['what']}-elsewhere`

/** `problem`: what the row does, for the middle of a sentence. */
export type TargetQuestion = Asked<TargetWhy, At>

export type TargetVerdict = 'fits' | TargetFault | TargetQuestion

export function isOfOtherAccount(why: TargetWhy): boolean {
  return why.endsWith('-elsewhere')
}

/** Ids of two gateways may be the same by chance, most of those of a file hardly. */
export function isMostlyElsewhere(foundElsewhere: number, all: number): boolean {
  return foundElsewhere > 0 && foundElsewhere * 2 >= all
}

/** null: nothing is said of the row. */
type Rule<Of> = (row: TargetRow, fact: Of, rules: TargetRules) => TargetFault | TargetQuestion | null

const RULES: { readonly [Of in TargetFact['of']]: Rule<Fact<Of>> } = {
  sales: (row, { sales }) => contradicts(row, sales) ?? voidsMore(row, sales),
  'other-order': ofOtherOrder,
  transaction: isTransaction,
  'own-number': isOwnNumber,
  declined: wasDeclined,
  authorizations: isAuthorized,
  like: isLike,
  run: underOtherReference,
  paid: wasPaid,
  reference: ofCorrected,
  'far-run': ofFarRun,
  'same-month': ofSameMonth,
  'failed-run': ofRunBefore,
  deleted: wasDeleted,
  largest: ofOtherSize,
  customer: ofOtherCustomer,
  elsewhere: inOtherAccount,
}

export function judgeTarget(row: TargetRow, fact: TargetFact, rules: TargetRules): TargetVerdict {
  const rule: Rule<never> = RULES[fact.of]
  return rule(row, fact as never, rules) ?? 'fits'
}

function asked(why: TargetWhy, at: At, problem: string): TargetQuestion {
  return { kind: 'asked', why, at, problem }
}

/** What a row may say of its order, and of a sale that says another. */
const BESIDE = [
  { column: 'customer_vault_id', said: 'vaultId', other: 'is of another customer', is: 'vault id ', what: 'vault id' },
  { column: 'pmt_numb', said: 'card', other: 'is of another card', is: 'one that ends in ', what: 'card' },
  { column: 'xtl_order_id', said: 'xtlOrderId', other: 'has another xtl_order_id', is: '', what: 'xtl_order_id' },
] as const

/** An order has one customer, card and number, or several that all fit it: those that some row of it was recorded with. */
function contradicts({ orderKey, beside }: TargetRow, sales: readonly KnownSale[]): TargetFault | null {
  for (const { column, said, other, is, what } of BESIDE) {
    const value = beside?.[said] ?? null
    const saying = sales.filter(({ known }) => known[said].length > 0)
    const [sale] = saying
    if (value === null || sale === undefined || saying.some(({ known }) => known[said].includes(value))) continue
    const instead = `order ${orderKey}: ${is}${sale.known[said][0]}, by ${placeText(sale.at)}`
    return otherTarget(column, value, `the order ${other} (${instead})`, what)
  }
  return null
}

/** The capture of one authorization under the number of another one. */
function ofOtherOrder({ orderKey }: TargetRow, { orderId, xtlOrderId, at }: Fact<'other-order'>): TargetFault {
  const problem = `the xtl_order_id is that of another authorization (order ${orderId}, by ${placeText(at)}; this row names order ${orderKey})`
  return otherTarget('xtl_order_id', xtlOrderId, problem, 'xtl_order_id')
}

function otherTarget(column: TargetFault['column'], value: string, problem: string, what: string): TargetFault {
  const remedy = `correct the order id; if it is right, correct the ${what} or leave that cell empty`
  return { kind: 'wrong', code: 'other_target', column, value, problem, remedy }
}

function isTransaction({ orderKey }: TargetRow, { orderId, at }: Fact<'transaction'>): TargetFault {
  return {
    ...{ kind: 'wrong', code: 'transaction_id', column: 'request_ref_po_id', value: orderKey ?? '' },
    problem: `is a transaction id here, and no order id (order ${orderId}, by ${placeText(at)})`,
    remedy: `write the order id, ${orderId}`,
  }
}

/** The two kinds of numbers have nothing to do with each other, and may be the same by chance. */
function isOwnNumber({ orderKey }: TargetRow, { orderId, at }: Fact<'own-number'>): TargetQuestion {
  return asked('own-number', at, `names order ${orderKey}, which is known here as the xtl_order_id of order ${orderId}`)
}

function wasDeclined({ operation, orderKey }: TargetRow, { at }: Fact<'declined'>): TargetFault {
  const [code, done] =
    operation === 'CAUTH' ? (['over_capture', 'authorized'] as const) : (['over_refund', 'paid'] as const)
  return {
    ...{ kind: 'wrong', code, column: 'request_ref_po_id', value: orderKey ?? '' },
    problem: `nothing was ${done} for the order (order ${orderKey}: declined, ${placeText(at)})`,
    remedy: 'take the row out, or correct the order id',
  }
}

/**
 * A void of a part may be meant, or its amount be that of another row, and some gateways release all of the order. Who releases what is left
 * by a copy of the list of authorizations, or without an amount, takes back what was captured as well.
 */
function voidsMore(row: TargetRow, sales: readonly KnownSale[]): TargetQuestion | null {
  const { operation, amountMinor, currency, orderKey } = row
  if (operation !== 'CANCEL') return null
  const capture = sales.find((sale) => sale.operation === 'CAUTH')
  if (amountMinor === null) {
    const problem = `voids all of order ${orderKey}, of which money was captured, and gives no amount`
    return capture === undefined ? null : asked('part-void', capture.at, problem)
  }
  const those = (of: readonly Operation[]) => sales.filter((sale) => of.includes(sale.operation))
  const sumOf = (...of: readonly Operation[]) => sumIn(currency, those(of))
  const [authorized, captured, voided] = [sumOf('AUTH'), sumOf('CAUTH'), sumOf('CANCEL')]
  const text = (sum: bigint) => sumText({ amountMinor: sum, currency })
  if (capture !== undefined && authorized !== null && captured !== null && voided !== null && captured < authorized) {
    const left = captured + voided < authorized ? authorized - captured - voided : 0n
    const problem = `voids ${text(amountMinor)} of order ${orderKey}, of which ${text(captured)} was captured and ${text(left)} is left`
    if (amountMinor > left) return asked('part-void', capture.at, problem)
  }
  const sale = sales.find((one) => SALES.includes(one.operation))
  const [of, sum] = sale === undefined ? [sales[0], authorized] : [sale, sumOf(...SALES)]
  if (of === undefined || sum === null || amountMinor >= sum) return null
  const problem = `voids ${amountText(amountMinor, of.currency)} of order ${orderKey}, ${text(sum)}; the gateway may release all of it`
  return asked('part-void', of.at, problem)
}

/** null: not known, or of another currency. */
function sumIn(currency: string | null, sales: readonly KnownSale[]): bigint | null {
  const isKnown = sales.every((sale) => sale.amountMinor !== null && sale.currency === currency)
  return isKnown ? sales.reduce((sum, { amountMinor }) => sum + (amountMinor ?? 0n), 0n) : null
}

/** A sale makes an order of its own: the customer is charged, and the authorization is held or captured besides. */
function isAuthorized(row: TargetRow, { authorizations }: Fact<'authorizations'>, rules: TargetRules) {
  const found = authorizations.find((one) => stillCounts(one, rules) && (one.isEqual || !isTiny(one, row)))
  if (found === undefined) return null
  const { at, orderId, isCaptured, isEqual, sentAtMs } = found
  const order = orderId === null ? 'an order' : `order ${plainId(orderId)}`
  const problem = isCaptured
    ? `is a sale, and ${order} was authorized and captured for the same`
    : `is a sale of its own, and ${order} ${sentAtMs === null ? 'waits to be' : 'is'} authorized for ${isEqual ? 'the same' : sumText(found)}: is its capture meant (CAUTH)?`
  return asked('authorized', at, problem)
}

/** It may only have checked the card. */
function isTiny({ amountMinor }: KnownAuthorization, row: TargetRow): boolean {
  return amountMinor * BigInt(LARGE_TIMES) <= (row.amountMinor ?? 0n)
}

function stillCounts(authorization: KnownAuthorization, rules: TargetRules): boolean {
  const { isVoided, isCaptured, isEqual, isOfOtherRun, sentAtMs } = authorization
  if (isVoided || (isCaptured && !isEqual)) return false
  const days = isOfOtherRun ? rules.lookalikeDays : isCaptured ? rules.saleDays : rules.authorizationDays
  return sentAtMs === null || sentAtMs >= rules.nowMs - days * DAY_MS
}

/** A card has a number, and a vault id once it is stored. */
function isLike(row: TargetRow, { at, operation, vaultId }: Fact<'like'>): TargetQuestion {
  if (row.operation === 'CAUTH')
    return asked('charged', at, `captures what ${vaultText({ vaultId })} was charged by a sale since it was authorized`)
  if (row.operation !== operation)
    return row.operation === 'AUTH'
      ? asked('charged', at, 'authorizes the amount that the same card is charged by a sale')
      : asked('authorized', at, 'is a sale of what the same card is authorized for: is a capture meant (CAUTH)?')
  const name = vaultId === null ? 'by its number' : `by vault id ${plainId(vaultId)}`
  return asked('same-card', at, `asks for the same as that row, which names the same card ${name}`)
}

/** Every customer stays under their reference in all runs of a roster, and all attempts of one: ids that have moved have slipped. */
function underOtherReference(row: TargetRow, { at, ownVaultId }: Fact<'run'>): TargetQuestion {
  const problem = `charges ${vaultText(row)}, which was that of ${at.reference}; its own was ${plainId(ownVaultId)}`
  return asked('other-reference', at, problem)
}

/** Whose card is declined may pay with another one. */
function wasPaid(_: TargetRow, { at }: Fact<'paid'>): TargetQuestion {
  return asked('paid', at, 'is asked for once more, and the same e-mail was charged the same with another card since')
}

/** The row that was wrong is recorded, and was sent or will be: what corrects it is sent besides. */
function ofCorrected(row: TargetRow, { own, others }: Fact<'reference'>): TargetQuestion | null {
  const found = others.find(
    ({ reference }) => formOf(reference) === formOf(own) || isExtended(own, reference) || isExtended(reference, own),
  )
  const target = row.orderKey === null ? vaultText(row) : `order ${row.orderKey}`
  const problem = `names ${target} under the reference of a recorded row that it seems to correct`
  return found === undefined ? null : asked('correction', found, problem)
}

/** Without separators, leading zeros and words such as `corrected`. */
function formOf(reference: string): string {
  const parts = reference.toLowerCase().match(/[\p{L}\p{M}]+|\d+|[^\s\-_.~/()]/gu) ?? []
  return parts.flatMap((part) => (CORRECTED.includes(part) ? [] : [part.replace(/^0+(?=\d)/, '')])).join(' ')
}

/** By such a word, with nothing in between. */
function isExtended(later: string, earlier: string): boolean {
  return later.startsWith(earlier) && CORRECTED.includes(later.slice(earlier.length).toLowerCase())
}

/** A year that is wrong: the right key would charge everybody once more. */
function ofFarRun(_: TargetRow, { at, ownKey }: Fact<'far-run'>, { nowMs }: TargetRules): TargetQuestion | null {
  const problem = `is the first of the run ${ownKey}, a month or week that is far from today or does not exist: is the year right?`
  return isPeriodFar(ownKey, nowMs) ? asked('far-run', at, problem) : null
}

/** Under another run key, what was sent counts for some days only; for its own month it counts for ever. */
function ofSameMonth(
  _: TargetRow,
  { at, ownKey, otherKey }: Fact<'same-month'>,
  { nowMs }: TargetRules,
): TargetQuestion | null {
  const problem = `is recorded in the run ${otherKey}, of the same month, with the same reference, card and amount`
  return isSameMonth(ownKey, otherKey, nowMs) ? asked('same-month', at, problem) : null
}

/** Charged under the new key, it takes the place of what the new month asks for under that reference. */
function ofRunBefore(_: TargetRow, { at }: Fact<'failed-run'>): TargetQuestion {
  const problem = `failed in the run before as ${at.reference}, as did all rows of this file: if they are still of that run, give its run key`
  return asked('failed-run', at, problem)
}

function vaultText({ vaultId }: Pick<TargetRow, 'vaultId'>): string {
  return `vault id ${plainId(vaultId ?? '')}`
}

/** It may have been stored again by another program, under the same vault id. */
function wasDeleted(row: TargetRow, { at }: Fact<'deleted'>): TargetQuestion {
  return asked('deleted', at, `charges ${vaultText(row)}, which that row deleted`)
}

/**
 * So many times the largest one, as by one zero too many; or one hundredth of the only one, as where cents are divided once too often. By
 * one unit of a currency a card is tried, or a service.
 */
export const LARGE_TIMES = 10

function ofOtherSize(row: TargetRow, { amountMinor, currency, at }: Fact<'largest'>): TargetQuestion | null {
  const [amount, vaultId, known] = [row.amountMinor ?? 0n, vaultText(row), sumText({ amountMinor, currency })]
  if (row.currency !== currency)
    return asked('currency', at, `charges ${vaultId} in ${row.currency}, which was only ever charged in ${currency}`)
  const one = row.orderKey === null ? `all that ${vaultId} was approved for` : `order ${row.orderKey}`
  if (amount > 0n && (amountMinor + 50n) / 100n === amount)
    return asked('small', at, `asks for one hundredth of ${one}, ${known}`)
  const isTrial = amountMinor <= 10n ** BigInt(exponentOf(currency as Currency))
  if (isTrial || amount < amountMinor * BigInt(LARGE_TIMES)) return null
  return asked(
    'large',
    at,
    `asks for ${LARGE_TIMES} times or more of the largest sale that ${vaultId} was approved for, ${known}`,
  )
}

/** A record that changes hands keeps its vault id, and the next charge follows it. */
function ofOtherCustomer(row: TargetRow, { at, details }: Fact<'customer'>): TargetQuestion | null {
  const { operation, orderKey, customer } = row
  const differences = differencesOf(customer, details)
  if (differences === 0 || (operation === 'VAULT_UPDATE' && differences < KNOWN_BY.length)) return null
  if (operation === 'VAULT_UPDATE') {
    const problem = `changes the record of ${vaultText(row)}, whose first name, last name and e-mail are all different`
    return asked('other-customer', at, problem)
  }
  if (orderKey !== null)
    return asked('other-customer', at, `names order ${orderKey}, whose customer has another name or e-mail`)
  const problem = `charges ${vaultText(row)} for a customer with another name or e-mail than before`
  return asked(differences === 1 ? 'other-payer' : 'other-customer', at, problem)
}

/** Of a domain that moved the names in front of it stay. */
const KNOWN_BY: readonly ((customer: Customer) => string | undefined)[] = [
  (customer) => customer.first_name ?? customer.cust_fname,
  (customer) => customer.last_name ?? customer.cust_lname,
  (customer) => (customer.email ?? customer.cust_email)?.split('@')[0],
]

/** How many of those both have; 0 where one of them is the same. */
function differencesOf(one: Customer, other: Customer): number {
  const keys = KNOWN_BY.map((by) => [nameKey(by(one) ?? ''), nameKey(by(other) ?? '')])
  const both = keys.filter((pair) => !pair.includes(''))
  return both.some(([own, before]) => own === before) ? 0 : both.length
}

/** Nameless: whoever hands it in may have nothing to do with the other account. */
function inOtherAccount({ orderKey }: TargetRow, { at, what }: Fact<'elsewhere'>): TargetQuestion {
  const problem = {
    order: `names order ${orderKey}, which another account of this ledger knows and this one does not`,
    row: 'is recorded for another account of this ledger, with the same reference, target and amount',
    waiting: 'waits to be sent for another account of this ledger, with the same order and amount',
    file: 'is in a file of the same bytes, which was recorded for another account of this ledger',
  }[what]
  return asked(`${what}-elsewhere`, at, problem)
}
