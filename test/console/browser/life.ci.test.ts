// The life of a batch as far as pages lead: by mouse, by keys alone, and in a browser that runs no script.

import { afterEach, describe, expect, test } from 'vitest'
import type { BatchId } from '../../../src/domain/ids.ts'
import { MAY_SKIP_BROWSER, useBrowser } from '../../fixtures/browser.ts'
import { until } from '../../fixtures/cli.ts'
import { PASSWORD } from '../../fixtures/pages.ts'
import { type Desk, openDesk } from './desk.ts'
import { byKeys, byMouse } from './hands.ts'

const ENGINES = ['SQLite', 'PostgreSQL'] as const
type Name = string | RegExp

describe.skipIf(MAY_SKIP_BROWSER)('the life of a batch', () => {
  const open = useBrowser()
  let desk: Desk
  let batch: BatchId
  afterEach(() => desk.close())

  const ways = [
    ['by mouse', byMouse, true],
    ['by keys alone', byKeys, true],
    ['without scripts', byMouse, false],
  ] as const
  test.each(ENGINES.flatMap((engine) => ways.map(([way, ...how]) => [way, engine, ...how] as const)))(
    'is led %s from its approval to its end on %s',
    async (_, engine, handsOf, scripts) => {
      desk = await openDesk((plain) => plain, { engine })
      await desk.fourEyes()
      batch = await desk.batch({ nowMs: Date.now() })
      await desk.person('ann', ['approver', 'operator'])
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
      const approve = async () => {
        await write(page.getByLabel(/^Type the total in/), '30.00')
        await write(page.getByLabel('Reason').first(), 'as ordered')
        await press(button('Approve 3 refunds'))
      }
      await approve()
      // A server of PostgreSQL that was started a moment ago decides nothing.
      await until('the ledger decides', async () => {
        if (!/^(Not done|It is not known)/.test(await page.title())) return true
        await page.goto(`${desk.url}/batches/${batch}`)
        await approve()
        return false
      })
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
    },
  )
})
