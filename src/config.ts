// Environment and TRANCHE_CONFIG → one frozen Config, or one fault that names every mistake at once.
// Nothing falls back in silence: a setting that is there is understood or refused, an empty one included.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { inspect } from 'node:util'
import type { z } from 'zod'
import { Fault } from './domain/fault.ts'
import { type Currency, parseCurrency } from './domain/money.ts'
import type { Connection } from './domain/outcome.ts'
import { folded, REASON_CATEGORIES, type ReasonRule } from './domain/reason-categories.ts'
import { defaultOf, type NumberName, SETTING_NAMES, type SecretName, type SettingName } from './domain/settings.ts'
import { NotAFile, readTextSync } from './files/open-file.ts'

/** A text that prints as `[secret]` wherever it is printed by accident. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  reveal(): string {
    return this.#text
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const CONNECTIONS = ['fresh', 'warm'] as const satisfies readonly Connection[]
const REFUND_PARAMETERS = ['transaction_type', 'request_action'] as const
const DECIMALS = ['.', ','] as const

export interface Merchant {
  readonly name: string
  /** Base address, without a slash at its end. */
  readonly url: string
  readonly username: string
  readonly password: Secret
  /** It is an account of its own, although another merchant has its username and password under another address. */
  readonly ownAccount: boolean
  /** null: no limit of ours. */
  readonly ratePerSecond: number | null
  readonly inFlightMax: number
  readonly timeoutMs: number
  readonly connections: Connection
  /** Of whom it is believed that a gateway is this one, and who we are to it. */
  readonly trust: { readonly ca: string | null; readonly clientCert: string | null; readonly clientKey: Secret | null }
  /** HTTP codes of which the gateway's operator has said, in writing, that nothing was executed. */
  readonly notExecutedStatus: readonly number[]
  /** `request_action`: the earlier interface, in which a refund is called CCCREDIT. */
  readonly refundParameter: (typeof REFUND_PARAMETERS)[number]
  /** Of rows that name none. */
  readonly currency: Currency | null
  /** How this merchant's files write decimals; null: each file tells. */
  readonly decimal: (typeof DECIMALS)[number] | null
  readonly lookalikeDays: number
  /** Categories of reasons that this merchant's gateway words in its own way; they come before the built-in ones. */
  readonly reasonRules: readonly ReasonRule[]
}

/** A file of the configuration that other users of the machine can get at. */
export interface ExposedFile {
  readonly path: string
  /** `read`: it holds a secret. `write`: it says where secrets are sent. */
  readonly by: 'read' | 'write'
}

export interface Config {
  readonly dataDir: string
  /**
   * Outside the data directory: where it is remembered how far the ledger had come. Any of them may be unusable, unless a
   * person named it. Empty where a person wants none.
   */
  readonly witnessDirs: readonly string[]
  readonly witnessNamed: boolean
  readonly redisUrl: Secret | null
  readonly redisPrefix: string
  readonly doubtRestMs: number
  readonly logLevel: LogLevel | null
  readonly exposed: readonly ExposedFile[]
  /** Variables that look like settings and are none. */
  readonly unknown: readonly string[]
  /** By name. Empty where none is configured: commands that only read need none. */
  readonly merchants: ReadonlyMap<string, Merchant>
}

/** Limits that hold wherever the setting is made. */
const IN_FLIGHT = { min: 1, max: 1000 }
const TIMEOUT_MS = { min: 1000, max: 600_000 }
const DOUBT_REST_MS = { min: 0, max: 7 * 24 * 3600 * 1000 }
const LOOKALIKE_DAYS = { min: 0, max: 366 }
const REASON_RULES_MAX = 1000

/** The name of the merchant that the environment describes, and of the one meant where none is named. */
export const DEFAULT_MERCHANT = 'default'

export async function loadConfig(env: NodeJS.ProcessEnv, homeDir: string): Promise<Config> {
  const mistakes: string[] = []
  const exposed: ExposedFile[] = []
  const settings = openSettings(env, (name, problem) => mistakes.push(`${name} ${problem}`), exposed)
  const traffic = trafficFrom(settings)
  const own = ownMerchant(settings, traffic)
  const dataDir = dataDirFrom(settings, env, homeDir)
  const config: Omit<Config, 'merchants'> = {
    dataDir,
    witnessDirs: witnessDirsFrom(settings, env, homeDir, dataDir),
    witnessNamed: settings.has('TRANCHE_WITNESS_DIR'),
    redisUrl: redisUrlFrom(settings),
    redisPrefix: redisPrefixFrom(settings),
    doubtRestMs: settings.whole('TRANCHE_DOUBT_REST_MS', DOUBT_REST_MS),
    logLevel: settings.choice('TRANCHE_LOG_LEVEL', LOG_LEVELS, null),
    exposed,
    unknown: unknownSettings(env),
  }
  const path = settings.text('TRANCHE_CONFIG')
  const taken = OWN_SETTINGS.flat().some(settings.has)
  const listed = path === undefined ? [] : await listedMerchants(resolve(path), traffic, taken, settings)
  const merchants = byName(own === null ? listed : [own, ...listed], settings.note)
  if (mistakes.length > 0) {
    const message = 'The configuration is wrong; nothing was started and nothing was sent:'
    throw new Fault('config', message, { points: mistakes })
  }
  return Object.freeze({ ...config, merchants })
}

/** Those of our scripts are not ours. */
function unknownSettings(env: NodeJS.ProcessEnv): readonly string[] {
  return Object.keys(env).filter((name) => /^TRANCHE_(?!SETUP_|CI_)/.test(name) && !SETTING_NAMES.includes(name))
}

export function merchantOf(config: Config, name: string): Merchant {
  const merchant = config.merchants.get(name)
  if (merchant !== undefined) return merchant
  const names = [...config.merchants.keys()]
  if (names.length === 0) {
    throw new Fault(
      'config',
      'No merchant is configured: set TRANCHE_GATEWAY_URL, TRANCHE_GATEWAY_USERNAME and TRANCHE_GATEWAY_PASSWORD ' +
        '(the last two also as …_FILE), or TRANCHE_CONFIG.',
    )
  }
  throw new Fault(
    'config',
    `There is no merchant "${name}"; configured: ${names.join(', ')}. Name one with --merchant.`,
  )
}

// ───────────────────────────────────────────────────────────── Reading the environment

/** Notes a mistake under the name of the setting that is wrong. */
type Note = (name: string, problem: string) => void

interface Range {
  readonly min: number
  readonly max: number
}

/** Readers of single settings. Each notes what is wrong and goes on, so that all mistakes are found in one go. */
interface Settings {
  readonly note: Note
  /** As `Config` has it. */
  readonly exposed: ExposedFile[]
  /** Whether it is there, be it right or wrong. */
  has(name: SettingName): boolean
  text(name: SettingName): string | undefined
  /** From NAME or from the file that NAME_FILE names. */
  secret(name: SecretName): string | undefined
  whole(name: NumberName, range: Range): number
  choice<T extends string, U>(name: SettingName, choices: readonly T[], otherwise: U): T | U
}

function openSettings(env: NodeJS.ProcessEnv, note: Note, exposed: ExposedFile[]): Settings {
  const text = (name: SettingName) => {
    const value = env[name]
    if (value?.trim() !== '') return value
    note(name, 'is empty: give it a value or take it away')
    return undefined
  }
  return {
    note,
    exposed,
    has: (name) => env[name] !== undefined,
    text,
    secret(name) {
      const fileName = `${name}_FILE` as const
      if (env[name] !== undefined && env[fileName] !== undefined) {
        note(name, `and ${fileName} are both set: keep one`)
        return undefined
      }
      const path = text(fileName)
      return path === undefined ? text(name) : readSecretFile(path, (what) => note(fileName, what), exposed)
    },
    whole(name, { min, max }) {
      const otherwise = defaultOf(name)
      const value = text(name)?.trim()
      if (value === undefined) return otherwise
      const number = /^\d{1,12}$/.test(value) ? Number(value) : Number.NaN
      if (number >= min && number <= max) return number
      note(name, `must be a whole number from ${min} to ${max}, not "${value}"`)
      return otherwise
    },
    choice<T extends string, U>(name: SettingName, choices: readonly T[], otherwise: U) {
      const value = text(name)?.trim()
      if (value === undefined) return otherwise
      const chosen = choices.find((choice) => choice === value)
      if (chosen === undefined) note(name, `must be one of ${choices.join(', ')}, not "${value}"`)
      return chosen ?? otherwise
    },
  }
}

/**
 * One line, without the line end that every editor adds. The only file that may be a pipe, and is waited for: a password
 * store hands a secret over by `<(…)` without leaving it on a disk.
 */
function readSecretFile(path: string, complain: (problem: string) => void, exposed: ExposedFile[]): string | undefined {
  let text: string
  try {
    noteReaders(path, exposed)
    text = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    complain(`names ${path}, which cannot be read (${codeOf(error)})`)
    return undefined
  }
  if (text.trim() === '') complain(`names ${path}, which is empty`)
  else if (/[\r\n]/.test(text)) complain(`names ${path}, which holds more than one line`)
  else return text
  return undefined
}

/** Not refused: in a container there are no other users, and its secrets are often readable by all. */
function noteReaders(path: string, exposed: ExposedFile[]): void {
  const stat = statSync(path)
  if (stat.isFile() && (stat.mode & 0o044) !== 0) exposed.push({ path, by: 'read' })
}

function noteWriters(path: string, exposed: ExposedFile[]): void {
  if ((statSync(path).mode & 0o022) !== 0) exposed.push({ path, by: 'write' })
}

function whyNotRead(error: unknown): string {
  if (error instanceof NotAFile) return `is ${error.what}, not a file`
  return `cannot be read (${codeOf(error)})`
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

/** Where the record lives. Never relative: a clerk and a cron entry in different directories must share one memory. */
function dataDirFrom(settings: Settings, env: NodeJS.ProcessEnv, homeDir: string): string {
  const given = settings.text('TRANCHE_DATA_DIR')
  const stateHome = env.XDG_STATE_HOME
  const [name, path] =
    given !== undefined
      ? (['TRANCHE_DATA_DIR', given] as const)
      : stateHome !== undefined && stateHome !== ''
        ? (['XDG_STATE_HOME', join(stateHome, 'tranche')] as const)
        : (['TRANCHE_DATA_DIR', join(homeDir, '.local', 'state', 'tranche')] as const)
  if (!isAbsolute(path)) settings.note(name, `must be an absolute path; "${path}" depends on where the command is run`)
  return resolve(path)
}

/**
 * What a restore of the data directory does not bring back: a directory of its own, or one among the user's caches, which
 * backups leave out, and one of the system's.
 */
function witnessDirsFrom(settings: Settings, env: NodeJS.ProcessEnv, homeDir: string, dataDir: string): string[] {
  const given = settings.text('TRANCHE_WITNESS_DIR')
  if (given === 'none') return []
  if (given !== undefined) {
    if (!isAbsolute(given)) settings.note('TRANCHE_WITNESS_DIR', `must be an absolute path, or none, not "${given}"`)
    else if (isWithin(dataDir, given)) settings.note('TRANCHE_WITNESS_DIR', 'must lie outside the data directory')
    return [resolve(given)]
  }
  const cacheHome = env.XDG_CACHE_HOME
  const caches = cacheHome !== undefined && isAbsolute(cacheHome) ? cacheHome : join(homeDir, '.cache')
  const places = [join(caches, 'tranche'), join('/var/tmp', `tranche-${process.getuid?.() ?? 'user'}`)]
  return places.filter((place) => !isWithin(dataDir, place))
}

function isWithin(dir: string, path: string): boolean {
  return `${resolve(path)}/`.startsWith(`${resolve(dir)}/`)
}

function redisUrlFrom(settings: Settings): Secret | null {
  const url = settings.secret('TRANCHE_REDIS_URL')?.trim()
  if (url === undefined) return null
  const protocol = URL.canParse(url) ? new URL(url).protocol : ''
  // The value is not repeated: it may hold a password.
  if (!['redis:', 'rediss:'].includes(protocol) && !isAbsolute(url)) {
    settings.note('TRANCHE_REDIS_URL', 'must begin with redis:// or rediss://, or be the absolute path of a socket')
  }
  const plaintext = settings.choice('TRANCHE_REDIS_PLAINTEXT', ['yes', 'no'], 'no')
  if (protocol === 'redis:' && plaintext === 'no' && !isLoopback(new URL(url).hostname)) {
    settings.note(
      'TRANCHE_REDIS_URL',
      'leads to another host in clear, with instructions and its password: use rediss://, or set TRANCHE_REDIS_PLAINTEXT=yes where the network between the two is private',
    )
  }
  return new Secret(url)
}

/** BullMQ's own default prefix: what plain BullMQ producers add to the intake queue is then found. */
function redisPrefixFrom(settings: Settings): string {
  const prefix = settings.text('TRANCHE_REDIS_PREFIX') ?? 'bull'
  if (!/^[\x21-\x7e]{1,100}$/.test(prefix)) {
    settings.note('TRANCHE_REDIS_PREFIX', 'must be 1 to 100 ASCII characters without blanks')
  }
  return prefix
}

// ───────────────────────────────────────────────────────────── Merchants

type Traffic = Pick<Merchant, 'ratePerSecond' | 'inFlightMax' | 'timeoutMs' | 'connections'>

/** Of the environment's merchant; also of every listed one that does not say otherwise, lest a limit set be no limit. */
function trafficFrom(settings: Settings): Traffic {
  return {
    ratePerSecond: rateFrom(settings),
    inFlightMax: settings.whole('TRANCHE_IN_FLIGHT', IN_FLIGHT),
    timeoutMs: settings.whole('TRANCHE_TIMEOUT_MS', TIMEOUT_MS),
    connections: settings.choice('TRANCHE_CONNECTIONS', CONNECTIONS, 'fresh'),
  }
}

function rateFrom(settings: Settings): number | null {
  const value = settings.text('TRANCHE_RATE')?.trim()
  if (value === undefined) return null
  const rate = /^\d{1,6}(\.\d{1,6})?$/.test(value) ? Number(value) : 0
  if (rate === 0) settings.note('TRANCHE_RATE', `must be requests per second, such as 10 or 0.5, not "${value}"`)
  return rate
}

/** Each with the other name that it may stand under. */
const OWN_SETTINGS = [
  ['TRANCHE_GATEWAY_URL'],
  ['TRANCHE_GATEWAY_USERNAME', 'TRANCHE_GATEWAY_USERNAME_FILE'],
  ['TRANCHE_GATEWAY_PASSWORD', 'TRANCHE_GATEWAY_PASSWORD_FILE'],
] as const

/** Names of the files that the trust of a merchant comes from. */
interface TrustNames<Name extends string> {
  readonly ca: Name
  readonly cert: Name
  readonly key: Name
}

const OWN_TRUST: TrustNames<SettingName> = {
  ca: 'TRANCHE_GATEWAY_CA_FILE',
  cert: 'TRANCHE_GATEWAY_CLIENT_CERT_FILE',
  key: 'TRANCHE_GATEWAY_CLIENT_KEY_FILE',
}
const LISTED_TRUST: TrustNames<string> = { ca: 'ca_file', cert: 'client_cert_file', key: 'client_key_file' }

/** Reads the files of those that are named; a certificate without its key cannot be used. */
function trustFrom<Name extends string>(
  names: TrustNames<Name>,
  pathOf: (name: Name) => string | undefined,
  note: Note,
  exposed: ExposedFile[],
): Merchant['trust'] {
  const read = (name: Name) => {
    const path = pathOf(name)
    if (path === undefined) return undefined
    return { pem: readPem(path, name === names.key, (problem) => note(name, problem), exposed) }
  }
  const [ca, cert, key] = [read(names.ca), read(names.cert), read(names.key)]
  if (cert !== undefined && key === undefined) note(names.key, `is missing: ${names.cert} needs it`)
  if (key !== undefined && cert === undefined) note(names.cert, `is missing: ${names.key} needs it`)
  if (cert?.pem !== undefined && key?.pem !== undefined && !belongTogether(cert.pem, key.pem))
    note(names.key, `is not the key of ${names.cert}`)
  return {
    ca: ca?.pem ?? null,
    clientCert: cert?.pem ?? null,
    clientKey: key?.pem === undefined ? null : new Secret(key.pem),
  }
}

function belongTogether(cert: string, key: string): boolean {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
}

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

function readPem(
  path: string,
  isKey: boolean,
  complain: (problem: string) => void,
  exposed: ExposedFile[],
): string | undefined {
  let text: string
  try {
    text = readTextSync(path)
  } catch (error) {
    complain(`names ${path}, which ${whyNotRead(error)}`)
    return undefined
  }
  try {
    if (isKey) noteReaders(path, exposed)
    else noteWriters(path, exposed)
    if (isKey) createPrivateKey(text)
    else if ((text.match(CERTIFICATES) ?? []).map((one) => new X509Certificate(one)).length === 0) throw new Error()
    return text
  } catch {
    complain(`names ${path}, which holds no ${isKey ? 'private key without a passphrase' : 'certificate'} in PEM`)
    return undefined
  }
}

const PASSWORD_MIN_LENGTH = 4

/** A shorter one is in every other text by chance, so that nothing could be cleaned of it. */
function passwordProblem(password: string): string | null {
  return password.length >= PASSWORD_MIN_LENGTH
    ? null
    : `has fewer than ${PASSWORD_MIN_LENGTH} characters: such a password cannot be kept out of logs and histories`
}

/** The environment's merchant: all three settings or none. */
function ownMerchant(settings: Settings, traffic: Traffic): Merchant | null {
  if (![...OWN_SETTINGS.flat(), ...Object.values(OWN_TRUST)].some(settings.has)) return null
  for (const [name, fileName] of OWN_SETTINGS) {
    if (settings.has(name) || (fileName !== undefined && settings.has(fileName))) continue
    settings.note(name, fileName === undefined ? 'is missing' : `is missing (or ${fileName})`)
  }
  const [[urlName], [usernameName], [passwordName]] = OWN_SETTINGS
  const address = settings.text(urlName)
  const url = address === undefined ? undefined : parseAddress(address, (what) => settings.note(urlName, what))
  const username = settings.secret(usernameName)
  const password = settings.secret(passwordName)
  const problem = password === undefined ? null : passwordProblem(password)
  if (problem !== null) settings.note(passwordName, problem)
  const trust = trustFrom(OWN_TRUST, settings.text, settings.note, settings.exposed)
  if (url === undefined || username === undefined || password === undefined) return null
  const names = { name: DEFAULT_MERCHANT, url, username, password: new Secret(password) }
  return Object.freeze({ ...names, ...traffic, trust, ...HABITS })
}

/** What a merchant is like where nothing else is said. */
const HABITS: Omit<Merchant, keyof Traffic | 'name' | 'url' | 'username' | 'password' | 'trust'> = {
  ownAccount: false,
  notExecutedStatus: Object.freeze([]),
  refundParameter: 'transaction_type',
  currency: null,
  decimal: null,
  lookalikeDays: 20,
  reasonRules: Object.freeze([]),
}

/** The gateway's base address in one spelling, so that one account is not taken for two. */
function parseAddress(text: string, complain: (problem: string) => void): string | undefined {
  const problem = addressProblem(text.trim())
  if (problem !== null) {
    complain(problem)
    return undefined
  }
  const url = new URL(text.trim())
  return url.origin + url.pathname.replace(/\/+$/, '')
}

function addressProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:\/\//i.test(text)) return 'must be an absolute address such as https://gateway.example'
  if (url.username !== '' || url.password !== '') return 'must not hold a username or password'
  if (/[?#]/.test(text)) return 'must not have a query (?) or a fragment (#)'
  if (url.pathname.includes('/api/transaction/api')) return 'must be the base address, without /api/transaction/api'
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return 'must begin with https://: over plain http the password would travel in clear'
  }
  return null
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/**
 * References and limits belong to the account (URL and username): it must not have two names. One gateway may have several
 * addresses, so the same username and password under another one is taken for the same account.
 */
function byName(merchants: readonly Merchant[], note: Note): ReadonlyMap<string, Merchant> {
  const named = new Map<string, Merchant>()
  const accounts = new Map<string, string>()
  const credentials = new Map<string, string>()
  for (const merchant of merchants) {
    const { name, url, username, password, ownAccount } = merchant
    const account = JSON.stringify([url, username])
    const otherName = accounts.get(account)
    if (otherName !== undefined) {
      note('TRANCHE_CONFIG', `merchants.${name}: has the URL and username of "${otherName}"; an account has one name`)
    }
    const credential = JSON.stringify([username, password.reveal()])
    const sameUser = credentials.get(credential)
    if (otherName === undefined && sameUser !== undefined && !ownAccount) {
      note(
        'TRANCHE_CONFIG',
        `merchants.${name}: has the username and password of "${sameUser}" under another address; if both reach one account, each would send the same file: keep one. If they are two accounts, add own_account: true`,
      )
    }
    named.set(name, merchant)
    accounts.set(account, name)
    credentials.set(credential, name)
  }
  return named
}

// ───────────────────────────────────────────────────────────── TRANCHE_CONFIG

const MERCHANT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** Paths in the file are relative to the file, wherever the command is run. */
async function listedMerchants(
  path: string,
  traffic: Traffic,
  taken: boolean,
  { note, exposed }: Settings,
): Promise<Merchant[]> {
  const complain = (problem: string) => note('TRANCHE_CONFIG', problem)
  const entries = await readEntries(path, complain)
  if (entries.length === 0) return []
  noteWriters(path, exposed)
  const schema = await entrySchema(dirname(path), exposed)
  return entries.flatMap(([name, content]) => {
    const problems = [...nameProblems(name, taken), ...usernameProblems(content)]
    const read = schema.safeParse(content)
    if (!read.success) problems.push(...read.error.issues.flatMap(issueProblems))
    const trust = trustFrom(
      LISTED_TRUST,
      (setting) => pathIn(content, setting, dirname(path)),
      (setting, problem) => problems.push(`.${setting}: ${problem}`),
      exposed,
    )
    for (const problem of problems) complain(`merchants.${name}${problem}`)
    return read.success ? [fromEntry(name, read.data, traffic, trust)] : []
  })
}

/** The merchants as written, by name. `yaml` is loaded here, where it is needed: start-up time counts. */
async function readEntries(path: string, complain: (problem: string) => void): Promise<[string, unknown][]> {
  let text: string
  try {
    text = readTextSync(path)
  } catch (error) {
    complain(`names ${path}, which ${whyNotRead(error)}`)
    return []
  }
  const { LineCounter, parseDocument } = await import('yaml')
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, prettyErrors: false })
  // Codes and places only: a message may quote the line, and the line may hold what should not be there.
  for (const { code, pos } of [...document.errors, ...document.warnings]) {
    complain(`(${path}) line ${lineCounter.linePos(pos[0]).line}: is not the YAML expected (${code})`)
  }
  if (document.errors.length > 0) return []
  const content = orUndefined(() => document.toJS({ maxAliasCount: 100 }))
  if (!isRecord(content) || !isRecord(content.merchants) || Object.keys(content.merchants).length === 0) {
    complain(`(${path}) must have "merchants:" with at least one merchant under it`)
    return []
  }
  for (const key of Object.keys(content)) if (key !== 'merchants') complain(`(${path}) ${key}: is not a known setting`)
  return Object.entries(content.merchants)
}

/** An alias that leads nowhere, or to too much, throws. */
function orUndefined(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function nameProblems(name: string, taken: boolean): string[] {
  if (!MERCHANT_NAME.test(name)) return [': a name is 1 to 64 letters, digits, - and _']
  return taken && name === DEFAULT_MERCHANT ? [': the environment (TRANCHE_GATEWAY_…) has a merchant of this name'] : []
}

/** Apart from the schema, which never comes to a rule over two fields where another field is wrong. */
function usernameProblems(content: unknown): string[] {
  if (!isRecord(content)) return []
  const given = ['username', 'username_file'].filter((name) => content[name] !== undefined)
  if (given.length === 0) return ['.username: is missing (or username_file)']
  return given.length === 2 ? ['.username: and username_file are both set: keep one'] : []
}

/** undefined: none is named, or what the schema complains of. */
function pathIn(content: unknown, setting: string, directory: string): string | undefined {
  const path = isRecord(content) ? content[setting] : undefined
  return typeof path === 'string' && path.trim() !== '' ? resolve(directory, path) : undefined
}

/** Each field checks itself, so that all mistakes of an entry are found in one go. `zod` is loaded here, as needed. */
async function entrySchema(directory: string, exposed: ExposedFile[]) {
  const { z } = await import('zod')
  const read = <T>(parse: (text: string, complain: (problem: string) => void) => T | undefined) =>
    z.string().transform((text, context): T => {
      const parsed = parse(text, (problem) => context.addIssue({ code: 'custom', message: problem }))
      return parsed === undefined ? z.NEVER : parsed
    })
  const whole = ({ min, max }: Range) => z.int().min(min).max(max).optional()
  const secretFile = read((path, complain) => readSecretFile(resolve(directory, path), complain, exposed))
  // Read beside the schema, because two of them belong together.
  const file = z.string().regex(/\S/, 'is empty').optional()
  return z.strictObject({
    url: read(parseAddress),
    username: z.string().regex(/\S/).optional(),
    username_file: secretFile.optional(),
    password_file: read((path, complain) => {
      const password = readSecretFile(resolve(directory, path), complain, exposed)
      const problem = password === undefined ? null : passwordProblem(password)
      if (problem !== null) complain(problem)
      return problem === null ? password : undefined
    }),
    ca_file: file,
    client_cert_file: file,
    client_key_file: file,
    own_account: z.boolean().optional(),
    rate: z.number().positive().max(999_999).optional(),
    in_flight: whole(IN_FLIGHT),
    timeout_ms: whole(TIMEOUT_MS),
    connections: z.enum(CONNECTIONS).optional(),
    // Nobody can put it in writing that a success or a redirection was not executed.
    not_executed_status: z.array(z.int().min(400).max(599)).optional(),
    refund_parameter: z.enum(REFUND_PARAMETERS).optional(),
    currency: read(parseListedCurrency).optional(),
    decimal: z.enum(DECIMALS).optional(),
    lookalike_days: whole(LOOKALIKE_DAYS),
    reason_categories: z
      .array(z.strictObject({ match: z.string().regex(/\S/, 'is empty'), category: z.enum(REASON_CATEGORIES) }))
      .max(REASON_RULES_MAX)
      .superRefine((rules, context) => {
        for (const [i, { match }] of rules.entries()) {
          const first = rules.findIndex((rule) => folded(match).includes(folded(rule.match)))
          if (first < i)
            context.addIssue({
              code: 'custom',
              path: [i, 'match'],
              message: `is never reached: reason_categories.${first} fits first`,
            })
        }
      })
      .optional(),
  })
}

type Entry = z.infer<Awaited<ReturnType<typeof entrySchema>>>

function parseListedCurrency(text: string, complain: (problem: string) => void): Currency | undefined {
  const currency = parseCurrency(text)
  if (currency === undefined) complain('is not a currency of ISO 4217')
  return currency
}

function fromEntry(name: string, entry: Entry, traffic: Traffic, trust: Merchant['trust']): Merchant {
  return Object.freeze({
    name,
    url: entry.url,
    // One of the two is there, or `usernameProblems` has said so.
    username: entry.username ?? entry.username_file ?? '',
    password: new Secret(entry.password_file),
    trust,
    ratePerSecond: entry.rate ?? traffic.ratePerSecond,
    inFlightMax: entry.in_flight ?? traffic.inFlightMax,
    timeoutMs: entry.timeout_ms ?? traffic.timeoutMs,
    connections: entry.connections ?? traffic.connections,
    ownAccount: entry.own_account ?? HABITS.ownAccount,
    notExecutedStatus: Object.freeze(entry.not_executed_status ?? HABITS.notExecutedStatus),
    refundParameter: entry.refund_parameter ?? HABITS.refundParameter,
    currency: entry.currency ?? HABITS.currency,
    decimal: entry.decimal ?? HABITS.decimal,
    lookalikeDays: entry.lookalike_days ?? HABITS.lookalikeDays,
    reasonRules: Object.freeze(entry.reason_categories ?? HABITS.reasonRules),
  })
}

/** No value is repeated: it may be a password in the wrong place. */
function issueProblems(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.map((part) => `.${String(part)}`).join('')
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) =>
      key === 'password'
        ? '.password: no password stands in this file; write password_file: with the path of a file that holds it'
        : `${path}.${key}: is not a known setting`,
    )
  }
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) return [`${path}: is missing`]
  return [`${path}: ${issue.message}`]
}
