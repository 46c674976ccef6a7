// A row in doubt whose request never came to the gateway, where it takes two people to send it again: at the program as it is started,
// in a browser of each of them.

import type { Page } from 'playwright-core'
import { afterEach, describe, expect, test } from 'vitest'
import { MAY_SKIP_BROWSER, useBrowser } from '../../fixtures/browser.ts'
import { type Office, until } from '../../fixtures/cli.ts'
import { visitorAt } from '../../fixtures/console-visitor.ts'
import { orderOf, preparationFor, refunds, toCsv } from '../../fixtures/files.ts'
import { serveOffice } from '../../fixtures/http-office.ts'
import { type EngineName, openOfficeOn } from '../../fixtures/office-on.ts'
import { PASSWORD } from '../../fixtures/pages.ts'
import { byKeys, byMouse, type Hands } from './hands.ts'

type Way = readonly [name: string, hands: (page: Page) => Hands, scripts: boolean]
const KEYS: Way = ['by keys alone', byKeys, true]
const WAYS: readonly Way[] = [['by mouse', byMouse, true], KEYS, ['without scripts', byMouse, false]]

const PROPOSE = [/Where you looked/, 'not in the portal', /^Propose to send refund R-1, EUR 1\.01, once more/] as const
const CONFIRM = [/Where you looked/, 'not in the settlement file', /^Confirm: send refund R-1/] as const
const REFUSE = [/Why it is not/, 'it is there after all', /^Refuse to send refund R-1/] as const

describe.skipIf(MAY_SKIP_BROWSER)('the life of a proposal', () => {
  const open = useBrowser()
  let office: Office
  let url: string
  afterEach(() => office.close())

  /** One refund, handed in by somebody else, is in doubt and was not executed; ann operates, and bob approves. */
  async function doubtful(engine: EngineName): Promise<void> {
    office = await openOfficeOn(engine, { TRANCHE_DOUBT_REST_MS: '0' })
    const rows = refunds(1)
    office.sandbox.prepare(preparationFor(rows))
    office.sandbox.addFault({ kind: 'reset-before', match: { orderId: orderOf(1) }, times: 1 })
    url = (await serveOffice(office)).url
    const mio = await visitorAt(office, url, 'mio', 'submitter')
    const bob = await visitorAt(office, url, 'bob', 'approver')
    const check = await mio.upload(new File([toCsv(rows)], 'refunds.csv'))
    const made = await mio.send(check.at, `${check.at}/submit`)
    // From two people on, approvals are in force. A server of PostgreSQL that was started a moment ago decides nothing.
    await until('the ledger decides', async () => {
      const { status } = await bob.send(made.to, `${made.to}/approve`, { total: '1.01', reason: 'as ordered' })
      return status === 303
    })
    expect(await worked()).toBe(0)
    await visitorAt(office, url, 'ann', 'operator')
  }

  /** Until nothing can move. Resolves to how many were executed so far. */
  async function worked(): Promise<number> {
    const { code, stderr } = await office.tranche('worker', '--until-idle')
    expect([0, 5], stderr).toContain(code)
    return office.sandbox.log().length
  }

  /** At the page of the doubt, from the first one on, as a person goes there. */
  async function come(name: string, [, handsOf, scripts]: Way) {
    const { page } = await open(url, { scripts })
    const { write, press } = handsOf(page)
    const link = (called: string) => page.getByRole('link', { name: called, exact: true }).first()
    await page.goto(url)
    await write(page.getByLabel('Name'), name)
    await write(page.getByLabel('Password'), PASSWORD)
    await press(page.getByRole('button', { name: 'Sign in' }))
    await press(link('Doubts'))
    await press(link('R-1'))
    return {
      page,
      text: async () => String(await page.locator('main').textContent()),
      async say([field, reason, button]: readonly [RegExp, string, RegExp]) {
        await write(page.getByLabel(field), reason)
        await press(page.getByRole('button', { name: button }))
      },
    }
  }
  type Person = Awaited<ReturnType<typeof come>>

  const proposing = async (way: Way): Promise<Person> => {
    const ann = await come('ann', way)
    await ann.say(PROPOSE)
    expect(await ann.text()).toContain('You proposed it yourself')
    expect(await worked()).toBe(0)
    return ann
  }

  test.each([...WAYS.map((way) => [way[0], 'SQLite', way] as const), [KEYS[0], 'PostgreSQL', KEYS] as const])(
    'that is confirmed %s ends in one sending on %s',
    async (_, engine, way) => {
      await doubtful(engine)
      const ann = await proposing(way)
      const bob = await come('bob', way)
      expect(await bob.text()).toContain('not in the portal')
      await bob.say(CONFIRM)
      expect(await bob.text()).toContain('It waits to be sent once more')
      expect(await worked()).toBe(1)
      await bob.page.reload()
      for (const said of ['APPROVED', 'ann', 'not in the portal', 'bob', 'not in the settlement file'])
        expect(await bob.text()).toContain(said)
      // Who comes back finds nothing left to send.
      await ann.page.reload()
      expect(await ann.text()).toContain('This row is not in doubt')
      expect(await worked()).toBe(1)
    },
  )

  test.each(WAYS.slice(0, 2))('that is refused %s ends in none', async (...way) => {
    await doubtful('SQLite')
    const ann = await proposing(way)
    const bob = await come('bob', way)
    await bob.say(REFUSE)
    expect(await worked()).toBe(0)
    await ann.page.reload()
    for (const said of ['refused to send it once more', 'bob', 'it is there after all'])
      expect(await ann.text()).toContain(said)
    expect(await ann.text()).toContain('This takes two people: you propose it')
  })
})
