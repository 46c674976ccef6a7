// The card details of a row, as its file has them.

import type { CardDetails } from '../../src/domain/card.ts'
import type { Instruction } from '../../src/domain/instruction.ts'

/** A number of its own for each reference: what the gateway is sent must be of the row that it was read for. */
export function detailsOf({ reference, card }: Instruction): CardDetails | null {
  if (card === null) return null
  const own = String([...reference].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_000, 7))
  return { number: `${card.bin}${own.padStart(6, '0')}${card.lastFour}`, code: '737', expiry: card.expiry }
}
