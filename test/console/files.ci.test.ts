// A person's files at the pages: what is taken, what a check shows, and what is asked of the process that records. A real ledger, spool
// and server; the process is played.

import { readdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LightMyRequestResponse } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Ingest } from '../../src/app/ingest-process.ts'
import { sha256Of } from '../../src/app/people.ts'
import { consoleOf } from '../../src/console/console.ts'
import type { FirstRow, IngestAsked, IngestEnded, IngestProgress } from '../../src/domain/ingest.ts'
import type { GrantName } from '../../src/domain/person.ts'
import type { Server } from '../../src/server/door.ts'
import { buildServer } from '../../src/server/server.ts'
import { formIn } from '../fixtures/console-visitor.ts'
import { CLERK, headerOf, personAt, refund, submit } from '../fixtures/ledgers.ts'
import { addPersonOfOld } from '../fixtures/people.ts'
import { openServed, type Served } from '../fixtures/served.ts'
import { soon } from '../fixtures/soon.ts'

const PASSWORD = 'quiet harbour ladder'
const HOSTILE = '<script>alert(1)</script>"\'&\u202evsc.\u200b'
const MIB = 1024 * 1024
const HOST = { host: '127.0.0.1' }
const POLICY = {
  rules: [{ merchants: null, operations: null, fourEyes: true, bands: {}, rowOver: {} }],
  ...{ expireAfterMs: 86_400_000, osUsers: false },
}

let served: Served
let server: Server
let mio: Visiting
let asked: IngestAsked[]
/** What the process says next. */
let answers: (asking: IngestAsked, tell: (progress: IngestProgress) => void) => Promise<IngestEnded>

beforeEach(async () => {
  asked = []
  answers = async (asking) => found(asking, {})
  const ingest: Ingest = async (asking, _, tell = () => {}) => {
    asked.push(asking)
    return answers(asking, tell)
  }
  served = await openServed({ ingest }, { TRANCHE_UPLOAD_MIB: '1' })
  const { door } = served
  server = await buildServer(door, null, consoleOf({ ...door, isSecure: false, isSandbox: false, rehearsalPeople: [] }))
  mio = await signedIn('mio', ['submitter'])
})
afterEach(async () => {
  await server.close()
  await served.close()
})

type Visiting = { readonly cookie: string }

async function signedIn(name: string, grants: readonly GrantName[]): Promise<Visiting> {
  const link = { sha256: sha256Of(name), untilMs: Date.now() + 60_000 }
  await addPersonOfOld(served.ledger, { id: `p-${name}`, name, grants }, link, personAt('boss'))
  await post(`/join/${name}`, { password: PASSWORD })
  const answer = await post('/sign-in', { name, password: PASSWORD })
  return { cookie: String(answer.headers['set-cookie']).split(';')[0] as string }
}

function post(url: string, fields: Record<string, string>, visiting: object = {}) {
  const headers = { ...HOST, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }
  const payload = new URLSearchParams(fields).toString()
  return server.inject({ method: 'POST', url, payload, headers: { ...headers, ...visiting } })
}
const get = (url: string, visiting: object = mio) =>
  server.inject({ method: 'GET', url, headers: { ...HOST, ...visiting } })

type Part = readonly [name: string, value: string, fileName?: string]

function multipart(parts: readonly Part[], over: Readonly<Record<string, string>> = {}, visiting: object = mio) {
  const body = parts.map(([name, value, fileName]) => {
    const file = fileName === undefined ? '' : `; filename="${fileName}"\r\ncontent-type: text/csv`
    return `--b\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`
  })
  const headers = { ...HOST, 'sec-fetch-site': 'same-origin', 'content-type': 'multipart/form-data; boundary=b' }
  const payload = `${body.join('')}--b--\r\n`
  return server.inject({ method: 'POST', url: '/new', payload, headers: { ...headers, ...visiting, ...over } })
}
const FILE: Part = ['file', 'reference\nR-1\n', 'refunds.csv']
const tokenOf = async (visiting: Visiting = mio) => formIn((await get('/new', visiting)).body, '/new').form as string
const CHOSEN: readonly Part[] = [['merchant', 'shop'] as const, ['operation', 'REFUND'] as const]

/** Resolves to the address of its check. */
async function uploaded(more: readonly Part[] = [], visiting: Visiting = mio): Promise<string> {
  const answer = await multipart([['form', await tokenOf(visiting)], ...CHOSEN, ...more, FILE], {}, visiting)
  expect([answer.statusCode, answer.body]).toEqual([303, ''])
  return String(answer.headers.location)
}

/** The page of a check that is over. */
async function checked(over: object = {}, details: Details = {}, more: readonly Part[] = []): Promise<Checked> {
  answers = async (asking) => found(asking, over, details)
  const at = await uploaded(more)
  const page = await soon(async () => {
    const now = await get(at)
    expect(now.body).not.toContain('http-equiv="refresh"')
    return now
  })
  return { at, page }
}
interface Checked {
  readonly at: string
  readonly page: LightMyRequestResponse
}

interface Details {
  readonly rows?: readonly object[]
  readonly lookalikes?: readonly object[]
}
const ROW = {
  row: 1,
  line: 2,
  status: 'accepted',
  reference: 'R-1',
  operation: 'REFUND',
  amount: '10.00',
  currency: 'EUR',
}
const COLUMNS = { mapped: [{ written: 'Betrag', field: 'amount' }], carried: ['note'] }
const READ = { encoding: 'utf-8', delimiter: ';', decimal: ',', sheet: null, header_row: 1, warnings: [] }
const SUM = { operation: 'REFUND', currency: 'EUR', count: 2, amount: '20.00' }

/** As the process writes it down. */
async function found({ act, given, sha256 }: IngestAsked, over: object, details: Details = {}): Promise<IngestEnded> {
  if (act === 'submit') return { exit: 0, said: { kind: 'recorded', batch: 'B-1' } }
  const { details: folder, rejects, ...reading } = given
  await mkdir(String(folder))
  const rows = details.rows ?? [{ ...ROW, order_id: '7', vault_id: null, due_at: null, cells: ['10,00', 'x'] }]
  for (const [name, items] of Object.entries({ rows, faults: [], lookalikes: details.lookalikes ?? [] }))
    await writeFile(join(String(folder), `${name}.jsonl`), items.map((item) => `${JSON.stringify(item)}\n`).join(''))
  await writeFile(String(rejects), 'reference\n')
  const counts = {
    ...{ rows: 2, accepted: 2, duplicate: 0, invalid: 0, lookalikes: 0 },
    ...{ above_limit: 0, held_by_doubt: 0, faults_total: 0 },
  }
  const extent = {
    operation: 'REFUND',
    currency: 'EUR',
    smallest: { line: 2, amount: '10.00' },
    largest: { line: 3, amount: '10.00' },
  }
  const rest = { again: { repeated: {}, changed: 0 }, cancelled_before: [], causes: [], refusals: [], read: READ }
  const said = {
    ok: true,
    file_sha256: sha256,
    totals: [SUM],
    totals_read: [SUM],
    amounts_unread: 0,
    extents: [extent],
  }
  const columns = { columns: COLUMNS, details_columns: ['Betrag', 'note'] }
  return { exit: 0, said: { ...counts, ...said, ...rest, ...columns, given: reading, ...over } }
}

const spooled = () => readdirSync(join(served.app.config.dataDir, 'spool'))
const submits = () => asked.filter(({ act }) => act === 'submit')
async function handIn({ at, page }: Checked, typed: Record<string, string> = {}, over: Record<string, string> = {}) {
  return post(`${at}/submit`, { ...formIn(page.body, `${at}/submit`), ...typed, ...over }, mio)
}

describe('a form with a file', () => {
  test('is taken with its token first: the file is its sender’s, and its check, too', async () => {
    const { page } = await checked()
    expect(page.body).toContain('2 of 2 rows can be sent · 2 refunds, EUR 20.00')
    expect(asked).toMatchObject([
      {
        act: 'check',
        caller: { kind: 'person', secret: mio.cookie.split('=')[1] },
        given: { merchant: 'shop', operation: 'REFUND' },
      },
    ])
    const [id] = spooled().filter((name) => /^[0-9a-f]{32}$/.test(name))
    expect(await served.spool.upload(String(id))).toMatchObject({ by: 'person:p-mio', name: 'refunds.csv' })
  })

  test.each<[string, (token: string) => readonly Part[]]>([
    ['without its token', () => [...CHOSEN, FILE]],
    ['with the token behind the file', (token) => [...CHOSEN, FILE, ['form', token]]],
    ['with another field before the token', (token) => [...CHOSEN, ['form', token], FILE]],
    ['with the token as a file', (token) => [['form', token, 'x'], ...CHOSEN, FILE]],
    ['with a token that is not ours', () => [['form', `${'A'.repeat(22)}.${'A'.repeat(43)}`], ...CHOSEN, FILE]],
  ])('%s is refused, and nothing of it is kept', async (_, parts) => {
    const answer = await multipart(parts(await tokenOf()))
    expect([answer.statusCode, spooled(), asked]).toEqual([403, [], []])
  })

  test('of another session, of another site or without a session is refused', async () => {
    const eve = await signedIn('eve', ['submitter'])
    const token = await tokenOf(eve)
    const parts: readonly Part[] = [['form', token], ...CHOSEN, FILE]
    expect((await multipart(parts)).statusCode).toBe(403)
    expect((await multipart(parts, { 'sec-fetch-site': 'cross-site' }, eve)).statusCode).toBe(403)
    expect((await multipart(parts, {}, {})).statusCode).toBe(401)
    expect((await post('/new', { form: token, merchant: 'shop' }, eve)).statusCode).toBe(415)
    expect([spooled(), asked]).toEqual([[], []])
  })

  test.each<[string, readonly Part[], string]>([
    ['none was chosen', [...CHOSEN, ['file', '', '']], 'Select a CSV or Excel file'],
    ['there is no file at all', CHOSEN, 'Select a CSV or Excel file'],
    ['it is empty', [...CHOSEN, ['file', '', 'a.csv']], 'The selected file is empty'],
    [
      'it is too large',
      [...CHOSEN, ['file', 'x'.repeat(MIB + 1), 'a.csv']],
      'The selected file must be smaller than 1 MB',
    ],
    ['there are two', [...CHOSEN, FILE, FILE], 'Select one file'],
    ['no merchant was chosen', [['operation', ''], FILE], 'Select a merchant'],
    ['the merchant is none', [['merchant', 'nobody'], ['operation', ''], FILE], 'Select a merchant'],
    ['the operation is none', [['merchant', 'shop'], ['operation', 'PAYOUT'], FILE], 'Select what the rows ask for'],
    ['a total is no amount', [...CHOSEN, ['totals', '1,50'], FILE], 'Totals must be a currency and an amount'],
    ['a count is no number', [...CHOSEN, ['rows', '4 000'], FILE], 'Rows must be a number'],
    ['the time zone is none', [...CHOSEN, ['timezone', 'Mars'], FILE], 'Time zone must be one of the IANA list'],
    ['the canary is none', [...CHOSEN, ['canary', '0'], FILE], 'Stop after the first rows must be a number'],
    ['the share is none', [...CHOSEN, ['max_declined', '100'], FILE], 'Per cent must be a number from 0 to 99'],
    ['the currency is none', [...CHOSEN, ['currency', 'EURO'], FILE], 'Currency must be an ISO code'],
    ['the format climbs', [...CHOSEN, ['format', '../x'], FILE], 'Saved format must be the name of one'],
  ])('is shown again where %s, and nothing of it is kept', async (_, parts, said) => {
    const answer = await multipart([['form', await tokenOf()], ...parts])
    expect([answer.statusCode, answer.body]).toEqual([422, expect.stringContaining(said)])
    expect(answer.body).toContain('The file was not kept. Nothing was recorded.')
    expect([spooled(), asked]).toEqual([[], []])
  })

  test.each(['rows', 'form'])('that names the field %s twice is refused', async (name) => {
    const answer = await multipart([['form', await tokenOf()], ...CHOSEN, [name, '1'], [name, '2'], FILE])
    expect([answer.statusCode, spooled()]).toEqual([400, []])
  })

  test('keeps what was filled in when it is shown again, whatever that was', async () => {
    const answer = await multipart([
      ['form', await tokenOf()],
      ...CHOSEN,
      ['run_key', HOSTILE],
      ['rows', HOSTILE],
      FILE,
    ])
    expect(answer.body).toContain('&lt;script&gt;')
    expect(answer.body).not.toContain('<script>')
    expect(formIn(answer.body, '/new')).toMatchObject({ merchant: 'shop', operation: 'REFUND' })
  })

  test('says how the file is read, what it must hold and how it is sent', async () => {
    const more: readonly Part[] = [
      ...([
        ['rows', '2'],
        ['totals', 'eur 20,00\r\n1.50 USD'],
        ['run_key', '2026-11'],
      ] as const),
      ...([
        ['canary', '5'],
        ['max_declined', '10'],
        ['decimal', ','],
        ['timezone', 'Europe/Berlin'],
      ] as const),
      ...([
        ['map', 'Betrag = amount'],
        ['sign', 'on'],
        ['scale', 'on'],
        ['only_new', 'on'],
        ['sheet', ''],
        ['header_row', '3'],
      ] as const),
    ]
    await checked({}, {}, more)
    const { details: _, rejects: __, ...given } = asked.flatMap((one) => [one.given])[0] as Record<string, unknown>
    expect(given).toEqual({
      ...{ merchant: 'shop', operation: 'REFUND', expectCount: '2', expectTotal: ['EUR=20.00', 'USD=1.50'] },
      ...{ runKey: '2026-11', canary: '5', maxDeclined: '10', decimal: ',', timezone: 'Europe/Berlin' },
      ...{ map: ['Betrag=amount'], sign: 'minus', scale: 'minor', onlyNew: true, headerRow: '3' },
    })
  })
})

describe('a check', () => {
  test('is there for the person who made it, and for nobody else', async () => {
    const { at } = await checked()
    const eve = await signedIn('eve', ['submitter', 'viewer'])
    const vic = await signedIn('vic', ['viewer'])
    expect((await get(at, eve)).statusCode).toBe(404)
    expect((await get(`${at}/rejects.csv`, eve)).statusCode).toBe(404)
    expect((await get(at, vic)).statusCode).toBe(403)
    const { form: token } = formIn((await get('/new', eve)).body, '/new')
    for (const act of ['submit', 'again'])
      expect((await post(`${at}/${act}`, { form: String(token), total: '20.00' }, eve)).statusCode).toBe(404)
    const { key } = await served.key()
    expect((await served.ask('GET', `/v1${at}`, { key })).statusCode).toBe(404)
    expect(submits()).toEqual([])
  })

  test('of a service is not there for a person', async () => {
    const { key } = await served.key()
    const headers = { 'content-type': 'text/csv' }
    const { said: file } = await served.ask('POST', '/v1/files', { key, body: 'reference', headers })
    const { said } = await served.ask('POST', '/v1/checks', { key, body: { file: file.id, merchant: 'shop' } })
    expect((await get(`/checks/${said.check}`)).statusCode).toBe(404)
  })

  test('waits, is read and ends; the page asks again until then', async () => {
    const ends: (() => void)[] = []
    answers = (asking) =>
      new Promise((resolve) => {
        ends.push(() => resolve(found(asking, {})))
      })
    const [first, second] = [await uploaded(), await uploaded()]
    await soon(async () => expect((await get(first)).body).toContain('Reading the file.'))
    const waiting = (await get(second)).body
    for (const shown of ['Waiting to be read.', '<meta http-equiv="refresh" content="1">', 'Nothing has been recorded'])
      expect(waiting).toContain(shown)
    await soon(() => expect(ends).toHaveLength(1))
    ends.shift()?.()
    await soon(async () => expect((await get(first)).body).toContain('Hand in 2 refunds'))
    await soon(() => expect(ends).toHaveLength(1))
    ends.shift()?.()
  })

  test('that takes a while shows how far it is and the first rows, and no button before its verdict', async () => {
    const first: FirstRow = {
      ...{ line: 2, bad: false, reference: `R-1 ${HOSTILE}`, operation: 'REFUND', amount: '10.00' },
      ...{ currency: 'EUR' as FirstRow['currency'], order_id: '77', vault_id: null },
    }
    let tellPage: (progress: IngestProgress) => void = () => {}
    let end = () => {}
    answers = (asking, tell) => {
      tellPage = tell
      return new Promise((resolve) => {
        end = () => resolve(found(asking, {}))
      })
    }
    const at = await uploaded()
    const early = get(at)
    await soon(() => expect(asked).toHaveLength(1))
    tellPage({ rows: 412, of: 1000, first: [first, { ...first, bad: true, reference: 'R-2' }] })
    const page = (await early).body // it waits for its first rows
    for (const shown of [
      'Reading row 412 of 1000.',
      'R-1 &lt;script&gt;',
      '10.00',
      'R-2',
      'bad',
      'Nothing has been recorded',
    ])
      expect(page).toContain(shown)
    for (const not of ['/submit', '/again', '<script>']) expect(page).not.toContain(not)
    tellPage({ rows: 1000, of: 1000, first: [first] })
    expect((await get(at)).body).toContain('All 1000 rows read. Comparing them with the record.')
    end()
    await soon(async () => expect((await get(at)).body).toContain('Hand in 2 refunds'))
  })

  test('of a small file shows its verdict at once', async () => {
    const page = await get(await uploaded())
    expect(page.body).toContain('Hand in 2 refunds')
  })

  test('that found card data says so first, and the file is gone', async () => {
    const refused = {
      rows: undefined,
      code: 'card-data',
      line: 12,
      column: 'note',
      problem: 'it may be a card',
      remedy: 'take it out',
    }
    const { page } = await checked(refused)
    expect(page.body).toContain(
      'This file holds card data (line 12, column note). It was not kept. Nothing was recorded.',
    )
    expect(page.body).toContain('<a href="/new">Hand in the mended file</a>')
    expect(spooled().filter((name) => !name.startsWith('check-'))).toEqual([])
    expect(page.body).not.toContain('/again"')
  })

  test('that lacks columns and holds card data says where cards are stored, and no line that holds none', async () => {
    const refused = {
      rows: undefined,
      code: 'card-data',
      line: 1,
      column: null,
      problem: 'no column amount',
      remedy: 'add it',
    }
    const { page } = await checked(refused)
    expect(page.body).toContain('This file holds card data. It was not kept. Nothing was recorded.')
    expect(page.body).toContain('Cards are stored by tranche vault create FILE (ask whoever runs this server).')
  })

  test('that failed says so, and can be made in another way', async () => {
    const { at, page } = await checked({
      error: { code: 'usage', message: `No sheet ${HOSTILE}. Nothing was recorded.` },
    })
    expect(page.body).toContain('No sheet &lt;script&gt;')
    answers = async (asking) => found(asking, {})
    const again = await post(`${at}/again`, { ...formIn(page.body, `${at}/again`), sheet: 'Tab 2' }, mio)
    expect([again.statusCode, again.headers.location === at]).toEqual([303, false])
    await soon(() => expect(asked[1]?.given).toMatchObject({ sheet: 'Tab 2', merchant: 'shop', operation: 'REFUND' }))
  })

  test('shows how the file was read, and has a column read as something else', async () => {
    const { at, page } = await checked({}, {}, [['map', 'other = ignore']])
    for (const shown of ['a semicolon', 'utf-8', '10,00', 'kept, not sent']) expect(page.body).toContain(shown)
    const fields = formIn(page.body, `${at}/again`)
    expect(fields).toMatchObject({ column_0: 'amount', column_1: '' })
    await post(`${at}/again`, { ...fields, column_0: '', column_1: 'reference' }, mio)
    await soon(() => expect(asked).toHaveLength(2))
    expect(asked[1]?.given.map).toEqual(['other=ignore', 'Betrag=ignore', 'note=reference'])
  })

  test('keeps how it was to be read, where something of it is wrong', async () => {
    const { at, page } = await checked()
    const fields = { ...formIn(page.body, `${at}/again`), column_1: 'reference', timezone: 'Mars', only_new: 'on' }
    const answer = await post(`${at}/again`, fields, mio)
    expect([answer.statusCode, answer.body]).toEqual([422, expect.stringContaining('Time zone must be')])
    expect(formIn(answer.body, `${at}/again`)).toMatchObject({ ...fields, form: expect.any(String) })
    expect(answer.body).toContain('<details open>')
    expect(asked).toHaveLength(1)
  })

  test('shows its rows by the hundred', async () => {
    const rows = Array.from({ length: 150 }, (_, i) => ({ ...ROW, line: i + 2, reference: `R-${i}-`, cells: [] }))
    const { at, page } = await checked({}, { rows })
    expect(page.body).toContain('R-99-')
    expect(page.body).not.toContain('R-100-')
    const [, next = ''] = /\?rows=(\d+)/.exec(page.body) ?? []
    const second = await get(`${at}?rows=${next}`)
    expect(second.body).toContain('R-149-')
    for (const wrong of ['7', '-1', 'x', '999999999999999999'])
      expect((await get(`${at}?rows=${wrong}`)).statusCode).toBe(404)
  })

  test('shows what is hostile in whatever cell, and is not made of it', async () => {
    const cause = {
      rows: 1,
      first_line: 2,
      last_line: 2,
      column: HOSTILE,
      value: HOSTILE,
      same_value: true,
      problem: HOSTILE,
      remedy: HOSTILE,
    }
    const money = { amount: HOSTILE, currency: HOSTILE, order_id: HOSTILE }
    const like = { ...money, batch: HOSTILE, row: 1, line: null, reference: HOSTILE, status: HOSTILE, handed_in: null }
    const pair = {
      ...{ ...money, pair: HOSTILE, line: 2, reference: HOSTILE, operation: 'REFUND', like },
      changed_from: null,
      may_have_run_again: true,
      beside_void: false,
      money_warning: HOSTILE,
      refunded_before: null,
    }
    const row = { ...ROW, reference: HOSTILE, order_id: HOSTILE, cells: [HOSTILE, HOSTILE] }
    const over = {
      ...{
        accepted: 1,
        invalid: 1,
        lookalikes: 1,
        faults_total: 1,
        causes: [cause],
        details_columns: [HOSTILE, 'note'],
      },
      columns: { mapped: [{ written: HOSTILE, field: 'amount' }], carried: [HOSTILE] },
      read: { ...READ, sheet: HOSTILE, encoding: HOSTILE, delimiter: HOSTILE, warnings: [HOSTILE] },
    }
    const { page } = await checked(over, { rows: [row], lookalikes: [pair] }, [
      ['run_key', HOSTILE],
      ['sheet', HOSTILE],
    ])
    expect(page.statusCode).toBe(200)
    expect(page.body.split('&lt;script&gt;').length).toBeGreaterThan(15)
    expect(page.body).not.toContain('<script>')
    expect(page.body).not.toMatch(/[\u202e\u200b]/)
    expect(page.body).toMatch(/<h2 id="faults">.*Hand in the mended file.*<h2[^>]*>Hand in</s)
  })
})

describe('handing in', () => {
  test('asks for the number of rows above the limit of a day, and hands it in with the file', async () => {
    const refusals = [{ kind: 'above-limit', found: 1, allowed: 0 }]
    const check = await checked({ ok: false, above_limit: 1, refusals })
    const form = formIn(check.page.body, `${check.at}/submit`)
    expect(check.page.body).toContain('1 row is above the limit of a whole day')
    for (const typed of ['', '2']) {
      const refused = await handIn(check, form, { total: '20.00', above_limit: typed })
      expect(refused.statusCode).toBe(422)
      expect(refused.body).toContain('not the number of rows above the limit of a day')
    }
    expect((await handIn(check, form, { total: '20.00', above_limit: '1' })).statusCode).toBe(303)
    expect(submits().at(-1)).toMatchObject({ given: { allowAboveLimit: '1' } })
  })

  test('asks for what was shown and nothing else, by the session, once', async () => {
    const check = await checked({ rows: 3, totals_read: [{ ...SUM, count: 3, amount: '25.00' }] })
    const form = formIn(check.page.body, `${check.at}/submit`)
    expect(check.page.body).toContain('Type the total in EUR')
    for (const _ of [1, 2]) {
      const answer = await handIn(check, form, { total: '20.00' })
      expect([answer.statusCode, answer.headers.location]).toEqual([303, '/batches/B-1'])
    }
    expect(submits()).toMatchObject([
      {
        caller: { kind: 'person', secret: mio.cookie.split('=')[1] },
        told: { rows: 2, totals: [SUM], approval: false },
        given: { merchant: 'shop', operation: 'REFUND', expectCount: '3', expectTotal: ['EUR=25.00'] },
      },
    ])
    expect((await handIn(check, form, { total: '20' })).statusCode).toBe(409)
  })

  test.each([
    ['recorded', 'Handed in: 2 refunds, EUR 20.00. Nothing is being sent yet; the reason is below.'],
    [
      'known',
      'This file was handed in before as this batch: nothing was recorded a second time. Nothing is being sent yet;',
    ],
  ])('says at the batch that it was %s, and what that means for the money', async (kind, says) => {
    const check = await checked()
    const rows = [refund('R-1'), refund('R-2')]
    const batch = await submit(served.ledger, served.accounts.shop, rows, headerOf(served.accounts.shop), CLERK)
    answers = async () => ({ exit: 0, said: { kind, batch } })
    const form = formIn(check.page.body, `${check.at}/submit`)
    const told = async () => {
      const answer = await handIn(check, form, { total: '20.00' })
      const cookies = [mio.cookie, ...answer.cookies.map(({ name, value }) => `${name}=${value}`)]
      return (await get(String(answer.headers.location), { cookie: cookies.join('; ') })).body
    }
    expect(await told()).toContain(`autofocus><p>${says}`)
    expect(await told()).toContain(`autofocus><p>You sent this form before. It took effect once, not twice. ${says}`)
  })

  test('two presses at once are one', async () => {
    const check = await checked()
    const form = { ...formIn(check.page.body, `${check.at}/submit`), total: '20.00' }
    const both = await Promise.all([handIn(check, form), handIn(check, form)])
    expect(both.map(({ headers }) => headers.location)).toEqual(['/batches/B-1', '/batches/B-1'])
    expect(submits()).toHaveLength(1)
  })

  test.each(['', '2', '20.0.0', '2 rows', '20.01', 'USD 20.00'])(
    'with %j typed for the total is refused',
    async (total) => {
      const answer = await handIn(await checked(), { total })
      expect([answer.statusCode, answer.body, submits()]).toEqual([
        ...[422, expect.stringContaining('Nothing was recorded and nothing was sent.'), []],
      ])
    },
  )

  test('leaves bad rows out by their number alone', async () => {
    const over = {
      accepted: 2,
      rows: 4,
      invalid: 2,
      ok: false,
      amounts_unread: 1,
      refusals: [{ kind: 'bad-rows', rows: 2 }],
    }
    const check = await checked(over)
    expect(check.page.body).toContain('Leave out 2 rows: type 2')
    for (const left_out of ['', '1', 'on'])
      expect((await handIn(check, { total: '20.00', left_out })).statusCode).toBe(422)
    const again = formIn((await handIn(check, { total: '30.00', left_out: '2' })).body, `${check.at}/submit`)
    expect(again).toMatchObject({ total: '', left_out: '2' })
    expect(submits()).toEqual([])
    expect((await handIn(check, { total: '20.00', left_out: '2' })).statusCode).toBe(303)
    expect(submits()[0]?.given).toMatchObject({ skipInvalid: true, expectCount: '4' })
    expect(submits()[0]?.given).not.toHaveProperty('expectTotal') // what cannot be read adds up to nothing that is known
  })

  const like = { batch: 'B-0', row: 3, line: null, reference: 'OLD-1', status: 'APPROVED', amount: '10.00' }
  const PAIR = {
    ...{
      pair: '1 B-0 3 same',
      row: 1,
      line: 2,
      reference: 'R-1',
      operation: 'REFUND',
      amount: '10.00',
      currency: 'EUR',
    },
    like: { ...like, currency: 'EUR', order_id: '0077', handed_in: '2026-05-01T08:00:00.000Z' },
    ...{
      order_id: '77',
      changed_from: null,
      may_have_run_again: false,
      beside_void: false,
      money_warning: null,
      refunded_before: null,
    },
  }
  const IN_FILE = {
    ...{ ...PAIR, pair: '2 file 1 same', row: 2, line: 3, reference: 'R-2' },
    like: { ...like, batch: null, row: 1, line: 2, reference: 'R-1', status: null, handed_in: null },
  }
  const alike = (n: number) => ({ lookalikes: n, ok: false, refusals: [{ kind: 'lookalikes', found: n, allowed: 0 }] })

  test('shows each pair side by side, and takes it with a tick of its own', async () => {
    const check = await checked(alike(2), { lookalikes: [PAIR, IN_FILE] })
    for (const shown of [
      'OLD-1',
      'href="/batches/B-0"',
      '77',
      '0077',
      'EUR 10.00',
      '2026-05-01 08:00:00 UTC',
      'APPROVED',
    ])
      expect(check.page.body).toContain(shown)
    expect(check.page.body).toContain('Pair 2 of 2: the same operation, amount and order')
    expect(check.page.body.match(/Two different refunds: both are meant/g)).toHaveLength(2)
    expect(formIn(check.page.body, `${check.at}/submit`)).not.toHaveProperty('pair_0') // none is ticked by itself
    const ticks = { pair_0: PAIR.pair, pair_1: IN_FILE.pair }
    for (const wrong of [
      {},
      { lookalikes: '2' },
      { pair_0: PAIR.pair },
      { pair_0: IN_FILE.pair, pair_1: PAIR.pair },
      { pair_0: 'on', pair_1: 'on' },
      { ...ticks, pair_2: PAIR.pair },
    ]) {
      const answer = await handIn(check, { total: '20.00', ...wrong })
      expect([answer.statusCode, answer.body]).toEqual([422, expect.stringContaining('Nothing was recorded')])
    }
    const again = formIn((await handIn(check, { total: '20.00', pair_0: PAIR.pair })).body, `${check.at}/submit`)
    expect([again.pair_0, again.pair_1]).toEqual([PAIR.pair, undefined])
    expect(submits()).toEqual([])
    expect((await handIn(check, { total: '20.00', ...ticks })).statusCode).toBe(303)
    expect(submits()).toMatchObject([{ given: { allowLookalikes: '2' }, told: { pairs: [PAIR.pair, IN_FILE.pair] } }])
  })

  test('takes rows with an execute_at of another year by their number', async () => {
    const refusals = [{ kind: 'execute-at', found: 2, allowed: 0, line: 3, execute_at: '2062-06-01T09:00:00.000Z' }]
    const check = await checked({ ok: false, refusals })
    expect(check.page.body).toContain('2 rows with such an execute_at are meant: type 2')
    for (const execute_at of ['', '1', 'on']) {
      const answer = await handIn(check, { total: '20.00', execute_at })
      expect([answer.statusCode, answer.body]).toEqual([422, expect.stringContaining('Nothing was recorded')])
    }
    expect(submits()).toEqual([])
    expect((await handIn(check, { total: '20.00', execute_at: '2' })).statusCode).toBe(303)
    expect(submits()).toMatchObject([{ given: { allowExecuteAt: '2' } }])
  })

  test('tells whoever records that there was no pair', async () => {
    await handIn(await checked(), { total: '20.00' })
    expect(submits()).toMatchObject([{ told: { pairs: [] } }])
  })

  test('takes more than 50 look-alikes by their number, and shows them by the hundred', async () => {
    const lookalikes = Array.from({ length: 101 }, (_, i) => ({ ...PAIR, pair: `${i} B-0 3 same`, line: i + 2 }))
    const check = await checked(alike(101), { lookalikes })
    expect(check.page.body).toContain('All 101 look-alikes are meant: type 101')
    expect(check.page.body).not.toContain('name="pair_')
    expect(check.page.body).toContain('Line 101: ')
    const [, next = ''] = /\?alike=(\d+)/.exec(check.page.body) ?? []
    expect((await get(`${check.at}?alike=${next}`)).body).toContain('Line 102: ')
    for (const typed of ['', '100']) {
      const answer = await handIn(check, { total: '20.00', lookalikes: typed })
      expect([answer.statusCode, answer.body]).toEqual([422, expect.stringContaining('Nothing was recorded')])
    }
    expect(submits()).toEqual([])
    expect((await handIn(check, { total: '20.00', lookalikes: '101' })).statusCode).toBe(303)
    expect(submits()).toMatchObject([{ given: { allowLookalikes: '101' } }])
    expect(submits()[0]?.told).not.toHaveProperty('pairs')
  })

  test.each(['unidentified', 'correction', 'count', 'total', 'total-unknown', 'currency', 'whatever else'])(
    'is not possible where the file is refused for %s',
    async (kind) => {
      const good = await checked()
      const { form: token } = formIn(good.page.body, `${good.at}/submit`)
      const { at, page } = await checked({
        ok: false,
        refusals: [{ kind, rows: 1, found: 1, expected: 2, known: 1, new: 1 }],
      })
      expect(page.body).not.toContain(`action="${at}/submit"`)
      expect(page.body).not.toContain('rows can be sent')
      const fields = { form: String(token), total: '20.00', left_out: '1', lookalikes: '1' }
      expect((await post(`${at}/submit`, fields, mio)).statusCode).toBe(422)
      expect(submits()).toEqual([])
    },
  )

  test('is not possible where no row can be sent: the first cause comes first', async () => {
    const cause = {
      rows: 2,
      first_line: 2,
      last_line: 3,
      column: 'amount',
      value: 'x',
      same_value: true,
      problem: 'is no amount',
      remedy: 'write one',
    }
    const { page } = await checked({
      accepted: 0,
      invalid: 2,
      totals: [],
      extents: [],
      causes: [cause],
      refusals: [{ kind: 'bad-rows', rows: 2 }],
    })
    expect(page.body.indexOf('2 rows, lines 2 to 3, amount “x”: is no amount. Write one.')).toBeGreaterThan(0)
    expect(page.body).not.toContain('/submit"')
  })

  test('with a policy that asks is for approval, and where that has gone nothing is handed in', async () => {
    await served.ledger.adoptPolicy(POLICY, 'test', CLERK, Date.now())
    const check = await checked()
    expect(check.page.body).toContain('Hand in for approval: 2 refunds, EUR 20.00')
    expect(check.page.body).not.toContain('name="total"')
    await served.ledger.adoptPolicy(null, 'off', CLERK, Date.now())
    expect((await handIn(check)).statusCode).toBe(422)
    expect(submits()).toEqual([])
    await served.ledger.adoptPolicy(POLICY, 'on', CLERK, Date.now())
    expect((await handIn(check)).statusCode).toBe(303)
    expect(submits()).toMatchObject([{ told: { approval: true } }])
  })

  test('says which batch the same file is already', async () => {
    const header = headerOf(served.accounts.shop, {
      ...{ fileSha256: sha256Of(FILE[1]), nowMs: Date.now(), sandbox: false, runKey: null },
    })
    const batch = await submit(served.ledger, served.accounts.shop, [refund('A')], header)
    const { at, page } = await checked()
    expect(page.body).toContain(`This is batch ${batch}, handed in at`)
    expect(page.body).toContain(`<a href="/batches/${batch}">Go there</a>`)
    expect(page.body).not.toContain(`action="${at}/submit"`)
  })

  test.each<[string, IngestEnded, number]>([
    ['was cut short', { exit: null, said: null }, 503],
    ['refuses it', { exit: 7, said: { kind: 'refused', refusals: [] } }, 422],
    ['found another reading', { exit: 7, said: { kind: 'read-otherwise', batch: 'B-9' } }, 409],
    ['found other brakes', { exit: 7, said: { kind: 'braked-otherwise', batch: 'B-9' } }, 409],
    ['found other contents', { exit: 7, said: { kind: 'holds-other', batch: 'B-9', refusals: [] } }, 409],
    ['has a fault', { exit: 7, said: { error: { code: 'refused', message: HOSTILE } } }, 422],
    ['cannot write', { exit: 1, said: { error: { code: 'full', message: 'The disk is full.' } } }, 503],
  ])('whose process %s is told so, and may be tried again', async (_, ended, status) => {
    const check = await checked()
    answers = async () => ended
    const form = { ...formIn(check.page.body, `${check.at}/submit`), total: '20.00' }
    const refused = await handIn(check, form)
    expect([refused.statusCode, refused.body.includes('<script>')]).toEqual([status, false])
    answers = async (asking) => found(asking, {})
    expect((await handIn(check, form)).statusCode).toBe(303)
  })
})

test('only who hands in files is offered to', async () => {
  const vic = await signedIn('vic', ['viewer', 'approver', 'operator'])
  expect((await get('/', vic)).body).not.toContain('href="/new"')
  expect((await get('/new', vic)).statusCode).toBe(403)
  const page = (await get('/new')).body
  expect(formIn(page, '/new')).not.toHaveProperty('merchant') // of several none is chosen
  expect(page.indexOf('name="form"')).toBeLessThan(page.indexOf('name="merchant"'))
})
