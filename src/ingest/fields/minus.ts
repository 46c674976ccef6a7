// Files that write every amount with a minus, as exports of refunds do. A person says so; then it is taken off each amount,
// and one without it goes the other way.

import type { Problem } from '../../domain/problem.ts'
import { type Text, words } from '../../domain/words.ts'
import { isPlain } from './plain.ts'

const MINUS = '[-\\u2010-\\u2015\\u2212]'
const CURRENCY = '[\\p{Sc}\\p{L}]{1,4}\\s?'
/** Before the number or behind it, or brackets around it; a currency may stand outside. What is left holds the number. */
const NOTATIONS: readonly RegExp[] = [
  new RegExp(`^${MINUS}\\s?(?<after>.*\\d.*)$`, 'su'),
  new RegExp(`^(?<before>${CURRENCY})${MINUS}\\s?(?<after>\\d.*)$`, 'su'),
  new RegExp(`^(?<after>.*\\d)\\s?${MINUS}$`, 'su'),
  /^\(\s?(?<after>.*\d.*?)\s?\)$/su,
  new RegExp(`^(?<before>${CURRENCY})\\(\\s?(?<after>.*\\d)\\s?\\)$`, 'su'),
  /^\(\s?(?<before>.*\d)\s?\)(?<after>\s?[\p{Sc}\p{L}]{1,4})$/su,
]

/** The amount without its one minus or its brackets; null: it has none. */
export function withoutMinus(text: string): string | null {
  if (isPlain(text)) return null
  for (const notation of NOTATIONS) {
    const { before = '', after } = notation.exec(text)?.groups ?? {}
    if (after !== undefined) return before + after
  }
  return null
}

/** What a person said of the amounts of a file, and what they are. */
export interface Minuses {
  /** Every amount carries one. */
  readonly isSaid: boolean
  /** How many amounts the file has, where each of them has one; 0: not each. */
  readonly all: number
}

export const NO_MINUSES: Minuses = { isSaid: false, all: 0 }

/** The amount as it is read: without the minus that was said to be there. */
export function readMinus(text: string, { isSaid, all }: Minuses): string | Problem<Text> {
  const without = withoutMinus(text)
  if (!isSaid) return without !== null && all > 0 ? offered(all) : text
  if (without !== null) return without
  return /[1-9]/.test(text) ? NO_MINUS : text // zero goes no way, and is a fault of its own
}

function offered(all: number): Problem<Text> {
  const SIGN = { set: 'sign', to: 'minus', lead: '. If that is how this file writes refunds, add ' } as const
  return {
    problem: `has a minus${all === 1 ? '' : `, as all ${all} amounts of the file have`}`,
    remedy: words`write it without one: the operation says which way the money goes${SIGN}`,
  }
}

const NO_MINUS: Problem<Text> = {
  problem: words`has no minus, and ${{ set: 'sign', to: 'minus' }} says that every amount of the file has one`,
  remedy: 'find out which way the money of this row goes; if it is not as in the other rows, take the row out',
}
