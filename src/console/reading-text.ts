// What a file was read with, as the fields of its form are called.

import { type Fingerprint, parseFingerprint } from '../domain/interpretation.ts'
import type { Setting } from '../domain/words.ts'
import { pageWays } from './ways.ts'

/** Empty where nothing was said. */
export function readingText(fingerprint: Fingerprint): string {
  const {
    operation,
    currency,
    decimal,
    sign,
    scale,
    headerRow,
    sheet,
    timeZone,
    map = [],
    retry = [],
    reattempt = [],
  } = parseFingerprint(fingerprint)
  const settings: Setting[] = [
    { set: 'operation', to: operation ?? null },
    { set: 'currency', to: currency ?? null },
    { set: 'decimal', to: decimal ?? null },
    { set: 'sign', to: sign ?? null },
    { set: 'scale', to: scale ?? null },
    { set: 'header-row', to: headerRow === undefined ? null : String(headerRow) },
    { set: 'sheet', to: sheet ?? null },
    { set: 'timezone', to: timeZone ?? null },
  ]
  const given = settings.filter((one) => !('to' in one) || one.to !== null)
  const columns = map.map(({ column, field }): Setting => ({ set: 'map', column, field: field || 'ignore' }))
  const again = [...retry, ...(reattempt.length === 0 ? [] : [`declined (${reattempt.join(', ')})`])]
  return [
    ...[...given, ...columns].map(pageWays),
    ...(again.length === 0 ? [] : [`rows that were ${again.join(' or ').toLowerCase()}, once more`]),
  ].join(', ')
}
