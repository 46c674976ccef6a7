// A roster as it is lived: charged on the first of the month, and a week later what could not be charged then.

import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, readCsv } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { type FileRow, preparationFor, saleRow, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

const subscriber = (n: number, over: Partial<FileRow> = {}) =>
  saleRow(n, { reference: `sub-${n}`, xtl_order_id: '', amount: `9.${10 + n}`, ...over })
const vaultId = (n: number) => String(40_000 + n)

test('a week later the same command with --retry declined collects what had no money, and nothing else', async () => {
  office = await openOffice()
  const roster = [1, 2, 3, 4, 5].map((n) => subscriber(n))
  office.sandbox.prepare(preparationFor([...roster, subscriber(6), subscriber(9)]))
  const decline = (n: number, reason: string, times?: number) =>
    office.sandbox.addFault({ kind: 'decline', match: { vaultId: vaultId(n) }, reason, ...(times ? { times } : {}) })
  decline(2, 'Insufficient funds', 1)
  decline(3, 'Insufficient funds', 2)
  decline(4, 'Stolen card')
  decline(5, 'Expired card')
  const input = await office.put('roster.csv', toCsv(roster))
  const run = (out: string, ...more: string[]) =>
    office.tranche('run', input, '--run-key', '2026-11', '--out', office.path(out), ...more)
  const asking = ['--retry', 'declined', '--category', 'funds,technical'] as const

  const first = await run('first.csv')
  expect([first.code, countsIn(office.path('first.csv'))], first.stderr).toEqual([3, { APPROVED: 1, DECLINED: 4 }])
  const plain = await run('plain.csv')
  expect(plain.stderr).toContain('--retry declined --category funds,technical asks once more')
  expect(office.sandbox.received()).toBe(5)

  const checked = await office.tranche('check', input, '--run-key', '2026-11', ...asking, '--json')
  expect(checked.last.again).toEqual({
    ...{ retried: { DECLINED: 2 }, repeated: { APPROVED: 1, DECLINED: 2 }, changed: 0 },
    ...{ other_cells: 0, not_asked: { card: 1, fraud: 1 } },
  })
  const second = await run('second.csv', ...asking)
  expect([second.code, countsIn(office.path('second.csv'))], second.stderr).toEqual([
    3,
    { APPROVED: 1, DECLINED: 1, DUPLICATE: 3 },
  ])
  expect(second.stderr).toContain('asked for once more: 2 charges that were declined, each under a new reference')
  expect(second.stderr).toContain('1 row declined for fraud: the card is not asked again')
  expect(readCsv(office.path('second.csv')).map((row) => row.result_reference)).toEqual([
    ...['2026-11/sub-1', '2026-11/sub-2~2', '2026-11/sub-3~2', '2026-11/sub-4', '2026-11/sub-5'],
  ])
  expect(office.sandbox.received()).toBe(7)

  // A week later again: one has paid since, one has a new card, and one has joined.
  const newCard = subscriber(5, { customer_vault_id: vaultId(9) })
  await office.put('roster.csv', toCsv([...roster.slice(0, 4), newCard, subscriber(6)]))
  const third = await run('third.csv', ...asking)
  expect([third.code, countsIn(office.path('third.csv'))], third.stderr).toEqual([3, { APPROVED: 3, DUPLICATE: 3 }])
  const again = await run('fourth.csv', ...asking)
  expect(countsIn(office.path('fourth.csv')), again.stderr).toEqual({ DUPLICATE: 6 })
  expect(again.code).toBe(3) // the stolen card is declined still

  const charged = office.sandbox.log().filter(({ status }) => status === 'APPROVED')
  expect(charged.map((entry) => entry.vaultId).toSorted()).toEqual([1, 2, 3, 6, 9].map(vaultId))
  expect(new Set(charged.map((entry) => entry.xtlOrderId)).size).toBe(5)
  const outs = ['first', 'second', 'third', 'fourth'].map((name) => ({ input: null, out: office.path(`${name}.csv`) }))
  expect(compareBooks(booksOf(office, ...outs))).toEqual([])

  const { batch } = (await run('fifth.csv', '--json')).last
  const family = await office.tranche('results', batch, '--family', '--out', office.path('november.csv'))
  expect(family.code, family.stderr).toBe(0)
  expect(countsIn(office.path('november.csv'))).toEqual({ APPROVED: 5, DECLINED: 1 })
  const history = await office.tranche('history', '2026-11/sub-3')
  expect(history.stdout).toContain('asked for once more, as 2026-11/sub-3~2')
  expect(history.stdout).toContain('asked for once more, as 2026-11/sub-3~3')
})

test('results that are fed back ask once more as well, and once only', async () => {
  office = await openOffice()
  const rows = [1, 2].map((n) => subscriber(n))
  office.sandbox.prepare(preparationFor(rows))
  office.sandbox.addFault({ kind: 'decline', match: { vaultId: vaultId(2) }, reason: 'Insufficient funds', times: 1 })
  const input = await office.put('sales.csv', toCsv(rows))
  const first = office.path('first.csv')
  const ran = await office.tranche('run', input, '--out', first, '--json')
  expect(ran.code, ran.stderr).toBe(3)
  const asking = ['--retry', 'declined', '--category', 'funds'] as const
  const second = await office.tranche('run', first, ...asking, '--out', office.path('second.csv'))
  expect([second.code, countsIn(office.path('second.csv'))], second.stderr).toEqual([0, { APPROVED: 1, DUPLICATE: 1 }])
  const third = await office.tranche('run', first, ...asking, '--out', office.path('third.csv'))
  expect([third.code, countsIn(office.path('third.csv'))], third.stderr).toEqual([0, { DUPLICATE: 2 }])
  expect(office.sandbox.received()).toBe(3)

  const whole = office.path('whole.csv')
  const family = await office.tranche('results', ran.last.batch, '--family', '--out', whole)
  expect([family.code, countsIn(whole)], family.stderr).toEqual([0, { APPROVED: 2 }])
  expect(readCsv(whole)[1]).toMatchObject({ result_status: 'APPROVED', result_reference: 'sub-2~2' })
})

test('--retry declined wants to be told for which reasons, and takes none that cannot pass', async () => {
  office = await openOffice()
  const input = await office.put('sales.csv', toCsv([subscriber(1)]))
  const asked = (...options: string[]) => office.tranche('check', input, ...options)
  const unnamed = await asked('--retry', 'declined')
  expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining('--category funds,technical')])
  expect((await asked('--category', 'funds')).code).toBe(2)
  const hard = await asked('--retry', 'declined', '--category', 'funds,fraud')
  expect([hard.code, hard.stderr]).toEqual([2, expect.stringContaining('write funds, technical, other')])
  expect((await asked('--retry', 'approved')).stderr).toContain('Rows in doubt are resolved by a person')
})

test('a charge that failed runs again from the roster itself under its run key, and from no file without one', async () => {
  office = await openOffice()
  const roster = [1, 2].map((n) => subscriber(n))
  office.sandbox.prepare(preparationFor(roster))
  office.sandbox.addFault({ kind: '400', match: { vaultId: vaultId(2) }, times: 1 })
  const input = await office.put('roster.csv', toCsv(roster))
  const run = (out: string, ...more: string[]) => office.tranche('run', input, '--out', office.path(out), ...more)
  const month = ['--run-key', '2026-11'] as const
  expect((await run('first.csv', ...month)).code).toBe(3)
  const refused = await run('no-key.csv', '--retry', 'failed')
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('takes a results file, or the file itself'),
  ])
  const second = await run('second.csv', ...month, '--retry', 'failed')
  expect([second.code, countsIn(office.path('second.csv'))], second.stderr).toEqual([0, { APPROVED: 1, DUPLICATE: 1 }])
  expect(readCsv(office.path('second.csv'))[1]).toMatchObject({
    result_reference: '2026-11/sub-2',
    result_attempts: '2',
  })
  expect(office.sandbox.received()).toBe(3)
})

test('a row in doubt stands in no one’s way: the others are asked for, and the plain roster runs as ever', async () => {
  office = await openOffice()
  const roster = [1, 2, 3].map((n) => subscriber(n))
  office.sandbox.prepare(preparationFor(roster))
  office.sandbox.addFault({ kind: 'decline', match: { vaultId: vaultId(2) }, reason: 'Insufficient funds', times: 1 })
  office.sandbox.addFault({ kind: '503-after', match: { vaultId: vaultId(3) }, times: 1 })
  const input = await office.put('roster.csv', toCsv(roster))
  const run = (out: string, ...more: string[]) =>
    office.tranche('run', input, '--run-key', '2026-11', '--out', office.path(out), ...more)
  const asking = ['--retry', 'declined', '--category', 'funds'] as const
  expect((await run('first.csv')).code).toBe(5)
  const second = await run('second.csv', ...asking)
  expect([second.code, countsIn(office.path('second.csv'))], second.stderr).toEqual([5, { APPROVED: 1, DUPLICATE: 2 }])
  for (const out of ['first.csv', 'third.csv']) {
    const plain = await run(out)
    expect(plain.code, plain.stderr).toBe(5)
  }
  expect(office.sandbox.received()).toBe(4)
})

test('--retry sends nothing of a roster that never ran under that key, and nothing of a file without one', async () => {
  office = await openOffice()
  const input = await office.put('sales.csv', toCsv([subscriber(1)]))
  const asking = ['--retry', 'declined', '--category', 'funds'] as const
  const run = (...more: string[]) => office.tranche('run', input, '--out', office.path('out.csv'), ...more)
  for (const retry of [asking, ['--retry', 'failed'] as const]) {
    expect((await run(...retry)).code).toBe(2)
    const unknown = await run('--run-key', '2026-1l', ...retry)
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('recorded under the run key 2026-1l')])
  }
  expect(office.sandbox.received()).toBe(0)
})
