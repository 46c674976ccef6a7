// How counts, amounts and tables are written, wherever they are shown.

import type { Environment, Merchant } from '../domain/merchant.ts'
import { type Currency, formatAmount } from '../domain/money.ts'
import { visible } from '../domain/visible.ts'

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

export function amountText(amountMinor: bigint, currency: Currency | ''): string {
  return currency === '' ? '' : formatAmount({ amountMinor, currency })
}

/** As it is shown wherever money is. */
export function environmentText(environment: Environment): string {
  return environment === 'live' ? 'LIVE' : 'TEST (as configured)'
}

/** None where nobody has said. */
export function environmentLines({ name, environment }: Pick<Merchant, 'name' | 'environment'>): string[] {
  return environment === null ? [] : [`Merchant ${name}: ${environmentText(environment)}`]
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  if (seconds < 5400) return `${Math.ceil(seconds / 60)} min`
  return `${(seconds / 3600).toFixed(1)} h`
}

/** Columns of text, each as wide as its widest cell; `right` names the columns that are numbers. */
export function toTable(table: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const rows = table.map((row) => row.map(visible))
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, i) => (right.includes(i) ? cell.padStart(widths[i] as number) : cell.padEnd(widths[i] as number)))
      .join('  ')
      .trimEnd(),
  )
}
