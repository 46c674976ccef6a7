// Every name this program has in Redis.

/** Other services put messages here; the name is part of the contract with them. */
export const INTAKE_QUEUE = 'tranche-intake'

/** Slices belong to one ledger: two installations on one Redis never take each other's work. */
export function slicesQueue(ledgerId: string): string {
  return `tranche-slices-${ledgerId}`
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
