// Where a Redis is, as TRANCHE_REDIS_URL says it: one server, a cluster, or whatever its sentinels name.

export interface RedisHost {
  readonly host: string
  readonly port: number
}

export type RedisTarget =
  | { readonly kind: 'socket'; readonly path: string }
  | ({ readonly kind: 'server'; readonly at: RedisHost; readonly database: number } & RedisLogin)
  | ({ readonly kind: 'cluster'; readonly at: readonly RedisHost[] } & RedisLogin)
  | ({
      readonly kind: 'sentinel'
      /** What the sentinels call it. */
      readonly name: string
      /** The sentinels. */
      readonly at: readonly RedisHost[]
      readonly database: number
      readonly sentinel: Omit<RedisLogin, 'tls'>
    } & RedisLogin)

export interface RedisLogin {
  readonly tls: boolean
  readonly username: string | null
  readonly password: string | null
}

const WHICH =
  'must begin with redis:// or rediss:// (redis+cluster:// or redis+sentinel:// and their rediss forms for several servers), or be the absolute path of a socket'
const FORM = /^(redis|rediss)(?:\+(cluster|sentinel))?:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i
const HOST = /^(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i
const SENTINEL_SETTINGS: readonly string[] = ['sentinel_username', 'sentinel_password']
const PORT = { server: 6379, cluster: 6379, sentinel: 26_379 }

class Problem extends Error {}

/** A string is what is wrong with it, for people. It repeats nothing of the address, which may hold a password. */
export function parseRedisTarget(text: string): RedisTarget | string {
  if (text.startsWith('/')) return { kind: 'socket', path: text }
  if (text.startsWith('unix://')) return { kind: 'socket', path: text.slice('unix://'.length) }
  const [, scheme, several = 'server', authority = '', database = '', query = ''] = FORM.exec(text) ?? []
  if (scheme === undefined) return WHICH
  const kind = several.toLowerCase() as 'server' | 'cluster' | 'sentinel'
  try {
    return targetOf(kind, scheme.toLowerCase() === 'rediss', authority, database, query)
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}

function targetOf(
  kind: 'server' | 'cluster' | 'sentinel',
  tls: boolean,
  authority: string,
  database: string,
  query: string,
): RedisTarget {
  const before = authority.split('@')
  const at = (before.pop() ?? '').split(',').map((host) => hostOf(host, PORT[kind]))
  // redis+sentinel://USER:PASSWORD@NAME@HOSTS
  const name = kind === 'sentinel' ? before.pop() : undefined
  const login = { tls, ...loginOf(before.join('@')) }
  switch (kind) {
    case 'server':
      if (at.length > 1) throw new Problem('names several servers: write redis+cluster:// or redis+sentinel://')
      return { kind, at: at[0] as RedisHost, database: databaseOf(database), ...login }
    case 'cluster':
      if (databaseOf(database) !== 0) throw new Problem('names a database, but a cluster has database 0 alone')
      settingsIn(query, [])
      return { kind, at, ...login }
    case 'sentinel': {
      if (name === undefined || name === '')
        throw new Problem('must say what the sentinels call the server, as in redis+sentinel://NAME@HOST:26379')
      const settings = settingsIn(query, SENTINEL_SETTINGS)
      const [username = null, password = null] = SENTINEL_SETTINGS.map((setting) => settings.get(setting))
      return { kind, name: plain(name), at, database: databaseOf(database), sentinel: { username, password }, ...login }
    }
  }
}

function hostOf(text: string, otherwise: number): RedisHost {
  const [, host, port] = HOST.exec(text) ?? []
  const number = port === undefined ? otherwise : Number(port)
  if (host === undefined || number < 1 || number > 65_535)
    throw new Problem('has a host that cannot be read: write HOST or HOST:PORT, and commas between several')
  return { host: host.replace(/^\[|\]$/g, ''), port: number }
}

function databaseOf(text: string): number {
  if (!/^\d{0,5}$/.test(text)) throw new Problem('must name its database by a number, as in redis://host/2')
  return Number(text)
}

function loginOf(text: string): Omit<RedisLogin, 'tls'> {
  const [username = '', ...rest] = text.split(':')
  const password = rest.join(':')
  return {
    username: username === '' ? null : plain(username),
    password: password === '' ? null : plain(password),
  }
}

function settingsIn(query: string, known: readonly string[]): URLSearchParams {
  const settings = new URLSearchParams(query)
  if ([...settings.keys()].some((key) => !known.includes(key)))
    throw new Problem(`has a setting behind the ? that is none${known.length > 0 ? `: ${known.join(', ')}` : ''}`)
  return settings
}

function plain(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Problem('has a username or password with a % that is not written as %25')
  }
}

/** For people, and without anything secret. It stays the same however the hosts are ordered. */
export function redisName(target: RedisTarget): string {
  switch (target.kind) {
    case 'socket':
      return target.path
    case 'server':
      return `${hostName(target.at)}${databaseName(target.database)}`
    case 'cluster':
      return `the cluster ${hostNames(target.at)}`
    case 'sentinel':
      return `${target.name}${databaseName(target.database)} of the sentinels ${hostNames(target.at)}`
  }
}

export function hostName({ host, port }: RedisHost): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function hostNames(hosts: readonly RedisHost[]): string {
  return hosts.map(hostName).toSorted().join(', ')
}

function databaseName(database: number): string {
  return database === 0 ? '' : `/${database}`
}

/** What nobody may read, as written and as meant. */
export function secretsOfRedis(text: string): readonly string[] {
  const target = parseRedisTarget(text)
  if (typeof target === 'string' || target.kind === 'socket') return []
  const found = [target.password, target.kind === 'sentinel' ? target.sentinel.password : null]
  return found.flatMap((secret) => (secret === null ? [] : [secret, encodeURIComponent(secret)]))
}

/** Keys of a cluster go by what stands between the first braces: with none, those of one queue are on several servers. */
export function keepsTogether(prefix: string): boolean {
  return /^[^{]*\{[^}]+\}/.test(prefix)
}
