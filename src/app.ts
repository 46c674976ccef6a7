// What every command has at hand. `app/` wires the rest, one file for each thing that is opened; only there are all rooms known.
// Rooms are imported where they are opened: a command that only reads the ledger starts in a fraction of the time.

import { userInfo } from 'node:os'
import { join } from 'node:path'
import { actorOf, SYSTEM } from './actor.ts'
import { createSharedClock, systemClock } from './app/clock.ts'
import { type Config, loadConfig } from './config/config.ts'
import type { OsActor } from './domain/actor.ts'
import { secretsOfRedis } from './domain/redis-target.ts'
import { passwordsIn } from './domain/secrets.ts'
import { createTextScrub, type Hidden } from './domain/text-scrub.ts'
import type { Spelling } from './domain/words.ts'
import { createLog, linesTo } from './log.ts'
import type { Clock, SharedClock } from './ports/clock.ts'
import type { Io } from './ports/io.ts'
import type { Log } from './ports/log.ts'

/** What every command has at hand. */
export interface App {
  readonly io: Io
  readonly config: Config
  readonly clock: Clock
  /** The same, where a server keeps the ledger: it follows the server's. */
  readonly sharedClock: SharedClock | null
  readonly log: Log
  /** For the text of an unexpected failure. */
  readonly scrub: (text: string) => string
  readonly actor: OsActor
  /** Of the door that started this process. */
  readonly spelling: Spelling
  /** Whatever is said on stderr is a line of the log: of a service whose stderr is no terminal. */
  readonly logsOnly: boolean
  /** `ledger`: of one on a server its address, for people. `ledgerFile`: where one in a file is, or would be. */
  readonly paths: {
    readonly ledger: string
    readonly ledgerFile: string
    readonly submitLock: string
    readonly workerLock: string
  }
}

export interface AppOptions {
  readonly io: Io
  readonly as: string | null
  /** Used where the configuration says nothing. */
  readonly logLevel: string
  /** It reads the ledger and sends nothing: a mistake in what it does not need is noted, not refused. */
  readonly reads?: boolean
  /** It asks gateways: their passwords and the keys of client certificates are read. */
  readonly credentials?: boolean
  readonly logsOnly?: boolean
  readonly spelling: Spelling
}

interface CreateOptions {
  /** Passwords that no merchant has: of one that is not understood. */
  readonly alsoHidden?: readonly string[]
}

/** From the environment, or a fault that names every mistake in it. */
export async function loadApp({ reads = false, credentials = false, ...options }: AppOptions): Promise<App> {
  const { env } = options.io
  const config = await loadConfig(env, homeIn(env), { reads, credentials })
  return createApp(config, { ...options, alsoHidden: passwordsIn(env) })
}

/** As `homedir` of Node has it, which knows only the environment of the process. */
function homeIn({ HOME }: NodeJS.ProcessEnv): string {
  return HOME ?? userInfo().homedir
}

/** Opens nothing: a command opens what it needs through `app/`. */
export function createApp(
  config: Config,
  {
    io,
    as,
    logLevel,
    spelling,
    logsOnly = false,
    alsoHidden = [],
  }: Omit<AppOptions, 'reads' | 'credentials'> & CreateOptions,
): App {
  const hidden = hiddenIn(config, alsoHidden)
  const { ledgerServer: server } = config
  const sharedClock = server === null ? null : createSharedClock()
  const ledgerFile = join(config.dataDir, 'ledger.db')
  return {
    io,
    config,
    clock: sharedClock ?? systemClock,
    sharedClock,
    log: createLog({ level: config.logLevel ?? logLevel, hidden, destination: linesTo(io.stderr) }),
    scrub: createTextScrub(hidden),
    logsOnly,
    spelling,
    actor: actorOf(as, { ...SYSTEM, env: io.env }),
    paths: {
      ledger: server?.name ?? ledgerFile,
      ledgerFile,
      submitLock: join(config.dataDir, 'submit.lock'),
      workerLock: join(config.dataDir, 'worker.lock'),
    },
  }
}

/** What no line of the log and no unexpected failure may hold. A username that is a merchant's name as well is no secret. */
function hiddenIn({ merchants, redisUrl, ledgerServer, identityProvider }: Config, also: readonly string[]): Hidden {
  const all = [...merchants.values()]
  const addresses = [ledgerServer?.url, ledgerServer?.directUrl].flatMap((url) =>
    url == null ? [] : (URL.parse(url.reveal()) ?? []),
  )
  const ofServers = addresses.flatMap(({ password }) =>
    password === '' ? [] : [password, decodeURIComponent(password)],
  )
  const ofRedis = redisUrl === null ? [] : secretsOfRedis(redisUrl.reveal())
  const ofProvider = identityProvider === null ? [] : [identityProvider.clientSecret.reveal()]
  return {
    secrets: [
      ...all.flatMap(({ password }) => password?.reveal() ?? []),
      ...ofServers,
      ...ofRedis,
      ...ofProvider,
      ...also,
    ],
    usernames: all.map(({ username }) => username).filter((username) => !merchants.has(username)),
  }
}
