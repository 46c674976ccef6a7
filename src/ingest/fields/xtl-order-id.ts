// The merchant's own order id that travels to the gateway and comes back in its answer, by which an answer is known.

import { hash } from 'node:crypto'

const BASE_32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const DERIVED_CHARACTERS = 19

/** The reference itself where the gateway would take it, else one derived from it: always [A-Za-z0-9]{1,32}, always the same. */
export function toXtlOrderId(accountKey: string, reference: string): string {
  if (/^[A-Za-z0-9]{1,32}$/.test(reference)) return reference
  const digest = hash('sha256', JSON.stringify([accountKey, reference]), 'buffer')
  let derived = 'T'
  // A byte is taken modulo 32, which divides 256: every character is as likely as any other.
  for (let i = 0; i < DERIVED_CHARACTERS; i++) derived += BASE_32[(digest[i] as number) % 32]
  return derived
}
