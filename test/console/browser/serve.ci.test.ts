// The program as it is started with a certificate, by the first person who comes.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MAY_SKIP_BROWSER, useBrowser } from '../../fixtures/browser.ts'
import { CERTIFICATE, KEY } from '../../fixtures/certificate.ts'
import { type Office, openOffice, until } from '../../fixtures/cli.ts'
import { fillSignIn } from '../../fixtures/console.ts'
import { PASSWORD } from '../../fixtures/pages.ts'

describe.skipIf(MAY_SKIP_BROWSER)('tranche serve with a certificate', () => {
  const open = useBrowser()
  let office: Office
  beforeEach(async () => {
    office = await openOffice()
  })
  afterEach(() => office.close())

  test('lets its first administrator in by the link that it prints, once, and with a cookie of this host alone', async () => {
    const [cert, key] = [await office.put('c.pem', CERTIFICATE), await office.put('k.pem', KEY)]
    const served = office.start('serve', '--port', '0', '--json', '--tls-cert', cert, '--tls-key', key)
    const linkIn = () =>
      served
        .said()
        .map((line) => JSON.parse(line))
        .find(({ event }) => event === 'first-administrator')
    await until('it prints the link', () => linkIn() !== undefined, served)
    const link = new URL(linkIn().url)
    link.hostname = 'localhost'
    const { page, context } = await open(link.href)
    const strict = (await page.goto(link.href))?.headers()['strict-transport-security']
    expect(strict).toContain('max-age=')
    await page.getByLabel('Name').fill('root')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Set the password' }).click()
    await page.waitForURL('**/sign-in*')
    await fillSignIn(page, 'root')
    await page.waitForURL(`${link.origin}/`)
    expect(await context.cookies()).toMatchObject([{ name: '__Host-tranche', secure: true, httpOnly: true, path: '/' }])
    expect((await page.goto(link.href))?.status()).toBe(404)
  })
})
