// The parts of a card as people and spreadsheets write them. What is wrong is said without any of it.

import type { CardExpiry } from '../../domain/card.ts'
import { isInRange, isRoundedPan, LONGEST_PAN, passesLuhn, SHORTEST_PAN } from '../../domain/card-number.ts'
import type { Problem } from '../../domain/problem.ts'
import type { CardPart } from '../field-names.ts'
import type { CellKind } from '../workbook/cell.ts'
import { startsLikeFormula } from './formula.ts'
import { AS_TEXT, FORMULA_LIKE, isMarkedAsText, isScientific, MARKED_AS_TEXT, unseenProblem } from './identifier.ts'

const SPREADSHEET_DIGITS = 15
const FROM_SOURCE = 'write the number as it is printed on the card'
const ROUNDED: Problem = { problem: 'was turned into a rounded number by a spreadsheet', remedy: AS_TEXT }
const CUT_OFF: Problem = {
  problem: `has only zeros after its ${SPREADSHEET_DIGITS}th digit, as when a spreadsheet cut it off`,
  remedy: AS_TEXT,
}
const MASKED = /[*•●#·…]|x{2}/i

/** Digits alone. `kind`: as a workbook stores the cell. */
export function parseCardNumber(text: string, kind: CellKind = 'text'): string | Problem {
  const digits = text.replace(/(?<=\d)[\s\p{Pd}]+(?=\d)/gu, '')
  const written = writtenProblem(digits)
  if (written !== null) return written
  if (MASKED.test(text)) {
    return { problem: 'is masked, so that it cannot be sent', remedy: 'use the file that has the whole number' }
  }
  if (!/^\d+$/.test(digits)) return { problem: 'is not digits only', remedy: FROM_SOURCE }
  if (isCutOff(digits, kind)) return CUT_OFF
  const { length } = digits
  if (length < SHORTEST_PAN || length > LONGEST_PAN) {
    return {
      problem: `has ${length} digits, and card numbers have ${SHORTEST_PAN} to ${LONGEST_PAN}`,
      remedy: FROM_SOURCE,
    }
  }
  if (isFollowed(text)) return FOLLOWED
  if (!isInRange(digits)) return { problem: 'begins as no card number of its length does', remedy: FROM_SOURCE }
  if (passesLuhn(digits)) return digits
  return { problem: 'has a wrong digit: its check digit does not fit', remedy: FROM_SOURCE }
}

const FOLLOWED: Problem = {
  problem: 'has more digits behind a whole card number, perhaps its code',
  remedy: 'write the number alone and without blanks; code and expiry have columns of their own',
}

/** One number in ten fits by chance, whatever is behind it: where it is parted, what stands in front may be all of it. */
function isFollowed(text: string): boolean {
  const groups = text.trim().split(/[\s\p{Pd}]+/u)
  const front = groups.slice(0, -1).join('')
  return /^\d{3,4}$/.test(groups.at(-1) ?? '') && /^\d{15,16}$/.test(front) && isInRange(front) && passesLuhn(front)
}

/** Of 16 digits the check digit tells; of more than that a spreadsheet has taken several, and one in ten fits by chance. */
function isCutOff(digits: string, kind: CellKind): boolean {
  if (kind === 'number' && digits.length > SPREADSHEET_DIGITS) return true
  return /^\d{15}0{2,}$/.test(digits) || (isRoundedPan(digits) && !passesLuhn(digits))
}

function writtenProblem(text: string): Problem | null {
  if (isMarkedAsText(text)) return MARKED_AS_TEXT
  if (startsLikeFormula(text)) return FORMULA_LIKE
  if (isScientific(text)) return ROUNDED
  if (/^\d+[.,]0*$/.test(text)) return { problem: 'was turned into a decimal number by a spreadsheet', remedy: AS_TEXT }
  return unseenProblem(text)
}

const AMERICAN_EXPRESS = /^3[47]/

/** Three digits, four of American Express. `number`: of its card; null where that is wrong, and either length may be right. */
export function parseCardCode(text: string, number: string | null): string | Problem {
  const written = writtenProblem(text)
  if (written !== null) return written
  if (!/^\d+$/.test(text))
    return { problem: 'is not digits only', remedy: 'write the code as it is printed on the card' }
  const isAmericanExpress = number !== null && AMERICAN_EXPRESS.test(number)
  const least = isAmericanExpress ? 4 : 3
  const most = number === null ? 4 : least
  if (text.length >= least && text.length <= most) return text
  const whose = isAmericanExpress ? 'American Express has' : 'this card has'
  if (text.length < least) {
    return {
      problem: `has fewer digits than the ${least} that ${whose}: a spreadsheet may have dropped a leading zero`,
      remedy: 'format the column as Text in the spreadsheet, and write the code as it is printed on the card',
    }
  }
  return {
    problem: `has more digits than the ${most} that ${whose}`,
    remedy: 'write the code as it is printed on the card',
  }
}

const EXPIRY = /^(?<month>\d{1,2}) ?[/-] ?(?<year>20\d\d|\d\d)$/
const PACKED = /^(?<month>\d\d)(?<year>\d\d)$/

const NO_EXPIRY: Problem = {
  problem: 'is not a month and a year',
  remedy: 'write it as MM/YYYY, for example 04/2031, in a column that is formatted as Text',
}

/** MM/YYYY, MM/YY, MM-YYYY, MMYY. Good to the end of its month, UTC. */
export function parseCardExpiry(text: string, nowMs: number | null): CardExpiry | Problem {
  if (isMarkedAsText(text)) return MARKED_AS_TEXT
  if (/^\d{3}$/.test(text)) {
    return { problem: 'has 3 digits: a spreadsheet may have dropped a leading zero', remedy: NO_EXPIRY.remedy }
  }
  const { month, year } = (EXPIRY.exec(text) ?? PACKED.exec(text))?.groups ?? {}
  if (month === undefined || year === undefined || !isMonth(month)) return NO_EXPIRY
  return toExpiry(month, year, nowMs)
}

export function parseExpiryMonth(text: string): string | Problem {
  if (isMonth(text)) return text
  return { problem: 'is not a month', remedy: 'write 01 to 12' }
}

export function parseExpiryYear(text: string): string | Problem {
  if (/^(?:20)?\d\d$/.test(text)) return text
  return { problem: 'is not a year', remedy: 'write two or four digits, for example 31 or 2031' }
}

const YEARS_MOST = 30

/** Of a month and a year that were parsed. `nowMs`: when the card is to be good; null: that is not asked. */
export function toExpiry(month: string, year: string, nowMs: number | null): CardExpiry | Problem {
  const expiry = { month: month.padStart(2, '0'), year: year.length === 2 ? `20${year}` : year }
  if (nowMs === null) return expiry
  const now = new Date(nowMs)
  const months = (Number(expiry.year) - now.getUTCFullYear()) * 12 + Number(expiry.month) - 1 - now.getUTCMonth()
  if (months < 0) return { problem: 'has expired', remedy: 'ask the customer for the new card' }
  if (months > YEARS_MOST * 12) {
    return { problem: `is more than ${YEARS_MOST} years ahead`, remedy: 'write it as it is printed on the card' }
  }
  return expiry
}

function isMonth(text: string): boolean {
  return /^\d\d?$/.test(text) && Number(text) >= 1 && Number(text) <= 12
}

/** Whether the text has the form of what the column is for, past or not: other digits may be those of a code. */
export function isExpiryPart(part: Exclude<CardPart, 'number' | 'code'>, text: string): boolean {
  if (text === '') return true
  if (part === 'month') return isMonth(text)
  if (part === 'year') return /^(?:20)?\d\d$/.test(text)
  return isMonth((EXPIRY.exec(text) ?? PACKED.exec(text))?.groups?.month ?? '')
}
