// Texts that mean harm, wherever a page shows what somebody else wrote: no script runs, the policy has nothing to refuse, and the
// page has the same elements as with plain texts.

import { afterEach, describe, expect, test } from 'vitest'
import { PAGES, type PageEntry } from '../../../src/console/pages-table.ts'
import { visible } from '../../../src/domain/visible.ts'
import { MAY_SKIP_BROWSER, overflowOf, useBrowser } from '../../fixtures/browser.ts'
import { tallied } from '../../fixtures/counts.ts'
import { HOSTILE_TEXTS } from '../../fixtures/hostile-texts.ts'
import type { Desk } from './desk.ts'
import { bring, look, shapeOf, targetsOf } from './looking.ts'
import { SCREENS } from './screens.ts'

/** Whatever the rule of names lets through. */
const ODD_PERSON = `0${'-._@'.repeat(15)}`
/** Of our own pages, and the icon that is none. */
const OURS = /^(\/(?!\/)|#|data:,$)/

const shown = (text: string) => visible(text).toWellFormed().replaceAll(/\s+/g, ' ')

describe.skipIf(MAY_SKIP_BROWSER)('hostile texts', () => {
  const seen = new Set<string>()
  const open = useBrowser()
  const desks: Desk[] = []
  afterEach(() => Promise.all(desks.splice(0).map((desk) => desk.close())))

  test('are two hundred and more, and no two are one', () => {
    expect(new Set(HOSTILE_TEXTS).size).toBeGreaterThanOrEqual(200)
  })

  test.each(SCREENS)('are no part of the screen $name', async (screen) => {
    let n = 0
    const plainly = await bring(screen, (plain) => `${plain} ${n++}`)
    desks.push(plainly.desk)
    const shape = await shapeOf((await look(open, plainly, screen)).page)
    // Together they hold each of the hostile texts once; on each screen in other places.
    const first = (SCREENS.indexOf(screen) * 37) % HOSTILE_TEXTS.length
    const texts = [...HOSTILE_TEXTS.slice(first), ...HOSTILE_TEXTS.slice(0, first)]
    const each = Math.ceil(texts.length / Math.max(1, n))
    let asked = 0
    const some = () => [...texts.slice(asked * each, (asked + 1) * each), asked++].join(' ')
    const brought = await bring(screen, some, ODD_PERSON)
    desks.push(brought.desk)
    const { page } = await look(open, brought, screen)
    const text = String(await page.evaluate('document.title + document.body.textContent')).replaceAll(/\s+/g, ' ')
    for (const one of HOSTILE_TEXTS) if (text.includes(shown(one))) seen.add(one)
    expect(await shapeOf(page)).toBe(shape)
    expect((await targetsOf(page)).filter((target) => !OURS.test(target))).toEqual([])
    tallied('screens with hostile texts', 1)
    await page.setViewportSize({ width: 320, height: 800 })
    expect(await overflowOf(page), 'pixels too wide at 320').toBe(0)
  })

  test('are no part of a page that is asked for by them', async () => {
    const { desk } = await bring(
      { name: '', as: ['auditor', 'operator', 'results'], at: async () => '/' },
      (plain) => plain,
    )
    desks.push(desk)
    const { page, context } = await open(desk.url)
    await desk.enter(context, 'ann')
    // Of what is a page, and ends.
    const gets = Object.entries(PAGES as Readonly<Record<string, PageEntry>>)
      .filter(
        ([name, { method, path }]) => method === 'GET' && !['asset', 'live'].includes(name) && !path.endsWith('.csv'),
      )
      .map(([, entry]) => entry)
    for (const [i, text] of HOSTILE_TEXTS.entries()) {
      const own = encodeURIComponent(text.toWellFormed())
      const path = (gets[i % gets.length] as PageEntry).path.replaceAll(/:\w+/g, own.slice(0, 200).replace(/%.?$/, ''))
      await page.goto(`${desk.url}${path}?to=${own}&status=${own}&after=${own}&q=${own}&who=${own}&since=${own}`)
      expect(await page.evaluate('document.scripts.length')).toBeLessThanOrEqual(1)
      expect((await targetsOf(page)).filter((target) => !OURS.test(target))).toEqual([])
      // Where a form leads back to: the page itself, or the first one.
      const strange = `[...document.querySelectorAll('[name=to]')].map(({ value }) => value)
        .filter((to) => to !== '/' && new URL(to, location.href).href !== location.href)`
      expect(await page.evaluate(strange)).toEqual([])
    }
  })

  test('are each shown by some screen', () => {
    expect(HOSTILE_TEXTS.filter((text) => !seen.has(text))).toEqual([])
  })
})
