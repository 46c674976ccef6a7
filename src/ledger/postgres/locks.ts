// The advisory locks that are taken at the server, by their first key: any numbers that others are not likely to take. The second key tells
// the ledger.

import { quoteName } from './session.ts'

export const LOCKS = {
  /** Of a ledger: see `Turnstile`. */
  turnstile: 20_817_001,
  /** Of a schema, where there may be no ledger yet. */
  making: 20_817_002,
  /** Of a ledger, and held by a connection, as those below. */
  submitting: 20_817_003,
  tellingQueues: 20_817_004,
  tellingWebhooks: 20_817_005,
  /** Of a ledger, for one transaction. */
  adopting: 20_817_007,
} as const

/** The second key of what is of one ledger. */
export function keyOfLedger(schema: string): string {
  return `CAST(CAST(CAST('${quoteName(schema).replaceAll("'", "''")}' AS regnamespace) AS oid) AS integer)`
}
