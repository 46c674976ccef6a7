// People who come by an identity provider: a real one on this machine, a real ledger, and a browser that keeps its cookies.

import type { LightMyRequestResponse } from 'fastify'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ProviderSettings } from '../../src/domain/identity.ts'
import { STEP_UP_MS } from '../../src/domain/person.ts'
import { HOSTILE_TEXTS } from '../fixtures/hostile-texts.ts'
import { openProviderServer, type Provider, type ProviderFaults } from '../fixtures/identity-provider.ts'
import { CLERK, listOf, personAt } from '../fixtures/ledgers.ts'
import { openPages, type PagesServed } from '../fixtures/pages.ts'

let provider: Provider
let served: PagesServed

beforeEach(async () => {
  provider = await openProviderServer()
  served = await openPages({ env: provider.env })
})
afterEach(async () => {
  await served.close()
  await provider.close()
})

const ANN = { sub: 'u-1', preferred_username: 'Ann', groups: ['staff', 'pay-yes'] }
const BACK = '/sign-in/provider/return'

interface Browser {
  readonly cookies: Map<string, string>
  readonly get: (url: string) => Promise<LightMyRequestResponse>
  /** To the provider and back, by that page of ours. Resolves to where it came back with, without the host. */
  readonly away: (page?: string) => Promise<string>
  readonly enter: (page?: string) => Promise<LightMyRequestResponse>
}

function browser(from = '127.0.0.1'): Browser {
  const cookies = new Map<string, string>()
  const get = async (url: string) => {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const headers = { host: '127.0.0.1', cookie }
    const answer = await served.pages.inject({ method: 'GET', url, headers, remoteAddress: from })
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [name = '', value = ''] = (line.split(';')[0] as string).split('=')
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return answer
  }
  const away = async (page = '/sign-in/provider') => {
    const there = String((await get(page)).headers.location)
    const back = new URL(await provider.authorize(there))
    return `${back.pathname}${back.search}`
  }
  return { cookies, get, away, enter: async (page) => get(await away(page)) }
}

const people = async () =>
  (await served.ledger.people()).map(({ name, grants }) => [name, grants.map((grant) => grant.name)])
const acts = async () => listOf(served.ledger.log(null))
const sessionOf = ({ cookies }: Browser) => cookies.get('tranche')

/** Nobody came in by it, and nobody was made. */
async function expectNobody(ann: Browser, answer: LightMyRequestResponse, status: number, text: string | RegExp) {
  expect([answer.statusCode, answer.body]).toEqual([status, expect.stringMatching(text)])
  expect(sessionOf(ann)).toBeUndefined()
  expect(await people()).toEqual([])
}

describe('a person of the company', () => {
  test('comes in with the roles of their groups, and goes on to where they were on their way', async () => {
    provider.says(ANN)
    const ann = browser()
    expect((await ann.get('/sign-in?to=/policy')).body).toContain(
      'href="/sign-in/provider?to=%2Fpolicy">Sign in with Example',
    )
    const answer = await ann.enter('/sign-in/provider?to=/policy')
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/policy'])
    expect([...ann.cookies.keys()]).toEqual(['tranche'])
    const { body } = await ann.get('/sessions')
    expect(body).toContain('You are ann.')
    expect(body).not.toContain('/sessions/password')
    expect(await people()).toEqual([['ann', ['approver', 'results']]])
    const [asked] = provider.asked
    expect(Object.fromEntries(asked ?? [])).toMatchObject({
      ...{ response_type: 'code', client_id: 'tranche', code_challenge_method: 'S256' },
      redirect_uri: `http://127.0.0.1${BACK}`,
    })
    expect(asked?.get('state')).toHaveLength(43)
    expect(asked?.get('nonce')).toHaveLength(43)
  })

  test('is in the record by the provider, which gave the roles', async () => {
    provider.says(ANN)
    await browser().enter()
    const [added, fourEyes, signedIn] = (await acts()).slice(-3)
    expect(added).toMatchObject({
      ...{ what: 'add-person', by: `provider Example (${provider.issuer}) from 127.0.0.1` },
      details: { name: 'ann', roles: 'approver results', subject: 'u-1' },
    })
    expect(fourEyes).toMatchObject({ what: 'approval-policy', actor: { kind: 'provider' } })
    expect(signedIn).toMatchObject({ what: 'sign-in', actor: { kind: 'person', name: 'ann' } })
    expect((await served.ledger.people())[0]).toMatchObject({ issuer: provider.issuer, joined: true })
  })

  test('is the same one under another name, and another one under the same', async () => {
    provider.says(ANN)
    await browser().enter()
    provider.says({ ...ANN, preferred_username: 'ann.smith' })
    await browser().enter()
    provider.says({ ...ANN, sub: 'u-2' })
    await browser().enter()
    expect((await people()).map(([name]) => name)).toEqual(['ann', 'ann-2'])
  })

  test('takes over nobody who has a password here', async () => {
    const local = await served.as('ann', ['admin'])
    provider.says(ANN)
    const ann = browser()
    await ann.enter()
    expect((await ann.get('/sessions')).body).toContain('You are ann-2.')
    expect((await ann.get('/people')).statusCode).toBe(403)
    expect((await local.get('/people')).statusCode).toBe(200)
  })

  test('in no group with a role does not come in, and is told so', async () => {
    provider.says({ ...ANN, groups: ['staff', '<b>x</b>'] })
    const ann = browser()
    await expectNobody(ann, await ann.enter(), 403, 'None of your groups at Example has a role here')
    provider.says({ sub: 'u-1' })
    await expectNobody(ann, await ann.enter(), 403, 'It sent no groups')
  })

  test('whose groups have roles that exclude each other does not come in', async () => {
    provider.says({ ...ANN, groups: ['pay-admin', 'pay-yes'] })
    const ann = browser()
    await expectNobody(ann, await ann.enter(), 403, 'admin and approver, and one person may not have both')
  })

  test('who was revoked stays out, whatever the groups are', async () => {
    provider.says(ANN)
    const ann = browser()
    await ann.enter()
    await served.ledger.revokePerson('ann', 'left', CLERK, Date.now())
    const answer = await ann.enter()
    expect([answer.statusCode, answer.body]).toEqual([403, expect.stringContaining('has revoked you')])
    expect((await ann.get('/sessions')).statusCode).toBe(303)
  })

  test('loses roles with the groups, and all sessions by it', async () => {
    provider.says(ANN)
    const [ann, elsewhere] = [browser(), browser()]
    await ann.enter()
    await elsewhere.enter()
    const since = (await served.ledger.people())[0]?.grants[0]
    provider.says({ ...ANN, groups: ['pay-yes', 'pay-see'] })
    await ann.enter()
    expect(await people()).toEqual([['ann', ['approver', 'results', 'viewer']]])
    expect((await served.ledger.people())[0]?.grants[0]).toEqual(since)
    expect((await elsewhere.get('/sessions')).statusCode).toBe(303)
    provider.says({ ...ANN, groups: [] })
    expect((await ann.enter()).statusCode).toBe(403)
    expect(await people()).toEqual([['ann', []]])
    expect((await ann.get('/sessions')).statusCode).toBe(303)
  })

  test('gets no password and no roles of an administrator, who can revoke them', async () => {
    provider.says(ANN)
    await browser().enter()
    const max = await served.as('max', ['admin'])
    const { body } = await max.get('/people/ann')
    expect(body).toContain('Signs in with the identity provider')
    expect(body).not.toContain('/people/ann/link')
    const form = /name="form" value="([^"]+)"/.exec(body)?.[1] ?? ''
    const refused = await max.post('/people/ann/link', { form })
    expect([refused.statusCode, refused.body]).toEqual([
      422,
      expect.stringContaining('signs in with the identity provider'),
    ])
    expect((await max.send('/people/ann', '/revoke', { reason: 'left' })).statusCode).toBe(303)
  })
})

describe('a return that is no answer to what this browser began', () => {
  test('opens nothing: with another state, none, or in another browser', async () => {
    provider.says(ANN)
    const [ann, eve] = [browser(), browser()]
    const back = await ann.away()
    await expectNobody(eve, await eve.get(back), 400, 'not the answer to a sign-in')
    const other = new URL(await eve.away(), 'http://x').searchParams.get('state') ?? ''
    const swapped = new URL(back, 'http://x')
    swapped.searchParams.set('state', other)
    await expectNobody(ann, await ann.get(`${BACK}${swapped.search}`), 400, 'not the answer to a sign-in')
    await expectNobody(eve, await eve.get(`${BACK}?code=x`), 400, 'not the answer to a sign-in')
  })

  test('opens nothing a second time, also where the cookie is there again', async () => {
    provider.says(ANN)
    const ann = browser()
    const back = await ann.away()
    const kept = new Map(ann.cookies)
    await ann.get(back)
    ann.cookies.clear()
    for (const [name, value] of kept) ann.cookies.set(name, value)
    const asked = provider.requests.length
    expect((await ann.get(back)).statusCode).toBe(400)
    expect(provider.requests).toHaveLength(asked)
    expect(sessionOf(ann)).toBeUndefined()
  })

  test('opens nothing after ten minutes', async () => {
    provider.says(ANN)
    const ann = browser()
    const back = await ann.away()
    served.ahead(10 * 60_000)
    await expectNobody(ann, await ann.get(back), 400, 'in the last ten minutes')
  })

  test('opens nothing by a cookie that we did not make', async () => {
    provider.says(ANN)
    const ann = browser()
    const back = await ann.away()
    const [text = '', seal] = (ann.cookies.get('tranche-sign-in') ?? '').split('.')
    const way = JSON.parse(Buffer.from(text, 'base64url').toString())
    const made = Buffer.from(JSON.stringify({ ...way, to: 'https://evil.example' })).toString('base64url')
    ann.cookies.set('tranche-sign-in', `${made}.${seal}`)
    await expectNobody(ann, await ann.get(back), 400, 'not the answer to a sign-in')
  })

  test.each([
    ['with another nonce', { claims: { nonce: 'another' } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['signed by another key', { signature: 'of another' }],
    ['that is not signed', { signature: 'none' }],
    ['for another client', { claims: { aud: 'another' } }],
    ['of another issuer', { claims: { iss: 'https://evil.example' } }],
    ['that is over', { claims: { exp: 1 } }],
    ['of nobody', { claims: { sub: undefined } }],
    ['of somebody whose id has a line break', { claims: { sub: 'a\nb' } }],
    ['that came by another issuer', { back: { iss: 'https://evil.example' } }],
    ['with a code that it did not give', { back: { code: 'made-up' } }],
    ['that leads elsewhere', { token: { status: 302, body: '', location: 'http://127.0.0.1:1/' } }],
    ['without end', { token: { status: 200, body: `"${'x'.repeat(2_000_000)}"` } }],
    ['that is none', { token: { status: 200, body: '{"access_token":"x","token_type":"bearer"}' } }],
  ] as const satisfies readonly (readonly [string, ProviderFaults])[])(
    'opens nothing: an ID token %s',
    async (_, faults) => {
      provider.says(ANN, faults)
      const ann = browser()
      const answer = await ann.enter()
      await expectNobody(ann, answer, answer.statusCode, 'You were not signed in')
      expect([401, 503]).toContain(answer.statusCode)
    },
  )

  test('says what the provider said, as text and without our secret', async () => {
    const said = `<img src=x onerror=alert(1)> ${provider.secret}`
    provider.says(ANN, { refuses: { error: 'access_denied', error_description: said } })
    const ann = browser()
    const answer = await ann.enter()
    await expectNobody(ann, answer, 401, 'It says: &lt;img src=x onerror=alert\\(1\\)&gt; \\[secret\\]')
  })
})

describe('an identity provider', () => {
  test.each([
    ['that calls itself otherwise', { issuer: 'http://127.0.0.1:1' }],
    ['that calls itself otherwise by one sign', 'with a stroke'],
    ['whose token endpoint is elsewhere', { token_endpoint: 'http://169.254.169.254/latest' }],
    ['whose keys are elsewhere', { jwks_uri: 'http://127.0.0.1:1/keys' }],
    ['whose page is no page', { authorization_endpoint: 'javascript:alert(1)' }],
    ['that names no page', { authorization_endpoint: undefined }],
  ])('%s is not asked', async (_, said) => {
    const metadata = typeof said === 'string' ? { issuer: `${provider.issuer}/` } : said
    provider.says(ANN, { metadata })
    const ann = browser()
    const answer = await ann.get('/sign-in/provider')
    await expectNobody(ann, answer, 503, 'You were not signed in')
    expect(provider.requests).toEqual(['/.well-known/openid-configuration'])
  })

  test('that is down is said to be, and a password of this server still works', async () => {
    await provider.stop()
    const ann = browser()
    await expectNobody(ann, await ann.get('/sign-in/provider'), 503, 'Example cannot be used: it does not answer')
    const local = await served.as('bob', ['viewer'])
    expect((await local.get('/')).statusCode).toBe(200)
  })

  test('that goes down while somebody is there opens nothing', async () => {
    provider.says(ANN)
    const ann = browser()
    const back = await ann.away()
    await provider.stop()
    await expectNobody(ann, await ann.get(back), 503, 'The identity provider does not answer')
  })

  test('leaves no code, token or secret in the log', async () => {
    const lines: unknown[] = []
    for (const level of ['debug', 'info', 'warn', 'error'] as const)
      vi.spyOn(served.app.log, level).mockImplementation((...line: unknown[]) => void lines.push(line))
    provider.says(ANN)
    await browser().enter()
    provider.says(ANN, { claims: { nonce: 'another' } })
    await browser().enter()
    const log = JSON.stringify(lines, (_, value) => (value instanceof Error ? String(value.stack) : value))
    expect(log).toContain('rejected a sign-in')
    for (const text of [...provider.given, provider.secret]) expect(log).not.toContain(text)
  })

  test('whose names and groups mean harm changes no page', async () => {
    const max = await served.as('max', ['admin'])
    for (const [n, text] of HOSTILE_TEXTS.entries()) {
      provider.says({ sub: `u${n}`, preferred_username: text, groups: ['pay-see'] })
      await browser(`10.0.0.${n % 250}`).enter()
    }
    const { body } = await max.get('/people')
    expect((await people()).length).toBe(HOSTILE_TEXTS.length + 1)
    expect(body).not.toMatch(/<(img|svg|iframe|style|object|embed|math)\b/i)
    expect(body.match(/<script/g)).toHaveLength(1)
    provider.says({ sub: 'g', groups: HOSTILE_TEXTS.slice(0, 10) })
    const refused = await browser().enter()
    expect(refused.statusCode).toBe(403)
    expect(refused.body.match(/<script/g)).toHaveLength(1)
    expect(refused.body).not.toMatch(/<(img|svg|iframe|style|object|embed|math)\b/i)
  })
})

describe('somebody who signs in again', () => {
  let ann: Browser

  beforeEach(async () => {
    provider.says({ ...ANN, groups: ['pay-admin'] })
    ann = browser()
    await ann.enter()
    served.ahead(STEP_UP_MS + 1_000)
  })

  const atS = (aheadMs = 0) => Math.floor((Date.now() + STEP_UP_MS + 1_000 + aheadMs) / 1_000)
  const again = (claims = {}, faults: ProviderFaults = {}) => {
    provider.says({ ...ANN, groups: ['pay-admin'], auth_time: atS(), exp: atS(300_000), ...claims }, faults)
    return ann.enter('/step-up/provider?to=/people')
  }
  const isFresh = async () => (await ann.get('/people')).body.includes('Add the person')

  test('is asked by the provider, and has another session secret', async () => {
    expect(await isFresh()).toBe(false)
    expect((await ann.get('/step-up?to=/people')).body).toContain('href="/step-up/provider?to=%2Fpeople">Sign in again')
    const before = new Map(ann.cookies)
    const answer = await again()
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/people'])
    expect(Object.fromEntries(provider.asked.at(-1) ?? [])).toMatchObject({ prompt: 'login', max_age: '300' })
    expect(await isFresh()).toBe(true)
    const old = browser()
    old.cookies.set('tranche', before.get('tranche') ?? '')
    expect((await old.get('/people')).statusCode).toBe(303)
  })

  test('is fresh from when the provider saw them, not from now on', async () => {
    await again({ auth_time: atS(-STEP_UP_MS + 60_000) })
    expect(await isFresh()).toBe(true)
    served.ahead(STEP_UP_MS + 1_000 + 61_000)
    expect(await isFresh()).toBe(false)
  })

  test.each([
    ['does not say when', { auth_time: undefined }, 'does not send the time of your sign-in'],
    ['saw them too long ago', { auth_time: 1_700_000_000 }, 'more than five minutes old'],
    ['saw them in the future', { auth_time: 9_999_999_999 }, 'The clocks of Example'],
    ['saw somebody else', { sub: 'u-2' }, 'as a different person'],
  ])('is not believed where the provider %s', async (_, claims, text) => {
    const answer = await again({}, { claims })
    expect([answer.statusCode, answer.body]).toEqual([403, expect.stringContaining(text)])
    expect(await isFresh()).toBe(false)
    expect((await ann.get('/sessions')).statusCode).toBe(200)
    expect((await people()).length).toBe(1)
  })

  test('is signed out where the groups give two roles that exclude each other, and has none then', async () => {
    const answer = await again({}, { claims: { groups: ['pay-admin', 'pay-in'] } })
    expect([answer.statusCode, answer.body]).toEqual([403, expect.stringContaining('admin and submitter')])
    expect((await ann.get('/sessions')).statusCode).toBe(303)
    expect(await people()).toEqual([['ann', []]])
  })

  test.each([
    ['fresh', {}],
    ['too old', { auth_time: 1_700_000_000 }],
    ['of no known time', { auth_time: undefined }],
  ])('is signed out where the groups have changed, by a sign-in that is %s', async (_, claims) => {
    const answer = await again({ groups: ['pay-see'] }, { claims })
    expect([answer.statusCode, answer.body]).toEqual([403, expect.stringContaining('have changed')])
    expect((await ann.get('/sessions')).statusCode).toBe(303)
    expect(await people()).toEqual([['ann', ['viewer']]])
  })

  test('is the one who went away, not who sits there now', async () => {
    provider.says({ ...ANN, groups: ['pay-admin'], auth_time: atS(), exp: atS(300_000) })
    const back = await ann.away('/step-up/provider')
    const way = ann.cookies.get('tranche-sign-in') ?? ''
    provider.says({ sub: 'u-2', groups: ['pay-see'], exp: atS(300_000) })
    const bob = browser()
    await bob.enter()
    bob.cookies.set('tranche-sign-in', way)
    expect((await bob.get(back)).statusCode).toBe(401)
  })

  test('cannot come by a sign-in: it makes a session of its own', async () => {
    provider.says(
      { ...ANN, groups: ['pay-admin'], auth_time: undefined, exp: atS(300_000) },
      { claims: { auth_time: undefined } },
    )
    await ann.enter()
    expect(await isFresh()).toBe(false)
  })

  test('with a password of this server is asked for that', async () => {
    served.ahead(0)
    const local = await served.as('bob', ['viewer'])
    expect((await local.get('/step-up')).body).toContain('type="password"')
    expect((await local.get('/step-up/provider')).statusCode).toBe(422)
  })
})

test('every batch waits for an approver from the first person on who comes by the provider and moves money', async () => {
  provider.says({ sub: 'u-3', preferred_username: 'cid', groups: ['pay-see'] })
  await browser().enter()
  expect(await served.ledger.approvalPolicy()).toBeNull()
  provider.says({ sub: 'u-2', preferred_username: 'bob', groups: ['pay-in'] })
  await browser().enter()
  expect(await served.ledger.approvalPolicy()).not.toBeNull()
})

describe('settings', () => {
  test('turn passwords of this server off', async () => {
    await served.close()
    await provider.close()
    provider = await openProviderServer('  local_sign_in: false\n')
    served = await openPages({ env: provider.env })
    const { body } = await browser().get('/sign-in')
    expect(body).toContain('Sign in with Example')
    expect(body).not.toContain('type="password"')
    const link = { sha256: 'aa'.repeat(32), untilMs: Date.now() + 60_000 }
    await served.ledger.addPerson({ id: 'p', name: 'bob', grants: ['viewer'] }, link, personAt('boss'), Date.now())
    const headers = {
      ...{ host: '127.0.0.1', 'sec-fetch-site': 'same-origin' },
      'content-type': 'application/x-www-form-urlencoded',
    }
    const answer = await served.pages.inject({
      method: 'POST',
      url: '/sign-in',
      payload: 'name=bob&password=x',
      headers,
    })
    expect([answer.statusCode, answer.body]).toEqual([403, expect.stringContaining('are turned off')])
    const join = await browser().get('/join/aa')
    expect([join.statusCode, join.body]).toEqual([403, expect.stringContaining('are turned off')])
  })

  test('that change end the sessions of people who may come in so no more', async () => {
    const local = await served.as('bob', ['viewer'])
    provider.says(ANN)
    const ann = browser()
    await ann.enter()
    const both = async () => [(await local.get('/sessions')).statusCode, (await ann.get('/sessions')).statusCode]
    expect(await both()).toEqual([200, 200])
    const { app } = served
    const configured = app.config.identityProvider as ProviderSettings
    const reconfigured = (identityProvider: ProviderSettings | null) =>
      Object.assign(app, { config: { ...app.config, identityProvider } })
    reconfigured({ ...configured, localSignIn: false })
    expect(await both()).toEqual([303, 200])
    reconfigured({ ...configured, issuer: 'https://other.example' })
    expect(await both()).toEqual([200, 303])
    reconfigured(null)
    expect(await both()).toEqual([200, 303])
  })

  test('ask for a stronger way of signing in, which the provider must tell', async () => {
    await served.close()
    await provider.close()
    provider = await openProviderServer('  acr_values: [mfa]\n  scopes: [groups]\n')
    served = await openPages({ env: provider.env })
    provider.says({ ...ANN, acr: 'password' })
    const ann = browser()
    await expectNobody(ann, await ann.enter(), 401, 'without the authentication method that this server requires')
    expect(provider.asked[0]?.get('acr_values')).toBe('mfa')
    expect(provider.asked[0]?.get('scope')).toBe('openid profile email groups')
    provider.says({ ...ANN, acr: 'mfa' })
    expect((await ann.enter()).statusCode).toBe(303)
  })
})

test('without a provider its pages say so, and the sign-in page offers none', async () => {
  const plain = await openPages()
  const get = (url: string) => plain.pages.inject({ method: 'GET', url, headers: { host: '127.0.0.1' } })
  expect((await get('/sign-in')).body).not.toContain('/sign-in/provider')
  for (const url of ['/sign-in/provider', `${BACK}?code=x&state=y`])
    expect(await get(url)).toMatchObject({ statusCode: 404, body: expect.stringContaining('No identity provider') })
  await plain.close()
})
