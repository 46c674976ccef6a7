import { expect, test } from 'vitest'
import { createConnector } from '../../src/gateway/connect.ts'
import { openFaultyGateway } from '../fixtures/faulty-gateway.ts'

function failureOf(connector: ReturnType<typeof createConnector>): Promise<string | null> {
  return new Promise((resolve) => {
    const heard = (...[error]: [Error, null] | [null, unknown]) => resolve(error === null ? null : error.message)
    connector.connect({ hostname: '', protocol: '', port: '' }, heard)
  })
}

test('a server that accepts and never speaks TLS is given up at the limit', async () => {
  await using gateway = await openFaultyGateway([(visit) => void visit.socket.resume()])
  const connector = createConnector(new URL(`https://127.0.0.1:${gateway.port}`), 50)
  expect(await failureOf(connector)).toBe(`no connection to 127.0.0.1:${gateway.port} within 0.05 s`)
  await gateway.drained(1)
})

test('a server that closes during the handshake is named', async () => {
  await using gateway = await openFaultyGateway([(visit) => visit.reset()])
  const connector = createConnector(new URL(`https://127.0.0.1:${gateway.port}`), 5_000)
  expect(await failureOf(connector)).toContain(`127.0.0.1:${gateway.port}`)
})

test('closing ends what is being opened', async () => {
  await using gateway = await openFaultyGateway([() => connector.close()])
  const connector = createConnector(new URL(`https://127.0.0.1:${gateway.port}`), 60_000)
  expect(await failureOf(connector)).toBe(`127.0.0.1:${gateway.port} closed the connection while it was being opened`)
  await gateway.drained(1)
})

test('an address without a port means 80 and 443, and an IPv6 host is written in brackets', () => {
  expect(createConnector(new URL('http://a.test/x'), 1).address).toBe('a.test:80')
  expect(createConnector(new URL('https://[::1]/x'), 1).address).toBe('[::1]:443')
})
