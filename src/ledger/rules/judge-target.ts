// Whose order and whose card: a row is held against what is recorded of the target that it names. Pure. RULES has one for each kind of fact.

import { type Beside, type Instruction, type Operation, plainId } from '../../domain/instruction.ts'
import { type Currency, exponentOf } from '../../domain/money.ts'
import { nameKey } from '../../domain/person-name.ts'
import type { Problem } from '../../domain/problem.ts'
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

type Elsewhere = `${'order' | 'row' | 'waiting' | 'file'}-elsewhere`

/** One kind of what is recorded of the target of a row. `at`: by which row. */
export type TargetFact =
  /** Of the order that the row names. */
  | { readonly of: 'sales'; readonly sales: readonly KnownSale[] }
  /** What the order id is known as instead: a transaction id, or a number of the merchant's own, of the order that it was answered with. */
  | { readonly of: 'transaction' | 'own-number'; readonly orderId: string; readonly at: At }
  /** The only sale or authorization that was answered with it. */
  | { readonly of: 'declined'; readonly at: At }
  /** The authorization of another order that has the xtl_order_id of a capture. */
  | { readonly of: 'other-order'; readonly orderId: string; readonly xtlOrderId: string; readonly at: At }
  | { readonly of: 'authorizations'; readonly authorizations: readonly KnownAuthorization[] }
  /** A sale or authorization of the same amount and card, of the other kind or under its other name; or one to the vault id of an authorization. */
  | { readonly of: 'like'; readonly at: At; readonly operation: Operation; readonly vaultId: string | null }
  /** In the run before, or of a row that runs again with another card in its own: whose vault id this was, and which one the reference had. */
  | { readonly of: 'other-reference'; readonly at: At; readonly ownVaultId: string }
  /** The same customer and amount by another card: of a row that runs again, a later sale; or a row above, and one of the two cards is new. */
  | { readonly of: 'paid'; readonly at: At }
  /** Recorded rows of the same order, or vault id, and operation. own: null: the one of the same run. */
  | { readonly of: 'reference'; readonly own: string | null; readonly others: readonly At[] }
  /** In another run: the last charge of the vault id; or the same row, where one of the two keys has the other in it. */
  | { readonly of: 'far-run' | 'same-month'; readonly at: At; readonly ownKey: string; readonly otherKey: string }
  /** In the run before: the row above, or below, of the first that is charged so now; from there on, what is counted. */
  | {
      readonly of: 'amounts'
      readonly at: At
      readonly counts: Readonly<Record<'rows' | 'alike' | 'moved' | 'amounts', number>>
    }
  /** In the run before, where no row of the file was executed: what failed under the reference. Or what deleted the vault id. */
  | { readonly of: 'failed-run' | 'deleted'; readonly at: At }
  /** The largest sale of the vault id, or that of the order, in the currency of the row; or in the only one that it was ever charged in. */
  | { readonly of: 'largest'; readonly amountMinor: bigint; readonly currency: string; readonly at: At }
  /** Of the order, or the last of the vault id or card: a sale or a vault record. */
  | { readonly of: 'customer'; readonly at: At; readonly details: Customer }
  /** In another account: the order; the same reference, target and amount; the same order and amount, to be sent; the row of a file of the same bytes. */
  | { readonly of: Elsewhere; readonly at: At }

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

type Column = (typeof BESIDE)[number]['column'] | 'request_ref_po_id'
export interface TargetFault extends Wrong<'other_target' | 'transaction_id' | 'over_capture' | 'over_refund', Column> {
  readonly value: string
}

type OfCard = 'authorized' | 'charged' | 'same-card' | 'paid' | 'large' | 'small' | 'currency' | 'deleted'
type OfCustomer = 'other-customer' | 'other-payer' | 'correction' | 'own-number' | 'part-void'
type OfRun = 'other-month' | 'same-month' | 'far-run' | 'failed-run' | 'other-reference'
/** `series` and `subtotal` are told of neighbours in one file. */
export type TargetWhy = OfCard | OfCustomer | OfRun | Elsewhere | 'series' | 'subtotal'

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

/** null: nothing is said of the row. A text: a question by the name of the fact. */
type Rule<Of> = (row: TargetRow, fact: Of, rules: TargetRules) => TargetFault | TargetQuestion | string | null

const RULES: { readonly [Of in TargetFact['of']]: Rule<Fact<Of>> } = {
  sales: (row, { sales }) => contradicts(row, sales) ?? voidsMore(row, sales),
  'other-order': ofOtherOrder,
  transaction: (row, { orderId, at }) =>
    wrongOrder(row, 'transaction_id', {
      problem: `is a transaction id here, and no order id (order ${orderId}, by ${placeText(at)})`,
      remedy: `write the order id, ${orderId}`,
    }),
  declined: (row, { at }) =>
    wrongOrder(row, row.operation === 'CAUTH' ? 'over_capture' : 'over_refund', {
      problem: `nothing was ${row.operation === 'CAUTH' ? 'authorized' : 'paid'} for the order (order ${row.orderKey}: declined, ${placeText(at)})`,
      remedy: 'take the row out, or correct the order id',
    }),
  // The two kinds of numbers have nothing to do with each other, and may be the same by chance.
  'own-number': ({ orderKey }, { orderId }) =>
    `names order ${orderKey}, which is known here as the xtl_order_id of order ${orderId}`,
  authorizations: isAuthorized,
  like: isLike,
  // Every customer stays under their reference in all runs of a roster, and all attempts of one: ids that have moved have slipped.
  'other-reference': (row, { at, ownVaultId }) =>
    `charges ${vaultText(row)}, which was that of ${at.reference}; its own was ${plainId(ownVaultId)}`,
  amounts: haveSlipped,
  // Whose card is declined may pay with another one, and whose card was replaced has another one.
  paid: (_, { at }) =>
    at.batchId === null
      ? 'asks for the same of the same customer as that row, with another card, and one of the two cards is new'
      : 'is asked for once more, and the same e-mail was charged the same with another card since',
  reference: ofCorrected,
  // A year that is wrong: the right key would charge everybody once more.
  'far-run': (_, { ownKey }, { nowMs }) =>
    isPeriodFar(ownKey, nowMs)
      ? `is the first of the run ${ownKey}, a month or week that is far from today or does not exist: is the year right?`
      : null,
  // Under another run key, what was sent counts for some days only; for its own month it counts for ever.
  'same-month': (_, { ownKey, otherKey }, { nowMs }) =>
    isSameMonth(ownKey, otherKey, nowMs)
      ? `is recorded in the run ${otherKey}, of the same month, with the same reference, card and amount`
      : null,
  // Charged under the new key, it takes the place of what the new month asks for under that reference.
  'failed-run': (_, { at }) =>
    `failed in the run before as ${at.reference}, as did all rows of this file: if they are still of that run, give its run key`,
  // It may have been stored again by another program, under the same vault id.
  deleted: (row) => `charges ${vaultText(row)}, which that row deleted`,
  largest: ofOtherSize,
  customer: ofOtherCustomer,
  // Nameless: whoever hands it in may have nothing to do with the other account.
  'order-elsewhere': ({ orderKey }) =>
    `names order ${orderKey}, which another account of this ledger knows and this one does not`,
  'row-elsewhere': () => 'is recorded for another account of this ledger, with the same reference, target and amount',
  'waiting-elsewhere': () => 'waits to be sent for another account of this ledger, with the same order and amount',
  'file-elsewhere': () => 'is in a file of the same bytes, which was recorded for another account of this ledger',
}

export function judgeTarget(row: TargetRow, fact: TargetFact, rules: TargetRules): TargetVerdict {
  const rule: Rule<never> = RULES[fact.of]
  const found = rule(row, fact as never, rules) ?? 'fits'
  if (found === 'fits' || typeof found !== 'string') return found
  return asked(fact.of as TargetWhy, (fact as { readonly at: At }).at, found)
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

function wrongOrder({ orderKey }: TargetRow, code: TargetFault['code'], { problem, remedy }: Problem): TargetFault {
  return { kind: 'wrong', code, column: 'request_ref_po_id', value: orderKey ?? '', problem, remedy }
}

/** Some gateways release all of an order by a void of a part. A void of more than is left, or without an amount, takes back what was captured. */
function voidsMore({ operation, amountMinor, currency, orderKey }: TargetRow, sales: readonly KnownSale[]) {
  if (operation !== 'CANCEL') return null
  const capture = sales.find((sale) => sale.operation === 'CAUTH')
  const ask = (at: At, what: string) => asked('part-void', at, `voids ${what}`)
  if (amountMinor === null) {
    const all = `all of order ${orderKey}, of which money was captured, and gives no amount`
    return capture === undefined ? null : ask(capture.at, all)
  }
  const sumOf = (...of: readonly Operation[]) => sumIn(currency, sales, of)
  const [authorized, captured, voided] = [sumOf('AUTH'), sumOf('CAUTH'), sumOf('CANCEL')]
  const text = (sum: bigint) => sumText({ amountMinor: sum, currency })
  if (capture !== undefined && authorized !== null && captured !== null && voided !== null && captured < authorized) {
    const left = captured + voided < authorized ? authorized - captured - voided : 0n
    const part = `${text(amountMinor)} of order ${orderKey}, of which ${text(captured)} was captured and ${text(left)} is left`
    if (amountMinor > left) return ask(capture.at, part)
  }
  const sale = sales.find((one) => SALES.includes(one.operation))
  const [of, sum] = sale === undefined ? [sales[0], authorized] : [sale, sumOf(...SALES)]
  if (of === undefined || sum === null || amountMinor >= sum) return null
  const part = `${amountText(amountMinor, of.currency)} of order ${orderKey}, ${text(sum)}; the gateway may release all of it`
  return ask(of.at, part)
}

/** null: not known, or of another currency. */
function sumIn(currency: string | null, sales: readonly KnownSale[], of: readonly Operation[]): bigint | null {
  const amounts = sales
    .filter(({ operation }) => of.includes(operation))
    .map((sale) => (sale.currency === currency ? sale.amountMinor : null))
  return amounts.reduce((sum, amount) => (sum === null || amount === null ? null : sum + amount), 0n)
}

/** A sale makes an order of its own: the customer is charged, and the authorization is held or captured besides. */
function isAuthorized(row: TargetRow, { authorizations }: Fact<'authorizations'>, rules: TargetRules) {
  // A tiny one may only have checked the card.
  const tinyMinor = (row.amountMinor ?? 0n) / BigInt(LARGE_TIMES)
  const found = authorizations.find((one) => stillCounts(one, rules) && (one.isEqual || one.amountMinor > tinyMinor))
  if (found === undefined) return null
  const { at, orderId, isCaptured, isEqual, sentAtMs } = found
  const order = orderId === null ? 'an order' : `order ${plainId(orderId)}`
  const problem = isCaptured
    ? `is a sale, and ${order} was authorized and captured for the same`
    : `is a sale of its own, and ${order} ${sentAtMs === null ? 'waits to be' : 'is'} authorized for ${isEqual ? 'the same' : sumText(found)}: is its capture meant (CAUTH)?`
  return asked('authorized', at, problem)
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

/** So many rows are no chance: one customer may have another address, or another price. */
export const SLIPPED_LEAST = 3

/** Plans change in some rows, or all take the price of one. */
function haveSlipped(row: TargetRow, { at, counts }: Fact<'amounts'>): TargetQuestion | null {
  const { rows, alike, moved, amounts } = counts
  if (moved < SLIPPED_LEAST || amounts === 1 || alike * 5 < rows * 4) return null
  const problem = `asks of ${vaultText(row)} what ${at.reference} was charged in the run before, as most rows do of the row beside theirs: amounts may have slipped`
  return asked('other-reference', at, problem)
}

/** The row that was wrong is recorded, and was sent or will be: what corrects it is sent besides. */
function ofCorrected(row: TargetRow, { own, others }: Fact<'reference'>): TargetQuestion | null {
  const found = others.find(
    ({ reference }) =>
      own === null || formOf(reference) === formOf(own) || isExtended(own, reference) || isExtended(reference, own),
  )
  if (found === undefined) return null
  if (own === null)
    return asked('correction', found, `charges ${vaultText(row)}, which was charged in this run already`)
  const target = row.orderKey === null ? vaultText(row) : `order ${row.orderKey}`
  return asked('correction', found, `names ${target} under the reference of a recorded row that it seems to correct`)
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

function vaultText({ vaultId }: Pick<TargetRow, 'vaultId'>): string {
  return `vault id ${plainId(vaultId ?? '')}`
}

/** As by one zero too many; or one hundredth, as where cents are divided once too often. By one unit of a currency a card is tried. */
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
  const problem = `asks for ${LARGE_TIMES} times or more of the largest sale that ${vaultId} was approved for, ${known}`
  return asked('large', at, problem)
}

/** What a row does, and how much of names and e-mail differs where it is asked about alone. Of less, several rows show that a file has slipped. */
const FOR_CUSTOMER: Readonly<Partial<Record<Operation, readonly [does: string, alone: number]>>> = {
  CAPTURE: ['charges', 2],
  AUTH: ['authorizes', 2],
  VAULT_UPDATE: ['changes the record of', 3],
  VAULT_DELETE: ['deletes', 1],
  VAULT_CREATE: ['stores a card', 4],
}

/** A record that changes hands keeps its vault id, and the next charge follows it. */
function ofOtherCustomer(row: TargetRow, { at, details }: Fact<'customer'>): TargetQuestion | null {
  const differences = differencesOf(row.customer, details)
  if (differences === 0) return null
  const [does, alone] = FOR_CUSTOMER[row.operation] ?? [`names order ${row.orderKey}`, 1]
  const target = row.vaultId === null ? '' : ` ${vaultText(row)}`
  const problem = `${does}${target} for a customer with another name or e-mail than before`
  return asked(differences < alone ? 'other-payer' : 'other-customer', at, problem)
}

/** Of a domain that moved the names in front of it stay. */
function keysOf({ first_name, cust_fname, last_name, cust_lname, email, cust_email }: Customer): readonly string[] {
  const known = [first_name ?? cust_fname, last_name ?? cust_lname, (email ?? cust_email)?.split('@')[0]]
  return known.map((text) => nameKey(text ?? ''))
}

/** How many of those both have; 0 where one of them is the same. */
function differencesOf(one: Customer, other: Customer): number {
  const before = keysOf(other)
  const both = keysOf(one)
    .map((own, i) => [own, before[i] ?? ''])
    .filter((pair) => !pair.includes(''))
  return both.some(([own, former]) => own === former) ? 0 : both.length
}
