// An installation of its own: a ledger on disk, a witness, a private Redis, and the bare gateway as its gateway.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { assertDone, type Ended, type How, type Running, startTranche } from './process.ts'

export interface Office extends How {
  readonly ledger: string
  start(...args: readonly string[]): Running
  /** `profiles`: the folder that its profiles go to. */
  profile(profiles: string, ...args: readonly string[]): Running
  /** Runs a command to its end, which must be this exit code. */
  run(args: readonly string[], code?: number): Promise<Ended>
  close(): void
}

export interface OfficeOptions {
  readonly gatewayUrl: string
  /** Requests that may be open. */
  readonly open: number
  readonly connections: 'warm' | 'fresh'
  /** More of the environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Whether a ledger is made; `check` and help need none. Default: yes. */
  readonly made?: boolean
}

/** `root`: a directory that goes when the bench ends. Its name must be short: the path of a socket has 100 bytes at most. */
export async function openOffice(root: string, options: OfficeOptions): Promise<Office> {
  const dir = mkdtempSync(join(root, 'o-'))
  const dataDir = join(dir, 'd')
  mkdirSync(dataDir, { mode: 0o700 })
  const env = {
    ...plainEnvironment(),
    // Where the program keeps its compiled code: of this bench, and warm after the first command.
    XDG_CACHE_HOME: join(root, 'cache'),
    TMPDIR: dir,
    TRANCHE_GATEWAY_URL: options.gatewayUrl,
    TRANCHE_GATEWAY_USERNAME: 'bench',
    TRANCHE_GATEWAY_PASSWORD: 'bench-password',
    TRANCHE_DATA_DIR: dataDir,
    TRANCHE_WITNESS_DIR: join(dir, 'w'),
    TRANCHE_CONNECTIONS: options.connections,
    TRANCHE_IN_FLIGHT: String(options.open),
    ...options.env,
  }
  const start = (...args: readonly string[]) => startTranche(args, { env, dir })
  const run = async (args: readonly string[], code = 0) => {
    const ended = await start(...args).ended
    assertDone(ended.code === code, `tranche ${args[0]} did not end with ${code}`, ended)
    return ended
  }
  if (options.made !== false) await run(['init'])
  return {
    ...{ env, dir, start, run },
    profile: (profiles, ...args) => startTranche(args, { env, dir, profiles }),
    ledger: join(dataDir, 'ledger.db'),
    close: () => rmSync(dir, { recursive: true, force: true }),
  }
}

/** Nothing of whoever runs the bench may reach the program. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(TRANCHE_|NODE_|VITEST|FORCE_COLOR$|npm_)/.test(name))
  return { ...Object.fromEntries(own), NO_COLOR: '1' }
}
