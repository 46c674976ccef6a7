// A rehearsal: a private sandbox and a throw-away ledger in place of the real ones.

import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, createApp } from '../app.ts'
import { MERCHANT_DEFAULTS, type Merchant, NO_MERCHANT } from '../domain/merchant.ts'
import { Secret } from '../domain/secret.ts'
import type { Sandbox } from '../sandbox/server.ts'
import { makeLedger } from './ledger.ts'

/** An app of its own on a throw-away ledger and a private sandbox: nothing of it touches the real ones. */
export interface Rehearsal {
  readonly app: App
  readonly merchant: Merchant
  readonly sandbox: Sandbox
  close(): Promise<void>
}

const REHEARSAL = 'tranche-sandbox-'

/** One that was killed before it took its lock stays so long. */
const REHEARSAL_STARTS_WITHIN_MS = 600_000

/** Removes what rehearsals of this user left behind when they were killed: no process holds their lock. */
async function sweepRehearsals(): Promise<void> {
  const { lockHeld } = await import('../files/lock.ts')
  for (const name of readdirSync(tmpdir()).filter((found) => found.startsWith(REHEARSAL))) {
    const path = join(tmpdir(), name)
    try {
      const stat = lstatSync(path)
      const isOwn = stat.isDirectory() && stat.uid === process.getuid?.()
      if (!isOwn || Date.now() - stat.mtimeMs < REHEARSAL_STARTS_WITHIN_MS) continue
      if (lockHeld(join(path, 'worker.lock')) === null) rmSync(path, { recursive: true, force: true })
    } catch {} // another start is removing it
  }
}

const SANDBOX_USER = { username: 'sandbox', password: 'sandbox' }

/** `like`: the merchant that is rehearsed; undefined: none is configured by that name. */
export async function openRehearsal(app: App, like: Merchant | undefined): Promise<Rehearsal> {
  const { openSandbox } = await import('../sandbox/server.ts')
  const sandbox = await openSandbox({ ...SANDBOX_USER, clock: () => Date.now(), triggers: true })
  await sweepRehearsals()
  const dataDir = mkdtempSync(join(tmpdir(), REHEARSAL))
  const configured = like ?? [...app.config.merchants.values()][0] ?? NO_MERCHANT
  const merchant: Merchant = {
    ...configured,
    name: 'sandbox',
    url: sandbox.url,
    username: SANDBOX_USER.username,
    password: new Secret(SANDBOX_USER.password),
    ownAccount: true,
    trust: MERCHANT_DEFAULTS.trust,
    timeoutMs: Math.min(configured.timeoutMs, 10_000),
    connections: 'fresh',
    notExecutedStatus: [],
    deleteAnswer: 'status',
  }
  const config = {
    ...app.config,
    dataDir,
    witnessDirs: [],
    witnessNamed: false,
    merchants: new Map([[merchant.name, merchant]]),
  }
  // Its gateway is in this process, over plain HTTP.
  const rehearsing = createApp(config, [], { as: app.actor.as, logLevel: 'error', spelling: app.spelling })
  await makeLedger(rehearsing)
  return {
    app: rehearsing,
    merchant,
    sandbox,
    async close() {
      await sandbox.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
