// tranche keys: with which services come through the HTTP API. A key is shown once, and never again.

import { addKey, environmentOf } from '../app/keys.ts'
import { openLedger } from '../app/ledger.ts'
import type { App } from '../app.ts'
import { KEY_LIVES_DAYS, parseKeyDays, parseKeyName, parseScope, SCOPES, type Scope } from '../domain/api-key.ts'
import { Fault } from '../domain/fault.ts'
import { didYouMean } from '../domain/similar.ts'
import { isNetwork } from '../files/networks.ts'
import { EXIT } from '../present/exit-codes.ts'
import { keyLines, toJsonKey } from '../present/keys.ts'
import { openLedgerAloud } from './on-ledger.ts'
import type { Terminal } from './terminal.ts'

export interface AddKeyArguments {
  readonly scope?: readonly string[]
  readonly merchant?: readonly string[]
  readonly network?: readonly string[]
  readonly expires?: string
}

export async function addApiKey(app: App, name: string, given: AddKeyArguments, terminal: Terminal): Promise<number> {
  const asked = parseAsked(app, name, given)
  const ledger = await openLedger(app)
  try {
    const { id, key } = await addKey(ledger, asked, app.actor, app.clock.nowMs())
    terminal.object({ id, key })
    terminal.data(key)
    terminal.say(
      `Key ${id} (${name}) is made. It is shown this once: keep it where secrets are kept. To take it away: tranche keys revoke ${id} --reason TEXT`,
    )
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

function parseAsked(app: App, name: string, given: AddKeyArguments) {
  const { merchant = null, network = null } = given
  if (parseKeyName(name) === null)
    throw new Fault('usage', 'Name the key by 1 to 64 letters, digits, spaces, dots and dashes. No key was made.')
  const known = app.config.merchants
  const unknown = merchant?.find((one) => !known.has(one))
  if (unknown !== undefined)
    throw new Fault(
      'usage',
      `--merchant ${unknown}: no such merchant is configured${didYouMean(unknown, known.keys())}. No key was made.`,
    )
  const wrong = network?.find((one) => !isNetwork(one))
  if (wrong !== undefined)
    throw new Fault('usage', `--network ${wrong}: write a network such as 10.0.0.0/8, or an address. No key was made.`)
  return {
    name,
    scopes: parseScopes(given.scope),
    merchants: merchant,
    environment: environmentOf(known, merchant),
    networks: network,
    livesMs: parseExpires(given.expires),
  }
}

function parseScopes(given: readonly string[] = []): readonly Scope[] {
  const names = given.flatMap((text) => text.split(',')).map((text) => text.trim())
  const scopes = names.map((text) => {
    const scope = parseScope(text)
    if (scope !== undefined) return scope
    throw new Fault(
      'usage',
      `--scope ${text}: there is no such scope${didYouMean(text, SCOPES)}. A scope is one of: ${SCOPES.join(', ')}. No key was made.`,
    )
  })
  if (scopes.length > 0) return [...new Set(scopes)].toSorted()
  throw new Fault('usage', `--scope: name what the key may do, one or more of: ${SCOPES.join(', ')}. No key was made.`)
}

function parseExpires(text = `${KEY_LIVES_DAYS}d`): number {
  const livesMs = text.endsWith('d') ? parseKeyDays(text.slice(0, -1)) : null
  if (livesMs !== null) return livesMs
  throw new Fault('usage', `--expires ${text}: write days, such as 90d; a year is the most. No key was made.`)
}

export async function listApiKeys(app: App, terminal: Terminal): Promise<number> {
  const ledger = await openLedgerAloud(app, terminal, 'looks')
  try {
    const keys = await ledger.keys()
    const nowMs = app.clock.nowMs()
    terminal.object({ keys: keys.map((key) => toJsonKey(key, nowMs)) })
    terminal.data(...keyLines(keys, nowMs))
    if (keys.length === 0) terminal.say('There is no key. Make one: tranche keys add NAME --scope SCOPE,…')
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

export async function revokeApiKey(
  app: App,
  id: string,
  { reason }: { reason: string },
  terminal: Terminal,
): Promise<number> {
  if (reason.trim() === '')
    throw new Fault('usage', '--reason: write why; it is kept in the history. Nothing was changed.')
  const ledger = await openLedger(app)
  try {
    const how = await ledger.revokeKey(id, reason, app.actor, app.clock.nowMs())
    if (how === 'unknown')
      throw new Fault('usage', `There is no key "${id}". See: tranche keys list. Nothing was changed.`)
    terminal.object({ id, revoked: true, already: how === 'already' })
    terminal.say(
      how === 'already'
        ? `Key ${id} was revoked already; nothing was changed.`
        : `Key ${id} is revoked: its next request is refused. What was handed in with it stays as it is.`,
    )
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}
