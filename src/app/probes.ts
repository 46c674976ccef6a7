// What `doctor` looks at. Nothing is changed and no request is sent.

import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import type { Merchant } from '../domain/merchant.ts'
import type { TlsSeen } from '../domain/tls.ts'
import { shortUsername } from '../domain/username.ts'
import { type Text, words } from '../domain/words.ts'
import type { LedgerFile } from '../ports/ledger/file.ts'
import { assertTlsHolds, gatewayOptionsOf } from './gateway.ts'

/** How the ledger is, page by page. */
export async function inspectLedger(app: App, ledger: LedgerFile, whole: boolean): Promise<Text> {
  const seen = await ledger.inspect(whole ? 'any' : 'seconds')
  switch (seen.kind) {
    case 'sound':
      return 'every page can be read'
    case 'not-looked':
      return words`its pages were not looked at, because ${(seen.bytes / 1024 ** 3).toFixed(1)} GiB take minutes (${{ act: 'diagnose', look: 'whole' }})`
    case 'damaged':
      throw (await import('../ledger/sqlite/copies/damage.ts')).damageFault(app.paths.ledger, seen.found)
  }
}

/** What Redis would be used, or a fault that says what is missing. */
export async function checkRedis(app: App): Promise<string> {
  const { assertReachable, nameOf } = await import('../queues/connection.ts')
  if (app.config.redisUrl === null) {
    const { findRedisServer } = await import('../queues/private-redis.ts')
    return `a private one (${findRedisServer()}), started when there is work`
  }
  const address = { url: app.config.redisUrl.reveal() }
  const { version, evicts } = await assertReachable(address)
  if (evicts)
    throw new Fault(
      'config',
      `Redis at ${nameOf(address)} may evict keys: messages could be lost. Set maxmemory-policy to noeviction.`,
    )
  return `${nameOf(address)}, version ${version}, noeviction`
}

/** Connects, and sends nothing. */
export async function reachGateway(app: App, merchant: Merchant): Promise<{ says: string; tls: TlsSeen | null }> {
  assertTlsHolds(app)
  const { openGateway } = await import('../gateway/client.ts')
  const gateway = openGateway(gatewayOptionsOf(app, merchant))
  const reached = await gateway.reach().finally(() => gateway.close())
  if (reached.kind === 'not-reached') throw new Fault('unavailable', `${merchant.url}: ${reached.why}`)
  const says = `${merchant.url} accepts connections, to be used as ${shortUsername(merchant.username)} (the credentials are not tested, because every request would move money)`
  return { says, tls: reached.tls }
}
