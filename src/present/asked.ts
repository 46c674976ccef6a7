// How many instructions, and how much money, as a person says it: `3998 refunds, EUR 41280.55`.

import type { Total } from '../domain/batch.ts'
import type { Operation } from '../domain/instruction.ts'
import { amountText } from './text.ts'

const NOUNS: Readonly<Record<Operation, readonly [one: string, many: string]>> = {
  CAPTURE: ['sale', 'sales'],
  AUTH: ['authorization', 'authorizations'],
  CAUTH: ['capture', 'captures'],
  REFUND: ['refund', 'refunds'],
  CANCEL: ['cancellation', 'cancellations'],
  VAULT_CREATE: ['new customer', 'new customers'],
  VAULT_UPDATE: ['change of a customer', 'changes of customers'],
  VAULT_DELETE: ['deletion of a customer', 'deletions of customers'],
}

/** What is asked for, by operation and currency: all of it that is of these states; nothing where none is. */
export function askedText(totals: readonly Total[]): string {
  return sumsOf(totals).map(textOf).join(' and ')
}

/** Of all states together: the sums that such a text shows. */
export function sumsOf(totals: readonly Total[]): Total[] {
  const groups = new Map<string, Total>()
  for (const total of totals) {
    const key = `${total.operation} ${total.currency}`
    const before = groups.get(key)
    groups.set(key, {
      ...total,
      count: total.count + (before?.count ?? 0),
      amountMinor: total.amountMinor + (before?.amountMinor ?? 0n),
    })
  }
  return [...groups.values()]
}

/** The same without money: `3998 refunds`. */
export function countedText(totals: readonly Total[]): string {
  return askedText(totals.map((one) => ({ ...one, currency: '' })))
}

/** One of it. */
export function nounOf(operation: Operation | null): string {
  return operation === null ? 'row' : NOUNS[operation][0]
}

/** Several of it. */
export function nounsOf(operation: Operation | ''): string {
  return operation === '' ? 'rows' : NOUNS[operation][1]
}

function textOf({ operation, count, currency, amountMinor }: Total): string {
  const what = `${count} ${count === 1 ? nounOf(operation === '' ? null : operation) : nounsOf(operation)}`
  return currency === '' ? what : `${what}, ${currency} ${amountText(amountMinor, currency)}`
}
