// Every page, by everybody: what a role may not do is refused, and what it may do is not refused for the role.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { PAGES, type PageEntry } from '../../src/console/pages-table.ts'
import { GRANTS, type GrantName, mayDo } from '../../src/domain/person.ts'
import { openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'

let served: PagesServed
const visitors = new Map<GrantName, Visiting>()

beforeAll(async () => {
  served = await openPages()
  for (const name of GRANTS) visitors.set(name, await served.as(`a-${name}`, [name]))
})
afterAll(() => served.close())

/** Those that ask for a role. */
const guarded = Object.entries(PAGES as Readonly<Record<string, PageEntry>>).filter(
  ([, { permission }]) => permission !== 'anybody' && permission !== 'own',
)
const cases = guarded.flatMap(([page, entry]) => GRANTS.map((name) => ({ page, name, entry })))

test.each(cases)('$page for $name', async ({ page, name, entry: { method, path, permission } }) => {
  const visitor = visitors.get(name) as Visiting
  const url = path.replaceAll(/:\w+/g, 'x')
  const grant = { name, atMs: 0, by: '', first: true }
  const may = permission !== 'anybody' && mayDo({ grants: [grant], revokedAtMs: null }, permission)
  if (page === 'live' && may) return // it does not end: `live.integration.test.ts` watches it
  const answer = await (method === 'GET' ? visitor.get(url) : visitor.post(url, {}))
  expect(answer.body.includes('Your roles do not allow that')).toBe(!may)
  if (!may) expect(answer.statusCode).toBe(403)
})
