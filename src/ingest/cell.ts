// What a workbook knows of a cell beside its text, and what follows from it for the fields that are understood here.

import type { Field } from './columns.ts'
import type { Problem } from './problem.ts'

/** As the workbook stores it; `covered`: under merged cells, however it is stored. The cells of a CSV file are all text. */
export type CellKind = 'text' | NumberStyle | 'boolean' | 'error' | 'covered'

/** No number is stored with more; the pattern below takes the square of it. */
const STORED_CHARACTERS_MOST = 100
/** Nor has a format more: a spreadsheet takes 255. */
const FORMAT_CHARACTERS_MOST = 1_000

/** Digits that a spreadsheet keeps of a number and shows. */
const SPREADSHEET_DIGITS = 15

const IDS: readonly Field[] = ['reference', 'request_ref_po_id', 'customer_vault_id', 'xtl_order_id']

const STORED_AS_NUMBER: Problem = {
  problem: 'is stored as a number: a spreadsheet keeps 15 digits of it and drops leading zeros',
  remedy: 'format the column as Text and fill it again from the source',
}
const SHOWN_AS_ANOTHER: Problem = {
  problem:
    'is shown by the spreadsheet as another number than it stores (per cent, thousands, or digits of the format)',
  remedy: 'give the cell a plain number format, see which amount stands there then, and correct it',
}
const TURNED_INTO_TRUTH: Problem = {
  problem: 'was turned into TRUE or FALSE by the spreadsheet',
  remedy: 'format the column as Text and fill it again from the source',
}
const TURNED_INTO_DATE: Problem = {
  problem: 'was turned into a date by the spreadsheet',
  remedy: 'format the column as Text and fill it again from the source',
}

/** What is wrong with a cell of this kind in the column of this field, whatever its text; null: nothing. */
export function kindProblem(field: Field, kind: CellKind): Problem | null {
  switch (kind) {
    case 'text':
      return null
    case 'boolean':
      return TURNED_INTO_TRUTH
    case 'rescaled':
      if (field === 'amount') return SHOWN_AS_ANOTHER
      return IDS.includes(field) ? STORED_AS_NUMBER : null
    case 'number':
      return IDS.includes(field) ? STORED_AS_NUMBER : null
    case 'date':
      return field === 'execute_at'
        ? {
            problem: 'is a date cell, which has no offset and would mean another moment on another machine',
            remedy: 'write it as text, ISO 8601 with an offset, for example 2026-12-01T09:00:00+01:00',
          }
        : TURNED_INTO_DATE
    case 'covered':
      return {
        problem: 'is hidden under merged cells: a spreadsheet does not show it',
        remedy: 'unmerge the cells, check the value that appears, and correct or delete it',
      }
    case 'error':
      return {
        problem: 'is an error of the spreadsheet and no value',
        remedy: 'mend the formula, or write the value itself',
      }
  }
}

/**
 * A stored number as the spreadsheet shows it in full: 15 significant digits (`36.299999999999997` is 36.3), never in
 * scientific notation. null: it is no number.
 */
export function numberText(stored: string): string | null {
  if (stored.length > STORED_CHARACTERS_MOST) return null
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:E[+-]?\d+)?$/i.test(stored)) return null
  const number = Number(stored)
  if (!Number.isFinite(number)) return null
  if (number === 0) return '0'
  const [mantissa = '', power = '0'] = number.toExponential(SPREADSHEET_DIGITS - 1).split('e')
  const sign = mantissa.startsWith('-') ? '-' : ''
  const digits = mantissa.replace(/[-.]/g, '').replace(/0+$/, '')
  const point = Number(power) + 1 // how many of the digits stand before it
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  if (point >= digits.length) return sign + digits.padEnd(point, '0')
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

const SECONDS_A_DAY = 86_400
/** 1 January 1970, counted in days from the zero of the spreadsheet. */
const UNIX_EPOCH_DAYS = 25_569
/** From the zero of old Macintosh workbooks to the usual one. */
const DAYS_TO_1904 = 1_462
/** The first day of March 1900. A spreadsheet counts a 29 February before it, which never was. */
const MARCH_1900_DAYS = 61
/** 31 December 9999: what is beyond is no date that a spreadsheet shows. */
const DAYS_MOST = 2_958_466

/** A stored day count as ISO 8601 without an offset, to the second; less than a day is a time. null: it is no date. */
export function dateText(stored: string, from1904: boolean): string | null {
  if (numberText(stored) === null) return null
  const days = Number(stored)
  if (days < 0 || days >= DAYS_MOST) return null
  const isEarly = !from1904 && days < MARCH_1900_DAYS
  if (isEarly && days >= MARCH_1900_DAYS - 1) return null
  const counted = days + (from1904 ? DAYS_TO_1904 : isEarly ? 1 : 0)
  const iso = new Date(Math.round((counted - UNIX_EPOCH_DAYS) * SECONDS_A_DAY) * 1000).toISOString().slice(0, 19)
  if (days < 1) return iso.slice(11)
  return iso.endsWith('T00:00:00') ? iso.slice(0, 10) : iso
}

/** What a number format makes of a number. `rescaled`: a person sees another number. The later one is the stricter. */
const NUMBER_STYLES = ['number', 'rescaled', 'date'] as const
export type NumberStyle = (typeof NUMBER_STYLES)[number]

export function stricter(a: NumberStyle, b: NumberStyle): NumberStyle {
  return NUMBER_STYLES.indexOf(a) < NUMBER_STYLES.indexOf(b) ? b : a
}

const PER_CENT_FORMATS = [9, 10]

/** By the numbers that stand for built-in formats. A workbook may spell such a format out; it stays what it is. */
export function builtInStyle(formatId: number): NumberStyle {
  const within = (from: number, to: number) => formatId >= from && formatId <= to
  if (within(14, 22) || within(27, 36) || within(45, 47) || within(50, 58) || within(71, 81)) return 'date'
  return PER_CENT_FORMATS.includes(formatId) ? 'rescaled' : 'number'
}

export function formatStyle(format: string): NumberStyle {
  return showsDate(format) ? 'date' : showsAnother(format) ? 'rescaled' : 'number'
}

/**
 * Per cent, thousands cut off (`0,`), digits or a decimal sign that only the format has (`0\.00` shows 1250 as 12.50), and a
 * positive number shown with a minus, in brackets or not at all (`-0.00`, `;;;`).
 */
function showsAnother(format: string): boolean {
  let addsDigits = false
  const bare = format.replace(/"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g, (part) => {
    const literal = part.startsWith('"') ? part.slice(1, -1) : part.startsWith('\\') ? part.slice(1) : ''
    addsDigits ||= /\d/.test(literal)
    if (/^\s*[-−–(]\P{L}*$/u.test(literal)) return '-'
    if (/^\[[<>=]/.test(part)) return CONDITION
    return literal === '.' || literal === ',' ? LITERAL_SIGN : ''
  })
  return (
    addsDigits ||
    /%|[0#?.],+(?![0#?,])/.test(bare) ||
    /[0#?]~[0#?]/.test(bare) ||
    (format !== '' && !bare.includes(CONDITION) && showsAnotherSign(bare.split(';', 1)[0] as string))
  )
}

/** Of the first section, which is that of positive numbers. */
function showsAnotherSign(section: string): boolean {
  return /[-−–(]/.test(section.replace(/E[+-]/gi, '')) || !/[0#?@]|general|standard/i.test(section)
}

/** Marks a condition such as `[>100]`: the section that a number uses is then unknown. */
const CONDITION = '\u0001'

/** Stands for a decimal sign that the format adds and the number does not have. */
const LITERAL_SIGN = '~'

/**
 * Whether a number format shows days or times. In doubt it does: a date taken for a number would be an amount of some
 * 46,000, and a number taken for a date is only a fault to mend.
 */
export function showsDate(format: string): boolean {
  if (format.length > FORMAT_CHARACTERS_MOST) return true
  const bare = format
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .replace(/\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, '')
    .replace(/general|standard/gi, '')
  return /[dmyhs]|[年月日]/i.test(bare)
}
