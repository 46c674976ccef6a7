// The whole life of a file in a browser, at the program as it is started: uploaded, checked and handed in by one person with keys alone,
// approved by another, and sent.

import { afterEach, describe, expect, test } from 'vitest'
import { MAY_SKIP_BROWSER, useBrowser } from '../../fixtures/browser.ts'
import { type Office, until } from '../../fixtures/cli.ts'
import { visitorAt } from '../../fixtures/console-visitor.ts'
import { preparationFor, refunds, toCsv } from '../../fixtures/files.ts'
import { serveOffice } from '../../fixtures/http-office.ts'
import { ENGINES, openOfficeOn } from '../../fixtures/office-on.ts'
import { PASSWORD } from '../../fixtures/pages.ts'
import { byKeys, byMouse } from './hands.ts'

describe.skipIf(MAY_SKIP_BROWSER)('the life of a file', () => {
  const open = useBrowser()
  let office: Office
  afterEach(() => office.close())

  const ways = [
    ['by keys alone', byKeys, true],
    ['without scripts', byMouse, false],
  ] as const
  test.each(ENGINES.flatMap((engine) => ways.map(([way, ...how]) => [way, engine, ...how] as const)))(
    'is led %s from its upload to its end on %s',
    async (_, engine, handsOf, scripts) => {
      office = await openOfficeOn(engine)
      const rows = refunds(2)
      office.sandbox.prepare(preparationFor(rows))
      const path = await office.put('refunds.csv', toCsv(rows))
      const http = await serveOffice(office)
      for (const [name, role] of [
        ['mio', 'submitter'],
        ['ken', 'approver'],
      ] as const)
        await visitorAt(office, http.url, name, role)
      const { page } = await open(http.url, { scripts })
      const { write, press, choose, attach } = handsOf(page)
      const button = (name: string | RegExp) => page.getByRole('button', { name })
      const link = (name: string | RegExp) => page.getByRole('link', { name })
      const signIn = async (name: string) => {
        await page.goto(http.url)
        await write(page.getByLabel('Name'), name)
        await write(page.getByLabel('Password'), PASSWORD)
        await press(button('Sign in'))
      }

      await signIn('mio')
      await press(link('New batch'))
      await choose(page.getByRole('radio', { name: /^Refund/i }))
      await attach(page.locator('input[type="file"]'), path)
      await press(button('Check the file'))
      await button('Hand in for approval: 2 refunds, EUR 3.02').waitFor()
      await press(button('Hand in for approval: 2 refunds, EUR 3.02'))
      const batch = new URL(page.url()).pathname
      await press(link('Sessions'))
      await press(button('Sign out'))

      await signIn('ken')
      await page.goto(`${http.url}${batch}`)
      const approved = async () => {
        await write(page.getByLabel(/^Type the total in/), '3.02')
        await write(page.getByLabel('Reason').first(), 'as ordered')
        await press(button('Approve 2 refunds'))
      }
      await approved()
      // A server of PostgreSQL that was started a moment ago decides nothing.
      await until('the ledger decides', async () => {
        if (new URL(page.url()).pathname === batch) return true
        await page.goto(`${http.url}${batch}`)
        await approved()
        return false
      })
      const id = batch.split('/').at(-1) as string
      const stateOf = async () => (await office.tranche('status', id, '--json')).last.state
      expect(await stateOf()).not.toBe('awaiting_approval')
      await office.worker()
      await until('it is done', async () => (await stateOf()) === 'done')
      await page.reload()
      expect(await page.locator('main').textContent()).toContain('APPROVED')
      expect(office.sandbox.received()).toBe(2)
    },
  )
})
