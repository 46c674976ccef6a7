// Finding one instruction, and its page.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { instructionPath } from '../../src/console/paths.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { claimNamed, factsWith, headerOf, listOf, refund, sale, submit, work } from '../fixtures/ledgers.ts'
import { openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'

const HOSTILE = '<script>alert(1)</script>\u202e'

let served: PagesServed
let batch: BatchId
let vic: Visiting

beforeEach(async () => {
  served = await openPages()
  const { ledger, accounts } = served
  const rows = [refund('R-1', { orderId: '77' }), refund('R-2', { orderId: '77' }), sale('S-1', '900123')]
  batch = await submit(ledger, accounts.shop, rows, headerOf(accounts.shop, { fileName: 'nov.csv' }))
  vic = await served.as('vic', ['viewer'])
})
afterEach(() => served.close())

const find = (q: string) => vic.get(`/find?q=${encodeURIComponent(q)}`)
const pageOf = (reference: string, row: number) => `/instructions?reference=${reference}&batch=${batch}&row=${row}`

test.each(['.', '..', 'a/../b', '?#%2e'])('the reference %j has its page', async (reference) => {
  const { ledger, accounts } = served
  const own = await submit(
    ledger,
    accounts.shop,
    [refund(reference)],
    headerOf(accounts.shop, { fileSha256: 'cc'.repeat(32) }),
  )
  const found = await vic.get(`/find?q=${encodeURIComponent(reference)}`)
  expect(found.headers.location).toBe(instructionPath(reference, { batchId: own, rowNo: 1 }))
  const address = new URL(String(found.headers.location), 'http://127.0.0.1') // as a browser goes there
  const page = await vic.get(`${address.pathname}${address.search}`)
  expect([page.statusCode, page.body]).toEqual([200, expect.stringContaining(`data-copy>${reference}</code>`)])
})

test('what has an id alone is shown at once; what several have is told apart', async () => {
  const { ledger } = served
  await work(ledger, batch, 'R-1', 'APPROVED', { facts: factsWith('7001') })
  for (const q of ['R-1', ' 7001 ', '007001']) expect((await find(q)).headers.location).toBe(pageOf('R-1', 1))
  for (const q of [batch, batch.slice(0, 8), 'nov.csv', 'no'])
    expect((await find(q)).headers.location).toBe(`/batches/${batch}`)
  const { body } = await find('77')
  expect(body).toContain(`href="${pageOf('R-1', 1).replaceAll('&', '&amp;')}"`)
  expect(body).toContain(`href="${pageOf('R-2', 2).replaceAll('&', '&amp;')}"`)
})

test('a file whose name only begins like a reference does not hide the instruction', async () => {
  const { ledger, accounts } = served
  await submit(ledger, accounts.club, [refund('X')], { fileName: 'R-1-again.csv', fileSha256: 'bb'.repeat(32) })
  expect((await find('R-1')).headers.location).toBe(pageOf('R-1', 1))
  expect((await find('R-1-')).headers.location).toMatch(/^\/batches\//)
})

test('what is not found is not said to be unknown, since names are not searched', async () => {
  const { statusCode, body } = await find(HOSTILE)
  expect(statusCode).toBe(200)
  expect(body).toContain(
    'Record ids (result_record_id), order ids of sales in doubt, names of people, amounts and other cells of rows are not',
  )
  expect(body).not.toContain('Not in this ledger')
  expect(body).toContain('It knows what was handed in since <time datetime="2026-05-04T09:00:00.000Z">')
  expect(body).not.toMatch(/<script>alert|\u202e/)
  expect((await vic.get('/find')).body).toContain('Write a reference')
  expect((await vic.get('/find?q=a&q=b')).body).toContain('Write a reference')
})

test('what was looked for is in no log', async () => {
  const lines: string[] = []
  const told = (details: object, message: string) => void lines.push(JSON.stringify({ ...details, message }))
  Object.assign(served.app.log, { debug: told, info: told, warn: told, error: told })
  await find('HIDDEN-REFERENCE')
  await find('R-1')
  await vic.get('/instructions?reference=HIDDEN-REFERENCE')
  await vic.get(pageOf('R-1', 1))
  expect(lines.length).toBeGreaterThan(2)
  expect(lines.join('\n')).not.toMatch(/HIDDEN|R-1/)
})

test('the page of an instruction tells its fate, what was asked and answered, and marks what differs', async () => {
  const facts = factsWith('7001', { amount: '1.0000', currency: 'EUR', orderId: '0077' })
  const warning = `approved EUR 1.00 ${HOSTILE}`
  await work(served.ledger, batch, 'R-1', 'APPROVED', { facts, warning, warnsOfMoney: true, answerText: HOSTILE })
  const { body } = await vic.get(pageOf('R-1', 1))
  for (const shown of [
    'Approved: the gateway executed it.',
    '10.00',
    '1.0000',
    '7001',
    'Warning:',
    'row 1',
    '<dd>2</dd>',
  ])
    expect(body).toContain(shown)
  expect(body.match(/>differs</g)).toHaveLength(1) // 0077 is 77
  expect(body).toContain('The same order')
  expect(body).toContain('R-2')
  expect(body).not.toMatch(/<script>alert|\u202e/)
})

test('the ids of an answer stand each under its name', async () => {
  await work(served.ledger, batch, 'R-1', 'APPROVED', { facts: factsWith('7001', { recordId: '88123' }) })
  const { body } = await vic.get(pageOf('R-1', 1))
  const answered = (name: string) => body.split(/<tr[ >]/).find((row) => row.includes(`>${name}<`)) ?? ''
  expect(answered('Record id')).toContain('88123')
  expect(answered('Transaction id')).toContain('7001')
  expect(answered('Record id')).not.toContain('7001')
})

test.each([
  ['DECLINED', 'Not executed: it was declined.'],
  ['FAILED', 'Not executed.'],
  ['IN_DOUBT', 'Not known: the gateway may have executed it.'],
  ['READY', 'Not executed so far: it waits to be sent.'],
] as const)('one that is %s is told so', async (to, said) => {
  await work(served.ledger, batch, 'R-1', to, { reason: 'as the test says' })
  const { body } = await vic.get('/instructions?reference=R-1')
  expect(body).toContain(said)
  expect(body.includes('Look it up at the gateway')).toBe(to === 'IN_DOUBT')
})

test('one that was being sent when its worker ended is not told as being sent', async () => {
  await claimNamed(served.ledger, batch, 'R-1')
  expect((await vic.get('/instructions?reference=R-1')).body).toContain(
    'Not known: it was being sent when the worker ended',
  )
})

test('a reference of several merchants is asked about, and one is found by its merchant or its row', async () => {
  const { ledger, accounts } = served
  const other = await submit(ledger, accounts.club, [refund('R-1')], { fileSha256: 'cc'.repeat(32) })
  expect((await vic.get('/instructions?reference=R-1')).body).toContain(
    'Several merchants have an instruction of this reference.',
  )
  expect((await vic.get('/instructions?reference=R-1&merchant=club')).body).toContain(`/batches/${other}"`)
  expect((await vic.get(pageOf('R-1', 1))).body).not.toContain(`/batches/${other}"`)
  expect((await vic.get('/instructions?reference=R-1&merchant=other')).statusCode).toBe(404)
})

test('rows that repeat it are beside it, and it is the one that was recorded first', async () => {
  const { ledger, accounts } = served
  const again = await submit(ledger, accounts.shop, [refund('R-1', { orderId: '77' })], { fileSha256: 'dd'.repeat(32) })
  const { body } = await vic.get('/instructions?reference=R-1')
  expect(body).toContain('Other rows of this reference')
  expect(body).toContain(`batch=${again}`)
  expect((await vic.get(`/instructions?reference=R-1&batch=${again}&row=1`)).body).toContain(
    'Not executed here: it repeats a row',
  )
})

test('a reference may hold what an address must not', async () => {
  const { ledger, accounts } = served
  const reference = `2026-12/R 1?&#"'<b>ä/..${'é'.repeat(240)}`
  await submit(ledger, accounts.shop, [refund(reference)], { fileSha256: 'ee'.repeat(32) })
  const { location } = (await find(reference)).headers
  const { statusCode, body } = await vic.get(String(location))
  expect(statusCode).toBe(200)
  expect(body).toContain('2026-12/R 1?&amp;#&quot;&#39;&lt;b&gt;ä/..éé')
})

test('the cells of a row are on its page for who may read names, and that they were read is kept', async () => {
  const { ledger } = served
  const rita = await served.as('rita', ['viewer', 'results'])
  const readings = async () => (await listOf(ledger.log(null))).filter(({ what }) => what === 'export')
  const shown = 'Show the cells of its row'
  expect((await vic.get(pageOf('R-2', 2))).body).not.toContain(shown)
  expect((await vic.get(`${pageOf('R-2', 2)}&cells=1`)).body).not.toContain('As in the file')
  expect((await rita.get(pageOf('R-2', 2))).body).toContain(shown)
  expect(await readings()).toEqual([])
  expect((await rita.get(`${pageOf('R-2', 2)}&cells=1`)).body).toContain('<dt>reference</dt><dd>R-2</dd>')
  expect(await readings()).toMatchObject([{ batchId: batch, details: { kind: 'cells', file: 'R-2', row: 2 } }])
})
