// What a person meets after an act, in a browser: the sentence that says it was done, the form that was refused, and tables on a telephone.

import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BatchId } from '../../../src/domain/ids.ts'
import { MAY_SKIP_BROWSER, useBrowser } from '../../fixtures/browser.ts'
import { CLERK } from '../../fixtures/ledgers.ts'
import { type Desk, openDesk } from './desk.ts'

describe.skipIf(MAY_SKIP_BROWSER)('a page', () => {
  const open = useBrowser()
  let desk: Desk
  let batch: BatchId
  let n: number

  beforeEach(async () => {
    n = 0
    desk = await openDesk((plain) => `${plain}-${n++}`)
    await desk.person('olga', ['operator'])
    await desk.worker()
    batch = await desk.batch()
  })
  afterEach(() => desk.close())

  async function come(path: string, seen: Parameters<typeof open>[1] = {}): Promise<Page> {
    const { page, context } = await open(desk.url, seen)
    await desk.enter(context, 'olga')
    await page.goto(`${desk.url}${path}`)
    return page
  }
  const pause = async (page: Page, reason: string) => {
    await page.getByLabel('Reason').fill(reason)
    await page.getByRole('button', { name: 'Pause' }).click()
  }

  test('says that an act was done, with the focus, and says so still when what is watched has become otherwise', async () => {
    const page = await come(`/batches/${batch}`)
    await pause(page, 'looks wrong')
    const said = page.getByRole('status')
    await said.waitFor()
    expect(await said.innerText()).toMatch(
      /^Paused\. No more rows of this batch are sent until somebody resumes it\. Waiting: 3/,
    )
    expect(await said.and(page.locator(':focus')).count()).toBe(1)
    expect(page.url()).toBe(`${desk.url}/batches/${batch}`)
    await desk.ledger.resume(batch, 'looked', CLERK, Date.now())
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    expect(await said.innerText()).toMatch(/^Said before this page changed: Paused\./)
    expect(await said.and(page.locator(':focus')).count()).toBe(1)
    expect(await page.locator('#changed').count()).toBe(0)
  })

  test('says it without scripts, once', async () => {
    const page = await come(`/batches/${batch}`, { scripts: false })
    await pause(page, 'looks wrong')
    expect(await page.locator('.done').innerText()).toMatch(/^Paused\./)
    await page.reload()
    expect(await page.locator('.done').count()).toBe(0)
    await page.getByLabel('Reason').fill('looked')
    await page.getByRole('button', { name: 'Resume' }).click()
    expect(await page.locator('.done').innerText()).toMatch(
      /^Resumed\. Sending has begun\. Still to be sent: 3 refunds, EUR 30\.00\.$/,
    )
  })

  test('of a form that was refused says why, with the focus, and keeps what was typed', async () => {
    const page = await come('/merchants/shop')
    await page.getByLabel(/^Requests per second/).fill('many')
    await page.getByLabel(/^Reason It is kept/).fill('too fast')
    await page.getByRole('button', { name: /^Set the rate/ }).click()
    const why = page.getByRole('alert')
    expect(await why.innerText()).toMatch(/^Not done\. Write requests per second/)
    expect(await why.and(page.locator(':focus')).count()).toBe(1)
    expect(await page.getByLabel(/^Reason It is kept/).inputValue()).toBe('too fast')
    await page.getByLabel(/^Requests per second/).fill('5')
    await page.getByRole('button', { name: /^Set the rate/ }).click()
    expect(await page.getByRole('status').innerText()).toMatch(/^The rate of merchant shop is 5\/s from now on\./)
  })

  test('shows every column of a wide table on a telephone, and its table to whoever hears it', async () => {
    await desk.settle(batch, 'IN_DOUBT')
    const page = await come('/doubts', { width: 320 })
    const measured = await page.evaluate(`[...document.querySelectorAll('.wide')].map((one) => [
      one.scrollWidth - one.clientWidth,
      [...one.querySelectorAll('td')].every((cell) => cell.getBoundingClientRect().right <= innerWidth)])`)
    expect(measured).toEqual([[0, true]])
    const heard = await page.getByRole('table').ariaSnapshot()
    for (const part of ['columnheader "Look it up by"', 'rowheader "A-', 'cell "Merchant: shop"'])
      expect(heard).toContain(part)
    await page.emulateMedia({ media: 'print' })
    expect(await page.evaluate("getComputedStyle(document.querySelector('.wide td')).display")).toBe('table-cell')
  })
})
