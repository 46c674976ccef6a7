// Keys and the theme, as somebody presses them.

import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MAY_SKIP_BROWSER, useBrowser } from '../../fixtures/browser.ts'
import { type Desk, openDesk } from './desk.ts'

describe.skipIf(MAY_SKIP_BROWSER)('keys', () => {
  const open = useBrowser()
  let desk: Desk
  let batch: string
  beforeEach(async () => {
    desk = await openDesk((plain) => plain)
    await desk.person('ann', ['submitter', 'operator'])
    await desk.batch()
    batch = await desk.batch()
  })
  afterEach(() => desk.close())

  async function entered(path = '/', scripts = true): Promise<Page> {
    const { page, context } = await open(desk.url, { scripts })
    await desk.enter(context, 'ann')
    await page.goto(`${desk.url}${path}`)
    return page
  }
  const pathOf = (page: Page) => new URL(page.url()).pathname
  const keys = async (page: Page, ...all: readonly string[]) => {
    for (const key of all) await page.keyboard.press(key)
  }
  const focused = (page: Page) => page.evaluate('document.activeElement.textContent')

  test.each([
    ['n', '/new'],
    ['d', '/doubts'],
    ['m', '/merchants'],
    ['o', '/'],
  ])('g %s leads to %s', async (key, path) => {
    const page = await entered('/sessions')
    await keys(page, 'g', key)
    await page.waitForURL(`${desk.url}${path}`)
  })

  test('lead nowhere without g, with another key between, or where one may not go', async () => {
    const page = await entered('/sessions')
    await keys(page, 'd', 'g', 'x', 'm', 'g', 'a', 'Control+d')
    expect(pathOf(page)).toBe('/sessions')
    await keys(page, 'g', 'd')
    await page.waitForURL(`${desk.url}/doubts`)
  })

  test('do nothing while a field has the focus, nor beside another key that is held', async () => {
    const page = await entered()
    await keys(page, '/')
    const search = page.getByRole('searchbox')
    await page.keyboard.type('gd?t/jk')
    expect([await search.inputValue(), pathOf(page)]).toEqual(['gd?t/jk', '/'])
    await page.locator('h1').click()
    await keys(page, 'Control+/', 'Alt+t', 'Meta+j', 'g', 'Alt+d')
    expect([pathOf(page), await page.locator('html').getAttribute('data-theme')]).toEqual(['/', 'system'])
    await expect.poll(() => page.locator('#shortcuts').getAttribute('open')).toBe(null)
  })

  test('j and k go from row to row, and stop at the ends', async () => {
    const page = await entered()
    // What needs a person stands above the batches, and its rows count.
    const links = page.locator('main tbody tr, main .cards > li')
    const all = await links.evaluateAll((rows) => rows.flatMap((row) => row.querySelector('a')?.textContent ?? []))
    expect(all.length).toBeGreaterThan(1)
    for (const name of all) {
      await keys(page, 'j')
      expect(await focused(page)).toBe(name)
    }
    await keys(page, 'j')
    expect(await focused(page)).toBe(all.at(-1))
    await keys(page, 'k')
    expect(await focused(page)).toBe(all.at(-2))
    await keys(page, 'Enter')
    await page.waitForURL(/\/batches\//)
  })

  test('? lists them, and they can be turned off', async () => {
    const page = await entered()
    await keys(page, '?')
    const list = page.locator('#shortcuts')
    expect(await list.getAttribute('open')).toBe('')
    expect(await list.locator('kbd').allTextContents()).toEqual(['/', 'g o', 'g n', 'g d', 'g m', 'j', 'k', 't', '?'])
    await page.getByRole('button', { name: 'Turn shortcuts off' }).click()
    await keys(page, 'g', 'd', 't')
    await page.reload()
    await keys(page, 't', '?')
    expect([pathOf(page), await list.getAttribute('open')]).toEqual(['/', null])
    await list.locator('summary').click()
    await page.getByRole('button', { name: 'Turn shortcuts on' }).click()
    await page.locator('h1').click()
    await keys(page, 'g', 'd')
    await page.waitForURL(`${desk.url}/doubts`)
  })

  test('t goes from theme to theme, on the page where it is pressed', async () => {
    const page = await entered('/doubts')
    const seen: unknown[] = []
    for (let n = 0; n < 4; n += 1) {
      const theme = await page.locator('html').getAttribute('data-theme')
      seen.push([theme, await page.evaluate('getComputedStyle(document.body).backgroundColor'), pathOf(page)])
      await Promise.all([page.waitForNavigation(), keys(page, 't')])
    }
    const [light, dark] = ['rgb(255, 255, 255)', 'rgb(20, 24, 31)']
    const all = [
      ['system', light, '/doubts'],
      ['light', light, '/doubts'],
      ['dark', dark, '/doubts'],
    ]
    expect(seen).toEqual([...all, all[0]])
  })

  test('the theme is chosen without scripts, too', async () => {
    const page = await entered('/doubts', false)
    await page.getByRole('button', { name: 'Dark' }).click()
    await page.waitForURL(`${desk.url}/doubts`)
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    expect(await page.getByRole('button', { name: 'Dark' }).getAttribute('aria-pressed')).toBe('true')
  })

  test('none of them sends a form but that of the theme', async () => {
    const page = await entered(`/batches/${batch}`)
    const posted: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') posted.push(new URL(request.url()).pathname)
    })
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    for (const key of 'abcefhilpqrsuvwxyz0123456789') await keys(page, key)
    await keys(page, 'Escape', '?', 'Escape')
    expect([posted, pathOf(page)]).toEqual([[], `/batches/${batch}`])
    await Promise.all([page.waitForNavigation(), keys(page, 't')])
    expect(posted).toEqual(['/theme'])
    expect(await desk.ledger.batch(batch)).toMatchObject({ hold: 'none' })
  })
})
