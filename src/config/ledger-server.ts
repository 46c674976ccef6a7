// The PostgreSQL server that keeps the ledger, where one does.

import { Fault } from '../domain/fault.ts'
import { Secret } from '../domain/secret.ts'
import { defaultOf } from '../domain/settings.ts'
import { isLoopback } from '../files/networks.ts'
import { createSettings, type Settings } from './setting-readers.ts'
import { readPem } from './trust.ts'

export interface LedgerServer {
  /** Without anything about TLS. */
  readonly url: Secret
  /** Past a pooler. null: there is none. */
  readonly directUrl: Secret | null
  readonly schema: string
  readonly failover: 'none' | 'synchronous' | 'storage'
  /** null: no TLS. `ca`: PEM; null: the authorities of Node. */
  readonly tls: { readonly ca: string | null } | null
  /** For people: without its password. */
  readonly name: string
}

/** As if `url` were TRANCHE_LEDGER_URL. Faults where anything about it is wrong. */
export function ledgerServerAt(url: string, env: NodeJS.ProcessEnv): LedgerServer {
  const mistakes: string[] = []
  const { TRANCHE_LEDGER_URL_FILE: _, ...rest } = env
  const note = (name: string, problem: string) => void mistakes.push(`${name} ${problem}`)
  const settings = createSettings({ ...rest, TRANCHE_LEDGER_URL: url }, { note, exposed: [], credentials: false })
  const server = ledgerServerFrom(settings)
  if (server !== null && mistakes.length === 0) return server
  throw new Fault('usage', 'The address of the server is wrong; nothing was changed:', { points: mistakes })
}

const FAILOVERS = ['none', 'synchronous', 'storage'] as const

/** null: the ledger is a file of the data directory. */
export function ledgerServerFrom(settings: Settings): LedgerServer | null {
  const url = addressFrom(settings, 'TRANCHE_LEDGER_URL')
  const direct = addressFrom(settings, 'TRANCHE_POSTGRES_DIRECT_URL')
  const schema = settings.text('TRANCHE_LEDGER_SCHEMA') ?? defaultOf('TRANCHE_LEDGER_SCHEMA')
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    settings.note(
      'TRANCHE_LEDGER_SCHEMA',
      'must be of small letters, digits and _, 63 at most, and begin with no digit',
    )
  const failover = settings.choice('TRANCHE_POSTGRES_FAILOVER', FAILOVERS, defaultOf('TRANCHE_POSTGRES_FAILOVER'))
  const caPath = settings.text('TRANCHE_POSTGRES_CA_FILE')
  const ca =
    caPath === undefined
      ? null
      : (readPem(caPath, false, (problem) => settings.note('TRANCHE_POSTGRES_CA_FILE', problem), settings.exposed) ??
        null)
  if (direct !== null && url === null) settings.note('TRANCHE_POSTGRES_DIRECT_URL', 'is set without TRANCHE_LEDGER_URL')
  if (url === null) return null
  return {
    url: new Secret(url.href),
    directUrl: direct === null ? null : new Secret(direct.href),
    schema,
    failover,
    tls: [url, direct].some((one) => one !== null && needsTls(one, settings)) ? { ca } : null,
    name: `postgres://${url.host || 'localhost'}${url.pathname} (schema ${schema})`,
  }
}

type AddressSetting = 'TRANCHE_LEDGER_URL' | 'TRANCHE_POSTGRES_DIRECT_URL'

/** What TLS is spoken is said by our own settings: the words of the address mean another thing to every client. */
function addressFrom(settings: Settings, name: AddressSetting): URL | null {
  const text = settings.secret(name)?.trim()
  if (text === undefined) return null
  const url = URL.canParse(text) ? new URL(text) : null
  // The value is not repeated: it may hold a password.
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    settings.note(name, 'must be an address such as postgres://user:password@host/database')
    return null
  }
  if (url.pathname.length < 2) settings.note(name, 'must name the database, as in postgres://host/database')
  const keys = [...url.searchParams.keys()]
  // The client takes the last of two hosts, and that one must be the one we judge.
  if (new Set(keys).size < keys.length) settings.note(name, 'must name each parameter once')
  // Without a host, the client would ask the one in PGHOST.
  if (hostOf(url) === '') url.searchParams.set('host', 'localhost')
  const said = keys.find((key) => /^ssl/i.test(key))
  if (said !== undefined)
    settings.note(
      name,
      `must not say ${said}: another host is always asked with TLS (TRANCHE_POSTGRES_CA_FILE, TRANCHE_POSTGRES_PLAINTEXT)`,
    )
  return url
}

/** `host` of the query is the folder of a Unix socket, or another host; an empty one does not count. */
function hostOf(url: URL): string {
  return url.searchParams.get('host') || url.hostname
}

function needsTls(url: URL, settings: Settings): boolean {
  const host = hostOf(url)
  if (host.startsWith('/') || isLoopback(host)) return false
  return settings.choice('TRANCHE_POSTGRES_PLAINTEXT', ['yes', 'no'], defaultOf('TRANCHE_POSTGRES_PLAINTEXT')) === 'no'
}
