// A worklist that was filled in, at its pages: what it would change is shown, nothing is recorded before, and then each line once.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import { STEP_UP_MS } from '../../src/domain/person.ts'
import { CLERK, claimNamed, findingOn, headerOf, refund, rowIn, settle, submit } from '../fixtures/ledgers.ts'
import { formsIn, openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'

const HOSTILE = '<script>alert(1)</script>\u202e'
const REST_MS = 900_000
const HEADER = 'reference,attempt,merchant,batch,row,resolution,resolution_transaction_id,resolution_reason'

let served: PagesServed
let batch: BatchId
let olga: Visiting

beforeEach(async () => {
  served = await openPages()
  const { ledger, accounts } = served
  const rows = ['R-1', 'R-2', 'R-3', 'R-4'].map((reference, i) =>
    refund(reference, { amountMinor: 1_000n + BigInt(i) }),
  )
  batch = await submit(ledger, accounts.shop, rows, headerOf(accounts.shop, { nowMs: Date.now() - 2 * REST_MS }))
  for (const reference of ['R-1', 'R-2']) await intoDoubt(reference, REST_MS + 60_000)
  await intoDoubt('R-3', 0)
  olga = await served.as('olga', ['operator'])
})
afterEach(() => served.close())

async function intoDoubt(reference: string, agoMs: number): Promise<void> {
  const nowMs = Date.now() - agoMs
  const claimed = await claimNamed(served.ledger, batch, reference, nowMs)
  await settle(served.ledger, claimed, 'IN_DOUBT', { atMs: nowMs, sentAtMs: nowMs, reason: 'no answer' })
}

const stateOf = async (reference: string) => (await rowIn(served.ledger, batch, reference)).state
const states = () => Promise.all(['R-1', 'R-2', 'R-3'].map(stateOf))
const DOUBTS = ['IN_DOUBT', 'IN_DOUBT', 'IN_DOUBT']
const lineOf = (
  no: number,
  found: string,
  { attempt = 1, transaction = '', reason = 'in the portal', row = no } = {},
) => `R-${no},${attempt},shop,${batch},${row},${found},${transaction},${reason}`
const fileOf = (...lines: readonly string[]) => `${[HEADER, ...lines].join('\r\n')}\r\n`
const inSpool = () => readdirSync(join(served.dir, 'd', 'spool'))

async function upload(text: string, { by = olga, name = 'doubts.csv', token = true } = {}) {
  const shown = (await by.get('/doubts')).body
  const form =
    /action="\/doubts\/worklists"[^>]*><input type="hidden" name="form" value="([^"]*)"/.exec(shown)?.[1] ?? ''
  const parts = [
    ...(token ? [`content-disposition: form-data; name="form"\r\n\r\n${form}`] : []),
    `content-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: text/csv\r\n\r\n${text}`,
  ]
  const headers = {
    ...{ host: '127.0.0.1', cookie: by.cookie, 'sec-fetch-site': 'same-origin' },
    'content-type': 'multipart/form-data; boundary=b',
  }
  const payload = `${parts.map((part) => `--b\r\n${part}\r\n`).join('')}--b--\r\n`
  return served.pages.inject({ method: 'POST', url: '/doubts/worklists', payload, headers })
}

/** The page of the file, with its form. */
async function uploaded(...lines: readonly string[]) {
  const path = String((await upload(fileOf(...lines))).headers.location)
  const { body } = await olga.get(path)
  return { path, body, form: formsIn(body).find(({ action }) => action.endsWith('/record')) }
}
type Shown = Awaited<ReturnType<typeof uploaded>>

const press = ({ form }: Shown, over: Readonly<Record<string, string>> = {}) =>
  olga.post(form?.action ?? '', { ...form?.fields, ...over })

test('what the file would change is shown with its amounts, and nothing of it is recorded', async () => {
  const { body } = await uploaded(
    lineOf(1, 'approved', { transaction: '7001' }),
    lineOf(2, 'not-executed'),
    lineOf(3, ''),
  )
  for (const shown of [
    '2 lines would be recorded · 1 left blank',
    'Nothing has been recorded yet.',
    '10.00 EUR',
    '<code data-copy>7001</code>',
    'This refund becomes APPROVED',
    'becomes FAILED: not executed. If it is executed after all, money moves',
    'Record what was found about 2 refunds, EUR 20.01',
    '1 refund, EUR 10.01',
  ])
    expect(body).toContain(shown)
  expect(await states()).toEqual(DOUBTS)
})

test('the button records each line, with its reason or the one for all, and the page shows what the record holds', async () => {
  const shown = await uploaded(lineOf(1, 'approved', { transaction: '7001' }), lineOf(2, 'declined', { reason: '' }))
  const answer = await press(shown, { reason: 'seen by all' })
  expect(answer.headers.location).toBe(shown.path)
  const cookie = [olga.cookie, ...answer.cookies.map(({ name, value }) => `${name}=${value}`)].join('; ')
  expect((await served.pages.inject({ url: shown.path, headers: { host: '127.0.0.1', cookie } })).body).toContain(
    'autofocus><p>2 rows were recorded as you found them: nothing of that is sent again.</p>',
  )
  expect(await states()).toEqual(['APPROVED', 'DECLINED', 'IN_DOUBT'])
  expect(await rowIn(served.ledger, batch, 'R-1')).toMatchObject({ facts: { transactionId: '7001' } })
  expect((await rowIn(served.ledger, batch, 'R-1')).reason).toMatch(/^approved by .*olga.*: in the portal$/)
  expect((await rowIn(served.ledger, batch, 'R-2')).reason).toMatch(/: seen by all$/)
  const { body } = await olga.get(shown.path)
  for (const told of ['2 recorded', 'APPROVED', 'DECLINED', 'olga']) expect(body).toContain(told)
  expect(formsIn(body)).toEqual([])
})

test('a reason is asked for where a line gives none, and only there', async () => {
  const shown = await uploaded(lineOf(1, 'approved', { reason: '' }))
  expect((await press(shown)).statusCode).toBe(422)
  expect((await press(shown, { reason: 'card 4111111111111111' })).statusCode).toBe(422)
  expect(await states()).toEqual(DOUBTS)
  expect((await uploaded(lineOf(1, 'approved'))).body).not.toContain('name="reason"')
})

test('what the ledger would refuse is said line by line, and the others are recorded', async () => {
  const shown = await uploaded(
    lineOf(1, 'approved'),
    lineOf(2, 'approved', { attempt: 2 }),
    lineOf(3, 'not-executed'),
    'R-9,1,shop,,,approved,,x',
    `R-4,1,shop,${batch},4,approved,,x`,
  )
  for (const why of [
    '1 line would be recorded · 4 not recorded',
    'is in doubt about attempt 1, not about 2',
    'may still be executed',
    'There is no instruction',
    'is not in doubt: it is PENDING',
  ])
    expect(shown.body).toContain(why)
  await press(shown)
  expect(await states()).toEqual(['APPROVED', 'IN_DOUBT', 'IN_DOUBT'])
  expect((await olga.get(shown.path)).body).toContain('1 recorded · 4 not recorded')
})

test('a transaction settles one row, of those in the file too', async () => {
  const { body } = await uploaded(
    lineOf(1, 'approved', { transaction: '7001' }),
    lineOf(2, 'approved', { transaction: '7001' }),
  )
  expect(body).toContain('Transaction 7001 settled R-1 already')
  expect(body).toContain('Record what was found about 1 refund, EUR 10.00')
})

test('a file that is sent twice has its effect once, line by line', async () => {
  const shown = await uploaded(lineOf(1, 'send-again'), lineOf(2, 'declined'))
  await press(shown)
  expect(await states()).toEqual(['READY', 'DECLINED', 'IN_DOUBT'])
  // Sent again, it is in doubt once more; and what the record holds of R-2 was corrected.
  await intoDoubt('R-1', 0)
  await served.ledger.resolve(findingOn('R-2', { finding: 'approved', corrects: true }), CLERK, Date.now())
  const again = await press(shown)
  expect(again.headers.location).toBe(shown.path)
  const cookie = [olga.cookie, ...again.cookies.map(({ name, value }) => `${name}=${value}`)].join('; ')
  expect((await served.pages.inject({ url: shown.path, headers: { host: '127.0.0.1', cookie } })).body).toContain(
    'autofocus><p>You sent this form before. It took effect once, not twice. What became of each line is below.</p>',
  )
  expect(await states()).toEqual(['IN_DOUBT', 'APPROVED', 'IN_DOUBT'])
  expect((await press(shown, { shown: `3.2.records.${batch}` })).statusCode).toBe(409)
})

describe('what was shown is what is acted on', () => {
  test('a row that somebody resolved meanwhile stays, and the others are recorded', async () => {
    const shown = await uploaded(lineOf(1, 'approved'), lineOf(2, 'approved'))
    await served.ledger.resolve(findingOn('R-1', { finding: 'declined' }), CLERK, Date.now())
    await press(shown)
    expect(await states()).toEqual(['DECLINED', 'APPROVED', 'IN_DOUBT'])
    expect((await olga.get(shown.path)).body).toContain('is not in doubt: it is DECLINED, as a person found')
  })

  test('a row that is in doubt about another attempt by now stays', async () => {
    const shown = await uploaded(lineOf(1, 'approved'), lineOf(2, 'approved'))
    await served.ledger.resolve(findingOn('R-1', { finding: 'send-again' }), CLERK, Date.now())
    await intoDoubt('R-1', 0)
    await press(shown)
    expect(await states()).toEqual(['IN_DOUBT', 'APPROVED', 'IN_DOUBT'])
  })

  test('another row that came under the reference, or one that could not be recorded then, stays', async () => {
    const shown = await uploaded('R-1,1,,,,approved,,x', lineOf(3, 'not-executed'), lineOf(2, 'declined'))
    await served.ledger.resolve(findingOn('R-1', { finding: 'not-executed' }), CLERK, Date.now())
    const header = headerOf(served.accounts.shop, { nowMs: Date.now() - REST_MS, fileSha256: 'b'.repeat(64) })
    const retry = await submit(served.ledger, served.accounts.shop, [refund('R-1', { amountMinor: 1_000n })], {
      ...header,
      retry: ['FAILED'],
    })
    const claimed = await claimNamed(served.ledger, retry, 'R-1', Date.now())
    await settle(served.ledger, claimed, 'IN_DOUBT', { atMs: Date.now(), sentAtMs: Date.now() })
    served.ahead(REST_MS)
    await press(shown)
    expect((await rowIn(served.ledger, retry, 'R-1')).state).toBe('IN_DOUBT')
    expect(await states()).toEqual(['FAILED', 'DECLINED', 'IN_DOUBT'])
  })

  test('a form that does not say of which rows it is changes nothing', async () => {
    const shown = await uploaded(lineOf(1, 'approved'))
    for (const said of ['', 'x', '2.0.b', `2.1.${batch} `])
      expect((await press(shown, { shown: said })).statusCode).toBe(400)
    expect(await states()).toEqual(DOUBTS)
  })
})

test('to have rows sent once more takes a password that was shown a moment ago, and is said by the button', async () => {
  const shown = await uploaded(lineOf(1, 'send-again'), lineOf(2, 'approved'))
  expect(shown.body).toContain('the customer gets EUR 10.00 twice')
  expect(shown.body).toContain(
    'Record what was found about 1 refund, EUR 10.01, and send 1 refund, EUR 10.00, once more',
  )
  served.ahead(STEP_UP_MS + 1)
  const stale = (await olga.get(shown.path)).body
  expect(stale).toContain(`<a href="/step-up?to=${encodeURIComponent(shown.path)}">show your password again</a>`)
  expect(formsIn(stale)).toEqual([])
  expect((await press(shown)).headers.location).toBe(`/step-up?to=${encodeURIComponent(shown.path)}`)
  expect(await states()).toEqual(DOUBTS)
  served.ahead(0)
  await press(shown)
  expect(await states()).toEqual(['READY', 'APPROVED', 'IN_DOUBT'])
})

describe('a file that cannot be read so is not kept, and says why', () => {
  test.each<readonly [string, () => string, readonly string[]]>([
    ['a wrong word', () => fileOf(lineOf(1, 'maybe'), lineOf(2, 'approved')), ['resolution', 'not a valid resolution']],
    ['a row twice', () => fileOf(lineOf(1, 'approved'), lineOf(1, 'declined')), ['it is in line 2 already']],
    ['no columns', () => 'a,b\n1,2\n', ['Line 1: the file has no column']],
    ['a workbook', () => 'PK\u0003\u0004zip', ['not CSV']],
    ['nothing filled in', () => fileOf(lineOf(1, ''), lineOf(2, '')), ['No line says what was found']],
    [
      'a card number',
      () => fileOf(lineOf(1, 'approved', { reason: 'card 4111111111111111' })),
      ['holds a card number'],
    ],
    [
      'a card number beside',
      () => `${HEADER},note\n${lineOf(1, 'approved')},4111 1111 1111 1111\n${lineOf(2, 'approved')},\n`,
      ['holds a card number'],
    ],
    [
      'too many lines',
      () => fileOf(...Array.from({ length: 501 }, (_, i) => `R-${i},1,shop,,,approved,,x`)),
      ['501 lines', 'a page takes 500'],
    ],
    ['nothing', () => '', ['is empty']],
    ['too much', () => `${HEADER}\n${'x'.repeat(4 * 1024 * 1024)}`, ['smaller than 4 MB']],
  ])('%s', async (_, text, said) => {
    const answer = await upload(text())
    expect(answer.statusCode).toBe(422)
    for (const told of [...said, 'Nothing was recorded.']) expect(answer.body).toContain(told)
    expect(answer.body).not.toContain('4111')
    expect(inSpool()).toEqual([])
    expect(await states()).toEqual(DOUBTS)
  })

  test('no file', async () => {
    expect((await upload('', { name: '' })).body).toContain('Select the CSV file that was filled in')
  })

  test('a form that is none of ours', async () => {
    expect((await upload(fileOf(lineOf(1, 'approved')), { token: false })).statusCode).toBe(403)
    expect(inSpool()).toEqual([])
  })
})

test('ids that happen to look like card numbers are ids', async () => {
  const text = `reference,attempt,order_id,resolution,resolution_transaction_id,resolution_reason\nR-1,1,4111111111111111,approved,4111111111111111,x\n`
  expect((await upload(text)).statusCode).toBe(303)
})

test('the file is of who chose it, for a day', async () => {
  const shown = await uploaded(lineOf(1, 'approved'))
  const otto = await served.as('otto', ['operator'])
  expect((await otto.get(shown.path)).statusCode).toBe(404)
  const own = await otto.get('/doubts')
  const token = /name="form" value="([^"]*)"/.exec(own.body)?.[1] ?? ''
  expect((await otto.post(`${shown.path}/record`, { ...shown.form?.fields, form: token })).statusCode).toBe(404)
  expect(await states()).toEqual(DOUBTS)
})

test('names and texts of the file are no part of the page', async () => {
  const text = fileOf(lineOf(1, 'approved', { reason: HOSTILE }), `${HOSTILE},1,shop,,,approved,,x`)
  const path = String((await upload(text, { name: '<b>x.csv' })).headers.location)
  const { body } = await olga.get(path)
  expect(body).not.toMatch(/<script>|<b>|\u202e/)
  expect(body).toContain('&lt;b&gt;')
})

test('a viewer is shown no form for it', async () => {
  const vic = await served.as('vic', ['viewer'])
  expect((await vic.get('/doubts')).body).not.toContain('/doubts/worklists')
})

test('a file that only proposes is not said to have recorded nothing', async () => {
  await served.as('anna', ['approver'])
  const shown = await uploaded(lineOf(1, 'send-again'))
  await press(shown)
  const { body } = await olga.get(shown.path)
  expect(body).toContain('1 proposed')
  expect(body).not.toContain('Nothing has been recorded yet.')
  expect(body).not.toContain('not recorded')
})

test('a file that only proposes sends nothing when one word has become enough meanwhile', async () => {
  await served.as('anna', ['approver'])
  const shown = await uploaded(lineOf(1, 'send-again'), lineOf(2, 'declined'))
  await served.ledger.adoptPolicy(null, 'test', CLERK, Date.now())
  await press(shown)
  expect(await states()).toEqual(['IN_DOUBT', 'DECLINED', 'IN_DOUBT'])
})

test('where approvals are in force, a file proposes that a row be sent again, and confirms nobody’s proposal', async () => {
  await served.as('anna', ['approver'])
  const shown = await uploaded(lineOf(1, 'send-again'), lineOf(2, 'declined'))
  expect(shown.body).toContain(
    'Record what was found about 1 refund, EUR 10.01, and propose to send 1 refund, EUR 10.00, once more</button>',
  )
  expect(shown.body).toContain('nothing is sent before another person confirms it')
  await press(shown)
  expect(await states()).toEqual(['IN_DOUBT', 'DECLINED', 'IN_DOUBT'])
  const after = (await olga.get(shown.path)).body
  expect(after).toMatch(/Proposed by<.*>person olga .*in the portal/s)
  expect(after).toContain('1 recorded · 1 proposed')
  olga = await served.as('otto', ['operator', 'approver'])
  const second = await uploaded(lineOf(1, 'send-again'))
  expect(second.body).toContain('you were not shown that')
  expect(second.form).toBeUndefined()
  expect(await stateOf('R-1')).toBe('IN_DOUBT')
})
