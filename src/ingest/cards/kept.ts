// What is kept of a cell of a card: of a number what may be shown, of a code nothing, of an expiry what is one.

import { isProblem } from '../../domain/problem.ts'
import type { CardPart } from '../field-names.ts'
import { isExpiryPart, parseCardNumber } from '../fields/card.ts'
import { canBe } from './columns.ts'

/** With fewer digits the last four would be too much of what was meant. */
const LAST_FOUR_FROM = 8
const FIRST_SIX_FROM = 13
/** A longer one that is wrong may be a number with its code behind it. */
const WITHOUT_CODE = 16
const DIGITS_MOST = 19

/** The cell as results, rejects and faults have it. */
export function keptOfCard(part: CardPart, cell: string): string {
  const text = cell.trim()
  switch (part) {
    case 'number':
      return maskNumber(text)
    case 'code':
      return ''
    default:
      // A number or a code that slipped into the column would be kept with it.
      return isExpiryPart(part, text) ? cell : starsFor(text)
  }
}

const MASKED = /^\d{0,6}[x*•●#·…]+\d{0,4}$/i

/** As many signs as digits; whatever else stands in the cell is left out, because it may hold anything. */
function maskNumber(text: string): string {
  const digits = text.replace(/[\s\p{Pd}]+/gu, '')
  const { length } = digits
  if (MASKED.test(digits)) return digits
  if (!/\p{N}/u.test(text) && !canBe(['number'], text)) return text
  if (!/^\d+$/.test(digits) || length > DIGITS_MOST || length < LAST_FOUR_FROM) return starsFor(text)
  const first = length < FIRST_SIX_FROM ? '' : digits.slice(0, 6)
  const last = length > WITHOUT_CODE && isProblem(parseCardNumber(text)) ? '' : digits.slice(-4)
  return first + '*'.repeat(length - first.length - last.length) + last
}

function starsFor(text: string): string {
  if (text === '') return ''
  const digits = text.replace(/\P{N}/gu, '').length
  return '*'.repeat(Math.min(Math.max(digits, 1), DIGITS_MOST))
}
