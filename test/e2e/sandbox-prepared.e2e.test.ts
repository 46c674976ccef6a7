// A sandbox that holds what a file names, so that the file can be rehearsed against it as against the gateway.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Office, openOffice, until } from '../fixtures/cli.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

const REFUNDS =
  'reference,amount,request_currency,request_ref_po_id\nA,7.00,USD,700010\nB,8.00,USD,700012\nC,9.00,USD,700011\n'

/** What a worker with that gateway makes of the file. */
async function runAgainst(sandboxArgs: readonly string[], file: string, operation: string) {
  const sandbox = office.start('sandbox', '--port', '0', '--json', ...sandboxArgs)
  await until('it listens', () => sandbox.said().length > 0, sandbox)
  const env = {
    TRANCHE_GATEWAY_URL: JSON.parse(sandbox.said()[0] as string).url,
    TRANCHE_GATEWAY_USERNAME: 'sandbox',
    TRANCHE_GATEWAY_PASSWORD: 'sandbox',
  }
  const ran = await office.trancheWith(
    env,
    'run',
    file,
    '--operation',
    operation,
    '--out',
    office.path('out.csv'),
    '--json',
  )
  return { ran, said: sandbox.saidAside().join('\n') }
}

test('the file itself prepares the sandbox, and all of it is approved', async () => {
  const file = await office.put('refunds.csv', REFUNDS)
  const { ran, said } = await runAgainst(['--prepare', file, '--operation', 'REFUND'], file, 'REFUND')
  expect([ran.code, ran.last.counts]).toEqual([0, { APPROVED: 3 }])
  expect(said).toContain(`Prepared from ${file}: 3 orders, 0 vault cards.`)
})

test('JSON prepares it as the sandbox itself takes it', async () => {
  const prepared = await office.put('prepared.json', JSON.stringify({ vault: [{ vaultId: '40001' }] }))
  const file = await office.put(
    'captures.csv',
    'reference,amount,request_currency,customer_vault_id\nA,7.00,EUR,40001\nB,7.10,EUR,40002\n',
  )
  const { ran } = await runAgainst(['--prepare', prepared], file, 'CAPTURE')
  expect([ran.code, ran.last.counts]).toEqual([3, { APPROVED: 1, DECLINED: 1 }])
})

test('unknown orders and cards exist when they are first named, in the currency that was said', async () => {
  const refunds = await office.put('refunds.csv', REFUNDS)
  const { ran } = await runAgainst(['--accept-unknown-orders', 'USD'], refunds, 'REFUND')
  expect([ran.code, ran.last.counts], ran.stderr).toEqual([0, { APPROVED: 3 }])
})

test.each([
  [['--prepare', 'PATH/none.csv'], 'none.csv'],
  [['--prepare', 'PATH/wrong.json'], 'orders.0.amount: must be a plain decimal'],
  [['--accept-unknown-orders', 'EURO'], '--accept-unknown-orders EURO: write an ISO 4217 code'],
])('%j is refused before it listens', async (args, says) => {
  await office.put(
    'wrong.json',
    JSON.stringify({ orders: [{ orderId: '1', state: 'settled', amount: '1,00', currency: 'EUR' }] }),
  )
  const given = args.map((arg) => arg.replace('PATH', office.dir))
  const { code, stdout, stderr } = await office.tranche('sandbox', '--port', '0', ...given)
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(says)])
})
