// Keys of services, without what is secret of them.

import type { ApiKey } from '../domain/api-key.ts'
import { isoOf } from '../domain/batch-status.ts'
import { toTable } from './text.ts'

/** In a word. */
export function keyState({ revokedAtMs, expiresAtMs }: ApiKey, nowMs: number): 'valid' | 'revoked' | 'expired' {
  if (revokedAtMs !== null) return 'revoked'
  return expiresAtMs <= nowMs ? 'expired' : 'valid'
}

export function toJsonKey(key: ApiKey, nowMs: number): object {
  const {
    id,
    name,
    scopes,
    merchants,
    environment,
    networks,
    createdAtMs,
    createdBy,
    expiresAtMs,
    revokedAtMs,
    lastUsedAtMs,
  } = key
  return {
    ...{ id, name, state: keyState(key, nowMs), scopes, merchants, environment, networks },
    ...{ created_at: isoOf(createdAtMs), created_by: createdBy, expires_at: isoOf(expiresAtMs) },
    revoked_at: revokedAtMs === null ? null : isoOf(revokedAtMs),
    last_used_at: lastUsedAtMs === null ? null : isoOf(lastUsedAtMs),
  }
}

export function keyLines(keys: readonly ApiKey[], nowMs: number): string[] {
  if (keys.length === 0) return []
  const rows = keys.map((key) => [
    ...[
      key.id,
      key.name,
      keyState(key, nowMs),
      key.scopes.join(' '),
      key.merchants?.join(' ') ?? 'all',
      key.environment ?? '-',
    ],
    ...[
      key.networks?.join(' ') ?? 'any',
      isoOf(key.expiresAtMs),
      key.lastUsedAtMs === null ? 'never' : isoOf(key.lastUsedAtMs),
    ],
  ])
  return toTable(
    [['id', 'name', 'state', 'scopes', 'merchants', 'environment', 'networks', 'expires', 'last used'], ...rows],
    [],
  )
}
