// What a check found, as the process that read the file wrote it down: the one object that every door shows.

import type { Total } from '../domain/batch.ts'
import type { Extent } from '../domain/draft.ts'
import type { ToldTotal } from '../domain/ingest.ts'
import type { Operation } from '../domain/instruction.ts'
import { type Currency, parseAmount } from '../domain/money.ts'
import type { Check } from './checks.ts'

/** Of a check that is done. Amounts are texts. */
export interface CheckFound {
  readonly ok: boolean
  readonly rows: number
  /** Rows that would be sent. */
  readonly accepted: number
  readonly duplicate: number
  readonly invalid: number
  readonly lookalikes: number
  readonly above_limit: number
  readonly held_by_doubt: number
  readonly faults_total: number
  readonly totals: readonly ToldTotal[]
  readonly totals_read: readonly ToldTotal[]
  readonly amounts_unread: number
  readonly extents: readonly FoundExtent[]
  readonly again: { readonly repeated: Readonly<Record<string, number>>; readonly changed: number }
  readonly cancelled_before: readonly { readonly batch: string; readonly rows: number }[]
  readonly causes: readonly FoundCause[]
  readonly refusals: readonly FoundRefusal[]
  readonly columns: {
    readonly mapped: readonly { readonly written: string; readonly field: string }[]
    readonly carried: readonly string[]
  }
  readonly details_columns: readonly string[]
  readonly read: FoundReading
  /** How it was read: what was asked, with the saved format as it was then. */
  readonly given: Readonly<Record<string, unknown>>
}

interface FoundExtent {
  readonly operation: Operation
  readonly currency: Currency
  readonly smallest: { readonly line: number; readonly amount: string }
  readonly largest: { readonly line: number; readonly amount: string }
}

export interface FoundReading {
  readonly encoding: string | null
  readonly delimiter: string | null
  readonly decimal: string | null
  readonly sheet: string | null
  readonly header_row: number
  readonly warnings: readonly string[]
}

export interface FoundCause {
  readonly rows: number
  readonly first_line: number
  readonly last_line: number
  readonly column: string | null
  readonly value: string | null
  readonly same_value: boolean
  readonly problem: string
  readonly remedy: string
}

export interface FoundRefusal {
  readonly kind: string
  readonly rows?: number
  readonly found?: number | string
  readonly expected?: number | string
  readonly difference?: string
  readonly unread?: number
  readonly known?: number
  readonly new?: number
}

/** null: it is not done. */
export function foundIn({ state, result }: Pick<Check, 'state' | 'result'>): CheckFound | null {
  return state === 'done' ? (result as unknown as CheckFound) : null
}

/** The texts as sums again. */
export function sumsIn({ totals, extents }: Pick<CheckFound, 'totals' | 'extents'>): {
  readonly totals: readonly Total[]
  readonly extents: readonly Extent[]
} {
  return {
    totals: totals.map(({ amount, ...total }) => ({ ...total, amountMinor: minorOf(amount, total.currency) })),
    extents: extents.map(({ operation, currency, smallest, largest }) => ({
      ...{ operation, currency },
      smallest: { line: smallest.line, amountMinor: minorOf(smallest.amount, currency) },
      largest: { line: largest.line, amountMinor: minorOf(largest.amount, currency) },
    })),
  }
}

function minorOf(amount: string, currency: Currency | ''): bigint {
  if (currency === '') return 0n
  const money = parseAmount(amount, currency)
  if (typeof money === 'object') return money.amountMinor
  throw new Error(`bug: a check found the amount ${amount} ${currency}`)
}
