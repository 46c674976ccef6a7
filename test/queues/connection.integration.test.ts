import { afterEach, expect, test } from 'vitest'
import { assertReachable, toProducerOptions, toWorkerOptions } from '../../src/queues/connection.ts'
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
  await expect(assertReachable({ url })).rejects.toThrow(
    /^Redis at localhost:\d+ cannot be used \(self-signed certificate/,
  )
  expect(server.bytesReceived).toBe(0)
})

test('every connection over TLS says what it needs', () => {
  const url = 'rediss://redis.example'
  for (const options of [toWorkerOptions({ url }), toProducerOptions({ url })])
    expect(options.tls).toMatchObject({ rejectUnauthorized: true, minVersion: 'TLSv1.2' })
})
