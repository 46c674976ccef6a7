// Keys of services: what they may do, whose objects they see, and from where they are used. The secret itself is kept nowhere.

import { holdsCardData } from './card-secrets.ts'
import type { Environment } from './merchant.ts'

/** What a route asks of a key. No scope approves: a batch that waits for approval waits for people. */
export const SCOPES = [
  'audit:read',
  'batches:read',
  'batches:steer',
  'batches:write',
  'doubts:read',
  'doubts:resolve',
  'endpoints:read',
  'endpoints:write',
  'events:read',
  'files:write',
  'instructions:read',
  'instructions:write',
  'merchants:read',
  'merchants:steer',
  'results:read',
] as const
export type Scope = (typeof SCOPES)[number]

export interface ApiKey {
  /** Stands in the key itself; never given twice. */
  readonly id: string
  /** As a person called it. */
  readonly name: string
  readonly scopes: readonly Scope[]
  /** By name: it sees their objects and no others. null: those of all. */
  readonly merchants: readonly string[] | null
  /** That of its merchants when it was made: none of another one is there for it. null: they had none, or several. */
  readonly environment: Environment | null
  /** As CIDRs, from which it is taken. null: from anywhere. */
  readonly networks: readonly string[] | null
  readonly createdAtMs: number
  readonly createdBy: string
  /** Every identity of whoever made it. */
  readonly makers: readonly string[]
  readonly expiresAtMs: number
  /** null: it was not revoked. */
  readonly revokedAtMs: number | null
  /** To within a minute; null: it was not used. */
  readonly lastUsedAtMs: number | null
}

export const KEY_LIVES_MOST_MS = 366 * 86_400_000
/** Unless somebody says otherwise. */
export const KEY_LIVES_DAYS = 365

/** null: no key is called so. The name is kept for ever, so that no card number may be in it. */
export function parseKeyName(text: string): string | null {
  return /^[\p{L}\p{N} ._-]{1,64}$/u.test(text) && text.trim() !== '' && !holdsCardData(text) ? text : null
}

/** In milliseconds; null: no whole number of days from one to a year. */
export function parseKeyDays(text: string): number | null {
  const livesMs = /^[1-9]\d{0,2}$/.test(text) ? Number(text) * 86_400_000 : Number.POSITIVE_INFINITY
  return livesMs <= KEY_LIVES_MOST_MS ? livesMs : null
}

export function parseScope(text: string): Scope | undefined {
  return SCOPES.find((scope) => scope === text)
}

/** A key that was made for accounts of one world is none for those of the other. */
export function isOfOtherWorld(
  { environment }: Pick<ApiKey, 'environment'>,
  merchant: { readonly environment: Environment | null },
): boolean {
  return environment !== null && merchant.environment !== null && environment !== merchant.environment
}

/** Whether objects of that merchant are there for the key. */
export function seesMerchant({ merchants }: Pick<ApiKey, 'merchants'>, merchant: string): boolean {
  return merchants === null || merchants.includes(merchant)
}
