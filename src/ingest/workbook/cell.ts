// What a workbook knows of a cell beside its text, and what follows from it for the fields that are understood here.

import type { Currency } from '../../domain/money.ts'
import { type Problem, shown } from '../../domain/problem.ts'
import { type Field, PAYMENT_CARD, VAULT_CARD } from '../field-names.ts'
import { mayMark } from '../fields/currency-marks.ts'
import type { NumberStyle } from './number-format.ts'

/**
 * As the workbook stores it; `stale`: a formula that is still to be computed; `covered`: under merged cells, however it is
 * stored; `struck`: struck through. The cells of a CSV file are all text.
 */
export type CellKind = 'text' | NumberStyle | 'boolean' | 'error' | 'stale' | 'covered' | 'struck'

/** A cell beside its text. */
export interface Stored {
  readonly kind: CellKind
  /** Words and signs that the spreadsheet shows beside a number and that are not stored. */
  readonly marks: readonly string[]
}

/** No number is stored with more; the pattern below takes the square of it. */
const STORED_CHARACTERS_MOST = 100

/** Digits that a spreadsheet keeps of a number and shows. */
const SPREADSHEET_DIGITS = 15

const IDS: readonly Field[] = ['reference', 'request_ref_po_id', 'customer_vault_id', 'xtl_order_id']
/** A plain number of 15 digits or fewer is whole, and their own rules say the rest; one that is shown otherwise is not. */
const CARD_FIELDS: readonly Field[] = [...Object.values(PAYMENT_CARD), ...Object.values(VAULT_CARD)]

const STORED_AS_NUMBER: Problem = {
  problem: 'is stored as a number: a spreadsheet keeps 15 digits of it and drops leading zeros',
  remedy:
    'in Excel: select the column, Data, Text to Columns, Next, Next, Text, Finish; where the ids have zeros in front or more than 15 digits, fill them in again from the source',
}
const SHOWN_AS_ANOTHER: Problem = {
  problem:
    'is shown by the spreadsheet as another number than it stores (rounded, per cent, thousands, or with a sign or digits of the format)',
  remedy: 'give the cell a plain number format with all decimals, see which amount it is then, and correct it',
}
const TURNED_INTO_TRUTH: Problem = {
  problem: 'was turned into TRUE or FALSE by the spreadsheet',
  remedy: 'format the column as Text and fill it again from the source',
}
const TURNED_INTO_DATE: Problem = {
  problem: 'was turned into a date by the spreadsheet',
  remedy: 'format the column as Text and fill it again from the source',
}

export const STRUCK: Problem = {
  problem: 'is struck through in the spreadsheet, as what no longer counts',
  remedy: 'delete the row, or take the strikethrough off if it is meant',
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
      return IDS.includes(field) || CARD_FIELDS.includes(field) ? STORED_AS_NUMBER : null
    case 'whole':
    case 'number':
      return IDS.includes(field) ? STORED_AS_NUMBER : null
    case 'date':
      return field === 'execute_at' || field === 'expires_at'
        ? {
            problem: 'is a date cell, which has no offset and would mean another moment on another machine',
            remedy: 'write it as text, ISO 8601 with an offset, for example 2026-12-01T09:00:00+01:00',
          }
        : TURNED_INTO_DATE
    case 'stale':
      return {
        problem: 'is a formula, and the workbook says that its value is out of date',
        remedy:
          'open it in the spreadsheet program, which computes it, save it, and hand it in again; or write the value',
      }
    case 'covered':
      return {
        problem: 'is hidden under merged cells: a spreadsheet does not show it',
        remedy: 'unmerge the cells, check the value that appears, and correct or delete it',
      }
    case 'struck':
      return STRUCK
    case 'error':
      return {
        problem: 'is an error of the spreadsheet and no value',
        remedy: 'correct the formula, or write the value itself',
      }
  }
}

/** What is wrong with an amount that a person sees with these marks in a row of this currency; null: nothing. */
export function marksProblem(marks: readonly string[], currency: Currency): Problem | null {
  const other = marks.find((mark) => !mayMark(mark, currency))
  if (other === undefined) return null
  return {
    problem: `is shown by the spreadsheet with "${shown(other)}", which does not stand for ${currency}`,
    remedy: `find out which amount is meant; if it is in ${currency}, give the cell a plain number format, else correct the currency`,
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
