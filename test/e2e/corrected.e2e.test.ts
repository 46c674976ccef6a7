// The original is mended and run again: by a clerk whose file has no references, and by cron whose roster has changed.

import { readFileSync } from 'node:fs'
import { stringify } from 'csv-stringify/sync'
import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, query, readCsv } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { orderOf, preparationFor, refunds, saleRow, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

const ORDERS = refunds(40)

/** As a clerk has them: no references, and an order each. */
const clerksFile = (amounts: Readonly<Record<number, string>> = {}) =>
  toCsv(ORDERS.map((row, i) => ({ ...row, reference: '', amount: amounts[i + 1] ?? row.amount ?? '' })))

test('a clerk mends the bad rows in the original and runs it again: only they are sent', async () => {
  office = await openOffice()
  office.sandbox.prepare(preparationFor(ORDERS))
  const input = await office.put('refunds.csv', clerksFile({ 7: 'abc', 9: '5,5,5' }))
  const first = await office.tranche('run', input, '--skip-invalid', '--out', office.path('first.csv'))
  expect([first.code, countsIn(office.path('first.csv'))], first.stderr).toEqual([3, { APPROVED: 38, INVALID: 2 }])

  await office.put('refunds.csv', clerksFile())
  const again = await office.tranche('run', input, '--out', office.path('again.csv'))
  expect(again.code).toBe(7)
  expect(again.stderr).toContain('38 of 40 rows were recorded with an earlier file.')
  expect(again.stderr).toContain('To send 2 new rows and nothing else, add --only-new.')
  expect(again.stdout + again.stderr).not.toContain('--allow-lookalikes')
  expect(office.sandbox.received()).toBe(38)

  const checked = await office.tranche('check', input, '--json')
  expect(checked.last).toMatchObject({
    ...{ ok: false, accepted: 2, duplicate: 38 },
    correction: { rows: 38, batches: [{ file: 'refunds.csv', rows: 38, totals: [{ status: 'APPROVED', count: 38 }] }] },
    refusals: [{ kind: 'correction', known: 38, new: 2 }],
  })
  const out = office.path('again.csv')
  const mended = await office.tranche('run', input, '--only-new', '--out', out)
  expect([mended.code, countsIn(out)], mended.stderr).toEqual([0, { APPROVED: 2, DUPLICATE: 38 }])
  expect(office.sandbox.received()).toBe(40)
  const once = await office.tranche('run', input, '--only-new', '--out', out)
  expect(once.code, once.stderr).toBe(0)
  expect(office.sandbox.received()).toBe(40)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('one reconciliation tells a file across its rejects, its retries and its correction', async () => {
  office = await openOffice()
  office.sandbox.prepare(preparationFor(ORDERS.filter((_, i) => i !== 19)))
  const input = await office.put('refunds.csv', clerksFile({ 7: 'abc', 9: '5,5,5' }))
  const bad = office.path('bad.csv')
  const first = office.path('first.csv')
  const ran = await office.tranche('run', input, '--skip-invalid', '--rejects', bad, '--out', first, '--json')
  const batch = ran.last.batch as string
  expect(countsIn(first), ran.stderr).toEqual({ APPROVED: 37, DECLINED: 1, INVALID: 2 })

  // Row 7 is mended among the rejects, row 9 in the original, from which row 3 is gone.
  const rejects = readCsv(bad).map((row) => (row.reject_row === '7' ? { ...row, amount: '7.01' } : row))
  await office.put('bad.csv', stringify(rejects, { header: true }))
  const mended = await office.tranche('run', bad, '--skip-invalid', '--out', office.path('mended.csv'))
  expect(countsIn(office.path('mended.csv')), mended.stderr).toEqual({ APPROVED: 1, INVALID: 1 })
  await office.put('refunds.csv', toCsv(ORDERS.filter((_, i) => i !== 2).map((row) => ({ ...row, reference: '' }))))
  const corrected = await office.tranche('run', input, '--only-new', '--out', office.path('again.csv'), '--json')
  expect(countsIn(office.path('again.csv')), corrected.stderr).toEqual({ APPROVED: 1, DUPLICATE: 38 })

  const whole = office.path('whole.csv')
  const family = await office.tranche('results', batch, '--family', '--out', whole, '--json')
  expect(family.code, family.stderr).toBe(0)
  expect(family.last).toMatchObject({ batch: corrected.last.batch, family_of: batch, rows: 40 })
  expect(countsIn(whole)).toEqual({ APPROVED: 39, DECLINED: 1 })
  const lines = readCsv(whole)
  expect(new Set(lines.map((line) => line.result_transaction_id)).size).toBe(40)
  expect(lines.at(-1)).toMatchObject({
    ...{ request_ref_po_id: orderOf(3), result_batch: batch, result_row: '3' },
    result_warning: 'the newest file does not have this row',
  })
  const executed = office.sandbox.log().filter(({ status }) => status === 'APPROVED')
  expect(lines.filter(({ result_status: status }) => status === 'APPROVED')).toHaveLength(executed.length)

  // Written again it takes the place of itself, whichever file leads the family by now, and of nothing else.
  const look = office.path('look.csv')
  const familyTo = (out: string, ...more: string[]) =>
    office.tranche('results', batch, '--family', '--out', out, ...more)
  expect((await familyTo(whole, '--exceptions', look)).code).toBe(0)
  await office.put('refunds.csv', toCsv(ORDERS.slice(0, 38).map((row) => ({ ...row, reference: '' }))))
  const newest = await office.tranche('run', input, '--only-new', '--out', office.path('newest.csv'), '--json')
  const rewritten = await familyTo(whole, '--exceptions', look)
  expect(rewritten.code, rewritten.stderr).toBe(0)
  expect(readCsv(whole)[0]).toMatchObject({ result_batch: batch, result_family: `FAMILY-${newest.last.batch}` })
  for (const [refused, why] of [
    [await familyTo(first), 'is not a result of this program'],
    [await familyTo(office.path('other.csv'), '--exceptions', first), 'is not a result of this program'],
    [await office.tranche('results', batch, '--out', whole), 'holds the results of several batches'],
    [
      await office.tranche('results', batch, '--out', office.path('other.csv'), '--exceptions', look),
      'holds the results of several batches',
    ],
    [await other(whole), 'holds the results of the family of batch'],
  ] as const)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(why)])
  await office.tranche('purge', '--before', new Date().toISOString(), '--reason', 'retention', '--yes')
  expect([(await familyTo(whole)).stderr, (await familyTo(office.path('purged.csv'))).code]).toEqual([
    expect.stringContaining('may hold cells that were purged since'),
    0,
  ])

  async function other(out: string) {
    const stranger = await office.put('stranger.csv', toCsv(refunds(1, 90)))
    const { last } = await office.tranche('run', stranger, '--out', office.path('stranger.out.csv'), '--json')
    return office.tranche('results', last.batch as string, '--family', '--out', out)
  }
})

test('a file that was cancelled half-way for a wrong cell is mended and run again: what was not sent is, and nothing twice', async () => {
  office = await openOffice()
  office.sandbox.prepare(preparationFor(ORDERS))
  const input = await office.put('refunds.csv', clerksFile({ 30: '999.00' }))
  const canary = await office.tranche('run', input, '--canary', '12', '--out', office.path('first.csv'), '--json')
  const batch = canary.last.batch as string
  const cancelled = await office.tranche('cancel', batch, '--reason', 'row 30 is wrong')
  expect(cancelled.stderr).toContain('If a cell was wrong: correct the file and run it again.')
  expect(cancelled.stderr).toContain(
    `tranche results ${batch} --out FILE, then hand that file in with --retry cancelled`,
  )
  const same = await office.tranche('run', input, '--out', office.path('first.csv'))
  expect([same.code, same.stderr]).toEqual([
    3,
    expect.stringMatching(/28 rows were cancelled and not sent\..*result_reason says what must change first/),
  ])

  await office.put('refunds.csv', clerksFile())
  const refused = await office.tranche('run', input, '--out', office.path('again.csv'))
  expect(refused.code).toBe(7)
  expect(refused.stderr).toContain('12 of 40 rows were recorded with an earlier file.')
  expect(refused.stderr).toContain('To send 28 new rows and nothing else, add --only-new.')
  expect(refused.stdout + refused.stderr).not.toContain('--allow-lookalikes')
  const checked = await office.tranche('check', input, '--only-new')
  expect(checked.stdout).toContain(`27 rows of batch ${batch} were cancelled before they were sent: they count as new.`)
  const out = office.path('again.csv')
  const mended = await office.tranche('run', input, '--only-new', '--out', out)
  expect([mended.code, countsIn(out)], mended.stderr).toEqual([0, { APPROVED: 28, DUPLICATE: 12 }])
  expect(office.sandbox.received()).toBe(40)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])

  // Neither the results of the first file nor those of the mended one run anything once more.
  await office.tranche('results', batch, '--out', office.path('first.csv'))
  const rows = readCsv(office.path('first.csv')).filter((_, i) => i !== 29) // it never ran, and asks for too much
  const back = await office.put('back.csv', stringify(rows, { header: true }))
  for (const file of [back, out]) {
    const fed = await office.tranche('run', file, '--retry', 'cancelled', '--out', `${file}.out.csv`)
    expect([fed.code, countsIn(`${file}.out.csv`).DUPLICATE], fed.stderr).toEqual([0, file === out ? 40 : 39])
  }
  expect(office.sandbox.received()).toBe(40)
})

test('a file that was cancelled before anything was sent is mended and run again, and all of it is sent', async () => {
  office = await openOffice()
  office.sandbox.prepare(preparationFor(ORDERS))
  const input = await office.put('refunds.csv', clerksFile({ 30: '999.00' }))
  const { batch } = (await office.tranche('submit', input, '--json')).last
  await office.tranche('cancel', batch as string, '--reason', 'row 30 is wrong')
  await office.put('refunds.csv', clerksFile())
  const out = office.path('again.csv')
  const mended = await office.tranche('run', input, '--out', out)
  expect([mended.code, countsIn(out)], mended.stderr).toEqual([0, { APPROVED: 40 }])
  expect(mended.stderr).toContain(`39 rows of batch ${batch} were cancelled before they were sent: they count as new.`)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('a file of a few rows that were sent before is not the newest state of the file they came from', async () => {
  office = await openOffice()
  office.sandbox.prepare(preparationFor(ORDERS))
  const input = await office.put('refunds.csv', toCsv(ORDERS))
  const ran = await office.tranche('run', input, '--out', office.path('first.csv'), '--json')
  const few = await office.put('few.csv', toCsv(ORDERS.slice(0, 3)))
  await office.tranche('run', few, '--out', office.path('few.out.csv'))
  const whole = office.path('whole.csv')
  const family = await office.tranche('results', ran.last.batch as string, '--family', '--out', whole)
  expect([family.code, countsIn(whole)], family.stderr).toEqual([0, { APPROVED: 40 }])
  const shown = await office.tranche('results', ran.last.batch as string, '--family', '--out', '-')
  expect([shown.code, shown.stdout], shown.stderr).toEqual([0, readFileSync(whole, 'utf8')])
  expect(readCsv(whole).filter(({ result_warning: warning }) => warning !== '')).toEqual([])
})

test('a row whose amount was changed after it was paid is asked about, and not paid beside the first', async () => {
  office = await openOffice()
  office.sandbox.prepare(preparationFor(ORDERS))
  const input = await office.put('refunds.csv', clerksFile({ 7: 'abc' }))
  await office.tranche('run', input, '--skip-invalid', '--out', office.path('first.csv'))
  await office.put('refunds.csv', clerksFile({ 3: '2.50' }))
  const again = await office.tranche('run', input, '--only-new', '--out', office.path('again.csv'))
  expect(again.code).toBe(7)
  expect(again.stderr).toMatch(
    /line 4: \S+ has the target of \S+ \(row 3 of batch \S+, APPROVED\), which asked for 3\.01 EUR/,
  )
  expect(office.sandbox.received()).toBe(39)
})

test('a roster with one subscriber more, of the card and price of another, asks about that one and charges it', async () => {
  office = await openOffice()
  const subscribers = [1, 2, 3].map((n) => saleRow(n, { reference: `sub-${n}`, xtl_order_id: '' }))
  office.sandbox.prepare(preparationFor(subscribers))
  const charge = async (rows: typeof subscribers, out: string, ...more: string[]) => {
    const input = await office.put('roster.csv', toCsv(rows))
    return office.tranche('run', input, '--run-key', '2026-12', '--out', office.path(out), ...more)
  }
  expect((await charge(subscribers, 'first.csv')).code).toBe(0)
  const joined = saleRow(2, { reference: 'sub-4', xtl_order_id: '' })
  expect((await charge([...subscribers, joined], 'second.csv')).code).toBe(7)
  const more = await charge([...subscribers, joined], 'second.csv', '--allow-lookalikes', '1')
  expect([more.code, countsIn(office.path('second.csv'))], more.stderr).toEqual([0, { APPROVED: 1, DUPLICATE: 3 }])

  const replaced = { ...(subscribers[0] as (typeof subscribers)[0]), customer_vault_id: '40009' }
  const changed = await charge([replaced, ...subscribers.slice(1), joined], 'third.csv')
  expect(changed.code).toBe(7)
  const left = await charge([replaced, ...subscribers.slice(1), joined], 'third.csv', '--only-new')
  expect(left.code, left.stderr).toBe(3) // a row of the file was not done as written
  expect(left.stderr).toContain('of these, 1 row has other content now')
  expect(left.stdout).toContain('1 of the rows recorded before asks for something else now, and it was not sent')
  expect(readCsv(office.path('third.csv'))[0]?.result_reason).toContain(
    'recorded with other content (vault id); not sent',
  )
  expect(office.sandbox.received()).toBe(4)
})

test('a row that was cancelled by its reference is not paid by the list of the next day', async () => {
  office = await openOffice()
  office.sandbox.prepare(preparationFor(ORDERS))
  const list = (rows: number) => toCsv(ORDERS.slice(0, rows).map((row) => ({ ...row, reference: '' })))
  await office.tranche('submit', await office.put('refunds.csv', list(3)))
  const [row] = query(office, 'SELECT reference FROM instruction WHERE row_no = 2') as { reference: string }[]
  await office.tranche('cancel', '--reference', row?.reference ?? '', '--reason', 'do not refund')
  await office.tranche('worker', '--until-idle')

  const out = office.path('again.csv')
  const again = await office.tranche('run', await office.put('refunds.csv', list(4)), '--only-new', '--out', out)
  expect([again.code, countsIn(out)], again.stderr).toEqual([3, { APPROVED: 1, DUPLICATE: 3 }])
  expect(readCsv(out)[1]?.result_reason).toContain('CANCELLED (cancelled: do not refund); not sent again')
  expect(office.sandbox.received()).toBe(3)
})
