// The theme: a word in a cookie, known or passed over.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'

let served: PagesServed
let vic: Visiting

beforeEach(async () => {
  served = await openPages()
  vic = await served.as('vic', ['viewer'])
})
afterEach(() => served.close())

const post = (fields: Record<string, string>, site = 'same-origin') =>
  served.pages.inject({
    ...{ method: 'POST', url: '/theme', payload: new URLSearchParams(fields).toString() },
    headers: {
      ...{ host: '127.0.0.1', 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': site },
    },
  })
const themeAt = async (cookie: string, url = '/sign-in') => {
  const { body } = await served.pages.inject({ method: 'GET', url, headers: { host: '127.0.0.1', cookie } })
  return /<html lang="en" data-theme="([^"]*)">/.exec(body)?.[1]
}

test('is chosen by whoever comes, and kept by the browser alone', async () => {
  const chosen = await post({ theme: 'dark', to: '/sign-in?to=/doubts' })
  expect([chosen.statusCode, chosen.headers.location]).toEqual([303, '/sign-in?to=/doubts'])
  const cookie = String(chosen.headers['set-cookie'])
  expect(cookie).toBe('tranche-theme=dark; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax')
  expect(await themeAt(cookie.split(';')[0] as string)).toBe('dark')
  expect(await themeAt('')).toBe('system')
})

test.each(['', 'darker', 'dark"><script>', 'Dark'])('%j is none', async (theme) => {
  const refused = await post({ theme, to: '/' })
  expect([refused.statusCode, refused.headers['set-cookie']]).toEqual([422, undefined])
  expect(await themeAt(`tranche-theme=${theme}`)).toBe('system')
})

test('two cookies of that name are none, and neither is the secret of a session', async () => {
  expect(await themeAt('tranche-theme=dark; tranche-theme=light')).toBe('system')
  expect(await themeAt(`${vic.cookie}; tranche-theme=light`, '/sessions')).toBe('light')
})

test.each(['https://elsewhere.example/', '//elsewhere.example', '/\\elsewhere.example', 'javascript:alert(1)'])(
  'nobody is led to %s by it',
  async (to) => {
    expect((await post({ theme: 'dark', to })).headers.location).toBe('/')
  },
)

test('another site does not choose it', async () => {
  const refused = await post({ theme: 'dark', to: '/' }, 'cross-site')
  expect([refused.statusCode, refused.headers['set-cookie']]).toEqual([403, undefined])
})

test('a page that answers a form has no switch: it may show a secret that is shown once', async () => {
  const { body } = await vic.post('/batches/x/approve', {})
  expect(body).not.toContain('action="/theme"')
})
