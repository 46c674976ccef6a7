// What the page of health says, and to whom.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { openPages, type PagesServed } from '../fixtures/pages.ts'

let served: PagesServed

beforeEach(async () => {
  served = await openPages()
})
afterEach(() => served.close())

test('the checks stand in words, and that no worker runs is to be mended', async () => {
  const vic = await served.as('vic', ['viewer'])
  const { body } = await vic.get('/health')
  expect(body).toContain('it can be read, and no alarm is raised')
  expect(body).toContain('MiB are free in the data directory')
  expect(body).toMatch(/<th scope="row"[^>]*>Worker<\/th><td[^>]*><span class="state failed">to be mended<\/span>/)
  expect(body).toContain('no worker is running: nothing is being sent')
  expect(body).not.toContain(served.app.paths.ledger)
})

test('whoever moves no money sees it too: administrators are whom the others ask', async () => {
  const max = await served.as('max', ['admin'])
  expect((await max.get('/health')).body).toContain('no worker is heard from: nothing is being sent')
})
