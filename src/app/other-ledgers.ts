// Other ledgers of the accounts that are configured here. Each would send the same file: two of them know nothing of each other.

import { createHash } from 'node:crypto'
import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import type { Merchant } from '../domain/merchant.ts'
import { shown } from '../domain/problem.ts'
import { words } from '../domain/words.ts'
import { type AccountMark, markAccount, otherMarks } from '../files/account-marks.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'

export interface OtherLedger {
  readonly merchant: string
  /** In words: which one it is, and how to have it forgotten. */
  readonly says: string
}

/** `keeps`: they are from now on accounts of this ledger as well, for others to see. Silent where nothing can be seen. */
export async function otherLedgers(
  app: App,
  ledgerId: string | null,
  { keeps, of = [...app.config.merchants.values()] }: { keeps: boolean; of?: readonly Merchant[] },
): Promise<readonly OtherLedger[]> {
  const merchants = of.filter(isMarked).map((merchant) => ({ name: merchant.name, account: markedAs(merchant) }))
  const found: OtherLedger[] = []
  const known = new Set<string>()
  for (const { name, account } of merchants) {
    const marks: AccountMark[] = []
    for (const dir of app.config.accountMarksDirs) {
      if (keeps && ledgerId !== null) await markAccount(dir, account, ledgerId, app.paths.ledger)
      marks.push(...(await otherMarks(dir, account, ledgerId)))
    }
    for (const [id, same] of Map.groupBy(marks, (mark) => mark.ledgerId)) {
      known.add(id)
      const where = same.find((mark) => mark.where !== '')?.where
      const paths = same.map(({ path }) => path).join(' and ')
      found.push({ merchant: name, says: `${where === undefined ? id : shown(where)}; if it is gone, remove ${paths}` })
    }
  }
  const inRedis = await askRedis(app, ledgerId, keeps, merchants)
  for (const { name, account } of merchants)
    for (const id of inRedis.get(account) ?? [])
      if (!known.has(id)) found.push({ merchant: name, says: `ledger ${shown(id)}, as the shared Redis says` })
  return found
}

/** What one ledger has sent, another does not know. */
export function whyOneLedger(others: readonly OtherLedger[]): string {
  const known = others.map(({ merchant, says }) => `Merchant ${merchant} has a ledger already: ${says}.`).join(' ')
  return `${known} What one ledger has sent another does not know, and would send again.`
}

/** Before a ledger sends for an account for the first time: where it was made, the account may not have been configured yet. */
export async function assertNoOtherLedger(app: App, ledger: Ledger, merchant: Merchant): Promise<void> {
  if (!isMarked(merchant) || (await ledger.accounts()).some(({ name }) => name === merchant.name)) return
  const others = await otherLedgers(app, ledger.ledgerId, { keeps: false, of: [merchant] })
  if (others.length === 0 || (await isMeant(app, ledger.ledgerId, merchant))) return
  throw new Fault(
    'usage',
    words`${whyOneLedger(others)} Nothing was sent. Use that ledger (TRANCHE_DATA_DIR, TRANCHE_LEDGER_URL), or say that a second one is meant: ${{ act: 'init', beside: true }}`,
  )
}

/** A person who was told of the others made this ledger all the same: it has a mark. */
async function isMeant({ config }: App, ledgerId: string, merchant: Merchant): Promise<boolean> {
  const marks = await Promise.all(config.accountMarksDirs.map((dir) => otherMarks(dir, markedAs(merchant), null)))
  return marks.flat().some((mark) => mark.ledgerId === ledgerId)
}

/** One account may be reached by several addresses. */
function markedAs({ url, username }: Merchant): string {
  const { hostname, pathname } = new URL(url)
  const address = `${hostname.replace(/^www\./, '')}${pathname.replace(/\/+$/, '')}`
  return createHash('sha256').update(`${address}\n${username}`).digest('hex')
}

/** A gateway on the machine itself is one for trials, or a proxy before a real one: then its merchant is live. */
function isMarked({ url, environment }: Merchant): boolean {
  if (environment === 'live') return true
  const host = URL.parse(url)?.hostname ?? ''
  return host !== '' && host !== 'localhost' && host !== '[::1]' && !host.startsWith('127.')
}

async function askRedis(
  { config }: App,
  ledgerId: string | null,
  keeps: boolean,
  merchants: readonly { readonly account: string }[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (config.redisUrl === null || merchants.length === 0) return new Map()
  const { otherLedgersOf } = await import('../queues/account-register.ts')
  const accounts = merchants.map(({ account }) => account)
  const address = { url: config.redisUrl.reveal() }
  const found = otherLedgersOf(address, config.redisPrefix, accounts, keeps ? ledgerId : null)
  return found.then(
    (all) => new Map([...all].map(([account, ids]) => [account, ids.filter((id) => id !== ledgerId)])),
    () => new Map(),
  )
}
