// The keys of services, as the ledger keeps them: never the key, but its digest.

import { type Actor, identitiesOf } from '../../../domain/actor.ts'
import type { ApiKey, Scope } from '../../../domain/api-key.ts'
import type { KeyLedger, NewKey, StoredKey } from '../../../ports/ledger/keys.ts'
import { type Engine, FAULTING } from '../engine.ts'
import { byOf, recordAct } from '../record/acts.ts'
import { all, change, exists, one, type Script } from '../script.ts'

export function keysOn(engine: Engine): KeyLedger {
  return {
    addKey: (key, actor, nowMs) => engine.write(() => addKey(key, actor, nowMs), FAULTING),
    revokeKey: (id, reason, actor, nowMs) => engine.write(() => revokeKey(id, reason, actor, nowMs), FAULTING),
    keys: async () => (await engine.read(() => all<KeyColumns>(KEYS))).map(toKey).map(({ sha256: _, ...key }) => key),
    async key(id) {
      const found = await engine.read(() => one<KeyColumns>(KEY, { id }))
      return found === undefined ? null : toKey(found)
    },
    keyUsed: (id, nowMs) =>
      engine.write(() => change('UPDATE api_key SET last_used_at = :nowMs WHERE id = :id', { id, nowMs }), FAULTING),
  }
}

interface KeyColumns extends Omit<StoredKey, 'scopes' | 'merchants' | 'networks' | 'makers'> {
  readonly scopes: string
  readonly merchants: string | null
  readonly networks: string | null
  readonly makers: string
}

const SELECT = `
    SELECT id, name, sha256, scopes, merchants, environment, networks, created_at AS "createdAtMs", created_by AS "createdBy", makers,
      expires_at AS "expiresAtMs", revoked_at AS "revokedAtMs", last_used_at AS "lastUsedAtMs" FROM api_key`
const KEYS = `${SELECT} ORDER BY created_at, id`
const KEY = `${SELECT} WHERE id = :id`

function toKey({ scopes, merchants, networks, makers, ...key }: KeyColumns): StoredKey {
  const listIn = (text: string | null) => (text === null ? null : (JSON.parse(text) as string[]))
  return {
    ...key,
    scopes: JSON.parse(scopes) as Scope[],
    makers: listIn(makers) ?? [],
    merchants: listIn(merchants),
    networks: listIn(networks),
  }
}

const ADD = `
    INSERT INTO api_key (id, name, sha256, scopes, merchants, environment, networks, created_at, created_by, makers, expires_at)
    VALUES (:id, :name, :sha256, :scopes, :merchants, :environment, :networks, :nowMs, :by, :makers, :expiresAtMs)`

function* addKey(key: NewKey, actor: Actor, nowMs: number): Script<void> {
  const { id, name, sha256, scopes, merchants, environment, networks, expiresAtMs } = key
  const textOf = (list: readonly string[] | null) => (list === null ? null : JSON.stringify(list))
  yield* change(ADD, {
    ...{ id, name, sha256, scopes: JSON.stringify(scopes), merchants: textOf(merchants), networks: textOf(networks) },
    ...{ environment, nowMs, by: byOf(actor), makers: JSON.stringify(identitiesOf(actor)), expiresAtMs },
  })
  const details = { key: id, name, ...toldOf(key) }
  yield* recordAct({ what: 'add-key', atMs: nowMs, actor, details })
}

function toldOf({
  scopes,
  merchants,
  environment,
  networks,
  expiresAtMs,
}: Omit<ApiKey, 'createdAtMs' | 'createdBy' | 'makers' | 'revokedAtMs' | 'lastUsedAtMs'>) {
  return {
    scopes: scopes.join(' '),
    merchants: merchants?.join(' ') ?? null,
    environment,
    networks: networks?.join(' ') ?? null,
    expires_at: new Date(expiresAtMs).toISOString(),
  }
}

const REVOKE = 'UPDATE api_key SET revoked_at = :nowMs WHERE id = :id AND revoked_at IS NULL RETURNING name'

function* revokeKey(id: string, reason: string, actor: Actor, nowMs: number) {
  const revoked = yield* one<{ name: string }>(REVOKE, { id, nowMs })
  if (revoked === undefined)
    return (yield* exists('SELECT 1 FROM api_key WHERE id = :id', { id })) ? 'already' : 'unknown'
  yield* recordAct({ what: 'revoke-key', atMs: nowMs, actor, reason, details: { key: id, name: revoked.name } })
  return 'revoked'
}
