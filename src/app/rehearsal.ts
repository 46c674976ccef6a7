// A rehearsal: a private sandbox and a throw-away ledger in place of the real ones.

import { type App, createApp } from '../app.ts'
import { MERCHANT_DEFAULTS, type Merchant, NO_MERCHANT } from '../domain/merchant.ts'
import type { Currency } from '../domain/money.ts'
import { Secret } from '../domain/secret.ts'
import type { Sandbox } from '../sandbox/server.ts'
import { makeLedger } from './ledger.ts'
import { openTemporaryFolder } from './temporary-folder.ts'

/** An app of its own on a throw-away ledger and a private sandbox: nothing of it touches the real ones. */
export interface Rehearsal {
  /** Of another process that is to work in it. */
  readonly env: NodeJS.ProcessEnv
  readonly app: App
  readonly merchant: Merchant
  readonly sandbox: Sandbox
  close(): Promise<void>
}

/** Words that stand nowhere else: they are masked wherever they do, and the name of the folder must stay whole. */
const SANDBOX_USER = { username: 'rehearsing-merchant', password: 'rehearsal-only' }

/** Of a server, whose callers name what they like. */
export const OPEN_TO_ALL = { name: 'default', acceptsUnknownIn: 'EUR' as Currency } as const

interface RehearsalOptions {
  /** How its merchant is called. */
  readonly name: string
  /** Orders and vault ids exist when they are first named, in this currency; null: only those that were prepared. */
  readonly acceptsUnknownIn: Currency | null
}

/** `like`: the merchant that is rehearsed; undefined: none is configured by that name. */
export async function openRehearsal(
  app: App,
  like: Merchant | undefined,
  { name, acceptsUnknownIn }: RehearsalOptions = { name: 'sandbox', acceptsUnknownIn: null },
): Promise<Rehearsal> {
  const { openSandbox } = await import('../sandbox/server.ts')
  const sandbox = await openSandbox({ ...SANDBOX_USER, clock: () => Date.now(), triggers: true, acceptsUnknownIn })
  const folder = openTemporaryFolder('tranche-sandbox-', app.io.env)
  const configured = like ?? [...app.config.merchants.values()][0] ?? NO_MERCHANT
  const merchant: Merchant = {
    ...configured,
    name,
    url: sandbox.url,
    username: SANDBOX_USER.username,
    password: new Secret(SANDBOX_USER.password),
    environment: null, // it is SANDBOX
    ownAccount: true,
    trust: MERCHANT_DEFAULTS.trust,
    timeoutMs: Math.min(configured.timeoutMs, 10_000),
    connections: 'fresh',
    notExecutedStatus: [],
    deleteAnswer: 'status',
  }
  const config = {
    ...app.config,
    dataDir: folder.path,
    ledgerServer: null,
    redisUrl: null,
    witnessDirs: [],
    witnessNamed: false,
    accountMarksDirs: [],
    merchants: new Map([[merchant.name, merchant]]),
    approvals: null, // no money moves
    // Its own people come in beside those of the company.
    identityProvider: app.config.identityProvider && { ...app.config.identityProvider, localSignIn: true },
  }
  const rehearsing = createApp(config, { io: app.io, as: app.actor.as, logLevel: 'error', spelling: app.spelling })
  await makeLedger(rehearsing)
  return {
    app: rehearsing,
    env: {
      ...{ TRANCHE_DATA_DIR: folder.path, TRANCHE_WITNESS_DIR: 'none', TRANCHE_GATEWAY_URL: sandbox.url },
      ...{ TRANCHE_GATEWAY_USERNAME: SANDBOX_USER.username, TRANCHE_GATEWAY_PASSWORD: SANDBOX_USER.password },
    },
    merchant,
    sandbox,
    async close() {
      await sandbox.close()
      folder.close()
    },
  }
}
