// Why a file that can be read is refused, in the words of the API. Of the command line only the kinds and the figures are taken.

import type { FoundRefusal } from '../app/check-found.ts'

export interface RefusalTold {
  readonly kind: string
  readonly detail: string
}

export function refusalsTold(refusals: unknown): RefusalTold[] {
  return (Array.isArray(refusals) ? (refusals as FoundRefusal[]) : []).map((told) => ({
    kind: told.kind,
    detail: wordsOf(told),
  }))
}

function wordsOf({ kind, rows, found, expected, difference, unread, known }: FoundRefusal): string {
  switch (kind) {
    case 'bad-rows':
      return `${rows} of its rows cannot be sent as written, so nothing of it is. Mend them (rejects.csv of the check), or check it again with skip_invalid to leave them out.`
    case 'unidentified':
      return `${rows} lines of these results cannot be told for a recorded row: they might have been executed under another reference. Use an intact file, or take the lines out.`
    case 'correction':
      return `${known} of its rows are rows of earlier files: it is one of them, mended. Check it again with only_new to send the rows that no earlier file holds.`
    case 'lookalikes':
      return `${found} of its rows look like another one, and would be executed beside it. Look at them (lookalikes of the check). Only if every one is meant: allow_lookalikes ${found}.`
    case 'execute-at':
      return `${found} of its rows have an execute_at more than a day ago, or more than 400 days ahead. Correct it. Only if every one is meant: allow_execute_at ${found}.`
    case 'above-limit':
      return `${found} of its rows are above the limit of a whole day. Look at the amounts. Only if every one is meant: allow_above_limit ${found}; each is sent alone, on a day of its own.`
    case 'count':
      return `It has ${found} rows, and ${expected} were expected. Check that it is the right file, and complete.`
    case 'total':
      return `It adds up to ${found}, and ${expected} was expected: ${difference}. Check that it is the right file, and complete.`
    case 'total-unknown':
      return `What it adds up to is not known: ${unread} amounts cannot be read. The others add up to ${found}, and ${expected} was expected.`
    case 'currency':
      return `It also asks for ${found}, in ${rows} rows, and no total was expected in that currency.`
    default:
      return 'It is refused.'
  }
}
