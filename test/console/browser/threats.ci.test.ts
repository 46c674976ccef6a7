// What another site may try on a person who is signed in, in their own browser; and what a person may be given to wear.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { newFormToken } from '../../../src/console/forms.ts'
import { PAGES, type PageEntry } from '../../../src/console/pages-table.ts'
import { MAY_SKIP_BROWSER, useBrowser } from '../../fixtures/browser.ts'
import { cookieName, fillSignIn, signInAt } from '../../fixtures/console.ts'
import { PASSWORD } from '../../fixtures/pages.ts'
import { type Desk, openDesk } from './desk.ts'

/** A browser shows a page for each form that is sent: every page gets one kind of form, where there is time for it, and a few get all. */
const FEW = 4
const MOST = process.env.CI === undefined ? FEW : Number.POSITIVE_INFINITY

/** Of the other site: what Chromium writes there when it stops something. */
const STOPPED = /^(console|error|request to elsewhere|4\d\d): ?/

let desk: Desk
let other: Server
/** Their ports differ alone: to a browser the same site, whose cookies it sends. */
let near: string
/** Another site. */
let far: string

describe.skipIf(MAY_SKIP_BROWSER)('another site', () => {
  const open = useBrowser()

  beforeEach(async () => {
    desk = await openDesk((plain) => plain)
    other = createServer((_, response) =>
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>y</title>'),
    )
    await new Promise<void>((resolve) => other.listen(0, resolve))
    const { port } = other.address() as AddressInfo
    near = `http://127.0.0.1:${port}/`
    far = `http://localhost:${port}/`
  })
  afterEach(async () => {
    other.closeAllConnections()
    other.close()
    await desk.close()
  })

  test.each([
    ['a form', 'application/x-www-form-urlencoded', MOST],
    ['a form of plain text', 'text/plain', FEW],
    ['a form with parts', 'multipart/form-data', FEW],
    ['a script', null, Number.POSITIVE_INFINITY],
  ])('changes nothing by %s, whichever page it sends to', async (_, enctype, most) => {
    const { forms: all, secret } = await everyForm()
    const forms = all.slice(0, most)
    const { page, context } = await open(near, { tolerates: STOPPED })
    await wear(context, secret)
    const before = bytesOfLedger()
    for (const from of [near, far]) {
      await page.goto(from)
      for (const { url, fields } of forms) {
        const status = answered(url)
        await (enctype === null ? sendByScript(page, url, fields) : sendByForm(page, url, fields, enctype))
        expect([url, await status]).toEqual([url, 403])
        if (enctype !== null) await page.goto(from)
      }
    }
    expect(bytesOfLedger()).toBe(before)
  })

  test('changes nothing through who does not say where a request comes from', async () => {
    const { forms, secret } = await everyForm()
    const before = bytesOfLedger()
    for (const { url, fields } of forms) {
      const headers = { cookie: `${cookieName(false)}=${secret}`, 'content-type': 'application/x-www-form-urlencoded' }
      expect([url, await postBare(url, headers, new URLSearchParams(fields).toString())]).toEqual([url, 403])
    }
    expect(bytesOfLedger()).toBe(before)
  })

  test('the same forms change something from a page of ours, so that it is the site that is refused', async () => {
    const { forms, secret } = await everyForm()
    const { page, context } = await open(desk.url)
    await wear(context, secret)
    await page.goto(`${desk.url}/sessions`)
    const { url, fields } = forms.find((form) => form.url.endsWith('/pause')) as FormKnown
    const status = answered(url)
    await sendByForm(page, url, fields, 'application/x-www-form-urlencoded')
    expect(await status).toBe(303)
    expect((await desk.ledger.batches()).map(({ hold }) => hold)).toEqual(['paused'])
  })

  test.each(['iframe', 'object', 'embed'])('sees nothing of a page that it frames by %s', async (tag) => {
    await desk.person('vic', ['viewer'])
    const { page, context } = await open(near, { tolerates: STOPPED })
    await desk.enter(context, 'vic')
    await page.goto(near)
    const status = answered(`${desk.url}/sessions`)
    await page.evaluate(`{
      const frame = document.createElement('${tag}')
      frame.setAttribute('${tag === 'object' ? 'data' : 'src'}', '${desk.url}/sessions')
      document.body.append(frame)
    }`)
    expect(await status).toBe(200)
    await page.waitForLoadState('networkidle')
    const framed = page.frames().filter((frame) => frame !== page.mainFrame())
    const texts = await Promise.all(
      framed.map((frame) =>
        frame
          .locator('body')
          .textContent()
          .catch(() => ''),
      ),
    )
    expect(texts.join('')).not.toContain('vic')
    expect(framed.filter((frame) => frame.url().startsWith(desk.url))).toEqual([])
  })

  test('sees nothing under a name that it has led to this machine', async () => {
    const { port } = new URL(desk.url)
    const { page } = await open(`http://rebound.example:${port}`, { tolerates: STOPPED })
    const answer = await page.goto(`http://rebound.example:${port}/sign-in`)
    expect(answer?.status()).toBe(421)
    expect(await page.content()).not.toContain('<form')
  })

  test.each([
    ['another host', 'GET /sign-in HTTP/1.1\r\nHost: evil.example\r\n'],
    ['an empty host', 'GET /sign-in HTTP/1.1\r\nHost: \r\n'],
    ['two hosts', 'GET /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n'],
    ['a whole address', 'GET http://evil.example/sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\n'],
    ['a name behind a user', 'GET /sign-in HTTP/1.1\r\nHost: 127.0.0.1@evil.example\r\n'],
  ])('is refused with %s, and not repeated', async (_, head) => {
    const said = await sayRaw(`${head}Connection: close\r\n\r\n`)
    expect(said).toMatch(/^HTTP\/1\.1 (421|400) /)
    expect(said).not.toContain('evil.example')
    expect(said).not.toContain('<form')
  })

  test('a cookie that somebody else chose is not taken over by signing in', async () => {
    await desk.person('vic', ['viewer'])
    const chosen = 'A'.repeat(43)
    const { page, context } = await open(desk.url)
    await wear(context, chosen)
    await signInAt(page, desk.url, 'vic')
    await page.waitForURL(`${desk.url}/`)
    expect(await worn(context)).not.toBe(chosen)
    expect(await page.evaluate('document.cookie')).toBe('')
    const thief = await open(desk.url)
    await wear(thief.context, chosen)
    await thief.page.goto(`${desk.url}/sessions`)
    expect(thief.page.url()).toContain('/sign-in')
  })

  test('the password shown again makes another cookie, and the ledger holds neither', async () => {
    await desk.person('vic', ['viewer'])
    const { page, context } = await open(desk.url)
    await signInAt(page, desk.url, 'vic')
    await page.waitForURL(`${desk.url}/`)
    const first = await worn(context)
    await page.goto(`${desk.url}/step-up`)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Confirm the password' }).click()
    await page.waitForURL(`${desk.url}/`)
    const second = await worn(context)
    expect(second).not.toBe(first)
    const bytes = ledgerFiles()
      .map((path) => readFileSync(path, 'latin1'))
      .join('')
    expect([bytes.includes('vic'), bytes.includes(first), bytes.includes(second)]).toEqual([true, false, false])
    const thief = await open(desk.url)
    await wear(thief.context, first)
    await thief.page.goto(`${desk.url}/sessions`)
    expect(thief.page.url()).toContain('/sign-in')
  })
})

describe.skipIf(MAY_SKIP_BROWSER)('with TLS', () => {
  const open = useBrowser()
  beforeEach(async () => {
    desk = await openDesk((plain) => plain, { tls: true })
  })
  afterEach(() => desk.close())

  test('the cookie is of this host alone, and nobody sets it over plain text', async () => {
    await desk.person('vic', ['viewer'])
    const { page, context } = await open(desk.url, { tolerates: STOPPED })
    await page.goto(`${desk.url}/sign-in`)
    await fillSignIn(page, 'vic')
    await page.waitForURL(`${desk.url}/`)
    const [cookie] = await context.cookies()
    expect(cookie).toMatchObject({ name: '__Host-tranche', domain: 'localhost', path: '/' })
    expect(cookie).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Lax' })
    await evilSets(page, ['__Host-tranche=evil; Path=/', '__Host-tranche=evil; Path=/; Domain=localhost; Secure'])
    expect((await context.cookies()).map(({ value }) => value).toSorted()).toEqual(['1', cookie?.value].toSorted())
    await page.goto(`${desk.url}/sessions`)
    expect(await page.title()).toBe('Your sessions – Tranche')
  })
})

/** A page of the same host without TLS, which tries to set these. */
async function evilSets(page: Page, cookies: readonly string[]): Promise<void> {
  const evil = createServer((_, response) => response.setHeader('set-cookie', [...cookies, 'plain=1']).end('set'))
  await new Promise<void>((resolve) => evil.listen(0, resolve))
  try {
    await page.goto(`http://localhost:${(evil.address() as AddressInfo).port}/`)
  } finally {
    evil.closeAllConnections()
    evil.close()
  }
}

interface FormKnown {
  readonly url: string
  readonly fields: Readonly<Record<string, string>>
}

/** As if the other site knew everything of the form but could not be on our site: only where it comes from is wrong. */
async function everyForm(): Promise<{ readonly forms: readonly FormKnown[]; readonly secret: string }> {
  await desk.person('all', ['viewer', 'submitter', 'approver', 'operator', 'auditor', 'results'])
  const link = await desk.invitation('new', ['viewer'])
  const batch = await desk.batch()
  const secret = await desk.session('all')
  const [session] = await desk.ledger.sessions('p-all', Date.now())
  const known: Readonly<Record<string, string>> = {
    ...{ batch, session: session?.id ?? '', invitation: link.split('/').at(-1) ?? '' },
    person: 'new',
  }
  const fields = {
    form: newFormToken(secret),
    name: 'all',
    password: PASSWORD,
    reason: 'x',
    total: '30.00',
    digest: 'x',
  }
  const posts = Object.values(PAGES as Readonly<Record<string, PageEntry>>).filter(({ method }) => method === 'POST')
  const forms = posts.map(({ path }) => ({
    url: `${desk.url}${path.replaceAll(/:(\w+)/g, (_, name: string) => known[name] ?? 'x')}`,
    fields,
  }))
  return { forms, secret }
}

async function sendByForm(page: Page, url: string, fields: FormKnown['fields'], enctype: string): Promise<void> {
  const arrived = page.waitForEvent('domcontentloaded')
  await page.evaluate(`{
    const form = document.createElement('form')
    form.method = 'post'
    form.action = ${JSON.stringify(url)}
    form.enctype = ${JSON.stringify(enctype)}
    for (const [name, value] of Object.entries(${JSON.stringify(fields)})) {
      const input = document.createElement('input')
      input.name = name
      input.value = value
      form.append(input)
    }
    document.body.append(form)
    HTMLFormElement.prototype.submit.call(form)
  }`)
  await arrived
}

async function sendByScript(page: Page, url: string, fields: FormKnown['fields']): Promise<void> {
  await page.evaluate(`void fetch(${JSON.stringify(url)}, {
    method: 'POST',
    mode: 'no-cors',
    credentials: 'include',
    body: new URLSearchParams(${JSON.stringify(fields)}),
  }).catch(() => {})`)
}

/** What the server says to that, whatever the browser lets its page see of it. */
function answered(url: string): Promise<number> {
  const { pathname } = new URL(url)
  return new Promise((resolve) => {
    const look = (asked: IncomingMessage, answer: ServerResponse) => {
      if (asked.url !== pathname) return
      desk.pages.server.off('request', look)
      answer.on('finish', () => resolve(answer.statusCode))
    }
    desk.pages.server.on('request', look)
  })
}

function postBare(url: string, headers: Record<string, string>, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', headers }, (answer: IncomingMessage) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

function sayRaw(head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const socket = connect(Number(new URL(desk.url).port), '127.0.0.1', () => socket.write(head))
    socket.setEncoding('latin1').on('data', (text: string) => {
      said += text
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(said))
  })
}

async function wear(context: BrowserContext, secret: string): Promise<void> {
  await context.addCookies([{ name: cookieName(false), value: secret, url: desk.url, sameSite: 'Lax', httpOnly: true }])
}

async function worn(context: BrowserContext): Promise<string> {
  return (await context.cookies(desk.url)).find(({ name }) => name === cookieName(false))?.value ?? ''
}

function ledgerFiles(): readonly string[] {
  const { ledger } = desk.app.paths
  return [ledger, `${ledger}-wal`].filter((path) => existsSync(path))
}

function bytesOfLedger(): string {
  const hash = createHash('sha256')
  for (const path of ledgerFiles()) hash.update(readFileSync(path))
  return hash.digest('hex')
}
