// The HTTP API on a ledger that a PostgreSQL server keeps, by two servers at once.

import { afterEach, expect, test } from 'vitest'
import { buildServer } from '../../src/server/server.ts'
import { newSchemaName, sharedCluster } from '../fixtures/postgres.ts'
import { openServed, type Served } from '../fixtures/served.ts'

let served: Served
afterEach(() => served.close())

const INSTRUCTION = {
  ...{ schema_version: 1, merchant: 'shop', reference: 'A', transaction_type: 'REFUND', amount: '1.50' },
  ...{ request_currency: 'EUR', request_ref_po_id: '77' },
}

test('an instruction goes in once through either, and both tell of it alike', async () => {
  const { url } = await sharedCluster()
  served = await openServed({}, { TRANCHE_LEDGER_URL: url, TRANCHE_LEDGER_SCHEMA: newSchemaName() })
  const second = await buildServer({ ...served.door, isHost: () => true })
  const { key } = await served.key()
  const headers = { host: 'x', authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const post = { method: 'POST', url: '/v1/instructions', payload: JSON.stringify(INSTRUCTION) } as const
  const first = await served.ask('POST', '/v1/instructions', {
    ...{ key, body: INSTRUCTION, headers: { 'idempotency-key': 'one' } },
  })
  expect([first.statusCode, first.said.status]).toEqual([201, 'accepted'])
  const again = await second.inject({ ...post, headers: { ...headers, 'idempotency-key': 'one' } })
  expect([again.statusCode, again.headers['idempotent-replayed'], again.json()]).toEqual([201, 'true', first.said])
  const other = await second.inject({ ...post, headers: { ...headers, 'idempotency-key': 'two' } })
  expect([other.statusCode, other.json().status]).toEqual([200, 'duplicate'])

  for (const path of ['', '/rows', '/results.csv', '/results.jsonl']) {
    const at = `/v1/batches/${first.said.batch}${path}`
    const answer = await served.ask('GET', at, { key })
    expect([answer.statusCode, answer.body]).toEqual([200, expect.stringContaining(path === '' ? 'PENDING' : 'A')])
  }
  const acts = await served.ask('GET', '/v1/audit?limit=1', { key })
  expect(acts.said).toMatchObject({ data: [{ what: 'add-key' }], next_cursor: expect.any(String) })
  const next = await served.ask('GET', `/v1/audit?limit=200&cursor=${acts.said.next_cursor}`, { key })
  expect(next.said.data.map(({ what }: { what: string }) => what)).toEqual(['export', 'export'])
  await second.close()
})
