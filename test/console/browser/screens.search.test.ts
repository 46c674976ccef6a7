// Every screen in every state, light and dark, on a telephone and at a desk: readable for everybody, and no wider than the window.

import { afterEach, describe, test } from 'vitest'
import { MAY_SKIP_BROWSER, useBrowser } from '../../fixtures/browser.ts'
import type { Desk } from './desk.ts'
import { bring, expectReadable, look } from './looking.ts'
import { SCREENS } from './screens.ts'

const WAYS = ([360, 1_280] as const).flatMap((width) => [[width, 'light'] as const, [width, 'dark'] as const])

describe.skipIf(MAY_SKIP_BROWSER)('the screen', () => {
  const open = useBrowser()
  let desk: Desk | null = null
  afterEach(() => desk?.close())

  test.each(SCREENS)('$name hinders nobody', async (screen) => {
    const brought = await bring(screen, (plain) => plain)
    desk = brought.desk
    const { page } = await look(open, brought, screen)
    await expectReadable(page, screen.name, WAYS)
  })
})
