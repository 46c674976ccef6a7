// What is done to a batch at its page, and what is shown of it.

import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import { faultyRow, headerOf, listOf, personAt, refund, submit, work } from '../fixtures/ledgers.ts'
import { formsIn, openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'

let served: PagesServed
let batch: BatchId
let olga: Visiting

beforeEach(async () => {
  served = await openPages()
  const header = headerOf(served.accounts.shop, { fileName: 'refunds.csv' })
  batch = await submit(served.ledger, served.accounts.shop, [refund('A'), refund('B'), refund('C')], header)
  olga = await served.as('olga', ['operator'])
})
afterEach(() => served.close())

const at = () => `/batches/${batch}`
const now = async () => await served.ledger.batch(batch)
const reason = { reason: 'wrong <month>' }

test('an operator pauses a batch with a reason, sees it said, and lets it go on', async () => {
  expect((await olga.send(at(), '/pause', reason)).headers.location).toBe(at())
  expect(await now()).toMatchObject({ hold: 'paused', holdReason: 'wrong <month>' })
  const page = (await olga.get(at())).body
  expect(page).toContain('wrong &lt;month&gt;')
  expect(formsIn(page).map(({ action }) => action)).toEqual([`${at()}/resume`])
  await olga.send(at(), '/resume', { reason: 'looked' })
  expect(await now()).toMatchObject({ hold: 'none' })
})

test('an act needs its reason', async () => {
  expect((await olga.send(at(), '/pause', { reason: '  ' })).statusCode).toBe(422)
  expect(await now()).toMatchObject({ hold: 'none' })
})

test('a form that is sent twice has its effect once, and one that was filled in otherwise has none', async () => {
  const [form] = formsIn((await olga.get(at())).body)
  const fields = { ...form?.fields, ...reason }
  expect((await olga.post(`${at()}/pause`, fields)).statusCode).toBe(303)
  await olga.send(at(), '/resume', { reason: 'looked' })
  expect((await olga.post(`${at()}/pause`, fields)).statusCode).toBe(303)
  expect((await olga.post(`${at()}/pause`, { ...fields, reason: 'another' })).statusCode).toBe(409)
  expect(await now()).toMatchObject({ hold: 'none' })
})

test('whoever cancels reads first how much will not be sent', async () => {
  const page = (await olga.get(`${at()}/cancel`)).body
  expect(page).toContain('3 refunds, EUR 30.00 will not be sent.')
  await olga.send(`${at()}/cancel`, '/cancel', reason)
  expect(await now()).toMatchObject({ hold: 'cancelled', counts: { CANCELLED: 3 } })
  expect((await olga.get(`${at()}/cancel`)).statusCode).toBe(422)
})

test('a viewer is told who may steer it, and sees no form for it', async () => {
  const vic = await served.as('vic', ['viewer'])
  const { body } = await vic.get(at())
  expect(body).toContain('that takes an operator')
  expect(body).not.toContain('/pause')
  expect(body).toContain('they need a permission of their own')
})

test('rows are shown by what became of them, with a doubt before everything else', async () => {
  const { ledger } = served
  await work(ledger, batch, 'A', 'APPROVED')
  await work(ledger, batch, 'B', 'IN_DOUBT')
  const page = (await olga.get(at())).body
  expect(page).toContain('1 row is in doubt.')
  expect(page.indexOf('1 row is in doubt.')).toBeLessThan(page.indexOf('3 rows: '))
  const rowsOf = async (status: string) => (await olga.get(`${at()}/rows?status=${status}`)).body
  expect(await rowsOf('APPROVED')).toMatch(/\/instructions\?reference=A&/)
  expect(await rowsOf('APPROVED')).not.toMatch(/\/instructions\?reference=C&/)
  expect(await rowsOf('PENDING')).toMatch(/\/instructions\?reference=C&/)
  expect(await rowsOf('DECLINED')).toContain('No row is DECLINED here.')
})

test('rows with a warning are found from the batch, and are those alone', async () => {
  const { ledger } = served
  const warned = { warning: 'approved for 5.00 EUR, asked for 10.00', warnsOfMoney: true }
  await work(ledger, batch, 'A', 'APPROVED')
  await work(ledger, batch, 'B', 'APPROVED', warned)
  const page = (await olga.get(at())).body
  expect(page).toContain('1 approved row differs from what was asked')
  expect(page).toContain(`<a href="${at()}/rows?warned=1">Look at the rows with a warning</a>`)
  const rows = (await olga.get(`${at()}/rows?warned=1`)).body
  expect(rows).toMatch(/\/instructions\?reference=B&/)
  expect(rows).not.toMatch(/\/instructions\?reference=[AC]&/)
})

test('a batch that is done is told of where a person has to look at it, and they say there that they have', async () => {
  const { ledger } = served
  const money = { warning: 'approved for 5.00 USD, asked for 10.00 EUR', warnsOfMoney: true }
  await work(ledger, batch, 'A', 'APPROVED', money)
  await ledger.cancel(batch, 'it is enough', personAt('clerk'), Date.now())
  const cards = async () => (await olga.get('/')).body
  expect(await cards()).toContain('has 1 row approved with another amount or currency than asked')
  expect((await olga.get('/merchants')).body).toContain('1 thing needs a person')
  const page = (await olga.get(at())).body
  expect(page).toContain('Nothing of it waits to be sent. It says that you have looked.')
  expect(formsIn(page).map(({ action }) => action)).toEqual([`${at()}/resume`])
  await olga.send(at(), '/resume', { reason: 'looked' })
  expect(await cards()).toContain('Nothing needs you')
  expect(formsIn((await olga.get(at())).body)).toEqual([])
})

test('that a person has looked at what was left out is said while the batch has yet to go on, too', async () => {
  const header = headerOf(served.accounts.shop, { fileName: 'left-out.csv', fileSha256: 'f'.repeat(64) })
  batch = await submit(served.ledger, served.accounts.shop, [refund('D'), faultyRow(2, 'E')], header)
  const overview = async () => (await olga.get('/')).body
  expect(await overview()).toContain(`<a href="${at()}">resume batch ${batch}</a>`)
  const page = (await olga.get(at())).body
  expect(page).toContain('<h2>Resume, pause or cancel</h2>')
  expect(page).toContain('It is not paused, and goes on as it does. It says that you have looked.')
  await olga.send(at(), '/resume', { reason: 'looked' })
  expect(await overview()).not.toContain(`resume batch ${batch}`)
  expect(await now()).toMatchObject({ hold: 'none', counts: { READY: 1 } })
  expect((await olga.get(at())).body).toContain('<h2>Pause or cancel</h2>')
})

test('result files are for who may take them, and that one took them is kept', async () => {
  expect((await olga.get(`${at()}/results.csv`)).statusCode).toBe(403)
  const rita = await served.as('rita', ['viewer', 'results'])
  const file = await rita.get(`${at()}/results.csv`)
  expect([file.statusCode, file.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8'])
  expect(file.body.trim().split('\n')).toHaveLength(4)
  const acts = await listOf(served.ledger.log(null))
  expect(acts.at(-1)).toMatchObject({ what: 'export', batchId: batch, actor: { kind: 'person', name: 'rita' } })
  expect((await rita.get(at())).body).toContain(`export of ${batch}.results.csv`)
})

test('whoever comes by a link is led there after signing in, and nowhere else', async () => {
  const location = (await served.pages.inject({ url: `${at()}?x=1`, headers: { host: '127.0.0.1' } })).headers.location
  expect(location).toBe(`/sign-in?to=${encodeURIComponent(`${at()}?x=1`)}`)
  for (const to of ['//evil.example', 'https://evil.example', '/\\evil.example', 'javascript:alert(1)', '/x"y']) {
    const { body } = await served.pages.inject({
      url: `/sign-in?to=${encodeURIComponent(to)}`,
      headers: { host: '127.0.0.1' },
    })
    expect(body).toContain('name="to" value="/"')
  }
})
