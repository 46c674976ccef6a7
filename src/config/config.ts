// Environment and TRANCHE_CONFIG → one frozen Config, or one fault that names every mistake at once.
// Nothing falls back in silence: a setting that is there is understood or refused, an empty one included.

import { resolve } from 'node:path'
import type { ApprovalPolicy } from '../domain/approval.ts'
import { Fault } from '../domain/fault.ts'
import type { ProviderSettings } from '../domain/identity.ts'
import type { Merchant } from '../domain/merchant.ts'
import type { Secret } from '../domain/secret.ts'
import { SETTING_NAMES } from '../domain/settings.ts'
import { didYouMean } from '../domain/similar.ts'
import { byName } from './accounts.ts'
import { redisPrefixFrom, redisUrlFrom } from './address.ts'
import { accountMarksDirsFrom, dataDirFrom, witnessDirsFrom } from './directories.ts'
import { type LedgerServer, ledgerServerFrom } from './ledger-server.ts'
import { type ListenAddress, metricsAddressFrom } from './listening.ts'
import { type ListedSettings, NOTHING_LISTED, readConfigFile } from './merchants-file.ts'
import { OWN_SETTINGS, ownMerchant, trafficFrom } from './own-merchant.ts'
import type { ExposedFile } from './secret-files.ts'
import { type Serving, servingFrom } from './serving.ts'
import { createSettings } from './setting-readers.ts'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
type LogLevel = (typeof LOG_LEVELS)[number]

export interface Config {
  readonly dataDir: string
  /**
   * Outside the data directory: where it is remembered how far the ledger had come. Any of them may be unusable, unless a
   * person named it. Empty where a person wants none.
   */
  readonly witnessDirs: readonly string[]
  readonly witnessNamed: boolean
  /** Where all users of the machine see which ledgers are used for which gateway account; null: nowhere. */
  readonly accountMarksDirs: readonly string[]
  /** null: the ledger is a file of the data directory. */
  readonly ledgerServer: LedgerServer | null
  readonly redisUrl: Secret | null
  readonly redisPrefix: string
  readonly doubtRestMs: number
  readonly logLevel: LogLevel | null
  /** Where figures and health are shown; null: nowhere. */
  readonly metricsAddress: ListenAddress | null
  readonly serving: Serving
  readonly exposed: readonly ExposedFile[]
  /** Variables that look like settings and are none, each with the one that was probably meant. */
  readonly unknown: readonly string[]
  /** By name. Empty where none is configured: commands that only read need none. */
  readonly merchants: ReadonlyMap<string, Merchant>
  /** Who must approve what before it is sent; null: this configuration does not say. */
  readonly approvals: ApprovalPolicy | null
  /** Where people of the company sign in; null: passwords of this server alone. */
  readonly identityProvider: ProviderSettings | null
  /** What is wrong, where only the ledger is read; else a configuration with a mistake is no configuration. */
  readonly mistakes: readonly string[]
}

const DOUBT_REST_MS = { min: 0, max: 7 * 24 * 3600 * 1000 }

/** Where the ledger is, and what guards it: without these nothing can be read. */
const OF_THE_LEDGER: readonly string[] = [
  ...['TRANCHE_DATA_DIR', 'XDG_STATE_HOME', 'TRANCHE_WITNESS_DIR', 'TRANCHE_LEDGER_URL', 'TRANCHE_LEDGER_URL_FILE'],
  ...['TRANCHE_LEDGER_SCHEMA', 'TRANCHE_POSTGRES_DIRECT_URL', 'TRANCHE_POSTGRES_FAILOVER', 'TRANCHE_POSTGRES_CA_FILE'],
]

interface Need {
  /** The caller sends nothing and settles nothing. What is wrong with gateway, merchants, Redis and limits is noted. */
  readonly reads: boolean
  /** The caller asks gateways: passwords and keys of client certificates are read. */
  readonly credentials: boolean
}

const OF_A_WORKER: Need = { reads: false, credentials: true }

export async function loadConfig(
  env: NodeJS.ProcessEnv,
  homeDir: string,
  { reads, credentials }: Need = OF_A_WORKER,
): Promise<Config> {
  const mistakes: { readonly name: string; readonly text: string }[] = []
  const exposed: ExposedFile[] = []
  const note = (name: string, problem: string) => void mistakes.push({ name, text: `${name} ${problem}` })
  const settings = createSettings(env, { note, exposed, credentials })
  const traffic = trafficFrom(settings)
  const own = ownMerchant(settings, traffic)
  const dataDir = dataDirFrom(settings, env, homeDir)
  const config: Omit<Config, 'merchants' | 'approvals' | 'identityProvider' | 'mistakes'> = {
    dataDir,
    witnessDirs: witnessDirsFrom(settings, env, homeDir, dataDir),
    witnessNamed: settings.has('TRANCHE_WITNESS_DIR'),
    accountMarksDirs: accountMarksDirsFrom(settings, env),
    ledgerServer: ledgerServerFrom(settings),
    redisUrl: redisUrlFrom(settings),
    redisPrefix: redisPrefixFrom(settings),
    doubtRestMs: settings.whole('TRANCHE_DOUBT_REST_MS', DOUBT_REST_MS),
    logLevel: settings.choice('TRANCHE_LOG_LEVEL', LOG_LEVELS, null),
    metricsAddress: metricsAddressFrom(settings),
    serving: servingFrom(settings),
    exposed,
    unknown: unknownSettings(env),
  }
  const path = settings.text('TRANCHE_CONFIG')
  const taken = OWN_SETTINGS.flat().some(settings.has)
  const listed: ListedSettings =
    path === undefined ? NOTHING_LISTED : await readConfigFile(resolve(path), traffic, taken, settings)
  const merchants = byName(own === null ? listed.merchants : [own, ...listed.merchants], settings.note)
  const texts = mistakes.map(({ text }) => text)
  if (texts.length > 0 && (!reads || mistakes.some(({ name }) => OF_THE_LEDGER.includes(name)))) {
    const message = 'The configuration is wrong; nothing was started and nothing was sent:'
    throw new Fault('config', message, { points: texts })
  }
  const { approvals, identityProvider } = listed
  return Object.freeze({ ...config, merchants, approvals, identityProvider, mistakes: texts })
}

/** Those of our scripts are not ours. */
function unknownSettings(env: NodeJS.ProcessEnv): readonly string[] {
  return Object.keys(env)
    .filter((name) => /^TRANCHE_(?!CI_)/.test(name) && !SETTING_NAMES.includes(name))
    .map((name) => `${name}${didYouMean(name, SETTING_NAMES)}`)
}
