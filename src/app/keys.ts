// Keys of services: made, read as they are shown, and compared with what the ledger keeps of them.

import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Actor, DoorActor } from '../domain/actor.ts'
import { type ApiKey, KEY_LIVES_MOST_MS, type Scope } from '../domain/api-key.ts'
import type { Environment, Merchant } from '../domain/merchant.ts'
import type { KeyLedger, StoredKey } from '../ports/ledger/keys.ts'

/** The end is a checksum: a scanner that finds one in a repository knows it for one, and a key that was cut is told at once. */
const KEY = /^trk_([a-z0-9]{8})_[A-Za-z0-9_-]{43}([0-9A-Za-z]{6})$/
const ID_LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_BYTES = 32

export interface KeyAsked {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly merchants: readonly string[] | null
  /** Absent: none. */
  readonly environment?: Environment | null
  readonly networks: readonly string[] | null
  readonly livesMs: number
}

/** Of a key for these merchants, or for all where it is null. */
export function environmentOf(
  merchants: ReadonlyMap<string, Pick<Merchant, 'environment'>>,
  names: readonly string[] | null,
): Environment | null {
  const found = new Set((names ?? [...merchants.keys()]).map((name) => merchants.get(name)?.environment ?? null))
  const [environment = null] = found
  return found.size === 1 ? environment : null
}

/** What it answers with is the only copy of the key that there is. */
export async function addKey(
  ledger: Pick<KeyLedger, 'addKey' | 'key'>,
  { livesMs, environment = null, ...asked }: KeyAsked,
  actor: Actor,
  nowMs: number,
): Promise<{ readonly id: string; readonly key: string }> {
  let id = newId()
  while ((await ledger.key(id)) !== null) id = newId()
  const key = keyOf(id)
  const expiresAtMs = nowMs + Math.min(livesMs, KEY_LIVES_MOST_MS)
  await ledger.addKey({ ...asked, environment, id, sha256: digestOf(key), expiresAtMs }, actor, nowMs)
  return { id, key }
}

function newId(): string {
  return Array.from({ length: 8 }, () => ID_LETTERS[randomInt(ID_LETTERS.length)]).join('')
}

function keyOf(id: string): string {
  const text = `trk_${id}_${randomBytes(SECRET_BYTES).toString('base64url')}`
  return text + checksumOf(text)
}

function checksumOf(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < 6; i += 1) {
    digits = `${BASE62[rest % 62]}${digits}`
    rest = Math.floor(rest / 62)
  }
  return digits
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

export type KeyFound =
  /** The whole key was shown. */
  | { readonly kind: 'key' | 'revoked' | 'expired'; readonly key: ApiKey }
  /** Whatever it is, it is no key of this ledger. `id`: of the key whose id stands in it; null: no key has that id. */
  | { readonly kind: 'unknown'; readonly id: string | null }

const NOBODYS = digestOf('')

/** Asks the ledger each time: a key that was revoked is refused from then on. */
export async function findKey(ledger: Pick<KeyLedger, 'key'>, shown: string, nowMs: number): Promise<KeyFound> {
  const [, id, checksum] = KEY.exec(shown) ?? []
  if (id === undefined || checksumOf(shown.slice(0, -6)) !== checksum) return { kind: 'unknown', id: null }
  const stored = await ledger.key(id)
  const isSame = sameDigest(digestOf(shown), stored?.sha256 ?? NOBODYS)
  return stored === null || !isSame ? { kind: 'unknown', id: stored?.id ?? null } : standing(stored, nowMs)
}

/** Who acts with it. */
export function keyActor({ id, name, makers }: ApiKey, address: string | null): DoorActor {
  return { kind: 'key', id, name, address, makers }
}

/** As long for one that differs in its first character as for one that differs in its last. */
function sameDigest(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'))
}

function standing({ sha256: _, ...key }: StoredKey, nowMs: number): KeyFound {
  if (key.revokedAtMs !== null) return { kind: 'revoked', key }
  return { kind: key.expiresAtMs <= nowMs ? 'expired' : 'key', key }
}
