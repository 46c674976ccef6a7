// What a batch of messages took hour by hour: it may be older than the time over which sums are taken. Pure.

import type { AskedSum } from '../../domain/approval.ts'
import type { Operation } from '../../domain/instruction.ts'
import type { Currency } from '../../domain/money.ts'

const HOUR_MS = 3_600_000
const KEPT_HOURS = 26

/** By hour since the epoch, then by operation and currency: minor units. */
type ByHour = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface Arrival extends AskedSum {
  readonly atMs: number
}

/** `noted`: as the batch has it; null: nothing arrived before. */
export function noteArrival(noted: string | null, { atMs, operation, currency, amountMinor }: Arrival): string {
  const hours = parse(noted)
  const hour = hourOf(atMs)
  const latest = Math.max(hour, ...Object.keys(hours).map(Number))
  const kept = Object.entries(hours).filter(([known]) => Number(known) > latest - KEPT_HOURS)
  const before = hours[hour] ?? {}
  const key = `${operation} ${currency}`
  const sum = BigInt(before[key] ?? '0') + amountMinor
  return JSON.stringify({ ...Object.fromEntries(kept), [hour]: { ...before, [key]: String(sum) } })
}

/** Of whole hours: the one in which `sinceMs` lies counts. */
export function arrivedSince(noted: string | null, sinceMs: number): readonly AskedSum[] {
  const since = hourOf(sinceMs)
  return Object.entries(parse(noted))
    .filter(([hour]) => Number(hour) >= since)
    .flatMap(([, sums]) => Object.entries(sums).map(([key, sum]) => ({ ...named(key), amountMinor: BigInt(sum) })))
}

/** The hour's beginning, in epoch milliseconds. */
export function hourBefore(atMs: number): number {
  return hourOf(atMs) * HOUR_MS
}

function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS)
}

function parse(noted: string | null): ByHour {
  return noted === null ? {} : (JSON.parse(noted) as ByHour)
}

function named(key: string): Pick<AskedSum, 'operation' | 'currency'> {
  const [operation = '', currency = ''] = key.split(' ')
  return { operation: operation as Operation, currency: currency as Currency }
}
