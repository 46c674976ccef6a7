// Sums as a button says them: the act's number and money.

import type { Total } from '../domain/batch.ts'
import type { Operation } from '../domain/instruction.ts'
import { amountText, plural } from './text.ts'

const NOUNS: Readonly<Record<Operation, string>> = {
  CAPTURE: 'sale',
  AUTH: 'authorization',
  CAUTH: 'capture',
  REFUND: 'refund',
  CANCEL: 'cancellation',
  VAULT_CREATE: 'new customer',
  VAULT_UPDATE: 'change of a customer',
  VAULT_DELETE: 'deletion of a customer',
}
const MANY: Partial<Readonly<Record<Operation, string>>> = {
  VAULT_UPDATE: 'changes of customers',
  VAULT_DELETE: 'deletions of customers',
}

/** `3998 refunds, EUR 41280.55`. */
export function instructionsText(totals: readonly Total[]): string {
  return totals.map(oneText).join(' and ')
}

function oneText({ operation, currency, count, amountMinor }: Total): string {
  const noun = operation === '' ? 'row' : NOUNS[operation]
  const many = operation === '' ? undefined : MANY[operation]
  const number = plural(count, noun, many)
  return currency === '' ? number : `${number}, ${currency} ${amountText(amountMinor, currency)}`
}
