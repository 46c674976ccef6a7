// Once more, on purpose or by mistake: results fed back, batches given up, gateways that asked to wait.

import { existsSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, readCsv, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { orderOf, preparationFor, refundRow, refunds, saleRow, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

async function prepared(count: number): Promise<{ input: string; out: string }> {
  const rows = refunds(count)
  office.sandbox.prepare(preparationFor(rows))
  return { input: await office.put('in.csv', toCsv(rows)), out: office.path('out.csv') }
}

test('results fed back send nothing by themselves; with --retry failed they run again', async () => {
  office = await openOffice({ latencyMs: 40, env: { TRANCHE_IN_FLIGHT: '5' } })
  const { input, out } = await prepared(60)
  office.sandbox.addFault({ kind: '400', match: { any: true }, times: 50 })
  const failed = await office.tranche('run', input, '--out', out)
  expect(failed.code, failed.stderr).toBe(3)
  expect(countsIn(out)).toEqual({ FAILED: 50, APPROVED: 10 })

  const repeated = office.path('repeated.csv')
  const fedBack = await office.tranche('run', out, '--out', repeated)
  expect(fedBack.code, fedBack.stderr).toBe(3)
  expect(countsIn(repeated)).toEqual({ DUPLICATE: 60 })
  expect(office.sandbox.received()).toBe(60)

  const again = office.path('again.csv')
  const retry = ['run', out, '--retry', 'failed', '--out', again, '--json']
  const first = office.start(...retry)
  await until('the retry is under way', () => office.sandbox.log().length >= 25, first)
  first.kill('SIGINT')
  const interrupted = await first.ended
  expect(interrupted.code, interrupted.stderr).toBe(130)
  expect(office.sandbox.received()).toBeLessThan(110)
  expect(existsSync(again)).toBe(false)

  const resumed = await office.tranche(...retry)
  expect(resumed.code, resumed.stderr).toBe(0)
  expect(resumed.last.batch).toBe(interrupted.last.batch)
  expect(countsIn(again)).toEqual({ APPROVED: 50, DUPLICATE: 10 })
  expect([office.sandbox.received(), office.sandbox.log().length]).toEqual([110, 60])
  expect(compareBooks(booksOf(office, { input, out }, { input: null, out: again }))).toEqual([])
})

test('asked to wait for an hour, a run ends with 6, and every worker waits until a resume', async () => {
  office = await openOffice({ env: { TRANCHE_IN_FLIGHT: '1' } })
  const { input, out } = await prepared(8)
  office.sandbox.addFault({ kind: '429', match: { orderId: orderOf(3) }, times: 1, retryAfterS: 3_600 })
  const startedMs = Date.now()
  const ran = await office.tranche('run', input, '--out', out, '--json')
  expect(ran.code, ran.stderr).toBe(6)
  expect(ran.last.reason).toMatch(/^the gateway asked to wait until \d{4}-/)
  expect(countsIn(out)).toEqual({ APPROVED: 2, PENDING: 6 })
  const batch = ran.last.batch as string
  const { state, reason } = (await office.tranche('status', batch, '--json')).last
  expect(state).toBe('waiting')
  const untilMs = Date.parse(/until ([^;\s]+)/.exec(reason as string)?.[1] ?? '')
  expect(untilMs).toBeGreaterThanOrEqual(startedMs + 3_600_000)
  expect(untilMs).toBeLessThanOrEqual(Date.now() + 3_600_000)

  const worked = await office.tranche('worker', '--until-idle')
  expect(worked.code, worked.stderr).toBe(6)
  expect(worked.stderr).toContain('the gateway asked to wait until')
  expect(office.sandbox.received()).toBe(3)

  expect((await office.tranche('resume', batch, '--reason', 'they raised the limit')).code).toBe(0)
  const again = await office.tranche('run', input, '--out', out)
  expect(again.code, again.stderr).toBe(0)
  expect(office.sandbox.received()).toBe(9)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('a duplicate of an approval that differs about money counts as that one: 3, not 0', async () => {
  office = await openOffice()
  const { input, out } = await prepared(1)
  office.sandbox.addFault({ kind: 'other-amount', match: { any: true } })
  const ran = await office.tranche('run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(3)
  const second = office.path('second.csv')
  const again = await office.tranche('run', input, '--out', second, '--json')
  expect([again.code, again.last.exit], again.stderr).toEqual([3, 3])
  expect(countsIn(second)).toEqual({ DUPLICATE: 1 })
  expect(office.sandbox.received()).toBe(1)
})

test.each([
  ['a sale', () => [saleRow(1)], 'Duplicate transaction'],
  ['a refund of all', () => refunds(1), 'Order balance: 0.00 EUR, requested amount: 10.00 EUR'],
])(
  '%s that a proxy sent twice is in doubt, and is neither retried nor sent under another reference',
  async (_, rowsOf, says) => {
    office = await openOffice()
    const rows = rowsOf()
    office.sandbox.prepare(preparationFor(rows))
    const isSale = says.startsWith('Dup')
    office.sandbox.addFault(
      isSale
        ? { kind: 'repeated', match: { any: true }, times: 1 }
        : { kind: 'decline', match: { any: true }, reason: says, times: 1 },
    )
    const input = await office.put('in.csv', toCsv(rows))
    const out = office.path('out.csv')
    const ran = await office.tranche('run', input, '--out', out, '--json')
    expect(ran.code, ran.stderr).toBe(5)
    expect(countsIn(out)).toEqual({ IN_DOUBT: 1 })
    expect((await office.tranche('in-doubt', 'list')).stdout).toContain(`DECLINED (${says})`)
    const retried = await office.tranche('run', out, '--out', office.path('again.csv'), '--retry', 'failed,cancelled')
    expect(retried.code, retried.stderr).toBe(5)
    const other = await office.put(
      'other.csv',
      toCsv(rows.map(({ xtl_order_id: _, ...row }) => ({ ...row, reference: 'another' }))),
    )
    const beside = await office.tranche('run', other, '--out', office.path('other-out.csv'), '--json')
    expect([beside.code, beside.last.lookalikes], beside.stderr).toEqual([7, 1])
    expect(office.sandbox.received()).toBe(1)
  },
)

test('a declined sale whose invoice was paid with another card since is not charged once more', async () => {
  office = await openOffice()
  const [old, other] = [saleRow(1, { xtl_order_id: 'INV1001' }), saleRow(2, { xtl_order_id: 'INV1001' })]
  office.sandbox.prepare(preparationFor([old, other]))
  const declined = { vaultId: old.customer_vault_id as string }
  office.sandbox.addFault({ kind: 'decline', match: declined, reason: 'Insufficient funds', times: 1 })
  const out = office.path('a.results.csv')
  const first = await office.tranche('run', await office.put('a.csv', toCsv([old])), '--out', out)
  expect(first.code, first.stderr).toBe(3)
  const paid = await office.tranche('run', await office.put('b.csv', toCsv([other])), '--out', office.path('b.out.csv'))
  expect(paid.code, paid.stderr).toBe(0)

  const retry = ['--operation', 'CAPTURE', '--retry', 'declined', '--category', 'funds'] as const
  const again = await office.tranche('run', out, ...retry, '--out', office.path('again.csv'))
  expect(again.code, again.stderr).toBe(3)
  expect(again.stderr).toContain('1 row declined and left out: another instruction has its xtl_order_id since')
  expect(countsIn(office.path('again.csv'))).toEqual({ DUPLICATE: 1 })
  expect(office.sandbox.received()).toBe(2)
})

test('a finished batch cannot be cancelled: 2, and it is as done as it was', async () => {
  office = await openOffice()
  const { input, out } = await prepared(2)
  const { batch } = (await office.tranche('run', input, '--out', out, '--json')).last
  const before = (await office.tranche('status', batch as string, '--json')).last
  expect(before).toMatchObject({ state: 'done', results_stale: false })
  const cancelled = await office.tranche('cancel', batch as string, '--reason', 'too late')
  expect(cancelled.code).toBe(2)
  expect(cancelled.stderr).toContain('Nothing was changed.')
  expect((await office.tranche('status', batch as string, '--json')).last).toEqual(before)
})

test('a file that was cancelled in the wrong currency runs under a run key as a new batch', async () => {
  office = await openOffice()
  office.sandbox.prepare(preparationFor(refunds(2)))
  const rows = refunds(2).map((row) => `${row.reference},REFUND,${row.amount},${row.request_ref_po_id}`)
  const input = await office.put('in.csv', `reference,transaction_type,amount,request_ref_po_id\n${rows.join('\n')}\n`)
  const out = office.path('out.csv')
  const run = (...more: string[]) => office.tranche('run', input, '--currency', 'EUR', '--out', out, '--json', ...more)
  const mistaken = (await office.tranche('submit', input, '--currency', 'USD', '--json')).last.batch as string
  expect((await run()).code).toBe(2) // while it stands, the same bytes are that batch
  expect((await office.tranche('cancel', mistaken, '--reason', 'wrong currency')).code).toBe(0)

  const refused = await run() // its references are what is in the way, and that is said
  expect(refused.code, refused.stderr).toBe(7)
  expect(refused.last.faults).toMatchObject([
    { row: 1, column: 'reference', problem: expect.stringContaining(`of batch ${mistaken}, CANCELLED`) },
    { row: 2, column: 'reference' },
  ])
  const ran = await run('--run-key', 'again')
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.last.batch).not.toBe(mistaken)
  expect(readCsv(out).map((line) => [line.result_status, line.result_currency])).toEqual([
    ['APPROVED', 'EUR'],
    ['APPROVED', 'EUR'],
  ])
  expect(recordedIn(office).map(({ state }) => state)).toEqual(['CANCELLED', 'CANCELLED', 'APPROVED', 'APPROVED'])
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('a rehearsal may be repeated over its own results', async () => {
  office = await openOffice()
  const { input } = await prepared(3)
  const rehearse = () => office.tranche('run', input, '--out', office.path('try.csv'), '--sandbox', '--json')
  const [first, second] = [await rehearse(), await rehearse()]
  expect([first.code, second.code], second.stderr).toEqual([0, 0])
  expect(second.last.results).toBe(first.last.results)
  const marks = readCsv(second.last.results as string).map((line) => line.result_batch)
  expect(new Set(marks)).toEqual(new Set([`SANDBOX-${second.last.batch}`]))
  expect(office.sandbox.received()).toBe(0)
})

test('a file can be checked before any merchant is configured', async () => {
  office = await openOffice({ made: false })
  const env = Object.fromEntries(['URL', 'USERNAME', 'PASSWORD'].map((name) => [`TRANCHE_GATEWAY_${name}`, undefined]))
  const good = await office.put('good.csv', toCsv(refunds(4)))
  const bad = await office.put('bad.csv', toCsv([...refunds(1), refundRow(2, { amount: '1,2,3' })]))
  const checked = await office.trancheWith(env, 'check', good, '--json')
  expect(checked.code, checked.stderr).toBe(0)
  expect(checked.last).toMatchObject({ ok: true, rows: 4 })
  expect(checked.stderr).toContain('No gateway account is set')
  expect((await office.trancheWith(env, 'check', bad)).code).toBe(7)
  expect((await office.trancheWith(env, 'run', good, '--out', office.path('out.csv'))).code).toBe(2)
  expect(existsSync(office.ledgerPath)).toBe(false)
})
