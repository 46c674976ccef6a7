// Amount cells → money. Anything but digits, thousands and decimals is a fault: an amount is never repaired.

import { type Currency, exponentOf, type Money, parseAmount } from '../../domain/money.ts'
import { isProblem, type Problem, shown } from '../../domain/problem.ts'
import { type Text, words } from '../../domain/words.ts'
import { type DecimalSign, readUnder } from '../../domain/written-amount.ts'
import { AMBIGUOUS, digitsMeant, signShownBy } from './decimal-sign.ts'
import { unseenProblem } from './identifier.ts'
import { isPlain } from './plain.ts'

/**
 * A cell, trimmed and not empty, as a plain decimal (`1234.56`). Without a sign only whole numbers can be read. `isMixed`: a
 * few amounts of the file have the other sign, and this one may be of them.
 */
export function parsePlainDecimal(
  text: string | Problem<Text>,
  sign: DecimalSign | null,
  isMixed = false,
): string | Problem<Text> {
  if (isProblem(text)) return text
  const odd = oddityOf(text)
  if (odd !== null) return odd
  if (isMixed && signShownBy(text) === 'ambiguous') return AMBIGUOUS
  if (sign === null) {
    const shownSign = signShownBy(text)
    if (shownSign === 'malformed') return malformed(sign)
    return shownSign === 'either' ? (readUnder(text, '.') as string) : AMBIGUOUS
  }
  return readUnder(text, sign) ?? malformed(sign)
}

/** A whole number of the currency's smallest unit as a plain decimal of the currency. */
export function fromMinorUnits(plain: string | Problem<Text>, currency: Currency): string | Problem<Text> {
  if (isProblem(plain)) return plain
  if (plain.includes('.')) return NO_MINOR_UNITS
  const decimals = exponentOf(currency)
  const digits = plain.padStart(decimals + 1, '0')
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

const NO_MINOR_UNITS: Problem<Text> = {
  problem: words`has decimals, and ${{ set: 'scale', to: 'minor' }} says that amounts are whole numbers of the smallest unit`,
  remedy: 'find out in which unit the amounts of the file are, and correct the one that is wrong',
}

/** A plain decimal in the currency; more decimals than it has, zero and more than 15 digits are faults. */
export function parseMoney(plain: string | Problem<Text>, currency: Currency): Money | Problem<Text> {
  if (isProblem(plain)) return plain
  const money = parseAmount(plain, currency)
  switch (money) {
    case 'not-a-number':
      return malformed(null)
    case 'too-many-decimals': {
      const decimals = exponentOf(currency)
      return {
        problem: `${currency} has ${decimals === 0 ? 'no' : decimals} decimals and this amount has more`,
        remedy:
          decimals === 0 && /\.00?$/.test(plain)
            ? `if ${plain.replace(/\.0+$/, '')} ${currency} is meant, write it without the zeros: decimals are not cut`
            : 'check the currency and the amount; the decimals are not cut or rounded',
      }
    }
    case 'too-large':
      return { problem: 'has more than 15 digits', remedy: 'check the amount' }
  }
  if (money.amountMinor === 0n) return { problem: 'is zero', remedy: 'leave the row out, or write the amount' }
  return money
}

function malformed(sign: DecimalSign | null): Problem {
  const example = sign === ',' ? '1234,56' : '1234.56'
  const under = sign === null ? '' : ` with "${sign}" as the decimal sign`
  return { problem: `is not an amount${under}`, remedy: `write it as digits and decimals only, for example ${example}` }
}

function oddityOf(text: string): Problem | null {
  if (isPlain(text)) return null
  if (/^[+\-−–]|[-−–]$|^\(.*\)$/.test(text)) {
    return { problem: 'has a sign', remedy: 'write it without one: the operation says which way the money goes' }
  }
  if (/^[\d.,]+E[+-]?\d+$/i.test(text)) {
    return {
      problem: 'is in scientific notation',
      remedy: 'format the column as a number with decimals and export the file again',
    }
  }
  // Non-breaking spaces are valid thousands separators; every other invisible character is an error.
  const unseen = unseenProblem(text.replace(/[\u00a0\u202f\u2009]/g, ''))
  if (unseen !== null) return unseen
  const digits = digitsMeant(text)
  if (digits !== null)
    return {
      problem: 'has a letter in the place of a digit',
      remedy: `if ${shown(digits)} is meant, write it in digits`,
    }
  if (/[\p{Sc}\p{L}]/u.test(text)) {
    return {
      problem: 'has letters or a currency symbol in it',
      remedy: 'write the number only, and the currency in its own column',
    }
  }
  return null
}
