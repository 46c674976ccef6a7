// Whom the client speaks to: nothing is sent to a server that cannot show who it is, or speaks what can be read by others.

import { getCACertificates, type SecureContextOptions, type SecureVersion, setDefaultCACertificates } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  AUTHORITY,
  BY_AUTHORITY,
  CERTIFICATE,
  EXPIRED,
  KEY,
  OF_A_CLIENT,
  OF_ANOTHER_HOST,
} from '../fixtures/certificate.ts'
import { approval, httpAnswer, openFaultyGateway, type Script } from '../fixtures/faulty-gateway.ts'
import { clientOf, GO, NEVER, refund } from './arrange.ts'

const approve: Script = async (visit) => {
  visit.write(httpAnswer(200, approval(await visit.request())))
}

const defaults = getCACertificates('default')
const { NODE_TLS_REJECT_UNAUTHORIZED: asSet } = process.env
beforeEach(() => setDefaultCACertificates([...defaults, AUTHORITY]))
afterEach(() => {
  setDefaultCACertificates(defaults)
  if (asSet === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  else process.env.NODE_TLS_REJECT_UNAUTHORIZED = asSet
})

interface Server {
  readonly tls?: SecureVersion
  readonly context: SecureContextOptions
  readonly says: RegExp
}

const CBC_ONLY = 'ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA384:@SECLEVEL=0'

const REFUSED: Readonly<Record<string, Server>> = {
  'signed by itself': { context: { cert: CERTIFICATE }, says: /self-signed certificate/ },
  'of another host': { context: { cert: OF_ANOTHER_HOST }, says: /Host: localhost\. is not in the cert's altnames/ },
  'out of date': { context: { cert: EXPIRED }, says: /certificate has expired/ },
  'that speaks TLS 1.0': {
    tls: 'TLSv1',
    context: { cert: BY_AUTHORITY, minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
    says: /TLS failed with localhost:\d+: .*(protocol version|unsupported protocol)/,
  },
  'that speaks TLS 1.1': {
    tls: 'TLSv1.1',
    context: { cert: BY_AUTHORITY, minVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    says: /TLS failed with localhost:\d+: .*(protocol version|unsupported protocol)/,
  },
  'that encrypts in CBC mode only': {
    tls: 'TLSv1.2',
    context: { cert: BY_AUTHORITY, ciphers: CBC_ONLY },
    says: /TLS failed with localhost:\d+: .*handshake failure/,
  },
}

describe.each(Object.entries(REFUSED))('to a server %s', (_, { tls = 'TLSv1.3', context, says }) => {
  test.each(['as Node is', 'with verification switched off in the environment'])(
    'nothing is sent, and the reason is told: %s',
    async (how) => {
      if (how !== 'as Node is') process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
      await using gateway = await openFaultyGateway([approve], { tls, context })
      await using client = clientOf(gateway.url)
      const outcome = await client.send(refund(), GO, NEVER)
      expect(outcome).toMatchObject({ kind: 'unsent', why: 'connect', detail: expect.stringMatching(says) })
      expect([gateway.requests.length, gateway.executed]).toEqual([0, 0])
    },
  )
})

test('a server of the authority is spoken to', async () => {
  await using gateway = await openFaultyGateway([approve], { tls: 'TLSv1.2', context: { cert: BY_AUTHORITY } })
  await using client = clientOf(gateway.url)
  expect(await client.send(refund(), GO, NEVER)).toMatchObject({ kind: 'answered' })
})

describe('an authority of the merchant’s own', () => {
  const context = { cert: BY_AUTHORITY }

  test('is believed, and no other', async () => {
    setDefaultCACertificates(defaults)
    await using gateway = await openFaultyGateway([approve], { tls: 'TLSv1.3', context })
    await using client = clientOf(gateway.url, { trust: { ca: AUTHORITY, client: null } })
    expect(await client.send(refund(), GO, NEVER)).toMatchObject({ kind: 'answered' })
    setDefaultCACertificates([...defaults, AUTHORITY])
    await using other = clientOf(gateway.url, { trust: { ca: CERTIFICATE, client: null } })
    expect(await other.send(refund(), GO, NEVER)).toMatchObject({ kind: 'unsent', why: 'connect' })
    expect(gateway.requests).toHaveLength(1)
  })

  test('may ask for our certificate', async () => {
    const asking = { tls: 'TLSv1.2', context: { ...context, ca: AUTHORITY }, asksClient: true } as const
    await using gateway = await openFaultyGateway([approve], asking)
    const client = { cert: OF_A_CLIENT, key: KEY }
    await using known = clientOf(gateway.url, { trust: { ca: AUTHORITY, client } })
    expect(await known.send(refund(), GO, NEVER)).toMatchObject({ kind: 'answered' })
    await using unknown = clientOf(gateway.url, { trust: { ca: AUTHORITY, client: null } })
    expect(await unknown.send(refund(), GO, NEVER)).toMatchObject({ kind: 'unsent', why: 'connect' })
    expect(gateway.requests).toHaveLength(1)
  })
})

test('what a connection is can be told, and no request is sent for it', async () => {
  await using gateway = await openFaultyGateway([approve], { tls: 'TLSv1.2', context: { cert: BY_AUTHORITY } })
  await using client = clientOf(gateway.url)
  expect(await client.reach()).toEqual({
    kind: 'reached',
    tls: {
      protocol: 'TLSv1.2',
      cipher: 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
      issuer: 'Test authority',
      expiresAtMs: Date.UTC(2120, 0, 1),
    },
  })
  expect(gateway.requests).toHaveLength(0)
})
