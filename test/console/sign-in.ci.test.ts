// People at the door of the console: a real ledger and a server, asked as a browser asks, or as an attacker does.

import type { LightMyRequestResponse } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sha256Of } from '../../src/app/people.ts'
import { consoleOf } from '../../src/console/console.ts'
import { PAGES } from '../../src/console/pages-table.ts'
import type { Server } from '../../src/server/door.ts'
import { buildServer } from '../../src/server/server.ts'
import { CLERK } from '../fixtures/ledgers.ts'
import { openPages } from '../fixtures/pages.ts'
import { openServed, type Served } from '../fixtures/served.ts'

let served: Served
let server: Server
const PASSWORD = 'quiet harbour ladder'
const OLD = PASSWORD
const CHOSEN = 'seven lanterns adrift'
const REFUSED = 'Not signed in.'

beforeEach(async () => {
  served = await openServed()
  const { app, ledger, door } = served
  server = await buildServer(
    door,
    null,
    consoleOf({ ...served.door, app, isSecure: false, isSandbox: false, rehearsalPeople: [] }),
  )
  const link = { sha256: sha256Of('link'), untilMs: Date.now() + 60_000 }
  await ledger.addPerson({ id: 'p1', name: 'ann', grants: ['viewer'] }, link, CLERK, Date.now())
  const joined = await post('/join/link', { password: PASSWORD })
  expect(joined.statusCode).toBe(303)
  expect((await get(String(joined.headers.location))).body).toContain('Your password is set')
})

afterEach(async () => {
  await server.close()
  await served.close()
})

const HOST = { host: '127.0.0.1' }
const SAME = { 'sec-fetch-site': 'same-origin' }

function post(url: string, fields: Record<string, string>, headers: Record<string, string> = SAME) {
  const payload = new URLSearchParams(fields).toString()
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  return server.inject({ method: 'POST', url, payload, headers: { ...HOST, ...type, ...headers } })
}

const get = (url: string, headers: Record<string, string> = {}) =>
  server.inject({ method: 'GET', url, headers: { ...HOST, ...headers } })
const cookieOf = (answer: LightMyRequestResponse) => String(answer.headers['set-cookie']).split(';')[0] ?? ''
const signIn = async () => cookieOf(await post('/sign-in', { name: 'Ann', password: PASSWORD }))
const formIn = (page: LightMyRequestResponse) => /name="form" value="([^"]+)"/.exec(page.body)?.[1] ?? ''

test('a person signs in, and the cookie is no one else’s to read', async () => {
  const answer = await post('/sign-in', { name: 'ann', password: PASSWORD })
  expect(answer.headers['set-cookie']).toMatch(/^tranche=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
  expect((await get('/sessions', { cookie: cookieOf(answer) })).body).toContain('You are ann.')
})

test('a cookie that was set before is not taken over, and each sign-in has its own', async () => {
  const preset = `tranche=${'A'.repeat(43)}`
  const answer = await post('/sign-in', { name: 'ann', password: PASSWORD }, { ...SAME, cookie: preset })
  expect(cookieOf(answer)).not.toBe(preset)
  expect((await get('/sessions', { cookie: preset })).statusCode).toBe(303)
  expect(await signIn()).not.toBe(cookieOf(answer))
})

test('the password shown again makes another cookie, and the one before is worth nothing', async () => {
  const cookie = await signIn()
  const form = formIn(await get('/step-up', { cookie }))
  const answer = await post('/step-up', { form, password: PASSWORD }, { ...SAME, cookie })
  expect((await get('/sessions', { cookie })).statusCode).toBe(303)
  expect((await get('/sessions', { cookie: cookieOf(answer) })).statusCode).toBe(200)
})

test('a wrong password, a name of nobody and a name that has to wait are told alike', async () => {
  const wrong = await post('/sign-in', { name: 'ann', password: 'not the password' })
  const nobody = await post('/sign-in', { name: 'bob', password: 'not the password' })
  const waits = await post('/sign-in', { name: 'ann', password: PASSWORD })
  expect([wrong, nobody, waits].map(({ statusCode }) => statusCode)).toEqual([401, 401, 401])
  expect(new Set([wrong.body, nobody.body, waits.body]).size).toBe(1)
  expect(wrong.body).toContain(REFUSED)
})

test.each([
  ['from another site', { 'sec-fetch-site': 'cross-site' }],
  ['from a sibling', { 'sec-fetch-site': 'same-site' }],
  ['typed into the address bar', { 'sec-fetch-site': 'none' }],
  ['with another origin', { origin: 'https://evil.example' }],
  [
    'with another origin that a proxy vouches for',
    { origin: 'http://evil.example', 'x-forwarded-host': 'evil.example' },
  ],
  ['from a page in a sandbox', { origin: 'null' }],
  ['from nowhere', {}],
])('a form %s changes nothing', async (_, headers) => {
  expect((await post('/sign-in', { name: 'ann', password: PASSWORD }, headers)).statusCode).toBe(403)
  const cookie = await signIn()
  const form = formIn(await get('/sessions', { cookie }))
  expect((await post('/sign-out', { form }, { ...headers, cookie })).statusCode).toBe(403)
  expect((await get('/sessions', { cookie })).statusCode).toBe(200)
})

test('a form without its token, or with that of another session, changes nothing', async () => {
  const [cookie, other] = [await signIn(), await signIn()]
  const form = formIn(await get('/sessions', { cookie: other }))
  for (const fields of [{}, { form }, { form: 'x.y' }])
    expect((await post('/sign-out', fields, { ...SAME, cookie })).statusCode).toBe(403)
  const own = formIn(await get('/sessions', { cookie }))
  expect((await post('/sign-out', { form: own }, { ...SAME, cookie })).statusCode).toBe(303)
  expect((await get('/sessions', { cookie })).statusCode).toBe(303)
})

test('roles that change, and revoking, end the session by the next request', async () => {
  const cookie = await signIn()
  await served.ledger.setGrants('ann', ['auditor'], 'x', CLERK, Date.now())
  expect((await get('/sessions', { cookie })).statusCode).toBe(303)
})

test('no page is framed, cached or known under another name', async () => {
  const answer = await get('/sign-in')
  expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(answer.headers).toMatchObject({ 'x-frame-options': 'DENY', 'cache-control': 'no-store' })
  const elsewhere = await get('/sign-in', { host: 'evil.example' })
  expect([elsewhere.statusCode, elsewhere.body]).toEqual([421, expect.stringContaining('does not answer to that name')])
  expect(elsewhere.body).not.toContain('evil.example')
})

test('sign-ins of one address are few a minute, whatever names they try', async () => {
  const tooLong = 'x'.repeat(201)
  const answers = []
  for (let n = 0; n < 62; n += 1) answers.push(await post('/sign-in', { name: `n${n}`, password: tooLong }))
  expect(answers.filter(({ statusCode }) => statusCode === 401).length).toBeLessThanOrEqual(60)
  expect(answers.at(-1)).toMatchObject({ statusCode: 429, body: expect.stringContaining('Nothing was changed') })
  expect((await get('/sign-in')).statusCode).toBe(200)
})

test('a person chooses another password with the one before, and no other session stays', async () => {
  const visited = await openPages()
  try {
    const ada = await visited.as('ada', ['viewer'])
    const change = (password: string, chosen: string) =>
      ada.send('/sessions', '/sessions/password', { password, new_password: chosen })
    for (const [password, chosen, says] of [
      [OLD, OLD, 'That is your current password.'],
      [OLD, 'Password2026x', 'among the first that others try'],
      [OLD, 'Quiet harbour of Ada', 'It contains your name'],
      [OLD, 'short', 'at least 12 characters'],
      ['wrong horse battery', CHOSEN, 'The password is wrong'],
    ] as const) {
      const refused = await change(password, chosen)
      expect([refused.statusCode, refused.body]).toEqual([422, expect.stringContaining(says)])
      expect(refused.body).not.toContain('with what you typed')
    }
    visited.ahead(60_000)
    const changed = await change(OLD, CHOSEN)
    expect([changed.statusCode, (await ada.get('/sessions')).statusCode]).toEqual([303, 303])
    const cookie = changed.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    const page = await visited.pages.inject({ url: '/sessions', headers: { ...HOST, cookie } })
    expect(page.body).toContain('Your password was changed. All your other sessions have ended.')
    const signs = (password: string) => ada.post('/sign-in', { name: 'ada', password })
    expect((await signs(CHOSEN)).statusCode).toBe(303)
    expect((await signs(OLD)).statusCode).toBe(401)
  } finally {
    await visited.close()
  }
})

test('wrong passwords are in the audit, at the first and the fifth, with no name that nobody has', async () => {
  const visited = await openPages()
  try {
    const ada = await visited.as('ada', ['auditor'])
    let waited = 0
    const tries = async (times: number, name: string, password: string) => {
      for (let n = 0; n < times; n += 1) {
        waited += 20 * 60_000
        visited.ahead(waited)
        const answer = await ada.post('/sign-in', { name, password })
        expect(answer.statusCode).toBe(401)
      }
    }
    await tries(5, 'ada', 'wrong horse battery')
    await tries(5, 'not-a-name-but-a-password', 'x')
    visited.ahead(0)
    const { body } = await ada.get('/audit')
    expect(body.match(/sign in refused/g)).toHaveLength(4)
    expect(body).toMatch(/person p-ada, name ada, tries 5, address 127\.0\.0\.1/)
    expect(body).toContain('unknown names were tried')
    expect(body).not.toContain('not-a-name-but-a-password')
  } finally {
    await visited.close()
  }
})

test('a wrong password beside a session is counted, and told of whose session it is', async () => {
  const visited = await openPages()
  try {
    const ada = await visited.as('ada', ['auditor'])
    for (let n = 0; n < 5; n += 1) {
      visited.ahead((n + 1) * 60_000)
      expect((await ada.send('/step-up', '/step-up', { password: 'wrong horse battery' })).statusCode).toBe(401)
    }
    expect((await ada.get('/audit')).body).toMatch(/sign in refused.*person p-ada, name ada, tries 5/s)
  } finally {
    await visited.close()
  }
})

test('who asks too often is told so, and when to come back', async () => {
  const { door } = served
  const pages = consoleOf({ ...door, isSecure: false, isSandbox: false, rehearsalPeople: [] })
  const busy = await buildServer({ ...door, requestsPerMinute: 1 }, null, pages)
  const asked = { method: 'GET', url: '/sign-in', headers: HOST } as const
  expect((await busy.inject(asked)).statusCode).toBe(200)
  const refused = await busy.inject(asked)
  expect([refused.statusCode, Number(refused.headers['retry-after']) > 0]).toEqual([429, true])
  expect(refused.body).toContain('This address has sent too many requests. Nothing was changed.')
  await busy.close()
})

test('a key opens no page, and a cookie opens nothing of the API', async () => {
  const { key } = await served.key()
  expect((await get('/sessions', { authorization: `Bearer ${key}` })).statusCode).toBe(303)
  expect((await get('/v1/batches', { cookie: await signIn() })).statusCode).toBe(401)
})

test.each(Object.values(PAGES).filter(({ permission }) => permission !== 'anybody'))(
  '$method $path is not for who is not signed in',
  async ({ method, path }) => {
    const answer = await (method === 'GET' ? get(path) : post(path, {}))
    expect(answer.statusCode).toBe(method === 'GET' ? 303 : 401)
  },
)

test.each(['short', 'passwordpassword', '123456789012', 'aaaaaaaaaaaaaaa', 'ann-ann-is-here'])(
  'the password %s is not taken',
  async (password) => {
    const link = { sha256: sha256Of('again'), untilMs: Date.now() + 60_000 }
    await served.ledger.invite('ann', link, CLERK, Date.now())
    expect((await post('/join/again', { password })).statusCode).toBe(422)
    expect(await served.ledger.personNamed('ann')).toMatchObject({ passwordHash: null })
  },
)
