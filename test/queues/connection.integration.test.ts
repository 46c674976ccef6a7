import { afterEach, expect, test } from 'vitest'
import { producerConnection, workerConnection } from '../../src/queues/connection.ts'
import { assertReachable } from '../../src/queues/reach.ts'
import { openFaultyGateway } from '../fixtures/faulty-gateway.ts'

const { NODE_TLS_REJECT_UNAUTHORIZED: asSet } = process.env
afterEach(() => {
  if (asSet === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  else process.env.NODE_TLS_REJECT_UNAUTHORIZED = asSet
})

test('a Redis over TLS that cannot show who it is gets no password', async () => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  await using server = await openFaultyGateway([(visit) => void visit.request()], { tls: 'TLSv1.3' })
  const url = `rediss://:sesame@localhost:${server.port}`
  await expect(assertReachable({ url }, 'bull')).rejects.toThrow(
    /^Redis at localhost:\d+ cannot be used \(self-signed certificate/,
  )
  expect(server.bytesReceived).toBe(0)
})

test.each([
  ['one server', 'rediss://redis.example', ['tls']],
  ['what sentinels name, and the sentinels', 'rediss+sentinel://main@redis.example', ['tls', 'sentinelTLS']],
] as const)('every connection over TLS says what it needs: to %s', (_what, url, all) => {
  for (const { connection } of [workerConnection({ url }), producerConnection({ url })])
    for (const name of all)
      expect(connection).toMatchObject({ [name]: { rejectUnauthorized: true, minVersion: 'TLSv1.2' } })
})

test('every connection to a cluster over TLS says what it needs, and is verified by the name that it was given', () => {
  const { connection, close } = workerConnection({ url: 'rediss+cluster://127.0.0.1:1' })
  expect(connection).toMatchObject({
    options: {
      redisOptions: { tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2' } },
      dnsLookup: expect.any(Function),
    },
  })
  close()
})
