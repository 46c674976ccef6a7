// What a check found, in the words of its page.

import type { CheckFound, FoundCause, FoundRefusal } from '../app/check-found.ts'
import type { Check } from '../app/checks.ts'
import type { Total } from '../domain/batch.ts'
import { askedText } from '../present/asked.ts'
import { capital, plural } from '../present/text.ts'
import { pageWays } from './ways.ts'

/** `3998 of 4000 rows can be sent · 3998 refunds, EUR 41280.55 · 2 cannot`. */
export function headText(found: CheckFound, totals: readonly Total[]): string {
  const { rows, accepted, duplicate, invalid } = found
  const sums = totals.length === 0 ? [] : [askedText(totals)]
  const others = [
    ...(invalid === 0 ? [] : [`${invalid} cannot`]),
    ...(duplicate === 0 ? [] : [`${duplicate} recorded already`]),
  ]
  return [
    `${accepted} of ${plural(rows, 'row')} ${blockingIn(found).length === 0 ? 'can' : 'could'} be sent`,
    ...sums,
    ...others,
  ].join(' · ')
}

/** Those that a person can answer for on the page. Every other one has to be mended, or the file be checked in another way. */
const ANSWERED = ['bad-rows', 'lookalikes', 'execute-at', 'above-limit'] as const

export function blockingIn({ refusals }: Pick<CheckFound, 'refusals'>): readonly FoundRefusal[] {
  return refusals.filter(({ kind }) => !(ANSWERED as readonly string[]).includes(kind))
}

export function refusalText({
  kind,
  rows,
  found,
  expected,
  difference,
  unread,
  known,
  new: fresh,
}: FoundRefusal): string {
  switch (kind) {
    case 'bad-rows': {
      const them = rows === 1 ? 'it' : 'them'
      return `${plural(rows ?? 0, 'row')} cannot be sent as written. Mend ${them} in the file and hand that in, or leave ${them} out below: then nothing is sent for ${them}.`
    }
    case 'unidentified':
      return `${rows} lines of these results cannot be told for a recorded row: they might have been executed under another reference. Use an intact file, or take the lines out.`
    case 'correction':
      return `${known} of its rows ${known === 1 ? 'was' : 'were'} handed in with earlier files: it is one of them, mended. ${fresh === 0 ? 'None of the others is new: there is nothing left to send.' : `Check it again with “Only rows that no earlier file holds” to send the ${fresh === 1 ? 'new one' : `${fresh} new ones`} and nothing else.`}`
    case 'lookalikes':
      return `${plural(Number(found), 'row looks', 'rows look')} like another one, and would be executed beside it. What was entered twice would be executed twice: look at ${found === 1 ? 'it' : 'each of them'}.`
    case 'execute-at':
      return `${plural(Number(found), 'row has', 'rows have')} an execute_at more than a day ago, which would be sent at once, or more than 400 days ahead. Look whether the year is right.`
    case 'above-limit':
      return `${plural(Number(found), 'row is', 'rows are')} above the limit of a whole day. Look at the amounts: each is sent alone, on a day of its own.`
    case 'count':
      return `It has ${found} rows, and ${expected} were expected. Check that it is the right file, and complete.`
    case 'total':
      return `It adds up to ${spaced(found)}, and ${spaced(expected)} was expected: ${difference}. Check that it is the right file, and complete.`
    case 'total-unknown':
      return `What it adds up to is not known: ${unread} amounts cannot be read. The others add up to ${spaced(found)}, and ${spaced(expected)} was expected. Mend those rows first.`
    case 'currency':
      return `It also asks for ${spaced(found)}, in ${rows} rows, and no total was expected in that currency.`
    default:
      return 'It is refused.'
  }
}

/** `EUR=1.00` → `EUR 1.00`. */
function spaced(money: string | number | undefined): string {
  return String(money ?? '').replace('=', ' ')
}

export function causeText(cause: FoundCause): string {
  const { rows, first_line: first, last_line: last, column, value, problem, remedy } = cause
  const where = rows === 1 ? `Line ${first}` : `${plural(rows, 'row')}, lines ${first} to ${last}`
  const cell = `${column === null ? '' : `, ${column}`}${value === null ? '' : ` “${value}”`}`
  return `${where}${cell}: ${problem}. ${capital(remedy)}.`
}

interface RefusedWhole {
  readonly code?: string
  readonly line?: number | null
  readonly column?: string | null
  readonly problem?: string
  readonly remedy?: string
}

/** No page does it. */
const STORE = pageWays({ act: 'use-vault', to: 'create' }) ?? ''

/** Of a file that was refused whole: no row of it was looked at. */
export function refusedText({ result, problem: failed }: Pick<Check, 'result' | 'problem'>): string {
  if (failed !== null) return failed
  const {
    code,
    line = null,
    column = null,
    problem = 'it is no table of instructions',
    remedy,
  } = (result ?? {}) as RefusedWhole
  const where = [line === null ? null : `line ${line}`, column === null ? null : `column ${column}`]
  const at = where.filter((part) => part !== null).join(', ')
  // Where columns are missing, the line is not where the card data is.
  const place = at === '' || (code === 'card-data' && column === null) ? '' : ` (${at})`
  const what = remedy === undefined ? `${problem}.` : `${problem}. ${capital(remedy)}.`
  return code === 'card-data'
    ? `This file holds card data${place}. It was not kept. Nothing was recorded. What was found: ${what}${what.includes(STORE) ? '' : ` Cards are stored by ${STORE}.`}`
    : `This file cannot be read${place}: ${what} Nothing was recorded.`
}
