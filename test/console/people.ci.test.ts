// Making people at pages: who may, what is shown once, and what it is kept as.

import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { STEP_UP_MS } from '../../src/domain/person.ts'
import { toJsonLogEntry } from '../../src/present/history.ts'
import { CLERK, headerOf, listOf, personAt, refund, submit, work } from '../fixtures/ledgers.ts'
import { FOUR_EYES, formsIn, openPages, PASSWORD, type PagesServed, type Visiting } from '../fixtures/pages.ts'
import { soon } from '../fixtures/soon.ts'

let served: PagesServed
let max: Visiting

beforeEach(async () => {
  served = await openPages()
  max = await served.as('max', ['admin'])
})
afterEach(() => served.close())

const peopleNow = async () =>
  (await served.ledger.people()).map(({ name, grants }) => [name, grants.map((grant) => grant.name)])

test('an administrator adds a person, whose link is shown once and opens', async () => {
  const shown = await max.send('/people', '/people', { name: 'Ann', 'role-approver': 'on', 'role-results': 'on' })
  const link = /http:\/\/127\.0\.0\.1(\/join\/[\w-]{43})/.exec(shown.body)?.[1] ?? ''
  expect(await peopleNow()).toContainEqual(['ann', ['approver', 'results']])
  expect((await max.get('/people/ann')).body).not.toContain('/join/')
  expect((await max.get(link)).body).toContain('Your name here is ann.')
})

test('nobody is added without a role, under a name that is taken, or as administrator who moves money', async () => {
  const add = (fields: Record<string, string>) => max.send('/people', '/people', fields)
  expect((await add({ name: 'ann' })).statusCode).toBe(422)
  expect((await add({ name: 'max', 'role-viewer': 'on' })).statusCode).toBe(422)
  expect((await add({ name: 'ann', 'role-admin': 'on', 'role-approver': 'on' })).statusCode).toBe(422)
  expect(await peopleNow()).toEqual([['max', ['admin']]])
})

test('roles change and people are revoked with a reason, and their sessions end', async () => {
  const ann = await served.as('ann', ['viewer'])
  expect((await max.send('/people/ann', '/roles', { 'role-auditor': 'on', reason: ' ' })).statusCode).toBe(422)
  await max.send('/people/ann', '/roles', { 'role-auditor': 'on', reason: 'moved' })
  expect((await ann.get('/')).statusCode).toBe(303)
  await max.send('/people/ann', '/revoke', { reason: 'left' })
  expect((await max.get('/people/ann')).body).toContain('Can no longer sign in')
  const acts = (await listOf(served.ledger.log(null))).map(({ what, reason }) => [what, reason])
  expect(acts).toContainEqual(['revoke-person', 'left'])
})

test('a link that was shown opens, also after its form was sent again', async () => {
  await served.as('ann', ['viewer'])
  const forms = [
    ['/people/ann', '/link', {}],
    ['/people', '/people', { name: 'bob', 'role-viewer': 'on' }],
  ] as const
  for (const [page, action, typed] of forms) {
    const found = formsIn((await max.get(page)).body).find((one) => one.action.endsWith(action))
    const send = () => max.post(found?.action ?? '', { ...found?.fields, ...typed })
    const made = await send()
    const again = await send()
    expect([made.statusCode, again.statusCode]).toEqual([200, 409])
    expect(again.body).toContain('You sent this form before')
    const link = /\/join\/[\w-]+/.exec(made.body)?.[0] ?? 'none'
    expect((await max.get(link)).statusCode).toBe(200)
  }
})

test('roles that wait for a second person are ticked, and who can confirm is said', async () => {
  await served.ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, Date.now())
  const added = await max.send('/people', '/people', { name: 'sue', 'role-submitter': 'on' })
  expect(added.body).toContain('submitter of sue waits until a second person confirms it.')
  const joined = await max.post(/\/join\/[\w-]+/.exec(added.body)?.[0] ?? 'none', { password: PASSWORD })
  expect(joined.statusCode).toBeLessThan(400)
  const signedIn = await max.post('/sign-in', { name: 'sue', password: PASSWORD })
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0]
  const own = await served.pages.inject({ url: '/', headers: { host: '127.0.0.1', cookie } })
  expect(own.body).toContain('Your role submitter waits until a second person confirms')
  expect(own.body).toContain('sue (submitter once confirmed)')
  const { body } = await max.get('/people/sue')
  expect(body).toContain('name="role-submitter" checked')
  expect(body).toContain('tranche people confirm sue')
  expect((await max.get('/')).body).toContain('A second person confirms')
  expect(formsIn(body).some(({ action }) => action.endsWith('/confirm'))).toBe(false)
  const eve = await served.as('eve', ['admin'], personAt('root'))
  expect((await eve.send('/people/sue', '/confirm')).statusCode).toBe(303)
  expect((await served.ledger.personNamed('sue'))?.person).toMatchObject({ grants: [{}], waiting: [] })
})

test('the page says that one person alone can pay, until two could', async () => {
  const alone = 'one person alone can have any sum sent'
  expect((await max.get('/people')).body).toContain(alone)
  await max.send('/people', '/people', { name: 'ann', 'role-approver': 'on' })
  await max.send('/people', '/people', { name: 'sue', 'role-submitter': 'on' })
  const { body } = await max.get('/people')
  expect(body).not.toContain(alone)
  expect(body).toContain('An approval policy is in force')
})

test('who lost a role while a form was on its way changes nothing by it', async () => {
  const form = /name="form" value="([^"]+)"/.exec((await max.get('/people')).body)?.[1] ?? ''
  await served.pages.listen({ host: '127.0.0.1', port: 0 })
  const { port } = served.pages.server.address() as AddressInfo
  const body = new URLSearchParams({ form, name: 'eve', 'role-approver': 'on' }).toString()
  const head = [
    ...['POST /people HTTP/1.1', 'host: 127.0.0.1', `cookie: ${max.cookie}`, 'sec-fetch-site: same-origin'],
    ...['content-type: application/x-www-form-urlencoded', `content-length: ${body.length}`, 'connection: close'],
  ]
  const visits = vi.spyOn(served.ledger, 'visit')
  const socket = connect(port, '127.0.0.1')
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`)
  await soon(() => expect(visits).toHaveResolved())
  await served.ledger.setGrants('max', ['viewer'], 'left', personAt('boss'), Date.now())
  socket.write(body.slice(-1))
  const answer = await text(socket)
  expect(answer).toMatch(/^HTTP\/1\.1 401 /)
  expect((await peopleNow()).map(([name]) => name)).toEqual(['max'])
})

test('whoever changes people has shown the password a moment ago', async () => {
  const page = await max.get('/people')
  served.ahead(STEP_UP_MS + 1)
  expect((await max.get('/people')).body).toContain('show your password again')
  const form = /name="form" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
  const refused = await max.post('/people', { form, name: 'eve', 'role-approver': 'on' })
  expect(refused.headers.location).toBe('/step-up?to=%2Fpeople')
  expect(await peopleNow()).toEqual([['max', ['admin']]])
})

test('an auditor reads every act, by whom, and the head of the chain', async () => {
  const { ledger, accounts } = served
  await submit(
    ledger,
    accounts.shop,
    [refund('A')],
    headerOf(accounts.shop, { fileName: '<b>.csv', nowMs: Date.now() }),
  )
  const ada = await served.as('ada', ['auditor'])
  const { body } = await ada.get('/audit')
  expect(body).toContain(await ledger.head())
  expect(body).toContain('&lt;b&gt;.csv')
  expect((await ada.get('/audit?who=nobody-of-that-name')).body).toContain('Nothing was recorded since that day')
  expect((await ada.get('/audit?since=%22%3E&after=x')).statusCode).toBe(200)
})

test('an auditor takes all acts away, as the command line exports them, with the head that binds them', async () => {
  const { ledger, accounts } = served
  const nowMs = Date.now()
  await submit(ledger, accounts.shop, [refund('A')], headerOf(accounts.shop, { fileName: 'a.csv', nowMs }))
  for (let n = 0; n < 501; n++) await ledger.setRate(accounts.shop, 1 + n, CLERK, nowMs, `turn ${n}`)
  const ada = await served.as('ada', ['auditor'])
  const day = new Date(nowMs).toISOString().slice(0, 10)
  const { headers, body } = await ada.get(`/audit.jsonl?since=${day}`)
  expect(headers['content-disposition']).toBe(`attachment; filename="audit-since-${day}.jsonl"`)
  const lines = body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const exported = (await listOf(ledger.log(Date.parse(day)))).map(toJsonLogEntry)
  expect(lines.slice(0, -1)).toEqual(JSON.parse(JSON.stringify(exported)))
  expect(lines.at(-1)).toMatchObject({ event: 'result', entries: exported.length, head: await ledger.head() })
  expect(exported.length).toBeGreaterThan(501)
  expect(exported.at(-1)).toMatchObject({
    what: 'export',
    by: expect.stringContaining('person ada'),
    details: { kind: 'audit' },
  })
  expect((await ada.get('/audit.jsonl')).statusCode).toBe(422)
  expect((await (await served.as('vic', ['viewer'])).get(`/audit.jsonl?since=${day}`)).statusCode).toBe(403)
})

test('the policy page shows what the last batches needed, to whoever may see batches', async () => {
  const { ledger, accounts } = served
  const before = await submit(ledger, accounts.shop, [refund('A')], headerOf(accounts.shop))
  await work(ledger, before, 'A', 'APPROVED')
  const rule = { merchants: null, operations: null, fourEyes: true, bands: {}, rowOver: {} }
  await ledger.adoptPolicy({ rules: [rule], expireAfterMs: 86_400_000, osUsers: false }, 'test', CLERK, Date.now())
  const after = await submit(ledger, accounts.shop, [refund('B')], headerOf(accounts.shop, { runKey: 'second' }))
  const { body } = await (await served.as('vic', ['viewer'])).get('/policy')
  const rowOf = (batch: string) => body.split(/<tr[^>]*>/).find((row) => row.includes(`/batches/${batch}`)) ?? ''
  expect(rowOf(before)).toMatch(/<td [^>]*>0<\/td><td [^>]*>0<\/td>/)
  expect(rowOf(after)).toMatch(/<td [^>]*>1<\/td><td [^>]*>0<\/td>/)
  expect((await (await served.as('ada', ['admin'])).get('/policy')).body).not.toContain(after)
})

test('the policy is shown as it is at the command line', async () => {
  const vic = await served.as('vic', ['viewer'])
  expect((await vic.get('/policy')).body).toContain('No approval is needed: no policy is in force.')
})
