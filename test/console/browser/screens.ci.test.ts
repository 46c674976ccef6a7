// A share of the screens; all of them, each in more ways, are in screens.search.

import { afterEach, describe, expect, test } from 'vitest'
import { MAY_SKIP_BROWSER, useBrowser } from '../../fixtures/browser.ts'
import { HOSTILE_TEXTS } from '../../fixtures/hostile-texts.ts'
import type { Desk } from './desk.ts'
import { bring, expectReadable, look, shapeOf } from './looking.ts'
import { SCREENS } from './screens.ts'

const SHARE = ['sign-in refused', 'overview full', 'batch to approve', 'batch finished', 'rows']

describe.skipIf(MAY_SKIP_BROWSER)('the screen', { timeout: 60_000 }, () => {
  const open = useBrowser()
  const desks: Desk[] = []
  afterEach(() => Promise.all(desks.splice(0).map((desk) => desk.close())))

  test.each(SCREENS.filter(({ name }) => SHARE.includes(name)))(
    '$name hinders nobody, and obeys no text',
    async (screen) => {
      const shapes: string[] = []
      for (const texts of [['plain'], HOSTILE_TEXTS]) {
        let n = 0
        const brought = await bring(screen, () => `${texts[(n * 23) % texts.length]}${n++}`)
        desks.push(brought.desk)
        const { page } = await look(open, brought, screen)
        shapes.push(await shapeOf(page))
        if (texts.length === 1) await expectReadable(page, screen.name, [[360, 'dark']])
      }
      expect(shapes[1]).toBe(shapes[0])
    },
  )

  test('the share is of screens that there are', () => {
    expect(SHARE.filter((name) => !SCREENS.some((screen) => screen.name === name))).toEqual([])
  })
})
