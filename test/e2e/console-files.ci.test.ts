// A file through the pages, by a person: uploaded, looked at, handed in, sent; and who that person is to everybody else.

import { fork } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { IngestProgress } from '../../src/domain/ingest.ts'
import { cardSales } from '../fixtures/cards.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { formIn, visitorAt } from '../fixtures/console-visitor.ts'
import { preparationFor, refundRow, refunds, toCsv } from '../fixtures/files.ts'
import { serveOffice } from '../fixtures/http-office.ts'
import { ENGINES, openOfficeOn } from '../fixtures/office-on.ts'
import { CLI } from '../fixtures/program.ts'

let office: Office
afterEach(() => office.close())

const csv = (text: string, name = 'refunds.csv') => new File([text], name)
const batches = async () => (await office.tranche('status', '--json')).last.batches as { batch: string }[]
const stateOf = async (batch: string) => (await office.tranche('status', batch, '--json')).last.state
const spooled = () => readdirSync(join(office.dataDir, 'spool'))
const idIn = (to: string) => to.split('/').at(-1) as string

test('a person uploads the example, looks at it, types the total, and the worker sends it', async () => {
  office = await openOffice()
  const example = readFileSync('examples/refunds.csv', 'utf8')
  const http = await serveOffice(office)
  const mio = await visitorAt(office, http.url, 'mio', 'submitter')
  const check = await mio.upload(csv(example), { operation: 'REFUND' })
  expect(check.body).toContain('Nothing has been recorded and nothing has been sent.')
  expect(check.body).toContain('Sending begins when you press the button.')
  expect(check.body).toContain('Hand in 5 refunds<')
  const totals = { total: '78,67', total_2: 'USD 120.00' }
  const submit = `${check.at}/submit`
  const wrong = await mio.send(check.at, submit, { ...totals, total_2: '12.00' })
  expect([wrong.status, await batches()]).toEqual([422, []])
  const made = await mio.send(check.at, submit, totals)
  expect(made.status).toBe(303)
  const [only] = await batches()
  expect(made.to).toBe(`/batches/${only?.batch}`)
  const page = await mio.get(made.to)
  expect(page.body).toMatch(/by person mio \([0-9a-f]{16}\) from 127\.0\.0\.1/)
  await office.worker()
  await until('it is done', async () => ['done', 'needs_attention'].includes(await stateOf(idIn(made.to))))
  expect(office.sandbox.received()).toBeGreaterThan(0)
})

test('results through a page are the bytes that the command writes, with every formula guarded', async () => {
  office = await openOffice()
  const formulas = [
    '=HYPERLINK("http://evil.example";"x")',
    '+1+1',
    '-2+3',
    '@SUM(A1)',
    '\t=1',
    "=cmd|'/c calc'!A0",
    'a;=1',
  ]
  const quoted = formulas.map((text) => `"${text.replaceAll('"', '""')}"`)
  const [head = '', ...lines] = toCsv(refunds(formulas.length)).trim().split('\n')
  const table = [`${head},note`, ...lines.map((line, n) => `${line},${quoted[n]}`)]
  const submitted = await office.tranche('submit', await office.put('in.csv', `${table.join('\n')}\n`), '--json')
  expect(submitted.code, submitted.stderr).toBe(0)
  const { batch } = submitted.last
  const http = await serveOffice(office)
  const rita = await visitorAt(office, http.url, 'rita', 'viewer,results')
  for (const form of ['csv', 'jsonl']) {
    const out = office.path(`out.${form}`)
    await office.tranche('results', batch, '--out', out)
    const written = readFileSync(out, 'utf8')
    expect((await rita.get(`/batches/${batch}/results.${form}`)).body).toBe(written)
    const headers = { authorization: `Bearer ${http.key}` }
    const answer = await fetch(`${http.url}/v1/batches/${batch}/results.${form}`, { headers })
    expect(Buffer.from(await answer.arrayBuffer()).equals(readFileSync(out))).toBe(true)
    for (const formula of form === 'csv' ? formulas : []) expect(written).not.toMatch(startsCell(formula))
  }
})

/** As the first of a cell, where a spreadsheet would run it. */
function startsCell(formula: string): RegExp {
  return new RegExp(`(^|[,;\t\n])"?${RegExp.escape(formula.replaceAll('"', '""'))}`, 'm')
}

test('rows of a cancelled batch are sent after all by handing in its results, as the page of its file says', async () => {
  office = await openOffice()
  const http = await serveOffice(office)
  const mio = await visitorAt(office, http.url, 'mio', 'submitter,results')
  const check = await mio.upload(csv(toCsv(refunds(2))))
  const made = await mio.send(check.at, `${check.at}/submit`, { total: '3.02' })
  await office.tranche('cancel', idIn(made.to), '--reason', 'wrong month', '--yes')
  const same = await mio.upload(csv(toCsv(refunds(2))))
  expect(same.body).toContain('No row of this file can be sent')
  expect(same.body).toContain('with “Rows to send once more: cancelled”')
  const results = await mio.get(`${made.to}/results.csv`)
  const plain = await mio.upload(csv(results.body, 'results.csv'))
  expect(plain.body).toContain('No row of this file can be sent')
  const again = await mio.upload(csv(results.body, 'results.csv'), { retry: 'cancelled' })
  expect(again.body).toContain('Hand in 2 refunds<')
  const second = await mio.send(again.at, `${again.at}/submit`, { total: '3.02' })
  expect(second.status).toBe(303)
  expect(await batches()).toHaveLength(2)
})

test('the same form is the same batch, and the same file says which one it is', async () => {
  office = await openOffice()
  const http = await serveOffice(office)
  const mio = await visitorAt(office, http.url, 'mio', 'submitter')
  const check = await mio.upload(csv(toCsv(refunds(2))))
  const fields = { ...formIn(check.body, `${check.at}/submit`), total: '3.02' }
  const sent = await Promise.all([1, 2, 3].map(() => mio.send(check.at, `${check.at}/submit`, fields)))
  expect(new Set(sent.map(({ to }) => to)).size).toBe(1)
  expect(await batches()).toHaveLength(1)
  const again = await mio.upload(csv(toCsv(refunds(2)), 'other-name.csv'))
  expect(again.body).toContain(`This is batch ${idIn(sent[0]?.to ?? '')}, handed in at`)
  expect(again.body).not.toContain(`action="${again.at}/submit"`)
})

test('bad rows are left out by their number, and a column is read as another field', async () => {
  office = await openOffice()
  const http = await serveOffice(office)
  const mio = await visitorAt(office, http.url, 'mio', 'submitter')
  const rows = [...refunds(3), refundRow(4, { amount: 'much' })]
  const renamed = toCsv(rows).replace('request_ref_po_id', 'Vorgang')
  const first = await mio.upload(csv(renamed))
  expect(first.body).toContain('This file cannot be read')
  const mapped = await mio.send(first.at, `${first.at}/again`, { map: 'Vorgang = request_ref_po_id' })
  const check = await mio.read(mapped.to)
  expect(check.body).toContain('3 of 4 rows can be sent · 3 refunds, EUR 6.03 · 1 cannot')
  expect(check.body).toContain('“much”'.replace(/[“”]/g, ''))
  expect((await mio.get(`${check.at}/rejects.csv`)).body).toContain('reject_')
  const submit = `${check.at}/submit`
  for (const typed of [{ total: '6.03' }, { total: '6.03', left_out: '2' }, { left_out: '1' }])
    expect((await mio.send(check.at, submit, typed)).status).toBe(422)
  expect(await batches()).toEqual([])
  const noted = formIn(check.body, `${check.at}/again`)
  const columns = Object.entries(noted).filter(([name]) => name.startsWith('column_'))
  expect(columns.map(([, field]) => field)).toContain('request_ref_po_id')
  expect((await mio.send(check.at, submit, { total: '6.03', left_out: '1' })).status).toBe(303)
  const [only] = await batches()
  expect(await office.tranche('status', only?.batch ?? '', '--json')).toMatchObject({ last: { rows: 4 } })
})

test.each(ENGINES)('what a person hands in waits for somebody else, whoever runs the server, on %s', async (engine) => {
  office = await openOfficeOn(engine)
  office.settings.TRANCHE_CONFIG = await office.put('config.yaml', 'approvals:\n  four_eyes: true\n')
  const rows = refunds(2)
  office.sandbox.prepare(preparationFor(rows))
  const http = await serveOffice(office)
  const both = await visitorAt(office, http.url, 'mio', 'submitter,approver')
  const ken = await visitorAt(office, http.url, 'ken', 'approver')
  const held = { rows: '2', totals: 'EUR 3.02', run_key: 'nov', canary: '1', max_declined: '10' }
  const check = await both.upload(csv(toCsv(rows)), held)
  expect(check.body).toContain('Hand in for approval: 2 refunds, EUR 3.02')
  const made = await both.send(check.at, `${check.at}/submit`)
  expect([made.status, await stateOf(idIn(made.to))]).toEqual([303, 'awaiting_approval'])
  const sheet = (await both.get(made.to)).body
  for (const shown of ['Submitted ', 'by person mio', 'Run key nov', 'Stops after the first 1 row', 'more than 10 %'])
    expect(sheet).toContain(shown)
  const approve = `${made.to}/approve`
  expect(sheet).toContain('You cannot approve it.')
  expect(sheet).not.toContain(`action="${approve}"`)
  const digest = /Digest ([0-9a-f]{64})/.exec(sheet)?.[1] ?? ''
  const { form = '' } = formIn(sheet, `${made.to}/reject`)
  const approveOwn = () => both.post(approve, { form, digest, total: '3.02', reason: 'mine' })
  let own = await approveOwn()
  // A server of PostgreSQL that was started a moment ago decides nothing.
  await until('the ledger decides', async () => {
    if (own.status === 503) own = await approveOwn()
    return own.status !== 503
  })
  expect([own.status, own.body]).toEqual([422, expect.stringContaining('somebody else must approve it')])
  expect((await ken.send(made.to, approve, { total: '3.02', reason: 'looked' })).status).toBe(303)
  await office.worker()
  await until('it stops behind its first row', async () => (await stateOf(idIn(made.to))) === 'paused')
  expect(office.sandbox.received()).toBe(1)
})

test('a file with card data is not kept, and the page says where they are', async () => {
  office = await openOffice()
  const http = await serveOffice(office)
  const mio = await visitorAt(office, http.url, 'mio', 'submitter')
  const check = await mio.upload(csv(cardSales(2)))
  expect(check.body).toMatch(/This file holds card data \(.+\)\. It was not kept\. Nothing was recorded\./)
  expect(spooled()).toEqual([`check-${idIn(check.at)}`])
})

test('a file that is too large is refused by a page that arrives, however much of it is still on its way', async () => {
  office = await openOffice({ env: { TRANCHE_UPLOAD_MIB: '1' } })
  const http = await serveOffice(office)
  const mio = await visitorAt(office, http.url, 'mio', 'submitter')
  const large = await mio.send('/new', '/new', {}, csv('x'.repeat(20_000_000)))
  expect([large.status, large.body]).toEqual([422, expect.stringContaining('must be smaller than 1 MB')])
  expect(spooled()).toEqual([])
})

test('what changed between the look and the button is not recorded', async () => {
  office = await openOffice()
  const http = await serveOffice(office)
  const mio = await visitorAt(office, http.url, 'mio', 'submitter')
  const check = await mio.upload(csv(toCsv(refunds(3))))
  const file = await office.put('one.csv', toCsv(refunds(1)))
  expect((await office.tranche('submit', file)).code).toBe(0)
  const refused = await mio.send(check.at, `${check.at}/submit`, { total: '6.03' })
  expect([refused.status, refused.body]).toEqual([422, expect.stringContaining('is not what you were shown')])
  expect(await batches()).toHaveLength(1)
})

test('look-alikes are ticked one by one, and a tick is for the pair that was shown', async () => {
  office = await openOffice()
  const same = { request_ref_po_id: '5', amount: '3.00' }
  const submitted = async (reference: string) => {
    const file = await office.put(`${reference}.csv`, toCsv([{ ...refundRow(1, same), reference }]))
    const { code, stderr, last } = await office.tranche('submit', file, '--json')
    expect(code, stderr).toBe(0)
    return String(last.batch)
  }
  const first = await submitted('X-1')
  const http = await serveOffice(office)
  const mio = await visitorAt(office, http.url, 'mio', 'submitter')
  const file = csv(toCsv([{ ...refundRow(2, same), reference: 'Y-1' }]))
  const check = await mio.upload(file)
  for (const shown of ['Two different refunds: both are meant', `/batches/${first}`, 'EUR 3.00', 'X-1', 'Y-1'])
    expect(check.body).toContain(shown)
  const pairIn = (body: string) => /name="pair_0" value="([^"]+)"/.exec(body)?.[1] ?? ''
  const submit = `${check.at}/submit`
  expect((await mio.send(check.at, submit, { total: '3.00' })).status).toBe(422)
  // As many look-alikes as before, and another one: what was ticked is not what would be let through.
  expect((await office.tranche('cancel', first, '--reason', 'twice')).code).toBe(0)
  const second = await submitted('X-2')
  const stale = await mio.send(check.at, submit, { total: '3.00', pair_0: pairIn(check.body) })
  expect([stale.status, stale.body]).toEqual([422, expect.stringContaining('are no longer those that you ticked')])
  expect(await batches()).toHaveLength(2)
  const again = await mio.read((await mio.send(check.at, `${check.at}/again`)).to)
  expect(again.body).toContain(`/batches/${second}`)
  const made = await mio.send(again.at, `${again.at}/submit`, { total: '3.00', pair_0: pairIn(again.body) })
  expect([made.status, await batches()]).toEqual([303, expect.objectContaining({ length: 3 })])
})

describe('tranche ingest', () => {
  test('reports progress and the first rows before it says what it found, and of a small file only what it found', async () => {
    office = await openOffice()
    const { key } = (await office.tranche('keys', 'add', 'check', '--scopes', 'files:write', '--json')).last
    const caller = { kind: 'key', secret: String(key) }
    const reported = async (rows: Parameters<typeof toCsv>[0]) => {
      const path = await office.put('in.csv', toCsv(rows))
      const child = fork(CLI, ['ingest'], { env: office.settings, silent: true })
      const progress: IngestProgress[] = []
      child.on('message', (one) => progress.push(one as IngestProgress))
      child.send({ act: 'check', caller, address: '127.0.0.1', path, name: 'in.csv', given: { operation: 'REFUND' } })
      expect(await new Promise((resolve) => child.once('close', resolve))).not.toBe(1)
      return progress
    }
    const told = await reported([refundRow(1, { amount: 'ten' }), ...refunds(3_000, 2)])
    expect(told[0]?.first).toHaveLength(10)
    expect(told[0]?.first[0]).toMatchObject({ line: 2, bad: true, reference: 'R-1', amount: null })
    expect(told[0]?.first[1]).toEqual({
      ...{ line: 3, bad: false, reference: 'R-2', operation: 'REFUND', amount: '2.01', currency: 'EUR' },
      ...{ order_id: '70000002', vault_id: null },
    })
    expect(told.at(-1)).toMatchObject({ rows: 3_001, of: 3_001 })
    expect(await reported(refunds(20))).toEqual([])
  })

  test('records nothing for a session that nobody has, or whose person may not', async () => {
    office = await openOffice()
    expect((await office.tranche('policy', 'adopt', '--reason', 'one person alone')).code).toBe(0)
    const http = await serveOffice(office)
    await visitorAt(office, http.url, 'mio', 'submitter')
    const path = await office.put('in.csv', toCsv(refunds(1)))
    const sha256 = (await office.tranche('check', path, '--json')).last.file_sha256
    const cookieOf = async (name: string, roles: string) => {
      const { url } = (await office.tranche('people', 'add', name, '--roles', roles, '--json')).last
      const headers = { 'sec-fetch-site': 'same-origin' }
      const body = new URLSearchParams({ name, password: 'quiet harbour ladder' })
      await fetch(`${http.url}${new URL(url).pathname}`, { method: 'POST', headers, body, redirect: 'manual' })
      const signedIn = await fetch(`${http.url}/sign-in`, { method: 'POST', headers, body, redirect: 'manual' })
      return /tranche=([\w-]{43})/.exec(signedIn.headers.get('set-cookie') ?? '')?.[1] ?? ''
    }
    const say = async (secret: string, more: object = {}) => {
      const child = fork(CLI, ['ingest'], { env: office.settings, silent: true })
      const file = { act: 'submit', address: '127.0.0.1', path, name: 'in.csv', given: {}, sha256 }
      child.send({ ...file, ...more, caller: { kind: 'person', secret } })
      const said: Buffer[] = []
      child.stdout?.on('data', (chunk: Buffer) => said.push(chunk))
      await new Promise((resolve) => child.once('close', resolve))
      return JSON.parse(Buffer.concat(said).toString())
    }
    expect(await say('A'.repeat(43))).toMatchObject({ error: { code: 'refused' } })
    expect(await say(await cookieOf('vic', 'viewer'))).toMatchObject({ error: { code: 'refused' } })
    const ann = await cookieOf('ann', 'submitter')
    await office.tranche('people', 'revoke', 'ann', '--reason', 'left')
    expect(await say(ann)).toMatchObject({ error: { code: 'refused' } })
    const eve = await cookieOf('eve', 'submitter')
    const told = { rows: 1, totals: [{ operation: 'REFUND', currency: 'EUR', count: 1, amount: '1.01' }] }
    // She was told that somebody must approve it, and nobody has to.
    expect(await say(eve, { told: { ...told, approval: true } })).toMatchObject({ error: { code: 'refused' } })
    expect(await batches()).toEqual([])
    expect(await say(eve, { told: { ...told, approval: false } })).toMatchObject({ kind: 'recorded' })
  })
})
