// What `doctor` looks at. Nothing is changed and no request is sent.

import type { App } from '../app.ts'
import type { LedgerServer } from '../config/ledger-server.ts'
import { Fault, withoutNothingSent } from '../domain/fault.ts'
import { redisAwayText } from '../domain/health.ts'
import type { Merchant } from '../domain/merchant.ts'
import type { TlsSeen } from '../domain/tls.ts'
import { shortUsername } from '../domain/username.ts'
import { type Text, words } from '../domain/words.ts'
import type { ServerView } from '../ledger/postgres/inspect.ts'
import { gatewayOptionsOf } from './gateway.ts'
import { openFileLedger } from './ledger.ts'
import { addressOf, assertDirect } from './server-ledger.ts'

/** How the ledger is kept: page by page, or by its server. Faults where that is not sound. */
export async function inspectLedger(app: App, whole: boolean): Promise<Text> {
  const { ledgerServer: server } = app.config
  if (server === null) return inspectPages(app, whole)
  const view = await lookAtServer(server)
  await assertDirect(server)
  return serverText(view, server)
}

async function inspectPages(app: App, whole: boolean): Promise<Text> {
  const ledger = await openFileLedger(app)
  const seen = await ledger.inspect(whole ? 'any' : 'seconds').finally(() => ledger.close())
  switch (seen.kind) {
    case 'sound':
      return 'every page can be read'
    case 'not-looked':
      return words`its pages were not looked at, because ${(seen.bytes / 1024 ** 3).toFixed(1)} GiB take minutes (${{ act: 'diagnose', look: 'whole' }})`
    case 'damaged':
      throw (await import('../ledger/sqlite/copies/damage.ts')).damageFault(app.paths.ledger, seen.found)
  }
}

function serverText({ version, standbys, aheadMs, bytes }: ServerView, { failover }: LedgerServer): string {
  const copies = standbys.map(({ name, waits }) => `${name} (${waits})`).join(', ')
  return `PostgreSQL ${version}; ${(bytes / 1024 ** 2).toFixed(0)} MiB; ${copies === '' ? 'no standby' : `standbys ${copies}`}; this machine's clock is ${Math.abs(aheadMs)} ms ${aheadMs < 0 ? 'behind' : 'ahead'}; ${AFTER_FAILOVER[failover]}`
}

const AFTER_FAILOVER: Readonly<Record<LedgerServer['failover'], string>> = {
  none: 'when another server takes over, nothing is sent until a person adopts the ledger',
  synchronous:
    'every claim waits for a standby, and still: when it takes over, nothing is sent until a person adopts the ledger',
  storage: 'when another server takes over, sending goes on: nothing compares its timeline',
}

/** What a person should see to although the ledger works; none where it is a file. */
export async function serverCautions(app: App): Promise<readonly string[]> {
  const { ledgerServer: server } = app.config
  return server === null ? [] : cautionsIn(await lookAtServer(server))
}

export function cautionsIn(view: Omit<ServerView, 'version' | 'bytes' | 'where'>): readonly string[] {
  const { standbys, aheadMs, oldestS, fullPageWrites, seesAll, user } = view
  const namesOf = (waits: string) => standbys.filter((one) => one.waits === waits).map(({ name }) => name)
  const [lagging, hidden] = [namesOf('async'), namesOf('unknown')]
  return [
    ...(lagging.length > 0
      ? [
          `the server does not wait for its standby ${lagging.join(', ')}: one that takes over by itself may lack what was sent last, and would send it again. Let it take over by hand only, or make it synchronous`,
        ]
      : []),
    ...(seesAll
      ? []
      : [
          `the PostgreSQL user ${user} cannot see ${hidden.length === 0 ? 'standbys' : `whether the server waits for its standby ${hidden.join(', ')}`}, nor long transactions of other users, so doctor does not warn of them. Let an administrator run: GRANT pg_monitor TO "${user}"`,
        ]),
    ...(Math.abs(aheadMs) > CLOCK_OFF_MS
      ? [
          `this machine's clock is ${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${aheadMs < 0 ? 'behind' : 'ahead of'} the server's. Set both by NTP`,
        ]
      : []),
    ...(oldestS > LONG_TRANSACTION_S
      ? [
          `a transaction has been open on the server for ${Math.round(oldestS / 60)} minutes: it slows every look for due rows. Find it in pg_stat_activity`,
        ]
      : []),
    ...(fullPageWrites ? [] : ['the server has full_page_writes off: a crash may damage the ledger. Turn it on']),
  ]
}

/** Older than any transaction of ours but a reading: it keeps dead rows in the indexes that every look goes through. */
const LONG_TRANSACTION_S = 600
const CLOCK_OFF_MS = 2_000

async function lookAtServer(server: LedgerServer): Promise<ServerView> {
  const { inspectServer } = await import('../ledger/postgres/inspect.ts')
  return inspectServer(addressOf(server), server.failover)
}

/** What Redis would be used, or a fault that says what is missing. */
export async function checkRedis(app: App): Promise<string> {
  const { assertReachable } = await import('../queues/reach.ts')
  if (app.config.redisUrl === null) {
    const { findRedisServer } = await import('../queues/private-redis.ts')
    return `a private one (${findRedisServer(app.io.env)}), started when there is work`
  }
  const address = { url: app.config.redisUrl.reveal() }
  const { name, version, evicts } = await assertReachable(address, app.config.redisPrefix).catch((error: unknown) => {
    throw error instanceof Fault && error.code === 'unavailable' ? redisAwayFault(app, error) : error
  })
  if (evicts)
    throw new Fault(
      'config',
      `Redis at ${name} may evict keys: messages could be lost. Set maxmemory-policy to noeviction.`,
    )
  return `${name}, version ${version}, noeviction`
}

/** A command that looks sends nothing anyway: what is asked is whether workers go on. */
function redisAwayFault({ config }: App, fault: Fault): Fault {
  const away = redisAwayText(config.ledgerServer === null)
  return new Fault('unavailable', `${withoutNothingSent(fault.message)} ${away}.`, { cause: fault })
}

/** Connects, and sends nothing. */
export async function reachGateway(app: App, merchant: Merchant): Promise<{ says: string; tls: TlsSeen | null }> {
  const { openGateway } = await import('../gateway/client.ts')
  const gateway = openGateway(gatewayOptionsOf(app, merchant))
  const reached = await gateway.reach().finally(() => gateway.close())
  if (reached.kind === 'not-reached') throw new Fault('unavailable', `${merchant.url}: ${reached.why}`)
  const says = `${merchant.url} accepts connections, to be used as ${shortUsername(merchant.username)} (the credentials are not tested, because every request would move money)`
  return { says, tls: reached.tls }
}
