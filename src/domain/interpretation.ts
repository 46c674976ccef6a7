// How the bytes of a file are to be read, as a person or a program said beside it. The same bytes read otherwise are another
// batch. Every door builds an interpretation, and its fingerprint is stored with the batch.

import type { RetryStatus } from './draft.ts'
import type { Operation } from './instruction.ts'
import type { Currency } from './money.ts'
import type { PassingCategory } from './reattempt.ts'

/** What was not said is left out. */
export interface Interpretation {
  readonly operation?: Operation | undefined
  readonly currency?: Currency | undefined
  readonly decimal?: '.' | ',' | undefined
  /** Every amount carries a minus, which is taken off. */
  readonly sign?: 'minus' | undefined
  /** Amounts are in minor units of their currency. */
  readonly scale?: 'minor' | undefined
  /** The line that names the columns, where it is not the first. */
  readonly headerRow?: number | undefined
  readonly sheet?: string | undefined
  /** IANA name. */
  readonly timeZone?: string | undefined
  /** Columns of the file by the field they are; an empty field: none. */
  readonly map?: readonly { readonly column: string; readonly field: string }[] | undefined
  readonly retry?: readonly RetryStatus[] | undefined
  /** Categories of reasons: charges that were declined for one of them are asked for once more. */
  readonly reattempt?: readonly PassingCategory[] | undefined
}

/** Canonical JSON of an interpretation; empty where nothing was said. Equal for equal interpretations. */
export type Fingerprint = string

export function fingerprintOf({ map = [], retry = [], reattempt = [], ...said }: Interpretation): Fingerprint {
  const { operation, currency, decimal, sign, scale, headerRow, sheet, timeZone } = said
  const canonical = {
    operation,
    currency,
    decimal,
    sign,
    scale,
    headerRow,
    sheet,
    timeZone,
    map: map.length === 0 ? undefined : map.map(({ column, field }) => `${column}=${field}`).toSorted(),
    retry: retry.length === 0 ? undefined : retry.toSorted(),
    reattempt: reattempt.length === 0 ? undefined : reattempt.toSorted(),
  }
  const text = JSON.stringify(canonical)
  return text === '{}' ? '' : text
}

/** The text must be one that `fingerprintOf` made. */
export function parseFingerprint(text: Fingerprint): Interpretation {
  if (text === '') return {}
  const { map, ...said } = JSON.parse(text) as Omit<Interpretation, 'map'> & { readonly map?: readonly string[] }
  return map === undefined ? said : { ...said, map: map.map(toMapping) }
}

/** The field has no `=` in its name; a column may. */
function toMapping(text: string): { readonly column: string; readonly field: string } {
  const at = text.lastIndexOf('=')
  return { column: text.slice(0, at), field: text.slice(at + 1) }
}
