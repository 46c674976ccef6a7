// A file over HTTP, from the upload to its results: on both engines, and with servers that are killed on the way.

import { execFile, fork } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { cardSales } from '../fixtures/cards.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { preparationFor, refundRow, refunds, toCsv } from '../fixtures/files.ts'
import { type HttpOffice, newKey, serveOffice } from '../fixtures/http-office.ts'
import { ENGINES, openOfficeOn } from '../fixtures/office-on.ts'
import { CLI } from '../fixtures/program.ts'
import { partsOf, zip } from '../ingest/sheets.ts'

let office: Office
afterEach(() => office.close())

const batches = async () => (await office.tranche('status', '--json')).last.batches as { batch: string }[]
const spooled = () => readdirSync(join(office.dataDir, 'spool'))

describe.each(ENGINES)('on %s', (engine) => {
  test('a file is uploaded, checked, handed in once, sent and reconciled', async () => {
    office = await openOfficeOn(engine)
    const rows = refunds(5)
    office.sandbox.prepare(preparationFor(rows))
    const http = await serveOffice(office)
    const file = await http.upload(toCsv([...rows, refundRow(6, { amount: 'x' })]))
    const checked = await http.check(file, { skip_invalid: true })
    expect(checked).toMatchObject({ state: 'done', ok: true, review: { rows: 6, accepted: 5, invalid: 1 } })
    const page = await http.get(`/v1/checks/${checked.check}/rows?limit=4`)
    const rest = await http.get(`/v1/checks/${checked.check}/rows?limit=4&cursor=${page.said.next_cursor}`)
    expect([...page.said.data, ...rest.said.data].map(({ row, status }) => [row, status])).toEqual([
      ...[1, 2, 3, 4, 5].map((row) => [row, 'accepted']),
      [6, 'invalid'],
    ])
    expect(rest.said.next_cursor).toBeNull()
    const faults = await http.get(`/v1/checks/${checked.check}/faults`)
    expect(faults.said.data).toMatchObject([{ row: 6, column: 'amount' }])
    expect((await http.get(`/v1/checks/${checked.check}/rejects.csv`)).text).toContain('reject_')

    const total = checked.review.totals_read[0].amount
    const asked = { check: checked.check, expect: { count: 6, totals: { EUR: total } } }
    const unread = await http.post('/v1/batches', asked)
    expect([unread.status, unread.said.errors[0].field]).toEqual([422, 'total-unknown'])
    const good = await http.check(await http.upload(toCsv(rows)))
    const right = { check: good.check, expect: { count: 5, totals: { EUR: good.review.totals_read[0].amount } } }
    const wrong = await http.post('/v1/batches', { ...right, expect: { count: 4, totals: { EUR: '1.00' } } })
    expect([wrong.status, wrong.said.errors.map(({ field }: { field: string }) => field)]).toEqual([
      ...[422, ['count', 'total']],
    ])
    const none = await http.post('/v1/batches', { ...right, expect: { count: 5, totals: {} } })
    expect([none.status, (await batches()).length]).toEqual([422, 0])

    const made = await http.post('/v1/batches', right, 'one')
    const again = await http.post('/v1/batches', right, 'one')
    const same = await http.post('/v1/batches', right, 'two')
    expect([made, again, same].map(({ status, said, replayed }) => [status, said.batch, replayed])).toEqual([
      [201, made.said.batch, null],
      [201, made.said.batch, 'true'],
      [200, made.said.batch, null],
    ])
    expect(made.said).toMatchObject({
      file: 'refunds.csv',
      rows: 5,
      recorded_by: expect.stringMatching(/^key billing/),
    })

    await office.worker()
    await until('it is done', async () => (await http.get(`/v1/batches/${made.said.batch}`)).said.state === 'done')
    const { text } = await http.get(`/v1/batches/${made.said.batch}/results.csv`)
    expect(text.match(/APPROVED/g)?.length).toBeGreaterThanOrEqual(5)
    expect(office.sandbox.received()).toBe(5)
  })
})

test('other bytes than those that were checked are no batch', async () => {
  office = await openOffice()
  const http = await serveOffice(office)
  const file = await http.upload(toCsv(refunds(2)))
  const { check, review } = await http.check(file)
  const path = join(office.dataDir, 'spool', file)
  writeFileSync(path, readFileSync(path, 'utf8').replace('R-1', 'R-7'))
  const expected = { count: 2, totals: { EUR: review.totals_read[0].amount } }
  const { status, said } = await http.post('/v1/batches', { check, expect: expected })
  expect([status, said.code, await batches()]).toEqual([422, 'file_refused', []])
  expect(said.detail).toContain('its bytes have changed')
})

test('a file with card data is removed at once', async () => {
  office = await openOffice()
  const http = await serveOffice(office)
  const file = await http.upload(cardSales(2))
  const checked = await http.check(file)
  expect(checked).toMatchObject({ state: 'refused', refused: { code: 'card-data' } })
  expect(spooled()).toEqual([`check-${checked.check}`])
  expect((await http.get(`/v1/checks/${checked.check}/rows`)).status).toBe(409)
})

test('a workbook that is a bomb is refused, and the server is as it was', async () => {
  office = await openOffice()
  const http = await serveOffice(office)
  const residentKiB = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${http.server.pid}/status`, 'utf8'))?.[1])
  const before = residentKiB()
  const bomb = zip(
    { ...partsOf({ Sheet1: '' }), 'xl/worksheets/sheet1.xml': Buffer.alloc(100_000_000, 'a') },
    { level: 1 },
  )
  const checked = await http.check(await http.upload(bomb, 'bomb.xlsx'))
  expect(checked).toMatchObject({ state: 'refused', refused: { code: 'structure' } })
  expect(residentKiB() - before).toBeLessThan(50 * 1024)
  expect((await http.get('/v1/batches/none')).status).toBe(404)
})

test('what a batch waits for is in the answer, and neither its key nor whoever made that can give it', async () => {
  office = await openOffice()
  const config = await office.put('config.yaml', 'approvals:\n  four_eyes: true\n')
  office.settings.TRANCHE_CONFIG = config
  const http = await serveOffice(office)
  const { check, review } = await http.check(await http.upload(toCsv(refunds(2))))
  const expected = { count: 2, totals: { EUR: review.totals_read[0].amount } }
  const { status, said } = await http.post('/v1/batches', { check, expect: expected })
  expect([status, said.state, said.approval]).toMatchObject([201, 'awaiting_approval', { needed: 1, given: 0 }])
  expect((await http.post('/v1/batches', { check, expect: expected })).said.state).toBe('awaiting_approval')
  const { approval } = (await office.tranche('status', said.batch, '--json')).last
  const made = await office.tranche('approve', said.batch, '--digest', approval.digest, '--reason', 'ok')
  expect([made.code, made.stderr]).toEqual([2, expect.stringContaining('made the key')])
})

test('examples/curl-file.sh goes through the life of a file, and hands in none that was refused', async () => {
  office = await openOffice()
  const rows = refunds(3)
  office.sandbox.prepare(preparationFor(rows))
  const http = await serveOffice(office)
  await office.worker()
  const lines = rows.map((row) => [row.request_ref_po_id, row.amount, row.request_currency].join())
  const text = ['request_ref_po_id,amount,request_currency', ...lines].join('\n')
  const file = await office.put('in.csv', text)
  const { review } = await http.check(await http.upload(toCsv(rows)))
  const env = { ...process.env, TRANCHE_API: http.url, TRANCHE_KEY: http.key }
  const total = `EUR=${review.totals_read[0].amount}`
  const curlFile = (...more: string[]) =>
    promisify(execFile)('sh', ['examples/curl-file.sh', file, '3', total, ...more], { env })
  await expect(curlFile()).rejects.toMatchObject({ code: 1, stdout: expect.not.stringContaining('Hand it in') })
  const { stdout } = await curlFile('REFUND')
  expect(stdout).toMatch(/^done$/m)
  expect(stdout.match(/,APPROVED,/g)).toHaveLength(3)
})

describe('tranche ingest', () => {
  test('is for the server alone', async () => {
    office = await openOffice()
    const { code, stderr } = await office.tranche('ingest')
    expect([code, stderr]).toEqual([2, expect.stringContaining('for tranche serve alone')])
  })

  test('records nothing for a key that nobody has shown it', async () => {
    office = await openOffice()
    const key = await newKey(office)
    const path = await office.put('in.csv', toCsv(refunds(1)))
    const asked = { act: 'submit', address: '127.0.0.1', path, name: 'in.csv', given: {} }
    const sha256 = (await office.tranche('check', path, '--json')).last.file_sha256
    const say = async (shown: string) => {
      const child = fork(CLI, ['ingest'], { env: office.settings, silent: true })
      child.send({ ...asked, sha256, caller: { kind: 'key', secret: shown } })
      const said: Buffer[] = []
      child.stdout?.on('data', (chunk: Buffer) => said.push(chunk))
      await new Promise((resolve) => child.once('close', resolve))
      return JSON.parse(Buffer.concat(said).toString())
    }
    const last = key.endsWith('0') ? '1' : '0'
    expect(await say(key.slice(0, -1) + last)).toMatchObject({ error: { code: 'refused' } })
    const id = key.slice(4, 12)
    await office.tranche('keys', 'revoke', id, '--reason', 'lost')
    expect(await say(key)).toMatchObject({ error: { code: 'refused' } })
    expect(await batches()).toEqual([])
  })
})

describe('a server that is killed', () => {
  async function again(key: string): Promise<HttpOffice> {
    return serveOffice(office, { key })
  }

  test('in the middle of an upload leaves nothing of it', async () => {
    office = await openOffice()
    const first = await serveOffice(office)
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from('reference\n')),
    })
    const headers = { authorization: `Bearer ${first.key}`, 'content-type': 'text/csv' }
    const sending = fetch(`${first.url}/v1/files`, { method: 'POST', body, headers, duplex: 'half' } as RequestInit)
    const gone = sending.catch(() => {})
    await until('it is on its way', () => spooled().length === 1)
    first.server.kill('SIGKILL')
    await Promise.all([gone, first.server.ended])
    await again(first.key)
    expect(spooled()).toEqual([])
  })

  test('in the middle of a check says so, and keeps nothing of it', async () => {
    office = await openOffice()
    const first = await serveOffice(office)
    const file = await first.upload(toCsv(refunds(20_000)))
    const { said } = await first.post('/v1/checks', { file })
    await until('it is read', async () => (await first.get(`/v1/checks/${said.check}`)).said.state === 'reading')
    first.server.kill('SIGKILL')
    await first.server.ended
    const second = await again(first.key)
    expect((await second.get(`/v1/checks/${said.check}`)).said).toMatchObject({ state: 'failed' })
    expect(readdirSync(join(office.dataDir, 'spool', `check-${said.check}`))).toEqual(['check.json'])
    expect(await second.check(file)).toMatchObject({ state: 'done' })
  })

  test.each([0, 150, 300, 450, 600, 800])('%i ms into handing in makes one batch at most', async (ms) => {
    office = await openOffice()
    const first = await serveOffice(office)
    const { check, review } = await first.check(await first.upload(toCsv(refunds(300))))
    const asked = { check, expect: { count: 300, totals: { EUR: review.totals_read[0].amount } } }
    const gone = first.post('/v1/batches', asked, 'one').catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, ms)) // where it is killed, not what is waited for
    first.server.kill('SIGKILL')
    await Promise.all([gone, first.server.ended])
    const second = await again(first.key)
    const { status, said } = await second.post('/v1/batches', asked, 'one')
    expect([200, 201]).toContain(status)
    expect((await batches()).map(({ batch }) => batch)).toEqual([said.batch])
    expect(existsSync(join(office.dataDir, 'spool'))).toBe(true)
  })
})
