// The life of a batch as far as pages lead: by mouse, by keys alone, and in a browser that runs no script.

import type { Locator, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BatchId } from '../../../src/domain/ids.ts'
import { MAY_SKIP_BROWSER, useBrowser } from '../../fixtures/browser.ts'
import { PASSWORD } from '../../fixtures/pages.ts'
import { type Desk, openDesk } from './desk.ts'

interface Hands {
  write(field: Locator, text: string): Promise<void>
  /** A link or button; resolves on the page that it leads to. */
  press(what: Locator): Promise<void>
}
type Name = string | RegExp

const TABS_MOST = 60

function byMouse(page: Page): Hands {
  return {
    async write(field, text) {
      await field.click()
      await page.keyboard.type(text)
    },
    press: (what) => arriving(page, () => what.click()),
  }
}

function byKeys(page: Page): Hands {
  const reach = async (what: Locator) => {
    for (let tabs = 0; tabs < TABS_MOST; tabs += 1) {
      if ((await what.and(page.locator(':focus')).count()) > 0) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`${String(what)} is not reached by ${TABS_MOST} presses of Tab`)
  }
  return {
    async write(field, text) {
      await reach(field)
      await page.keyboard.type(text)
    },
    async press(what) {
      await reach(what)
      await arriving(page, () => page.keyboard.press('Enter'))
    },
  }
}

async function arriving(page: Page, act: () => Promise<void>): Promise<void> {
  await Promise.all([page.waitForEvent('domcontentloaded'), act()])
}

describe.skipIf(MAY_SKIP_BROWSER)('the life of a batch', { timeout: 60_000 }, () => {
  const open = useBrowser()
  let desk: Desk
  let batch: BatchId
  beforeEach(async () => {
    desk = await openDesk((plain) => plain)
    await desk.fourEyes()
    batch = await desk.batch({ nowMs: Date.now() })
    await desk.person('ann', ['approver', 'operator'])
  })
  afterEach(() => desk.close())

  test.each([
    ['by mouse', byMouse, true],
    ['by keys alone', byKeys, true],
    ['without scripts', byMouse, false],
  ])('is led %s from its approval to its end', async (_, handsOf, scripts) => {
    const { page } = await open(desk.url, { scripts })
    const { write, press } = handsOf(page)
    const button = (name: Name) => page.getByRole('button', { name })
    const link = (name: Name) => page.getByRole('link', { name })
    const now = async () => desk.ledger.batch(batch)

    await page.goto(desk.url)
    await write(page.getByLabel('Name'), 'ann')
    await write(page.getByLabel('Password'), PASSWORD)
    await press(button('Sign in'))
    await press(link(`the page of batch ${batch}`))
    await write(page.getByLabel(/^Type 30\.00/), '30.00')
    await write(page.getByLabel('Reason').first(), 'as ordered')
    await press(button(/^Approve 3 refunds, EUR 30\.00/))
    expect(await now()).toMatchObject({ approval: { given: 1 }, hold: 'none' })

    await write(page.getByLabel('Reason'), 'wait for the bank')
    await press(button('Pause'))
    expect(await now()).toMatchObject({ hold: 'paused', holdReason: 'wait for the bank' })
    await write(page.getByLabel('Reason'), 'the bank called')
    await press(button('Resume'))
    expect(await now()).toMatchObject({ hold: 'none' })

    await press(link('Cancel what is not sent yet'))
    await write(page.getByLabel('Reason'), 'wrong month')
    await press(button(/^Cancel 3 refunds, EUR 30\.00/))
    expect(await now()).toMatchObject({ hold: 'cancelled', counts: { CANCELLED: 3 } })
    for (const said of ['as ordered', 'wait for the bank', 'the bank called', 'wrong month'])
      expect(await page.locator('main').textContent()).toContain(said)

    await press(link('Sessions'))
    await press(button('Sign out'))
    expect(await page.title()).toBe('Sign in – Tranche')
  })
})
