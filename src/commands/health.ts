// tranche health: whether this installation can do its work now. For containers, which have no curl, and for whoever looks quickly.

import { healthNow } from '../app/health.ts'
import type { App } from '../app.ts'
import { isHealthy } from '../domain/health.ts'
import { EXIT } from '../present/exit-codes.ts'
import type { Terminal } from './terminal.ts'

export interface HealthArguments {
  /** false: of a host on which none runs. */
  readonly worker: boolean
}

/** Sends nothing, changes nothing, and asks neither Redis nor the gateway: their absence would restart a worker that only waits. */
export async function health(app: App, { worker }: HealthArguments, terminal: Terminal): Promise<number> {
  const checks = await healthNow(app, worker)
  const healthy = isHealthy(checks)
  for (const { name, ok, says } of checks) terminal.data(`${ok ? 'ok  ' : 'FIX '} ${name}: ${says}`)
  terminal.object({ healthy, checks })
  terminal.say(healthy ? 'Healthy.' : 'Not healthy. tranche doctor says more.')
  return healthy ? EXIT.approved : EXIT.failure
}
