// Every setting of the environment, once: what is read, what `doctor` knows, and the table of docs/CONFIGURATION.md.

interface Setting {
  readonly name: string
  /** Read where it is not set. Whole numbers and words only; what depends on more is told in `fallback`. */
  readonly value?: number | string
  /** The default in words, for people. */
  readonly fallback?: string
  readonly unit?: string
  readonly meaning: string
  /** It can be in a file too, under this name with `_FILE`: a secret. */
  readonly secret?: true
}

const SETTINGS = [
  { name: 'TRANCHE_GATEWAY_URL', meaning: 'Base address of the gateway. `https`, or `http` on this machine' },
  { name: 'TRANCHE_GATEWAY_USERNAME', secret: true, meaning: 'The username at the gateway' },
  {
    name: 'TRANCHE_GATEWAY_PASSWORD',
    secret: true,
    meaning: 'The password. Use `TRANCHE_GATEWAY_PASSWORD_FILE`: a file that its owner alone can read',
  },
  {
    name: 'TRANCHE_GATEWAY_CA_FILE',
    fallback: 'the authorities of Node',
    unit: 'path',
    meaning: 'PEM: the only authority that is trusted for the gateway',
  },
  {
    name: 'TRANCHE_GATEWAY_CLIENT_CERT_FILE',
    unit: 'path',
    meaning: 'PEM: our certificate, where the gateway asks for one',
  },
  { name: 'TRANCHE_GATEWAY_CLIENT_KEY_FILE', unit: 'path', meaning: 'PEM: the key of that certificate' },
  {
    name: 'TRANCHE_ENVIRONMENT',
    fallback: 'not said',
    meaning:
      '`live` or `test`: which world the account of the merchant `default` belongs to. Shown wherever money is; an account that was used as one refuses the other',
  },
  {
    name: 'TRANCHE_DATA_DIR',
    fallback: '`$XDG_STATE_HOME/tranche`, else `~/.local/state/tranche`',
    unit: 'path',
    meaning: 'Where the ledger is. Absolute, on a local disk',
  },
  {
    name: 'TRANCHE_WITNESS_DIR',
    fallback: '`$XDG_CACHE_HOME/tranche`, else `~/.cache/tranche`, and `/var/tmp/tranche-UID`',
    unit: 'path',
    meaning:
      'Where Tranche records how far the ledger has come, to detect a restored copy. Outside the data directory, preferably on another volume; made where it is missing. One that cannot be used is refused (exit 2). `none`: no witness',
  },
  {
    name: 'TRANCHE_LEDGER_URL',
    secret: true,
    fallback: 'SQLite in the data directory',
    unit: 'URL',
    meaning:
      'The PostgreSQL that keeps the ledger, for several hosts: `postgres://USER:PASSWORD@HOST/DATABASE`. To another host always with TLS',
  },
  { name: 'TRANCHE_LEDGER_SCHEMA', value: 'tranche', meaning: 'The schema of its tables; made with the ledger' },
  {
    name: 'TRANCHE_POSTGRES_DIRECT_URL',
    secret: true,
    fallback: '`TRANCHE_LEDGER_URL`',
    unit: 'URL',
    meaning: 'The same database past a connection pooler: what reads a file needs a connection of its own',
  },
  {
    name: 'TRANCHE_POSTGRES_FAILOVER',
    value: 'none',
    meaning:
      'How its server may be replaced. `none`: never without a person who adopts the ledger. `synchronous`: the same (a standby does not take over by itself either), and nothing is sent while the server waits for none. `storage`: by disks under it that lose nothing. The same on every host: one that has `storage` while the ledger was made without it, or the reverse, sends nothing; to change it, adopt the ledger',
  },
  {
    name: 'TRANCHE_POSTGRES_CA_FILE',
    fallback: 'the authorities of Node',
    unit: 'path',
    meaning: 'PEM: the only authority that is trusted for it',
  },
  {
    name: 'TRANCHE_POSTGRES_PLAINTEXT',
    value: 'no',
    meaning: '`yes` allows another host without TLS: passwords and instructions cross the network in clear',
  },
  {
    name: 'TRANCHE_REDIS_URL',
    secret: true,
    fallback: 'a private Redis',
    unit: 'URL',
    meaning:
      '`rediss://`, the path of a Unix socket, or `redis://` on this machine. `rediss+cluster://a:6379,b:6379`: a cluster. `rediss+sentinel://NAME@a:26379,b:26379/0`: the server that these sentinels call NAME',
  },
  {
    name: 'TRANCHE_REDIS_PLAINTEXT',
    value: 'no',
    meaning: '`yes` allows `redis://` to another host: passwords and instructions cross the network in clear',
  },
  {
    name: 'TRANCHE_REDIS_PREFIX',
    value: 'bull',
    meaning: 'BullMQ’s prefix. In a cluster it needs braces, which keep the keys of a queue together: `{tranche}`',
  },
  {
    name: 'TRANCHE_RATE',
    fallback: 'no limit',
    unit: 'requests per second',
    meaning: 'The most in any second. `0.5` is one in two seconds; above 1, a fraction is cut off',
  },
  { name: 'TRANCHE_IN_FLIGHT', value: 32, unit: 'requests', meaning: 'The most that are open at a time' },
  {
    name: 'TRANCHE_TIMEOUT_MS',
    value: 60_000,
    unit: 'milliseconds',
    meaning: 'From when the request is written to the last byte of the answer. After that the row is in doubt',
  },
  {
    name: 'TRANCHE_DOUBT_REST_MS',
    value: 900_000,
    unit: 'milliseconds',
    meaning:
      'How long a request in doubt may still be executed: until then it cannot be resolved as not executed. The ledger keeps the value of the worker or `run` that sends; a shorter one in another shell changes nothing',
  },
  {
    name: 'TRANCHE_CONNECTIONS',
    value: 'fresh',
    meaning:
      '`fresh`: one connection per request. `warm`: kept open; faster, with more doubts, above all where the gateway answers 429',
  },
  {
    name: 'TRANCHE_LOG_LEVEL',
    fallback: '`info` for the worker, else `error`',
    meaning: '`trace` `debug` `info` `warn` `error` `fatal` `silent`. JSON on stderr',
  },
  {
    name: 'TRANCHE_METRICS',
    fallback: 'nowhere',
    unit: 'address',
    meaning:
      'Where a worker, or a server without one, shows `/metrics`, `/livez` and `/readyz`: `127.0.0.1:9464`, `[::1]:9464`, or a port alone, which is of this machine. They are not encrypted and ask for no password',
  },
  {
    name: 'TRANCHE_PUBLIC_URL',
    fallback: 'this machine alone',
    unit: 'URL',
    meaning: 'Where others reach the HTTP API: `https://tranche.example`. Needed behind a proxy that speaks TLS',
  },
  {
    name: 'TRANCHE_TRUSTED_PROXIES',
    fallback: 'none',
    unit: 'CIDRs',
    meaning:
      'Networks of the proxies in front of the HTTP API, separated by commas: `10.0.0.0/8,::1/128`. Only they are believed about where a request came from, and without a certificate of its own the server answers only them and this machine',
  },
  {
    name: 'TRANCHE_UPLOAD_MIB',
    value: 200,
    unit: 'MiB',
    meaning: 'The largest file that is taken over the HTTP API',
  },
  { name: 'TRANCHE_CONFIG', unit: 'path', meaning: 'Several merchants, see below' },
] as const satisfies readonly Setting[]

type Declared = (typeof SETTINGS)[number]
export type SecretName = Extract<Declared, { secret: true }>['name']
export type SettingName = Declared['name'] | `${SecretName}_FILE`
export type NumberName = Extract<Declared, { value: number }>['name']
type DefaultedName = Extract<Declared, { value: unknown }>['name']
type DefaultOf<N extends DefaultedName> = Extract<Declared, { name: N; value: unknown }>['value']

export const SETTING_NAMES: readonly string[] = SETTINGS.flatMap((setting: Setting) =>
  setting.secret === true ? [setting.name, `${setting.name}_FILE`] : [setting.name],
)

/** What a number or word is where it is not set. */
export function defaultOf<N extends DefaultedName>(name: N): DefaultOf<N> {
  return (SETTINGS as readonly Setting[]).find((setting) => setting.name === name)?.value as DefaultOf<N>
}

/** As a table of Markdown. */
export function settingsTable(): string {
  const rows = SETTINGS.map(({ name, value, fallback, unit, meaning, secret }: Setting) => {
    const names = secret === true ? `\`${name}\`, or \`${name}_FILE\`` : `\`${name}\``
    const otherwise = fallback ?? (value === undefined ? '' : `\`${value}\``)
    return `| ${names} | ${otherwise} | ${unit ?? ''} | ${meaning} |`
  })
  return ['| Setting | Default | Unit | Meaning |', '|---|---|---|---|', ...rows, ''].join('\n')
}
