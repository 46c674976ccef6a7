// The pictures of the documents: screens of the tests, drawn anew by `npm run pictures`. In every other run they are drawn and thrown away,
// so that one that cannot be made any more is noticed.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, test } from 'vitest'
import { MAY_SKIP_BROWSER, useBrowser } from '../../fixtures/browser.ts'
import type { Desk } from './desk.ts'
import { bring, look } from './looking.ts'
import { SCREENS } from './screens.ts'

const FOLDER = fileURLToPath(new URL('../../../docs/pictures/', import.meta.url))
const IS_KEPT = process.env.TRANCHE_PICTURES === 'kept'
const WIDTH = 900
const BYTES_MOST = 60_000

/** The name of the file, of the screen, and how much of it is seen. */
const PICTURES = [
  ['check', 'check with look-alikes', 1_010],
  ['approve', 'batch to approve', 900],
  ['batch', 'batch in doubt', 900],
  ['doubt', 'doubt', 900],
] as const

/** What is another at every run, as it was at one. Texts alone: nothing else of the page is touched. */
const AS_AT_ONE_RUN = `{
  for (const time of document.querySelectorAll('time')) time.textContent = '2026-05-04 11:00:00'
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    text.data = text.data
      .replaceAll(/\\b\\d{6}-[a-z0-9]{5}\\b/g, '260504-k3n7d')
      .replaceAll('127.0.0.1', '192.0.2.7')
      .replaceAll(/\\b\\d{4}-\\d{2}-\\d{2}[ T]\\d{2}:\\d{2}(?::\\d{2})?(?:\\.\\d+)?Z?/g, '2026-05-04 11:00:00')
      .replaceAll(/(Rows|Digest) [0-9a-f]{64}/g, '$1 ' + '9f2c41aa07be88d1'.repeat(4))
      .replaceAll(/\\b[0-9a-f]{4}(?: [0-9a-f]{4}){3}\\b/g, '9f2c 41aa 07be 88d1')
}`

async function drawn(page: Page, height: number): Promise<Buffer> {
  await page.setViewportSize({ width: WIDTH, height })
  await page.evaluate(AS_AT_ONE_RUN)
  const browser = await page.context().newCDPSession(page)
  const clip = { x: 0, y: 0, width: WIDTH, height, scale: 1 }
  const { data } = await browser.send('Page.captureScreenshot', { format: 'webp', quality: 70, clip })
  return Buffer.from(data, 'base64')
}

describe.skipIf(MAY_SKIP_BROWSER)('the picture', () => {
  const open = useBrowser()
  let desk: Desk | null = null
  afterEach(() => desk?.close())

  test.each(PICTURES)('%s is of the screen %s, and small', async (name, of, height) => {
    const screen = SCREENS.find((one) => one.name === of)
    if (screen === undefined) throw new Error(`there is no screen ${of}`)
    const brought = await bring(screen, (plain) => plain)
    desk = brought.desk
    await desk.worker()
    const { page } = await look(open, brought, screen, { width: WIDTH, scripts: false }) // a script would write the time anew
    const picture = await drawn(page, height)
    expect(picture.length).toBeLessThanOrEqual(BYTES_MOST)
    expect(await page.locator('body').textContent()).not.toContain('127.0.0.1')
    if (!IS_KEPT) return
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(join(FOLDER, `${name}.webp`), picture)
  })
})
