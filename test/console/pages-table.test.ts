// Where a page that says what was not done leads back to.

import { expect, test } from 'vitest'
import { PAGES, type PageEntry, pageOfForm } from '../../src/console/pages-table.ts'

const ALL: readonly PageEntry[] = Object.values(PAGES)

test.each(ALL.filter(({ method }) => method === 'POST'))('the form of $path stands at a page above it', (entry) => {
  const url = entry.path.replaceAll(/:\w+/g, (name) => `${name.slice(1)}-7`)
  const above = pageOfForm(entry, `${url}?x=/y`)
  expect(url.startsWith(above)).toBe(true)
  const isThere = ALL.some(({ method, path }) => {
    const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`)
    return method === 'GET' && pattern.test(above)
  })
  expect(isThere, above).toBe(true)
})

test('an act on one thing leads back to that thing, else to the list', () => {
  expect(pageOfForm(PAGES.approve, '/batches/261126-abcde/approve')).toBe('/batches/261126-abcde')
  expect(pageOfForm(PAGES.endSession, '/sessions/7/end')).toBe('/sessions')
  expect(pageOfForm(PAGES.addPerson, '/people')).toBe('/people')
})
