// Traces, as somebody has them who preloads an SDK; and that the gateway sees nothing of them.

import { readFileSync } from 'node:fs'
import { createServer, request as forward, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Office, openOffice } from '../fixtures/cli.ts'

let office: Office
let proxy: Server
let seen: string[]
beforeEach(async () => {
  office = await openOffice({ triggers: true })
  seen = []
  proxy = createServer((request, response) => {
    seen.push(...request.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase()))
    const { method, headers } = request
    const { port } = new URL(office.sandbox.url)
    const on = forward({ port, host: '127.0.0.1', method, headers, path: request.url }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    request.pipe(on)
  })
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  proxy.closeAllConnections()
  proxy.close()
  await office.close()
})

interface Traced {
  readonly name: string
  readonly id: string
  readonly parent: string | null
  readonly attributes: Readonly<Record<string, unknown>>
}

const FILE = 'reference,amount,request_currency,customer_vault_id\nsecret-one,17.31,EUR,40001\nlost,5.06,EUR,40002\n'

test('each attempt is a span with its parts, without a reference, amount or answer; the gateway sees no header of a trace', async () => {
  office.sandbox.prepare({ vault: [{ vaultId: '40001' }, { vaultId: '40002' }] })
  const input = await office.put('in.csv', FILE)
  const to = office.path('spans.jsonl')
  const preload = new URL('../fixtures/child-tracing.ts', import.meta.url).href
  const env = {
    ...{ NODE_OPTIONS: `--import ${preload}`, TRACED_TO: to },
    TRANCHE_GATEWAY_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  }
  const ran = await office.spawnedWith(env, 'run', input, '--operation', 'CAPTURE', '--out', office.path('out.csv'))
  expect(ran.code, ran.stderr).toBe(5)
  const text = readFileSync(to, 'utf8')
  const spans = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Traced)
  const named = (name: string) => spans.filter((span) => span.name === name)
  expect(named('batch.submit')).toHaveLength(1)
  const sliceIds = named('slice').map(({ id }) => id)
  const attempts = named('attempt')
  expect(attempts.map(({ attributes }) => attributes['tranche.verdict']).toSorted()).toEqual(['approved', 'in-doubt'])
  expect(attempts.every(({ parent }) => parent !== null && sliceIds.includes(parent))).toBe(true)
  const lost = attempts.find(({ attributes }) => attributes['tranche.verdict'] === 'in-doubt')
  expect(lost?.attributes).toEqual({
    'tranche.merchant': 'default',
    'tranche.operation': 'CAPTURE',
    'tranche.row': expect.any(Number),
    'tranche.attempt': 1,
    'tranche.verdict': 'in-doubt',
    'http.response.status_code': 503,
  })
  for (const { id } of attempts)
    expect(spans.filter(({ parent }) => parent === id).map(({ name }) => name)).toEqual([
      'claim',
      'connect',
      'exchange',
      'settle',
    ])
  for (const secret of ['secret-one', '"lost"', '17.31', '1731', '40001', 'APPROVED'])
    expect(text).not.toContain(secret)
  expect(seen.length).toBeGreaterThan(0)
  expect(seen.filter((name) => /^(traceparent|tracestate|baggage|b3|x-b3-.*|uber-trace-id)$/.test(name))).toEqual([])
})
