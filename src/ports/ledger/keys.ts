// The ledger, for the keys of services.

import type { Actor } from '../../domain/actor.ts'
import type { ApiKey } from '../../domain/api-key.ts'

/** With what a key that is shown is compared with. */
export interface StoredKey extends ApiKey {
  /** Of the whole key, in hex. */
  readonly sha256: string
}

export type NewKey = Omit<StoredKey, 'createdAtMs' | 'createdBy' | 'makers' | 'revokedAtMs' | 'lastUsedAtMs'>

export interface KeyLedger {
  addKey(key: NewKey, actor: Actor, nowMs: number): Promise<void>
  /** From the next request on it is refused. `already`: it was revoked before, and nothing was changed. */
  revokeKey(id: string, reason: string, actor: Actor, nowMs: number): Promise<'revoked' | 'already' | 'unknown'>
  /** In the order in which they were made, revoked ones too. */
  keys(): Promise<readonly ApiKey[]>
  /** null: there is none with that id. */
  key(id: string): Promise<StoredKey | null>
  /** Notes that it was used. */
  keyUsed(id: string, nowMs: number): Promise<void>
}
