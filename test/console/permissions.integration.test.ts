// Every page, by everybody: what each is answered is derived from the table of pages, so that a new page is asked as well.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { PAGES, type PageEntry, pageOfForm } from '../../src/console/pages-table.ts'
import { GRANTS, type GrantName, mayDo } from '../../src/domain/person.ts'
import { CLERK } from '../fixtures/ledgers.ts'
import { openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'

const STEP_UP_AND_MORE_MS = 6 * 60_000

let served: PagesServed
const visitors = new Map<string, Visiting>()

beforeAll(async () => {
  served = await openPages()
  for (const name of GRANTS) visitors.set(name, await served.as(`a-${name}`, [name]))
  visitors.set('revoked', await served.as('gone', ['viewer', 'results', 'auditor']))
  await served.ledger.revokePerson('gone', 'left', CLERK, Date.now())
})
afterAll(() => served.close())

const pages = Object.entries(PAGES as Readonly<Record<string, PageEntry>>)

type Visits = 'nobody' | 'revoked' | GrantName

async function ask(who: Visits, { method, path }: PageEntry, site = 'same-origin') {
  const cookie = visitors.get(who)?.cookie
  return served.pages.inject({
    ...{ method, url: path.replaceAll(/:\w+/g, 'x'), ...(method === 'POST' && { payload: '' }) },
    headers: {
      ...{ host: '127.0.0.1', 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': site },
      ...(cookie !== undefined && { cookie }),
    },
  })
}

type Expected = 'in' | 'sign-in' | 'no-session' | 'step-up' | 'no-role'

function expectedOf(who: Visits, { method, permission, stepUp }: PageEntry, isFresh: boolean): Expected {
  if (permission === 'anybody') return 'in'
  if (who === 'nobody' || who === 'revoked') return method === 'GET' ? 'sign-in' : 'no-session'
  const grant = { name: who, atMs: 0, by: '', first: true }
  if (!mayDo({ grants: [grant], revokedAtMs: null }, permission)) return 'no-role'
  return stepUp === true && !isFresh ? 'step-up' : 'in'
}

function answerOf(entry: PageEntry, answer: Awaited<ReturnType<typeof ask>>): Expected {
  const to = String(answer.headers.location ?? '')
  if (answer.statusCode === 303 && /^\/sign-in($|\?to=)/.test(to) && entry.permission !== 'anybody') return 'sign-in'
  if (answer.statusCode === 401 && answer.body.includes('You are no longer signed in')) return 'no-session'
  if (answer.statusCode === 403 && answer.body.includes('Your roles do not allow that')) return 'no-role'
  const page = pageOfForm(entry, entry.path.replaceAll(/:\w+/g, 'x'))
  return answer.statusCode === 303 && to === `/step-up?to=${encodeURIComponent(page)}` ? 'step-up' : 'in'
}

const everybody: readonly Visits[] = ['nobody', 'revoked', ...GRANTS]

test.each(everybody)('every page for %s', async (who) => {
  for (const [page, entry] of pages) {
    const expected = expectedOf(who, entry, true)
    if (page === 'live' && expected === 'in') continue // it does not end: `live` watches it
    expect([page, answerOf(entry, await ask(who, entry))]).toEqual([page, expected])
  }
})

test.each(everybody)('every form from another site, for %s', async (who) => {
  for (const [page, entry] of pages.filter(([, { method }]) => method === 'POST')) {
    const { statusCode, body } = await ask(who, entry, 'cross-site')
    expect([page, statusCode, body.includes('from another site')]).toEqual([page, 403, true])
  }
})

test('whoever proved who they are long ago does it again where the page asks for it', async () => {
  served.ahead(STEP_UP_AND_MORE_MS)
  for (const who of GRANTS)
    for (const [page, entry] of pages.filter(([, { stepUp }]) => stepUp === true))
      expect([page, who, answerOf(entry, await ask(who, entry))]).toEqual([page, who, expectedOf(who, entry, false)])
  served.ahead(0)
})
