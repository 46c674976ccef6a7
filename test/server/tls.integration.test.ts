// TLS at the doors: to webhooks, to the provider of sign-ins, and of the listener. Node's own settings are weakened throughout.

import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import tls, {
  type ConnectionOptions,
  connect,
  getCACertificates,
  setDefaultCACertificates,
  type TLSSocket,
} from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TLS } from '../../src/domain/tls.ts'
import { createSender } from '../../src/events/send.ts'
import { createGuardedFetch } from '../../src/identity/guarded-fetch.ts'
import { buildServer, listen } from '../../src/server/server.ts'
import { AUTHORITY, BY_AUTHORITY, CERTIFICATE, EXPIRED, KEY, OF_ANOTHER_HOST } from '../fixtures/certificate.ts'
import { served, useServed } from '../fixtures/served.ts'

const defaults = getCACertificates('default')
const { NODE_TLS_REJECT_UNAUTHORIZED: asSet } = process.env
const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls
beforeEach(() => {
  setDefaultCACertificates([...defaults, AUTHORITY])
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  Object.assign(tls, { DEFAULT_MIN_VERSION: 'TLSv1', DEFAULT_CIPHERS: 'ALL@SECLEVEL=0' })
})
afterEach(() => {
  setDefaultCACertificates(defaults)
  Object.assign(tls, { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS })
  if (asSet === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  else process.env.NODE_TLS_REJECT_UNAUTHORIZED = asSet
})

const LISTED: readonly string[] = TLS.ciphers.split(':')
const CBC_ONLY = 'ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA384:@SECLEVEL=0'
const OLD = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
const CBC = { maxVersion: 'TLSv1.2', ciphers: CBC_ONLY } as const

/** Each asks a server for something; whether it was answered. */
const ASKING: Readonly<Record<string, (url: string) => Promise<boolean>>> = {
  async 'a webhook'(url) {
    const sender = createSender({ scrub: (text) => text })
    const { httpStatus } = await sender.send({ url, secrets: [], allowsPrivate: true }, 'e1', '{}', 0)
    await sender.close()
    return httpStatus === 200
  },
  async 'the provider of sign-ins'(url) {
    const { fetch } = createGuardedFetch(new URL(url))
    return fetch(`${url}/.well-known/openid-configuration`, { headers: { connection: 'close' } }).then(
      ({ ok }) => ok,
      () => false,
    )
  },
}

/** A server, what asks it, and what it saw of that. */
async function askedBy(ask: (url: string) => Promise<boolean>, options: ServerOptions) {
  const seen = { requests: 0, ciphers: [] as string[] }
  const server = createServer({ key: KEY, ...options }, (_, response) => {
    seen.requests++
    response.end('{}')
  })
  server.on('secureConnection', (socket: TLSSocket) => seen.ciphers.push(socket.getCipher().name))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const isAnswered = await ask(`https://localhost:${(server.address() as AddressInfo).port}`)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  return { isAnswered, ...seen }
}

describe.each(Object.entries(ASKING))('%s', (_, ask) => {
  test.each<[string, ServerOptions]>([
    ['signed by itself', { cert: CERTIFICATE }],
    ['of another host', { cert: OF_ANOTHER_HOST }],
    ['out of date', { cert: EXPIRED }],
    ['that speaks TLS 1.1', { cert: BY_AUTHORITY, ...OLD }],
    ['that encrypts in CBC mode only', { cert: BY_AUTHORITY, ...CBC }],
  ])('is not asked at a server %s', async (_server, options) => {
    expect(await askedBy(ask, options)).toMatchObject({ isAnswered: false, requests: 0 })
  })

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('is asked over %s with a cipher of the list', async (maxVersion) => {
    const { isAnswered, ciphers } = await askedBy(ask, { cert: BY_AUTHORITY, maxVersion })
    expect([isAnswered, ciphers.length]).toEqual([true, 1])
    expect(LISTED).toContain(ciphers[0])
  })
})

describe('the listener', () => {
  useServed()

  test('agrees with each on a cipher of the list, and with nobody on another', async () => {
    const server = await buildServer(served.door, { cert: CERTIFICATE, key: KEY })
    expect(server.server).toMatchObject({ insecureHTTPParser: false })
    const { url, close } = await listen(server, { host: '127.0.0.1', port: 0 })
    const agreedWith = (options: ConnectionOptions) =>
      new Promise<string | null>((resolve) => {
        const parts = { host: '127.0.0.1', servername: 'localhost', port: Number(new URL(url).port) }
        const socket = connect({ ...parts, ...options })
        socket.once('error', () => resolve(null))
        socket.once('secureConnect', () => {
          resolve(socket.getCipher().name)
          socket.destroy()
        })
      })
    for (const refused of [OLD, CBC]) expect(await agreedWith(refused), refused.ciphers).toBeNull()
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) expect(LISTED).toContain(await agreedWith({ maxVersion }))
    await close()
  })
})
