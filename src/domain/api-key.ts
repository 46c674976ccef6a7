// Keys of services: what they may do, whose objects they see, and from where they are used. The secret itself is kept nowhere.

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

export function parseScope(text: string): Scope | undefined {
  return SCOPES.find((scope) => scope === text)
}

/** Whether objects of that merchant are there for the key. */
export function seesMerchant({ merchants }: Pick<ApiKey, 'merchants'>, merchant: string): boolean {
  return merchants === null || merchants.includes(merchant)
}
