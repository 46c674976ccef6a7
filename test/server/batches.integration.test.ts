// Batches over HTTP.

import { expect, test } from 'vitest'
import { refund, submit } from '../fixtures/ledgers.ts'
import { served, useServed } from '../fixtures/served.ts'

useServed()

test('a batch is told as the command line tells it', async () => {
  const batch = await submit(served.ledger, served.accounts.shop, [refund('A'), refund('B')])
  const { key } = await served.key({ scopes: ['batches:read'] })
  const { statusCode, said } = await served.ask('GET', `/v1/batches/${batch}`, { key })
  expect(statusCode).toBe(200)
  expect(said).toMatchObject({
    ...{ batch, state: 'waiting', counts: { PENDING: 2 }, rows: 2, merchant: 'shop' },
    totals: [{ operation: 'REFUND', currency: 'EUR', status: 'PENDING', count: 2, amount: '20.00' }],
  })
})

test('one that is cancelled says which others left out rows because it was to send them', async () => {
  const first = await submit(served.ledger, served.accounts.shop, [refund('A'), refund('B')])
  const corrected = await submit(served.ledger, served.accounts.shop, [refund('A'), refund('C')], { fileSha256: 'bb' })
  const { key } = await served.key({ scopes: ['batches:read', 'batches:steer'] })
  const cancel = { key, body: { reason: 'the list was wrong' }, headers: { 'idempotency-key': 'one' } }
  const { said } = await served.ask('POST', `/v1/batches/${first}/cancel`, cancel)
  expect(said).toMatchObject({ counts: { CANCELLED: 2 }, left_out: [{ batch: corrected, rows: 1 }] })
})

test('one of another merchant is not there for a key that does not see it', async () => {
  const batch = await submit(served.ledger, served.accounts.shop, [refund('A')])
  const { key } = await served.key({ merchants: ['club'] })
  const other = await served.ask('GET', `/v1/batches/${batch}`, { key })
  const none = await served.ask('GET', '/v1/batches/261120-aaaaa', { key })
  expect([other.statusCode, none.statusCode]).toEqual([404, 404])
  expect({ ...other.said, request_id: '' }).toEqual({ ...none.said, request_id: '' })
})
