// Ids that the gateway gave out (orders, vault) and the merchant's own order id. A damaged id is never repaired.

import { unseenIn } from '../../domain/identifier.ts'
import { plainId } from '../../domain/instruction.ts'
import type { Problem } from '../../domain/problem.ts'
import { startsLikeFormula } from './formula.ts'

/** Digits that a spreadsheet keeps of a number; the rest become zeros. */
const SPREADSHEET_DIGITS = 15
/** Far above any id; keeps a runaway cell out of the ledger. */
const MAX_ID_DIGITS = 40

export const AS_TEXT =
  'format the column as Text in the spreadsheet, fill it again from the source, and export the file again'

export const FORMULA_LIKE: Problem = {
  problem: 'begins with a character that a spreadsheet takes for a formula, or with a control character',
  remedy: 'write it without that character',
}

export const MARKED_AS_TEXT: Problem = {
  problem: "begins with an apostrophe, a spreadsheet's mark for text that was typed as a character",
  remedy: 'take the apostrophe away and format the column as Text instead',
}

/** `'00123`: the mark and then what a spreadsheet would take for a number, a formula, a truth value or an error. */
export function isMarkedAsText(text: string): boolean {
  return /^['’](?:[\d=+\-@#]|(?:TRUE|FALSE)$)/i.test(text)
}

export function parseGatewayId(text: string): string | Problem {
  return oddityOf(text) ?? parsePlainId(text)
}

/** Other than digits; null: it is digits alone. */
function oddityOf(text: string): Problem | null {
  if (/^\d+$/.test(text)) return null
  if (isMarkedAsText(text)) return MARKED_AS_TEXT
  if (startsLikeFormula(text)) return FORMULA_LIKE
  if (isScientific(text)) return { problem: 'was turned into a rounded number by a spreadsheet', remedy: AS_TEXT }
  if (/^\d+[.,]0*$/.test(text)) return { problem: 'was turned into a decimal number by a spreadsheet', remedy: AS_TEXT }
  const unseen = unseenProblem(text)
  if (unseen !== null) return unseen
  if (/^\p{Nd}+$/u.test(text)) {
    return { problem: 'has digits that are not 0 to 9', remedy: 'type the id again with plain digits' }
  }
  if (/^[\dOo]+$/.test(text) && /\d/.test(text) && /[Oo]/.test(text)) {
    return {
      problem: 'has the letter O where a zero seems to be meant',
      remedy: 'use the id exactly as the gateway gave it',
    }
  }
  if (/^\d{1,3}([.,'’ ]\d{3})+$/.test(text)) {
    return { problem: 'has thousands separators, as when a spreadsheet took it for an amount', remedy: AS_TEXT }
  }
  return { problem: 'is not digits only', remedy: 'use the id exactly as the gateway gave it' }
}

function parsePlainId(text: string): string | Problem {
  if (text.length > MAX_ID_DIGITS) return { problem: `has more than ${MAX_ID_DIGITS} digits`, remedy: 'check the id' }
  const plain = plainId(text)
  if (plain === '0') return { problem: 'is zero, which is no id', remedy: 'use the id exactly as the gateway gave it' }
  if (plain.length > SPREADSHEET_DIGITS && /^0+$/.test(plain.slice(SPREADSHEET_DIGITS))) {
    return {
      problem: `has only zeros after its ${SPREADSHEET_DIGITS}th digit, as when a spreadsheet cut it off`,
      remedy: AS_TEXT,
    }
  }
  return text
}

/** Names an invisible character; null: there is none. */
export function unseenProblem(text: string): Problem | null {
  const found = unseenIn(text)
  if (found === null) return null
  return { problem: `contains an invisible character (${found})`, remedy: 'type it again' }
}

/** `1.23457E+12`, `1,23457E12`: what a spreadsheet makes of a long number. */
export function isScientific(text: string): boolean {
  return /^\d+(?:[.,]\d+)?E[+-]?\d+$/i.test(text)
}

export function parseXtlOrderId(text: string): string | Problem {
  if (/^[A-Za-z0-9]{1,32}$/.test(text)) return text
  if (startsLikeFormula(text)) return FORMULA_LIKE
  if (isScientific(text)) return { problem: 'was turned into a rounded number by a spreadsheet', remedy: AS_TEXT }
  return {
    problem: 'is not 1 to 32 letters and digits',
    remedy: 'use letters A to Z and digits only, or leave it empty: one is derived from the reference',
  }
}
