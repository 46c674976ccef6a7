// The merchant's own order id that travels to the gateway and comes back in its answer, by which an answer is known.

import { createHash } from 'node:crypto'

const BASE_32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const DERIVED_CHARACTERS = 19

/** The reference itself where the gateway would take it, else one derived from it: always [A-Za-z0-9]{1,32}, always the same. */
export function toXtlOrderId(accountKey: string, reference: string): string {
  if (/^[A-Za-z0-9]{1,32}$/.test(reference)) return reference
  const digest = createHash('sha256')
    .update(JSON.stringify([accountKey, reference]))
    .digest()
  // A byte is taken modulo 32, which divides 256: every character is as likely as any other.
  const characters = Array.from(digest.subarray(0, DERIVED_CHARACTERS), (byte) => BASE_32[byte % 32])
  return `T${characters.join('')}`
}
