// Which other ledgers of an account are seen, and from where.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assertNoOtherLedger, otherLedgers } from '../../src/app/other-ledgers.ts'
import type { App } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { Merchant } from '../../src/domain/merchant.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'marks-'))
})
afterAll(() => rm(dir, { recursive: true }))

const ACCOUNT = {
  TRANCHE_GATEWAY_URL: 'https://gateway.example',
  TRANCHE_GATEWAY_USERNAME: 'shop',
  TRANCHE_GATEWAY_PASSWORD: 'open sesame',
}

async function appOf(ledger: string, ...places: readonly string[]): Promise<App> {
  return appAt(ACCOUNT.TRANCHE_GATEWAY_URL, ledger, ...places)
}

async function appAt(url: string, ledger: string, ...places: readonly string[]): Promise<App> {
  const config = await loadConfig({ ...ACCOUNT, TRANCHE_GATEWAY_URL: url }, dir)
  const accountMarksDirs = places.map((place) => join(dir, place))
  return { config: { ...config, accountMarksDirs }, paths: { ledger } } as unknown as App
}

test('a ledger with a named witness and one without see each other, once and with every mark', async () => {
  const service = await appOf('/srv/service.db', 'witness', 'machine')
  const clerk = await appOf('/home/clerk.db', 'machine')
  expect(await otherLedgers(service, 'aa', { keeps: true })).toEqual([])
  expect(await otherLedgers(clerk, 'bb', { keeps: true })).toEqual([
    {
      merchant: 'default',
      says: expect.stringMatching(/^\/srv\/service\.db; if it is gone, remove \S+machine\/\w+\.aa$/),
    },
  ])
  expect(await otherLedgers(service, 'aa', { keeps: false })).toEqual([
    { merchant: 'default', says: expect.stringMatching(/^\/home\/clerk\.db; /) },
  ])
  const neighbour = await appOf('/srv/neighbour.db', 'witness', 'machine')
  const seen = await otherLedgers(neighbour, null, { keeps: false })
  expect(seen.map(({ says }) => says)).toEqual([
    expect.stringMatching(/^\/srv\/service\.db; if it is gone, remove \S+witness\/\w+\.aa and \S+machine\/\w+\.aa$/),
    expect.stringMatching(/^\/home\/clerk\.db; if it is gone, remove \S+machine\/\w+\.bb$/),
  ])
})

test.each(['https://www.gateway.example', 'https://gateway.example:8443/', 'https://GATEWAY.example/'])(
  '%s is another address of the account',
  async (url) => {
    await otherLedgers(await appOf('/srv/service.db', url), 'aa', { keeps: true })
    expect(await otherLedgers(await appAt(url, '/home/clerk.db', url), null, { keeps: false })).toHaveLength(1)
    expect(
      await otherLedgers(await appAt('https://test.gateway.example', '/t.db', url), null, { keeps: false }),
    ).toEqual([])
  },
)

test('a ledger that was made before its account was configured asks before it sends for it, until it is meant', async () => {
  const known: { name: string }[] = []
  const ledger = { ledgerId: 'bb', accounts: async () => known } as unknown as Ledger
  const clerk = await appOf('/home/clerk.db', 'late')
  const merchant = clerk.config.merchants.get('default') as Merchant
  await assertNoOtherLedger(clerk, ledger, merchant)
  await otherLedgers(await appOf('/srv/service.db', 'late'), 'aa', { keeps: true })
  await expect(assertNoOtherLedger(clerk, ledger, merchant)).rejects.toThrow(
    /^Merchant default has a ledger already: \/srv\/service\.db; .*a second one is meant/,
  )
  known.push({ name: 'default' }) // its rows may be sent already
  await assertNoOtherLedger(clerk, ledger, merchant)
  known.pop()
  await otherLedgers(clerk, 'bb', { keeps: true })
  await assertNoOtherLedger(clerk, ledger, merchant)
})
