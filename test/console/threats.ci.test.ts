// What is tried against the pages without a browser: passwords by the thousand, every page by its headers, every page with a ledger
// that fails, and what is left behind of secrets.

import { createHook } from 'node:async_hooks'
import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newSecret, sha256Of } from '../../src/app/people.ts'
import { assetPath } from '../../src/console/assets.ts'
import { consoleOf } from '../../src/console/console.ts'
import { PAGES, type PageEntry } from '../../src/console/pages-table.ts'
import { createSamples } from '../../src/console/samples.ts'
import { Fault } from '../../src/domain/fault.ts'
import { GRANTS } from '../../src/domain/person.ts'
import { createLog } from '../../src/log.ts'
import { buildServer } from '../../src/server/server.ts'
import { personAt } from '../fixtures/ledgers.ts'
import { openPages, PASSWORD, type PagesServed, type Visiting } from '../fixtures/pages.ts'

let served: PagesServed
/** One for each test. */
function useOffice(): void {
  beforeEach(async () => {
    served = await openPages()
  })
  afterEach(() => served.close())
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const SAME = { host: '127.0.0.1', 'sec-fetch-site': 'same-origin' }

interface Tried {
  readonly from?: string
  readonly headers?: Readonly<Record<string, string>>
}

function signIn(name: string, password: string, { from = '192.0.2.1', headers = {} }: Tried = {}, at = served.pages) {
  const payload = new URLSearchParams({ name, password }).toString()
  return at.inject({
    ...{ method: 'POST', url: '/sign-in', payload, remoteAddress: from },
    headers: { ...SAME, ...FORM, ...headers },
  })
}

/** How often this process hashes a password while that is done. */
async function hashesIn(work: (soFar: () => number) => Promise<unknown>): Promise<number> {
  let hashes = 0
  const watch = createHook({
    init(_, type) {
      if (type === 'ARGON2REQUEST') hashes += 1
    },
  }).enable()
  try {
    await work(() => hashes)
  } finally {
    watch.disable()
  }
  return hashes
}

describe('a password that is guessed', () => {
  useOffice()

  test('a thousand times, from as many addresses, is hashed twenty times at most, and keeps out nobody else', async () => {
    await served.as('vic', ['viewer'])
    await served.as('ann', ['viewer'])
    const hashes = await hashesIn(async (soFar) => {
      for (let n = 0; n < 1_000; n += 1) {
        served.ahead(n * 1_000)
        const answer = await signIn('vic', `guess number ${n}`, { from: `10.0.${n >> 8}.${n & 255}` })
        expect(answer.statusCode).toBe(401)
        expect(soFar()).toBeLessThanOrEqual(20)
      }
    })
    expect(hashes).toBeGreaterThan(0)
    // Also by a server that was started meanwhile.
    const { door, app } = served
    const samples = createSamples(Date.now())
    const pages = consoleOf({ ...door, app, samples, isSecure: false, isSandbox: false, rehearsalPeople: [] })
    const other = await buildServer({ ...door, app }, null, pages)
    expect((await signIn('vic', PASSWORD, {}, other)).statusCode).toBe(401)
    await other.close()
    expect((await signIn('ann', PASSWORD)).statusCode).toBe(303)
    served.ahead(1_000_000 + 15 * 60_000)
    expect((await signIn('vic', PASSWORD)).statusCode).toBe(303)
  })

  test('takes one hash, whether anybody has that name or not', async () => {
    await served.as('vic', ['viewer'])
    for (const name of ['vic', 'nobody', 'somebody']) expect(await hashesIn(() => signIn(name, 'a guess'))).toBe(1)
    // While the name has to wait, none, of either.
    for (const name of ['vic', 'nobody']) expect(await hashesIn(() => signIn(name, 'a guess'))).toBe(0)
  })

  test('is tried from one address, whatever the request says of where it comes from', async () => {
    const long = 'x'.repeat(201) // it takes no hash
    const statuses = []
    for (let n = 0; n < 62; n += 1) {
      const said = `192.0.2.${n}`
      const headers = { 'x-forwarded-for': said, 'x-real-ip': said, forwarded: `for=${said}` }
      statuses.push((await signIn(`n${n}`, long, { headers })).statusCode)
    }
    expect(statuses.at(-1)).toBe(429)
  })
})

const ENTRIES = Object.entries(PAGES as Readonly<Record<string, PageEntry>>)
const here = ({ path }: PageEntry) => path.replaceAll(/:\w+/g, 'x')
/** Streams do not end. */
const ended = ENTRIES.filter(([name]) => name !== 'live')

/** Who makes people moves no money: who may do a thing is one of two. */
let all: Visiting
let admin: Visiting
async function admitAll(): Promise<void> {
  all = await served.as(
    'all',
    GRANTS.filter((name) => name !== 'admin'),
  )
  admin = await served.as('root', ['admin'])
}
const visitorOf = ({ permission }: PageEntry) => (permission === 'administer' ? admin : all)

describe('every page', () => {
  beforeAll(async () => {
    served = await openPages()
    await admitAll()
  })
  afterAll(() => served.close())

  test.each(ended)(
    '%s is kept by no cache, framed by nobody, and tells nobody where a reader came from',
    async (name, entry) => {
      for (const headers of [{ cookie: visitorOf(entry).cookie }, {}]) {
        const url = name === 'asset' ? assetPath('console.js') : here(entry)
        const payload = entry.method === 'POST' ? { payload: 'a=b' } : {}
        const answer = await served.pages.inject({
          ...{ method: entry.method, url, ...payload },
          headers: { ...SAME, ...(entry.method === 'POST' ? FORM : {}), ...headers },
        })
        expect(answer.headers).toMatchObject({
          'cache-control': name === 'asset' ? 'public, max-age=31536000, immutable' : 'no-store',
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
          'x-frame-options': 'DENY',
          'content-security-policy': expect.stringMatching(/^default-src 'none'.*frame-ancestors 'none'/),
        })
        expect(answer.headers['access-control-allow-origin']).toBeUndefined()
      }
    },
  )

  const posts = ENTRIES.filter(([, { method }]) => method === 'POST')
  test.each(posts)('%s takes no body of another type, and none from a page in a sandbox', async (name, entry) => {
    const { cookie } = visitorOf(entry)
    const before = await served.ledger.head()
    const ask = (headers: Readonly<Record<string, string>>) =>
      served.pages.inject({
        ...{ method: 'POST', url: here(entry), payload: 'form=x&reason=x' },
        headers: { ...SAME, cookie, ...headers },
      })
    const types = ['text/plain', 'application/json', 'application/x-www-form-urlencoded\ta', 'text/xml']
    for (const type of types) {
      const answer = await ask({ 'content-type': type })
      expect([name, type, answer.statusCode]).toEqual([name, type, 415])
    }
    const bare = { host: '127.0.0.1', cookie, ...FORM }
    for (const headers of [{ origin: 'null' }, { origin: 'null', 'sec-fetch-site': 'cross-site' }, {}]) {
      const answer = await served.pages.inject({
        ...{ method: 'POST', url: here(entry), payload: 'form=x' },
        headers: { ...bare, ...headers },
      })
      expect([name, headers, answer.statusCode]).toEqual([name, headers, 403])
    }
    expect(await served.ledger.head()).toBe(before)
  })
})

/** What may be thrown below a page, with what no page may say. */
const INSIDE = '/var/lib/tranche/ledger.db: SELECT secret FROM api_key -- s3cret'
const THROWN: readonly (readonly [string, () => unknown])[] = [
  ['an error', () => new Error(INSIDE)],
  ['a mistake of ours', () => new TypeError(INSIDE)],
  ['an error of the database', () => Object.assign(new Error(INSIDE), { code: 'ERR_SQLITE_ERROR', errcode: 11 })],
  ['an error that has a status of its own', () => Object.assign(new Error(INSIDE), { status: 404, statusCode: 404 })],
  ['an error that has a cause', () => new Error('x', { cause: new Error(INSIDE) })],
  ['several errors', () => new AggregateError([new Error(INSIDE)], INSIDE)],
  ['what is no error', () => INSIDE],
]
const CODES = ['usage', 'refused', 'stopped', 'config', 'full', 'storage', 'unavailable', 'interrupted'] as const

describe('where the ledger fails', () => {
  useOffice()

  /** All of it but what says who visits. */
  function fail(how: () => unknown): void {
    const { ledger } = served
    for (let at: object | null = ledger; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at))
      for (const name of Object.getOwnPropertyNames(at)) {
        const found = (ledger as unknown as Record<string, unknown>)[name]
        if (typeof found !== 'function' || ['constructor', 'visit', 'close', 'sessions'].includes(name)) continue
        Object.defineProperty(ledger, name, {
          configurable: true,
          value: () => {
            throw how()
          },
        })
      }
  }

  const gets = ended.filter(([name, { method }]) => method === 'GET' && name !== 'asset')
  test.each(THROWN)(
    'with %s, no page says what is inside, and each that fails names its request',
    async (_, thrown) => {
      await admitAll()
      const lines: string[] = []
      const log = createLog({ level: 'error', destination: { write: (line) => void lines.push(line) } })
      Object.assign(served.app, { log })
      fail(thrown)
      let failed = 0
      for (const [name, entry] of gets) {
        const answer = await visitorOf(entry).get(here(entry))
        expect(answer.body, name).not.toMatch(/s3cret|SELECT|\/var\/lib|node_modules|\bat \S+ \(|\.ts:\d/)
        if (answer.statusCode < 500) continue
        failed += 1
        const [, id] = /Request ([0-9a-f-]{36})/.exec(answer.body) ?? []
        expect(id, `${name}: ${answer.body}`).toBeDefined()
        expect(
          lines.some((line) => line.includes(String(id))),
          name,
        ).toBe(true)
      }
      expect(failed).toBeGreaterThan(5)
    },
  )

  test.each(CODES)('with a fault of the kind %s, a page says what happened, and nothing else', async (code) => {
    await admitAll()
    fail(() => new Fault(code, 'The disk is full.', { cause: new Error(INSIDE) }))
    const answer = await all.get('/batches/x')
    expect([answer.statusCode, answer.body.includes('The disk is full.')]).toEqual([code === 'usage' ? 422 : 503, true])
    expect(answer.body).not.toMatch(/s3cret|SELECT|\/var\/lib/)
  })
})

describe('a path', () => {
  let port: number
  beforeAll(async () => {
    served = await openPages()
    await served.pages.listen({ host: '127.0.0.1', port: 0 })
    port = (served.pages.server.address() as AddressInfo).port
  })
  afterAll(() => served.close())

  const above = [
    '..%2f',
    '%2e%2e/',
    '../',
    '../../console/',
    '%00',
    '/',
    '..%5c',
    '..\\',
    '%252e%252e%252f',
    '.%2e/',
    'c:/',
  ]
  test.each(
    above.flatMap((path) => [`/assets/${path}`, `/assets/${path}console.ts`, `/assets/${path}assets/console.css`]),
  )('%s leads to no file', async (path) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 40[04] /)
  })
})

describe('secrets', () => {
  useOffice()

  test('of sessions, passwords, links and keys are neither in the files nor in the log', async () => {
    const lines: string[] = []
    const log = createLog({ level: 'trace', destination: { write: (line) => void lines.push(line) } })
    Object.assign(served.app, { log })
    const link = newSecret()
    const invitation = { sha256: sha256Of(link), untilMs: Date.now() + 60_000 }
    await served.ledger.addPerson(
      { id: 'p-vic', name: 'vic', grants: ['viewer'] },
      invitation,
      personAt('boss'),
      Date.now(),
    )
    const joined = await served.pages.inject({
      ...{ method: 'POST', url: `/join/${link}`, payload: new URLSearchParams({ password: PASSWORD }).toString() },
      headers: { ...SAME, ...FORM },
    })
    expect(joined.statusCode).toBe(303)
    const entered = await signIn('vic', PASSWORD)
    const wrong = 'a wrong password of vic'
    await signIn('vic', wrong)
    const root = await served.as('root', ['admin'])
    const added = await root.send('/keys', '/keys', { name: 'billing', 'scope-batches:read': 'on', days: '30' })
    const key = /trk_[\w-]{58}/.exec(added.body)?.[0]
    const search = 'HIDDEN-REFERENCE'
    await root.get(`/find?q=${search}`)
    const cookies = [root.cookie, String(entered.headers['set-cookie']).split(';')[0] as string]
    const secrets = [link, PASSWORD, wrong, search, ...cookies.map((cookie) => cookie.split('=')[1] as string)]
    expect(key, added.body).toBeDefined()
    secrets.push(String(key).slice(13, 56))
    expect(secrets.every((secret) => secret.length > 10)).toBe(true)
    const { dir } = served
    const files = readdirSync(dir, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile())
    const kept = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name)).toString('latin1'))
    expect(kept.some((bytes) => bytes.includes('vic'))).toBe(true)
    expect(lines.length).toBeGreaterThan(3)
    const found = [...kept, lines.join('\n')].flatMap((bytes) => secrets.filter((secret) => bytes.includes(secret)))
    expect(found).toEqual([])
  })
})
