// References: what identifies a row for good. Given by the file, else derived from it; the run key goes in front.

import { createHash } from 'node:crypto'
import { toIdentifier } from '../../domain/identifier.ts'
import { UNREAD_REFERENCE } from '../../domain/instruction.ts'
import type { Problem } from '../../domain/problem.ts'
import { startsLikeFormula } from './formula.ts'
import { FORMULA_LIKE, unseenProblem } from './identifier.ts'

export const MAX_REFERENCE_CHARACTERS = 200
const MAX_RUN_KEY_CHARACTERS = 64
/** `~2` of a charge that was asked for once more. */
const MAX_ATTEMPT_CHARACTERS = 4

/**
 * Trimmed and NFC. A reference read back from results has its run key in front already, may have the number of an attempt behind it, and
 * may be longer by both.
 */
export function parseReference(text: string, from: 'file' | 'results' = 'file'): string | Problem {
  const reference = toIdentifier(text)
  const longest =
    MAX_REFERENCE_CHARACTERS + (from === 'results' ? MAX_RUN_KEY_CHARACTERS + 1 + MAX_ATTEMPT_CHARACTERS : 0)
  if (startsLikeFormula(reference)) return FORMULA_LIKE
  const unseen = unseenProblem(reference)
  if (unseen !== null) return unseen
  if (reference.includes('\ufffd')) {
    return {
      problem: 'has a character in it that was lost in a conversion (\ufffd)',
      remedy: 'export the file again from the source, as "CSV UTF-8"',
    }
  }
  if (reference.length > longest) {
    return { problem: `is longer than ${longest} characters`, remedy: 'shorten it' }
  }
  // Two damaged references could be one, and one damaged reference is none that anybody can look up.
  if (/^\d+(?:[.,]\d+)?E\+\d+$/i.test(reference)) {
    return {
      problem: 'was turned into a rounded number by a spreadsheet',
      remedy: 'format the column as Text in the spreadsheet, fill it again from the source, and export the file again',
    }
  }
  return reference
}

export function parseRunKey(text: string): string | Problem {
  const key = toIdentifier(text)
  const remedy = 'use something like 2026-12'
  if (key === '') return { problem: 'is empty', remedy }
  if (key.includes('/')) return { problem: 'has a "/" in it, which ends the key inside a reference', remedy }
  if (key.length > MAX_RUN_KEY_CHARACTERS) {
    return { problem: `is longer than ${MAX_RUN_KEY_CHARACTERS} characters`, remedy }
  }
  const parsed = parseReference(key)
  return typeof parsed === 'string' ? key : { ...parsed, remedy }
}

/** For rows without a reference: the same bytes always give the same ones, and each sheet of a workbook its own. */
export function derivedReferences(sha256: string, sheet: string | null): (rowNo: number) => string {
  const hash = sheet === null ? sha256 : createHash('sha256').update(`${sha256}\n${sheet}`).digest('hex')
  return (rowNo) => `${hash.slice(0, 16)}-${rowNo}`
}

/** Whether a reference looks as if it had been made for that row of some file. */
export function isDerivedFor(rowNo: string, reference: string): boolean {
  const [, row] = /^[0-9a-f]{16}-([1-9]\d*)$/.exec(reference) ?? []
  return row !== undefined && row === rowNo
}

/** For a row whose own reference is bad: it may be recorded under this, but never sent. */
export function unreadReference(derived: string): string {
  return `${derived}${UNREAD_REFERENCE}`
}

export function withRunKey(reference: string, runKey: string | null): string {
  return runKey === null ? reference : `${runKey}/${reference}`
}
