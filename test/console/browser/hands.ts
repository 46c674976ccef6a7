// How a person works at a page: with a mouse, or with keys alone.

import type { Locator, Page } from 'playwright-core'

export interface Hands {
  write(field: Locator, text: string): Promise<void>
  /** A link or button; resolves on the page that it leads to. */
  press(what: Locator): Promise<void>
  /** One of a group. */
  choose(what: Locator): Promise<void>
  /** Takes a file that lies at `path`. */
  attach(field: Locator, path: string): Promise<void>
}
const TABS_MOST = 60

export function byMouse(page: Page): Hands {
  interceptChoosers(page)
  return {
    async write(field, text) {
      await field.click()
      await page.keyboard.type(text)
    },
    press: (what) => arriving(page, () => what.click()),
    choose: (what) => what.check(),
    attach: (field, path) => picking(page, path, () => field.click()),
  }
}

export function byKeys(page: Page): Hands {
  interceptChoosers(page)
  const isFocused = async (what: Locator) => (await what.and(page.locator(':focus')).count()) > 0
  const reach = async (what: Locator) => {
    for (let tabs = 0; tabs < TABS_MOST; tabs += 1) {
      if (await isFocused(what)) return
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
    async choose(what) {
      // Tab leads into a group, and arrows through it.
      const group = page.locator(`[name="${await what.getAttribute('name')}"]`)
      await reach(group)
      for (let n = await group.count(); n > 0 && !(await isFocused(what)); n -= 1)
        await page.keyboard.press('ArrowDown')
      if (!(await what.isChecked())) await page.keyboard.press('Space')
      if (!(await what.isChecked())) throw new Error(`${String(what)} is not chosen by keys`)
    },
    async attach(field, path) {
      await reach(field)
      await picking(page, path, () => page.keyboard.press('Space'))
    },
  }
}

async function arriving(page: Page, act: () => Promise<void>): Promise<void> {
  await Promise.all([page.waitForEvent('domcontentloaded'), act()])
}

/** Asked only at the click, Chromium may open the dialog before it hears that the test wants it. */
function interceptChoosers(page: Page): void {
  page.on('filechooser', () => {})
}

/** The chooser is the browser's own; what is chosen in it comes from the test. */
async function picking(page: Page, path: string, act: () => Promise<void>): Promise<void> {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), act()])
  await chooser.setFiles(path)
}
