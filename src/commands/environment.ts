// What the environment may not do to a command that opens or answers connections.

import { Fault } from '../domain/fault.ts'
import { looseningIn } from '../domain/tls.ts'

/**
 * What a command connects to:
 * - `gateways`: gateways, among others; only such a command reads their passwords and the keys of client certificates
 * - `network`: something, whatever the configuration says
 * - `servers`: the ledger and Redis, where they are on servers
 * - `nothing`
 */
export type Reach = 'gateways' | 'network' | 'servers' | 'nothing'

/** Either has its servers' addresses from these alone. */
const SERVERS = ['TRANCHE_LEDGER_URL', 'TRANCHE_LEDGER_URL_FILE', 'TRANCHE_REDIS_URL', 'TRANCHE_REDIS_URL_FILE']

/**
 * Faults before a secret is read where the environment weakens the connections of a command. Our own connections say what
 * they need and would hold; but whoever made that setting reads, or means to read, what goes over them.
 */
export function assertSafeEnvironment(reach: Reach, env: NodeJS.ProcessEnv): void {
  const connects = reach === 'servers' ? SERVERS.some((name) => env[name] !== undefined) : reach !== 'nothing'
  const loosening = connects ? looseningIn(env, process.execArgv) : []
  if (loosening.length === 0) return
  throw new Fault(
    'config',
    `${loosening.join(', ')} ${loosening.length === 1 ? 'makes' : 'make'} the connections of this command unsafe: others could read passwords and payments on their way, or pose as the gateway. Nothing was started, recorded or sent; no money was moved. Remove it from the environment and from NODE_OPTIONS, and run the command again. Where the gateway's certificate is of an authority of its own, name that authority's certificate in TRANCHE_GATEWAY_CA_FILE (ca_file in TRANCHE_CONFIG). An authority of your company, for every connection, goes in NODE_EXTRA_CA_CERTS.`,
  )
}
