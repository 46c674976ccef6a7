// The header line: which column is which field, what is carried through to the results, and what is missing.

import { FIELD_RULES, type Operation } from '../domain/instruction.ts'
import type { Currency } from '../domain/money.ts'
import { holdsPan, isRoundedPan } from '../domain/pan.ts'
import { type Field, fieldOf, isCardColumn, isResultColumn, namesOf, squeezed } from './columns.ts'
import { type Problem, refuse, type StructuralFault, shown } from './problem.ts'

export interface Header {
  /** Every column as the file names it. */
  readonly written: readonly string[]
  /** Where each understood field stands. */
  readonly fields: Readonly<Partial<Record<Field, number>>>
  /** Columns that were understood under another name than the gateway's. */
  readonly mapped: readonly { readonly written: string; readonly field: Field }[]
  /** Columns that may hold nothing, because they are for card data. */
  readonly cards: readonly number[]
  /** The places whose cells go into the results, in order: all but a former result's own. */
  readonly carried: readonly number[]
  /** Results fed back: where their references are, and which recorded row each line came from. */
  readonly results: { readonly reference: number; readonly batch: number | null; readonly row: number | null } | null
}

interface HeaderNeeds {
  readonly operation?: Operation | undefined
  readonly currency?: Currency | undefined
}

export function parseHeader(written: readonly string[], line: number, needs: HeaderNeeds): Header | StructuralFault {
  const fields: Partial<Record<Field, number>> = {}
  const fault =
    findPanInHeader(written) ??
    findDuplicate(written) ??
    findTwoOfOneField(written, fields) ??
    findHalfResults(written) ??
    findMissing(written, fields, needs)
  if (fault !== null) return refuse(fault, { line })
  const results = findResults(written)
  const places = written.map((_, i) => i)
  return {
    written,
    fields,
    mapped: places.flatMap((i) => {
      const name = written[i] as string
      const field = fieldOf(name)
      return field === undefined || name.trim().toLowerCase() === field ? [] : [{ written: name, field }]
    }),
    cards: places.filter((i) => isCardColumn(written[i] as string)),
    carried: places.filter((i) => results === null || !/^\s*result_/i.test(written[i] as string)),
    results,
  }
}

/** The carried columns, as the results name them again. */
export function carriedColumns(header: Header): readonly string[] {
  return header.carried.map((i) => header.written[i] as string)
}

function findPanInHeader(written: readonly string[]): Problem | null {
  // A sheet without column names begins with a row, whose numbers have lost their last digit.
  if (!written.some((name) => holdsPan(name) || isRoundedPan(name))) return null
  return {
    problem: 'the first line holds a card number where the column names should be',
    remedy: 'card numbers never travel through this program: use customer_vault_id, and put the column names first',
  }
}

/** Columns without a name may be many; any other name may be there once. */
function findDuplicate(written: readonly string[]): Problem | null {
  const seen = new Map<string, string>()
  for (const name of written) {
    const key = name.trim().normalize('NFC').toLowerCase()
    if (key === '') continue
    const first = seen.get(key)
    if (first !== undefined) return twice(first, name, 'have the same name')
    seen.set(key, name)
  }
  return null
}

function findTwoOfOneField(written: readonly string[], fields: Partial<Record<Field, number>>): Problem | null {
  for (const [i, name] of written.entries()) {
    const field = fieldOf(name)
    if (field === undefined) continue
    const first = fields[field]
    if (first !== undefined) return twice(written[first] as string, name, `both mean ${field}`)
    fields[field] = i
  }
  return null
}

function twice(first: string, second: string, why: string): Problem {
  return {
    problem: `the columns "${shown(first)}" and "${shown(second)}" ${why}`,
    remedy: 'remove or rename one of them',
  }
}

function findResults(written: readonly string[]): Header['results'] {
  const place = (name: string) => {
    const i = written.findIndex((column) => column.trim().toLowerCase() === name)
    return i === -1 ? null : i
  }
  const reference = place('result_reference')
  return reference === null ? null : { reference, batch: place('result_batch'), row: place('result_row') }
}

/** Without their references, results would come back as new instructions. */
function findHalfResults(written: readonly string[]): Problem | null {
  const result = written.find(isResultColumn)
  if (result === undefined || findResults(written) !== null) return null
  return {
    problem: `the file has the results' column "${shown(result)}" but no column result_reference`,
    remedy: 'feed results back with all their columns, or remove every column that begins with result_',
  }
}

function findMissing(
  written: readonly string[],
  fields: Partial<Record<Field, number>>,
  needs: HeaderNeeds,
): Problem | null {
  const missing = neededFields(needs).filter((field) => fields[field] === undefined)
  const [first] = missing
  if (first === undefined) return null
  const unknown = written.filter((name) => name.trim() !== '' && fieldOf(name) === undefined)
  const nearest = nearestTo(first, unknown)
  const found = written.slice(0, 30).map((name) => `"${shown(name)}"`)
  return {
    problem: `the file has no column ${missing.join(', ')}; its first line has ${found.join(', ')}`,
    remedy:
      nearest === null
        ? (REMEDIES[first] ?? `add the column ${first}`)
        : `is "${shown(nearest)}" meant? Name it ${first}`,
  }
}

const REMEDIES: Readonly<Partial<Record<Field, string>>> = {
  transaction_type: 'add the column transaction_type, or say it for the whole file, for example --operation REFUND',
  request_currency: 'add the column request_currency, or say it for the whole file, for example --currency EUR',
}

/** What every row needs, whatever is in it. What only some rows need is asked of those rows. */
function neededFields({ operation, currency }: HeaderNeeds): readonly Field[] {
  if (operation === undefined) return ['transaction_type']
  const rules = FIELD_RULES[operation]
  const asked = ['amount', 'request_currency', 'request_ref_po_id', 'customer_vault_id'] as const
  return asked.filter(
    (field) => rules[field] === 'required' && (field !== 'request_currency' || currency === undefined),
  )
}

/** The column that is at most a third of its letters away from a name of the field. */
function nearestTo(field: Field, columns: readonly string[]): string | null {
  let best: { column: string; distance: number } | null = null
  for (const column of columns) {
    const name = squeezed(column).slice(0, 40)
    for (const known of namesOf(field)) {
      const distance = editDistance(name, known)
      if (distance <= known.length / 3 && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) {
        best = { column, distance }
      }
    }
  }
  return best?.column ?? null
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[b.length] as number
}
