// Every name this program has in Redis.

import { createHash } from 'node:crypto'

/** Other services put messages here; the name is part of the contract with them. */
export const INTAKE_QUEUE = 'tranche-intake'

/** Slices belong to one ledger, and to one of its places: two installations on one Redis never take each other's work, nor do two workers. */
export function slicesQueue(ledgerId: string, place: string | null): string {
  if (place === null) return `tranche-slices-${ledgerId}`
  return `tranche-slices-${ledgerId}-${createHash('sha256').update(place).digest('hex').slice(0, 16)}`
}

/** The newest epoch of a ledger. */
export function epochKey(prefix: string, ledgerId: string): string {
  return `${prefix}:tranche-epoch:${ledgerId}`
}

/** What each place saw of a ledger on a server. */
export function testimonyKey(prefix: string, ledgerId: string): string {
  return `${prefix}:tranche-testimony:${ledgerId}`
}

/** The ledgers that are used for a gateway account. */
export function ledgersKey(prefix: string, account: string): string {
  return `${prefix}:tranche-account:${account}`
}

/** Remembers which ledger takes the messages of this Redis and prefix. */
export function intakeOwnerKey(prefix: string): string {
  return `${prefix}:${INTAKE_QUEUE}:ledger`
}
