// The fields that carry card details, whichever endpoint they come to: what each must be, and what is kept of them.

import type { CardExpiry, CardMask } from '../domain/card.ts'
import { passesLuhn } from '../domain/card-number.ts'

export function isCardNumber(text: string): boolean {
  return hasCardLength(text) && passesLuhn(text)
}

function hasCardLength(text: string): boolean {
  return /^\d{12,19}$/.test(text)
}

export function isSecurityCode(text: string): boolean {
  return /^\d{3,4}$/.test(text)
}

/** A card is good to the end of its month, UTC. The month is 01 to 12. */
export function isExpired({ month, year }: CardExpiry, nowMs: number): boolean {
  return Date.UTC(Number(year), Number(month)) <= nowMs
}

/** Of a number that is as long as a card number, whatever its check digit. null: nothing of it tells a card. */
export function toCardMask(number: string, expiry: CardExpiry): CardMask | null {
  return hasCardLength(number) ? { bin: number.slice(0, 6), lastFour: number.slice(-4), expiry } : null
}
