// Messages that no service should send: each is refused with a reason or taken as it stands, and none stops the others.

import { Queue } from 'bullmq'
import { test } from 'vitest'
import { query, recordedIn } from '../fixtures/books.ts'
import { until } from '../fixtures/cli.ts'
import { orderOf } from '../fixtures/files.ts'
import { openPlace } from './place.ts'

/** Every one names an order of its own. */
function messageOf(n: number, over: object = {}): object {
  return {
    schema_version: 1,
    reference: `M-${n}`,
    transaction_type: 'REFUND',
    amount: '1.50',
    request_currency: 'EUR',
    request_ref_po_id: orderOf(n),
    ...over,
  }
}

function saleOf(n: number, over: object): object {
  const { request_ref_po_id: _, ...sale } = messageOf(n) as Record<string, unknown>
  return { ...sale, transaction_type: 'CAPTURE', customer_vault_id: `4${n}`, xtl_order_id: `X${n}`, ...over }
}

/** As the text says it: an object literal would lose such names. */
const parsed = (n: number, members: string): unknown =>
  JSON.parse(JSON.stringify(messageOf(n)).replace('{', `{${members},`))

const TAKEN: readonly ((n: number) => unknown)[] = [
  (n) => messageOf(n),
  (n) => messageOf(n, { request_ref_po_id: `0000${orderOf(n)}` }),
  (n) => saleOf(n, { amount: '150', request_currency: 'JPY' }),
  (n) => saleOf(n, { amount: '1.505', request_currency: 'KWD' }),
  (n) => messageOf(n, { reference: `constructor-${n}` }),
  (n) => messageOf(n, { reference: '__proto__' }),
  (n) => messageOf(n, { run_key: '__proto__' }),
  (n) => messageOf(n, { reference: `ü\u0308-漢-💶-${n}` }),
]

const REFUSED: readonly ((n: number) => unknown)[] = [
  ...[null, 7, 'refund', true, [], [[]], {}].map((value) => () => value),
  (n) => parsed(n, '"__proto__":{"amount":"9999.00"}'),
  (n) => parsed(n, '"constructor":{"prototype":{"amount":"9999.00"}}'),
  (n) => parsed(n, '"hasOwnProperty":1'),
  ...[
    '1e2',
    '-1.50',
    '+1.50',
    '1,50',
    '1.505',
    '1.5',
    '150',
    '001.50',
    '0',
    '0.00',
    '',
    ' 1.50',
    '١.٥٠',
    'NaN',
    '9'.repeat(40),
    1.5,
    null,
  ].map((amount) => (n: number) => messageOf(n, { amount })),
  (n) => messageOf(n, { amount: '150.50', request_currency: 'JPY' }),
  ...['eur', 'EU', 'XXX', '€', ' EUR', 978].map(
    (request_currency) => (n: number) => messageOf(n, { request_currency }),
  ),
  ...['__proto__', 'constructor', 'toString', ''].map((merchant) => (n: number) => messageOf(n, { merchant })),
  ...['x'.repeat(10_000), '', ' ', 'a\u200bb', 'a\nb', '=1+1', 7].map(
    (reference) => (n: number) => messageOf(n, { reference }),
  ),
  ...['12e3', '-7', '0x10', '', '7'.repeat(500), 70_000_001].map(
    (request_ref_po_id) => (n: number) => messageOf(n, { request_ref_po_id }),
  ),
  ...['refund', 'CHARGEBACK', '', null].map((transaction_type) => (n: number) => messageOf(n, { transaction_type })),
  ...['tomorrow', '2026-02-30T10:00:00Z', '2026-11-21T10:00:00'].map(
    (execute_at) => (n: number) => messageOf(n, { execute_at }),
  ),
  (n) => messageOf(n, { schema_version: '1' }),
  (n) => messageOf(n, { run_key: 'a/b' }),
  (n) => messageOf(n, { customer_vault_id: '77', transaction_type: 'CAPTURE' }),
  (n) => messageOf(n, { cust_fname: 'x'.repeat(10_000_000) }),
  (n) => messageOf(n, { allow_lookalike_of: 7 }),
  (n) => messageOf(n, { allow_lookalike: true }),
  (n) => messageOf(n, { accept: ['anything'] }),
]

test('what is taken is executed once, all else is refused with a reason, and the worker goes on', async ({
  expect,
  onTestFinished,
}) => {
  await using place = await openPlace()
  const { office, gateway } = place
  const worker = await office.worker()
  const queue = new Queue('tranche-intake', { connection: { path: office.redisSocket } })
  queue.on('error', () => {})
  onTestFinished(() => queue.close())
  const all = [...TAKEN, ...REFUSED, ...TAKEN.slice(0, 1)].map((make, n) => make(n + 1))
  const jobs = await queue.addBulk(all.map((data) => ({ name: 'instruction', data: data as object })))
  await until(
    'every message was taken or refused',
    async () => (await queue.getJobCountByTypes('waiting', 'active', 'delayed')) === 0,
    worker,
  )
  const refused: string[] = []
  for (const [n, job] of jobs.entries()) {
    const isWanted = n < TAKEN.length || n === jobs.length - 1
    const ended = await queue.getJob(job.id as string)
    const isTaken = ended?.returnvalue?.status === 'accepted'
    if (isWanted !== isTaken || (!isWanted && !/^refused: ./.test(ended?.failedReason ?? '')))
      refused.push(
        `${JSON.stringify(all[n]).slice(0, 200)}: ${JSON.stringify(ended?.returnvalue)} ${ended?.failedReason}`,
      )
  }
  expect(refused).toEqual([])
  const settled = () => recordedIn(office).every(({ state }) => state === 'APPROVED')
  await until('every row is settled', settled, worker)
  worker.kill('SIGTERM')
  expect((await worker.ended).code).toBe(0)
  expect(recordedIn(office)).toHaveLength(TAKEN.length + 1)
  expect(query(office, 'SELECT * FROM refusal')).toHaveLength(REFUSED.length)
  expect(gateway.received()).toHaveLength(TAKEN.length + 1)
  expect(gateway.log().map(({ amountMinor }) => amountMinor)).not.toContain('999900')
  const [{ id } = { id: '' }] = query<{ id: string }>(office, 'SELECT id FROM batch')
  await office.tranche('results', id, '--out', office.path('out.csv'))
  expect(place.lies({ input: null, out: office.path('out.csv') })).toEqual([])
})
