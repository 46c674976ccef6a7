// Approving at a page: a real ledger and a server, by people with roles.

import type { LightMyRequestResponse } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sha256Of } from '../../src/app/people.ts'
import { consoleOf } from '../../src/console/console.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import type { Instruction } from '../../src/domain/instruction.ts'
import { APPROVES_AFTER_MS, FIRST_SETUP_MS, type GrantName, STEP_UP_MS } from '../../src/domain/person.ts'
import type { Server } from '../../src/server/door.ts'
import { buildServer } from '../../src/server/server.ts'
import { CLERK, claimNamed, headerOf, personAt, refund, settle, submit } from '../fixtures/ledgers.ts'
import { addPersonOfOld } from '../fixtures/people.ts'
import { openServed, type Served } from '../fixtures/served.ts'

let served: Served
let server: Server
let batch: BatchId
let laterMs: number
const PASSWORD = 'quiet harbour ladder'
const HOSTILE = '<script>alert(1)</script>"\'&\u202evsc.\u200b'

beforeEach(async () => {
  served = await openServed()
  const { ledger, accounts, door } = served
  laterMs = 0
  const clock = Object.create(served.app.clock, { nowMs: { value: () => Date.now() + laterMs } })
  const app = { ...served.app, clock }
  server = await buildServer(
    { ...door, app },
    null,
    consoleOf({ ...served.door, app, isSecure: false, isSandbox: false, rehearsalPeople: [] }),
  )
  const rule = { merchants: null, operations: null, fourEyes: true, bands: {}, rowOver: {} }
  await ledger.adoptPolicy({ rules: [rule], expireAfterMs: 86_400_000, osUsers: false }, 'test', CLERK, Date.now())
  const header = headerOf(accounts.shop, { fileName: HOSTILE, nowMs: Date.now() })
  batch = await submit(ledger, accounts.shop, [refund('A'), refund('B')], header)
})

afterEach(async () => {
  await server.close()
  await served.close()
})

type Visiting = Readonly<Record<string, string>>

async function signedIn(
  name: string,
  grants: readonly GrantName[],
  by = personAt('boss'),
  nowMs = Date.now(),
): Promise<Visiting> {
  const link = { sha256: sha256Of(name), untilMs: Date.now() + 60_000 }
  await addPersonOfOld(served.ledger, { id: `p-${name}`, name, grants }, link, by, nowMs)
  await post(`/join/${name}`, { password: PASSWORD }, {})
  const answer = await post('/sign-in', { name, password: PASSWORD }, {})
  return { cookie: String(answer.headers['set-cookie']).split(';')[0] as string }
}
function post(url: string, fields: Record<string, string>, visiting: Visiting, site = 'same-origin') {
  const payload = new URLSearchParams(fields).toString()
  const type = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': site }
  return server.inject({ method: 'POST', url, payload, headers: { host: '127.0.0.1', ...type, ...visiting } })
}
const get = (url: string, visiting: Visiting) =>
  server.inject({ method: 'GET', url, headers: { host: '127.0.0.1', ...visiting } })
const fieldIn = (page: LightMyRequestResponse, name: string) =>
  new RegExp(`name="${name}" value="([^"]+)"`).exec(page.body)?.[1] ?? ''
const given = async () => (await served.ledger.batch(batch))?.approval?.given
const at = () => `/batches/${batch}`

/** As the page of the batch fills them in. */
async function formOf(visiting: Visiting): Promise<Record<string, string>> {
  const page = await get(at(), visiting)
  return { form: fieldIn(page, 'form'), digest: fieldIn(page, 'digest'), total: '20,00 EUR', reason: 'looked at' }
}

test('an approver reads everything that the approval is of, types the total, and approves it once', async () => {
  const ann = await signedIn('ann', ['approver'])
  expect((await get('/', ann)).body).toContain(') waits for 1 approval: 2 refunds.')
  const page = await get(at(), ann)
  for (const shown of [
    'Yours. Account ann: made <time datetime="2',
    'Submitted <time datetime="2',
    'signed in from 127.0.0.1',
    'Approve 2 refunds<',
    'clerk@desk',
    'Type the total in EUR',
    fieldIn(page, 'digest'),
  ])
    expect(page.body).toContain(shown)
  const form = await formOf(ann)
  const refused = await post(`${at()}/approve`, { ...form, total: '21,00' }, ann)
  expect([refused.statusCode, refused.body]).toEqual([422, expect.stringContaining(`<a href="${at()}">Clear the form`)])
  expect(refused.body).toContain('another total in EUR')
  expect((await post(`${at()}/approve`, { ...form, total: '20,0,0' }, ann)).body).toContain('cannot be read')
  // Nothing that could be copied, before and after a wrong one.
  for (const { body } of [page, refused]) expect(body).not.toMatch(/20[.,]00/)
  expect((await post(`${at()}/approve`, { ...form, digest: '0'.repeat(64) }, ann)).statusCode).toBe(422)
  expect((await post(`${at()}/approve`, { ...form, reason: ' ' }, ann)).statusCode).toBe(422)
  expect(await given()).toBe(0)
  expect((await post(`${at()}/approve`, form, ann)).headers.location).toBe(at())
  expect(await given()).toBe(1)
  expect((await post(`${at()}/approve`, form, ann)).headers.location).toBe(at())
  const another = { ...form, form: fieldIn(await get('/step-up', ann), 'form') }
  const twice = await post(`${at()}/approve`, another, ann)
  expect([twice.statusCode, twice.body]).toEqual([422, expect.stringContaining('has all the approvals that it needs')])
  expect(twice.body).toContain(`cancel batch ${batch}`)
  expect(await given()).toBe(1)
  expect((await get('/', ann)).body).toContain('Nothing needs you')
})

test('who comes second, when rows are sent already, is told that it was approved, and no other total', async () => {
  const [ann, bob] = [await signedIn('ann', ['approver']), await signedIn('bob', ['approver'])]
  const [first, second] = [await formOf(ann), await formOf(bob)]
  await post(`${at()}/approve`, first, ann)
  const claimed = await claimNamed(served.ledger, batch, 'A', Date.now())
  await settle(served.ledger, claimed, 'APPROVED', { atMs: Date.now() })
  const late = await post(`${at()}/approve`, second, bob)
  expect(late.statusCode).toBe(422)
  expect(late.body).toContain('has all the approvals that it needs')
  expect(late.body).not.toContain('You typed')
  expect(await given()).toBe(1)
})

test('an earlier batch shows an approver its sum only if it was approved, and never one that is typed', async () => {
  const ann = await signedIn('ann', ['approver'])
  const hands = (name: string, ...rows: readonly Instruction[]) => {
    const over = { fileSha256: name.padEnd(64, '0'), nowMs: Date.now(), retry: ['CANCELLED'] as const }
    return submit(served.ledger, served.accounts.shop, rows, over)
  }
  /** What the page of one batch says of another one before it. */
  const askedOn = async (page: BatchId, earlier: BatchId) => {
    const { body } = await get(`/batches/${page}`, ann)
    return new RegExp(`"/batches/${earlier}">.*?class="text"[^>]*>(.*?)</td>`, 's').exec(body)?.[1]
  }
  const next = await hands('1', refund('C', { amountMinor: 3_000n }))
  expect(await askedOn(next, batch)).toBe('2 refunds') // it is still to be approved
  await served.ledger.reject({ batchId: batch, reason: 'wrong', actor: CLERK, nowMs: Date.now() })
  await served.ledger.finishCancelling(Date.now())
  const again = await hands('2', refund('A'), refund('B'))
  expect(await askedOn(again, batch)).toBe('2 refunds')
  batch = next
  expect((await post(`${at()}/approve`, { ...(await formOf(ann)), total: '30,00' }, ann)).statusCode).toBe(303)
  const [same, other] = [await hands('3', refund('D', { amountMinor: 3_000n })), await hands('4', refund('E'))]
  expect(await askedOn(same, next)).toBe('1 refund')
  expect(await askedOn(other, next)).toBe('1 refund, EUR 30.00')
})

test('a batch that waits is at the top, however many came after it', async () => {
  const ann = await signedIn('ann', ['approver'])
  const later = headerOf(served.accounts.club, { nowMs: Date.now(), sandbox: false })
  await served.ledger.adoptPolicy(null, 'off', CLERK, Date.now())
  for (let n = 0; n < 51; n += 1)
    await submit(served.ledger, served.accounts.club, [refund(`L${n}`)], {
      ...later,
      fileSha256: String(n).padStart(64, '0'),
    })
  const { body } = await get('/', ann)
  expect([body.split(`/batches/${batch}"`).length, body.split('/batches/').length]).toEqual([2, 52])
  expect(body).toContain('The latest 50 batches')
})

test('an approver rejects it with a reason, and none of its rows will be sent', async () => {
  const ann = await signedIn('ann', ['approver'])
  expect((await post(`${at()}/reject`, { ...(await formOf(ann)), reason: 'wrong month' }, ann)).statusCode).toBe(303)
  expect(await served.ledger.batch(batch)).toMatchObject({ hold: 'cancelled', counts: { CANCELLED: 2 } })
  expect((await get(at(), ann)).body).toContain('wrong month')
})

test('nobody else decides: not a viewer, not from another site, not by a role that the submitter gave', async () => {
  const vic = await signedIn('vic', ['viewer'])
  expect((await get(at(), vic)).body).toContain('Your roles do not let you decide on it')
  const ann = await signedIn('ann', ['approver'])
  const form = await formOf(ann)
  expect((await post(`${at()}/approve`, form, vic)).statusCode).toBe(403)
  expect((await post(`${at()}/approve`, form, ann, 'cross-site')).statusCode).toBe(403)
  expect((await post(`${at()}/approve`, { ...form, form: '' }, ann)).statusCode).toBe(403)
  const bob = await signedIn('bob', ['approver'], CLERK)
  const told = await get(at(), bob)
  expect(told.body).toContain('You cannot approve it. Whoever handed it in made you an approver')
  const refused = await post(`${at()}/approve`, { ...form, form: fieldIn(told, 'form') }, bob)
  expect([refused.statusCode, refused.body]).toEqual([422, expect.stringContaining('The submitter of batch')])
  expect(await given()).toBe(0)
})

test('who may not approve yet is told why, and from when on, and may reject it', async () => {
  const old = { id: 'p-old', name: 'old', grants: ['viewer'] } as const
  const longAgoMs = Date.now() - FIRST_SETUP_MS - 1
  await served.ledger.addPerson(old, { sha256: sha256Of('old'), untilMs: longAgoMs }, personAt('boss'), longAgoMs)
  const invitedMs = Math.floor(Date.now() / 1_000) * 1_000 // a page shows whole seconds
  const ann = await signedIn('ann', ['approver'], personAt('boss'), Date.now() + APPROVES_AFTER_MS)
  const page = await get(at(), ann)
  expect(page.body).toContain('You have had the role approver for less than 24 hours')
  const [, from = ''] = /You can from <time datetime="([^"]+)"/.exec(page.body) ?? []
  expect(Date.parse(from)).toBeGreaterThanOrEqual(invitedMs + APPROVES_AFTER_MS)
  expect(page.body).not.toContain(`action="${at()}/approve"`)
  expect(page.body).not.toMatch(/20[.,]00/) // they are asked for the total tomorrow
  const digest = (await served.ledger.approvalSheet(batch))?.digest ?? ''
  const form = { form: fieldIn(page, 'form'), digest, total: '20.00', reason: 'looked at' }
  expect((await post(`${at()}/approve`, form, ann)).statusCode).toBe(422)
  expect(await given()).toBe(0)
  expect((await post(`${at()}/reject`, { ...form, reason: 'wrong month' }, ann)).statusCode).toBe(303)
})

test('five minutes after the password was shown, it is asked for again before anything is decided', async () => {
  const ann = await signedIn('ann', ['approver'])
  const form = await formOf(ann)
  laterMs = STEP_UP_MS + 1
  expect((await get(at(), ann)).body).toContain('show your password again')
  for (const decision of ['approve', 'reject'])
    expect((await post(`${at()}/${decision}`, form, ann)).headers.location).toBe(
      `/step-up?to=${encodeURIComponent(at())}`,
    )
  expect(await served.ledger.batch(batch)).toMatchObject({ hold: 'none', approval: { given: 0 } })
  const shown = await post('/step-up', { form: fieldIn(await get('/step-up', ann), 'form'), password: PASSWORD }, ann)
  const again = { cookie: String(shown.headers['set-cookie']).split(';')[0] as string }
  expect((await post(`${at()}/approve`, await formOf(again), again)).statusCode).toBe(303)
  expect(await given()).toBe(1)
})

test('who makes people sees no batch', async () => {
  const max = await signedIn('max', ['admin'])
  const overview = await get('/', max)
  expect(overview.body).toContain('Your roles do not let you see batches:')
  expect(overview.body).toContain('Add somebody else who approves')
  expect(overview.body).not.toContain(batch)
  expect((await get(at(), max)).statusCode).toBe(403)
})

test('a name of a file is shown, and is no part of the page', async () => {
  const ann = await signedIn('ann', ['approver'])
  for (const page of [await get('/', ann), await get(at(), ann)]) {
    expect(page.body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page.body).not.toContain('<script>')
    expect(page.body).not.toMatch(/[\u202e\u200b]/) // what a page would hide or obey is seen instead
  }
})

test('no file whose sums tell the total is offered to whoever is to type it', async () => {
  const results = `/batches/${batch}/results.csv`
  const [ann, rita] = [await signedIn('ann', ['approver', 'results']), await signedIn('rita', ['viewer', 'results'])]
  const page = (visiting: Visiting) => get(`/batches/${batch}`, visiting)
  expect((await page(ann)).body).not.toContain(results)
  expect((await page(ann)).body).toContain('They can be downloaded once it is decided')
  expect((await page(rita)).body).toContain(results)
})

test('a batch that waits for an approval does not go on by being resumed', async () => {
  const { ledger } = served
  const olga = await signedIn('olga', ['operator'])
  await ledger.pause(batch, 'falsche Liste?', personAt('clerk'), Date.now())
  const { body } = await get(`/batches/${batch}`, olga)
  expect(body).toContain('Nothing of it is sent before it is approved. Resuming approves nothing.')
  expect(body).toContain('Why: falsche Liste?</p>')
  expect(body).not.toContain('It goes on where it stopped')
})
