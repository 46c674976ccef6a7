// What must exist in the sandbox before a file is worth sending to it: the orders and stored cards that the file names.

import { Fault } from '../domain/fault.ts'
import type { Instruction } from '../domain/instruction.ts'
import { type Currency, exponentOf, formatAmount, parseAmount, parseCurrency } from '../domain/money.ts'
import type { Order, OrderBook } from './book.ts'
import { isId, plainDigits } from './form.ts'
import type { TransactionRequest } from './orders.ts'

interface PreparedOrder {
  readonly orderId: string
  readonly state: 'authorized' | 'pending settlement' | 'settled'
  /** A plain decimal, such as 12.30. */
  readonly amount: string
  readonly currency: string
}

interface PreparedCard {
  readonly vaultId: string
}

export interface Preparation {
  readonly orders?: readonly PreparedOrder[] | undefined
  readonly vault?: readonly PreparedCard[] | undefined
}

/** How many were made; what existed already stays as it is, so that preparing again gives no money back. */
export interface Prepared {
  readonly orders: number
  readonly vault: number
}

export function addPrepared(book: OrderBook, preparation: Preparation, nowMs: number): Prepared {
  // All of it is read before any of it is kept: a preparation with a mistake changes nothing.
  const orders = (preparation.orders ?? []).map((prepared) => toOrder(prepared, nowMs))
  const vaultIds = (preparation.vault ?? []).map(({ vaultId }) => checkedId(vaultId, 'vault id'))
  const before = { orders: book.orders.size, vault: book.vault.size }
  for (const order of orders) if (!book.orders.has(order.orderId)) book.orders.set(order.orderId, order)
  for (const vaultId of vaultIds) if (!book.vault.has(vaultId)) book.vault.set(vaultId, null)
  return { orders: book.orders.size - before.orders, vault: book.vault.size - before.vault }
}

/** The balance of an order that was not prepared: enough for any request of a rehearsal. */
const UNKNOWN_WHOLE = 1_000_000n

/** What makes a request approvable that names an order or a card for the first time. `currency`: of orders whose request says none. */
export function unknownIn(request: TransactionRequest, currency: Currency): Preparation {
  switch (request.operation) {
    case 'CAPTURE':
    case 'AUTH':
      return request.source.kind === 'vault' ? { vault: [{ vaultId: request.source.vaultId }] } : {}
    case 'CAUTH':
      return { orders: [wholeOrder(request.orderId, 'authorized', request.money.currency)] }
    case 'REFUND':
      return { orders: [wholeOrder(request.orderId, 'settled', currency)] }
    case 'CANCEL':
      return { orders: [wholeOrder(request.orderId, 'pending settlement', currency)] }
  }
}

function wholeOrder(orderId: string, state: PreparedOrder['state'], currency: Currency): PreparedOrder {
  const amountMinor = UNKNOWN_WHOLE * 10n ** BigInt(exponentOf(currency))
  return { orderId, state, amount: formatAmount({ amountMinor, currency }), currency }
}

function toOrder(prepared: PreparedOrder, nowMs: number): Order {
  const orderId = checkedId(prepared.orderId, 'order id')
  const currency = parseCurrency(prepared.currency)
  if (currency === undefined)
    throw new Fault('usage', `Order ${orderId} cannot be prepared: its currency is not known.`)
  const money = parseAmount(prepared.amount, currency)
  if (typeof money === 'string' || money.amountMinor === 0n) {
    throw new Fault('usage', `Order ${orderId} cannot be prepared: its amount is not an amount in ${currency}.`)
  }
  return {
    orderId,
    currency,
    takenMinor: money.amountMinor,
    refundedMinor: 0n,
    voidedMinor: 0n,
    capturedAtMs: capturedAtMsOf(prepared.state, nowMs),
    voided: false,
    vaultId: null,
    xtlOrderId: null,
  }
}

function capturedAtMsOf(state: PreparedOrder['state'], nowMs: number): number | null {
  switch (state) {
    case 'authorized':
      return null
    case 'pending settlement':
      return nowMs
    case 'settled':
      return Number.NEGATIVE_INFINITY
  }
}

function checkedId(text: string, what: string): string {
  if (!isId(text)) throw new Fault('usage', `The sandbox cannot prepare the ${what} "${text}": ids are 1 to 20 digits.`)
  return plainDigits(text)
}

// ───────────────────────────────────────────────────────────── From instructions

/** What the instructions of a file ask of one order. */
interface Demand {
  currency: Currency | null
  captured: boolean
  cancelled: boolean
  cancelledWhole: boolean
  /** The largest capture: an authorization is captured once. */
  captureMinor: bigint
  refundMinor: bigint
  cancelMinor: bigint
}

/** What makes these instructions approvable, where an order of theirs can be approved at all. */
export function prepareFor(instructions: Iterable<Instruction>): Preparation {
  const demands = new Map<string, Demand>()
  const vaultIds = new Set<string>()
  for (const instruction of instructions) {
    const { orderId, vaultId, operation } = instruction
    const sells = operation === 'CAPTURE' || operation === 'AUTH'
    const namesRecord = sells || operation === 'VAULT_UPDATE' || operation === 'VAULT_DELETE'
    if (namesRecord && vaultId !== null && isId(vaultId)) vaultIds.add(plainDigits(vaultId))
    if (sells || orderId === null || !isId(orderId)) continue
    const key = plainDigits(orderId)
    const demand = demands.get(key) ?? noDemand()
    demands.set(key, demand)
    addDemand(demand, instruction)
  }
  return {
    orders: Array.from(demands, ([orderId, demand]) => orderFor(orderId, demand)),
    vault: Array.from(vaultIds, (vaultId) => ({ vaultId })),
  }
}

function noDemand(): Demand {
  return {
    currency: null,
    captured: false,
    cancelled: false,
    cancelledWhole: false,
    captureMinor: 0n,
    refundMinor: 0n,
    cancelMinor: 0n,
  }
}

function addDemand(demand: Demand, { operation, money }: Instruction): void {
  demand.captured ||= operation === 'CAUTH'
  demand.cancelled ||= operation === 'CANCEL'
  demand.cancelledWhole ||= operation === 'CANCEL' && money === null
  if (money === null) return
  demand.currency ??= money.currency
  // An order has one currency, the first one named; a row that declares another is declined, as it would be in earnest.
  if (money.currency !== demand.currency) return
  if (operation === 'CAUTH' && money.amountMinor > demand.captureMinor) demand.captureMinor = money.amountMinor
  if (operation === 'REFUND') demand.refundMinor += money.amountMinor
  if (operation === 'CANCEL') demand.cancelMinor += money.amountMinor
}

/**
 * Whatever is captured must begin as an authorization, whatever is cancelled must not be settled, and all else is a
 * settled sale. For a full cancellation a hundred units more than the refunds take are left.
 */
function orderFor(orderId: string, demand: Demand): PreparedOrder {
  const currency = demand.currency ?? (parseCurrency('EUR') as Currency)
  const wholeMinor = demand.cancelledWhole ? 100n * 10n ** BigInt(exponentOf(currency)) : 0n
  const amountMinor = within(1n, demand.captureMinor + demand.refundMinor + demand.cancelMinor + wholeMinor, AMOUNT_MAX)
  const state = demand.captured ? 'authorized' : demand.cancelled ? 'pending settlement' : 'settled'
  return { orderId, state, amount: formatAmount({ amountMinor, currency }), currency }
}

/** The most minor units that are read as one amount. */
const AMOUNT_MAX = 10n ** 15n - 1n

function within(least: bigint, amountMinor: bigint, most: bigint): bigint {
  return amountMinor < least ? least : amountMinor > most ? most : amountMinor
}
