// Before a route is asked: under which name, in what form, by whom, and whether it may.

import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { findKey, type KeyFound, keyActor } from '../app/keys.ts'
import { type ApiKey, isOfOtherWorld, seesMerchant } from '../domain/api-key.ts'
import { isLoopback, isWithin, networkList } from '../files/networks.ts'
import { createAllowance } from './allowance.ts'
import type { Caller, Door, Server } from './door.ts'
import { unsupportedMedia } from './faults.ts'
import { ProblemError } from './problems.ts'
import { entryOf } from './table.ts'
import { refusalsOf } from './traces.ts'

/** Of one address, which may be a proxy of many callers. */
const REFUSED_A_MINUTE = 600
/** A key that is used all the time is noted once in this time. */
const NOTED_EVERY_MS = 60_000
/** The type, and nothing but one charset behind it: what comes after it may mean another type to another reader. */
const JSON_TYPE = /^application\/json(?:\s*;\s*charset="?utf-8"?)?$/i

/**
 * For a listener that speaks no TLS: another address than this machine's own was let in for the sake of named proxies, and a
 * request that came past them crossed the network as plain text, with its key.
 */
export function refuseBesideProxies(server: Server, { trustedProxies }: Door): void {
  if (trustedProxies.length === 0) return // it listens on this machine's own address
  const proxies = networkList(trustedProxies)
  server.addHook('onRequest', async ({ raw }) => {
    const { remoteAddress = '' } = raw.socket
    if (isLoopback(remoteAddress) || isWithin(proxies, remoteAddress)) return
    throw new ProblemError(
      'host_refused',
      'This server answers only its proxy, because it speaks no TLS itself. Ask at its public address; a key that was sent here crossed the network as plain text and should be revoked. Nothing was changed.',
    )
  })
}

export function guardAccess(server: Server, door: Door): void {
  const nowMs = () => door.app.clock.monotonicMs()
  const refusedOf = createAllowance(REFUSED_A_MINUTE, nowMs)
  // Whoever was let in within the last minute is not kept out by a neighbour behind the same address.
  const accepted = createAllowance(1, nowMs)
  const noteRefusal = refusalsOf(door)
  server.decorateRequest('caller', null)
  server.decorateRequest('keyId', null)
  server.addHook('onRequest', async (request, reply) => {
    assertHost(request, door)
    const name = request.routeOptions.config.entry
    if (name === undefined) return // of no route: it is answered with 404
    const { scope, body } = entryOf(name)
    if (scope !== null) {
      const shown = digestOf(request.headers.authorization ?? '')
      if (accepted.look(shown) === 0) assertMayAsk(refusedOf.look(request.ip))
      const count = (error: unknown) => {
        if (error instanceof ProblemError && error.status === 401) refusedOf.take(request.ip, 1)
      }
      const found = await keyShown(request, reply, door).catch((error: unknown) => {
        count(error)
        throw error
      })
      try {
        request.caller = callerBy(found, request, reply, door)
        accepted.take(shown, 1)
        if (!request.caller.key.scopes.includes(scope))
          throw new ProblemError('scope_missing', `This key lacks the scope ${scope}. Nothing was changed.`)
      } catch (error) {
        count(error)
        if (error instanceof ProblemError) await noteRefusal({ found, problem: error, address: request.ip, scope })
        throw error
      }
    }
    if (body === 'json' && !JSON_TYPE.test(request.headers['content-type'] ?? '')) throw unsupportedMedia()
  })
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** Looking a key up costs more than being refused one. */
function assertMayAsk(waitMs: number): void {
  if (waitMs === 0) return
  throw new ProblemError(
    'rate_limited',
    'This address was refused too often in the last minute: its requests name no key, or one that is not accepted. Nothing was changed.',
    { retryAfterS: Math.ceil(waitMs / 1000) },
  )
}

/** Whoever makes a browser believe that another name is this machine must not get through. */
function assertHost({ raw }: FastifyRequest, { isHost }: Door): void {
  const given = raw.rawHeaders.filter((_, i) => i % 2 === 0).filter((name) => name.toLowerCase() === 'host').length
  const name = nameIn(raw.headers.host ?? '')
  const isPath = raw.url?.startsWith('/') === true && !raw.url.startsWith('//')
  if (given === 1 && isPath && name !== null && isHost(name)) return
  throw new ProblemError('host_refused', 'This server does not answer to that name. Nothing was changed.')
}

/** Without its port; null: it is none. */
function nameIn(host: string): string | null {
  const found = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host)
  return found?.[1]?.toLowerCase().replace(/^\[|\]$/g, '') ?? null
}

async function keyShown(request: FastifyRequest, reply: FastifyReply, { app, ledger }: Door): Promise<KeyFound> {
  const [, shown] = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(request.headers.authorization ?? '') ?? []
  reply.header('www-authenticate', 'Bearer realm="tranche"')
  if (shown === undefined)
    throw new ProblemError('key_missing', 'Name a key: Authorization: Bearer trk_… Nothing was changed.')
  const found = await findKey(ledger, shown, app.clock.nowMs())
  request.keyId = found.kind === 'unknown' ? found.id : found.key.id
  return found
}

function callerBy(found: KeyFound, request: FastifyRequest, reply: FastifyReply, door: Door): Caller {
  if (found.kind !== 'key') throw REFUSED[found.kind]()
  reply.removeHeader('www-authenticate')
  const { app } = door
  const { key } = found
  const nowMs = app.clock.nowMs()
  if (key.networks !== null && !isWithin(networkList(key.networks), request.ip))
    throw new ProblemError('network_refused', 'This key is not accepted from that address. Nothing was changed.')
  const its = [...app.config.merchants.values()].filter(({ name }) => seesMerchant(key, name))
  const ofItsWorld = its.filter((merchant) => !isOfOtherWorld(key, merchant))
  if (its.length > 0 && ofItsWorld.length === 0) throw otherWorld(key)
  if (nowMs - (key.lastUsedAtMs ?? 0) > NOTED_EVERY_MS) noteUse(key, nowMs, door)
  // Nothing of a merchant of the other world is there for it, whatever route asks.
  const seen = its.length === ofItsWorld.length ? key : { ...key, merchants: ofItsWorld.map(({ name }) => name) }
  return { key: seen, actor: keyActor(key, request.ip) }
}

export function otherWorld({ environment }: ApiKey): ProblemError {
  return new ProblemError(
    'environment_refused',
    `This key is for ${environment}, and the merchant is not. Nothing was changed. Ask the ${environment} installation, or have another key made here.`,
  )
}

const REFUSED = {
  unknown: () => new ProblemError('key_unknown', 'This ledger does not know that key. Nothing was changed.'),
  revoked: () => new ProblemError('key_revoked', 'This key was revoked. Nothing was changed.'),
  expired: () => new ProblemError('key_expired', 'This key has expired. Have another one made. Nothing was changed.'),
} as const

/** Nobody waits for it: whether it was noted changes nothing. */
function noteUse({ id }: ApiKey, nowMs: number, { ledger, app }: Door): void {
  void ledger
    .keyUsed(id, nowMs)
    .catch((error: unknown) => app.log.debug({ err: error }, 'the use of a key was not noted'))
}
