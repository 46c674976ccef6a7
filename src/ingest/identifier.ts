// Ids that the gateway gave out (orders, vault) and the merchant's own order id. A damaged id is never repaired.

import { plainId } from '../domain/instruction.ts'
import { startsLikeFormula } from './formula.ts'
import type { Problem } from './problem.ts'

/** Digits that a spreadsheet keeps of a number; the rest become zeros. */
const SPREADSHEET_DIGITS = 15
/** Far above any id; keeps a runaway cell out of the ledger. */
const MAX_ID_DIGITS = 40

const AS_TEXT = 'format the column as Text in the spreadsheet, fill it again from the source, and export the file again'

export const FORMULA_LIKE: Problem = {
  problem: 'begins with a character that a spreadsheet takes for a formula, or with a control character',
  remedy: 'write it without that character',
}

export function parseGatewayId(text: string): string | Problem {
  if (startsLikeFormula(text)) return FORMULA_LIKE
  if (isScientific(text)) return { problem: 'was turned into a rounded number by a spreadsheet', remedy: AS_TEXT }
  if (/^\d+[.,]0*$/.test(text)) return { problem: 'was turned into a decimal number by a spreadsheet', remedy: AS_TEXT }
  if (!/^\d+$/.test(text)) {
    return { problem: 'is not digits only', remedy: 'use the id exactly as the gateway gave it' }
  }
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

/** `1.23457E+12`, `1,23457E12`: what a spreadsheet makes of a long number. */
function isScientific(text: string): boolean {
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
