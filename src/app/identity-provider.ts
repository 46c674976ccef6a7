// Signing in by the company's identity provider: what goes to the browser, and what comes of its return.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { App } from '../app.ts'
import type { ProviderSettings } from '../domain/identity.ts'
import type { Asking, IdentityProvider } from '../ports/identity-provider.ts'
import type { RequestLedger } from '../ports/ledger/requests.ts'
import { sha256Of } from './people.ts'

/** How long a browser may be on its way there and back. */
const WAY_LASTS_MS = 10 * 60_000

/** What a browser is sent away with, and must bring back. */
export interface Way {
  /** Known to the browser alone: state, nonce and verifier are made of it. */
  readonly secret: string
  readonly beganAtMs: number
  /** Where they were on their way to. */
  readonly to: string
  /** Who must come back; null: whoever signs in. */
  readonly personId: string | null
}

/** null: none is configured. The library is loaded when somebody comes. */
export function openProvider({ config, clock }: Pick<App, 'config' | 'clock'>): IdentityProvider | null {
  const { identityProvider: settings } = config
  if (settings === null) return null
  const opened = async () => (await import('../identity/provider.ts')).createProvider(settings, () => clock.nowMs())
  let provider: Promise<IdentityProvider> | null = null
  const only = () => {
    provider ??= opened()
    return provider
  }
  return {
    wayThere: async (asking, again) => (await only()).wayThere(asking, again),
    whoCame: async (asking, query) => (await only()).whoCame(asking, query),
  }
}

export function newWay(to: string, personId: string | null, nowMs: number): Way {
  return { secret: randomBytes(32).toString('base64url'), beganAtMs: nowMs, to, personId }
}

export function askingOf({ secret }: Way, redirectUri: string): Asking {
  const made = (what: string) => createHmac('sha256', secret).update(what).digest('base64url')
  return { redirectUri, state: made('state'), nonce: made('nonce'), verifier: made('verifier') }
}

/** For a cookie. Every server of one configuration can read it, and nobody can make one. */
export function sealWay(way: Way, settings: ProviderSettings): string {
  const text = Buffer.from(JSON.stringify(way)).toString('base64url')
  return `${text}.${sealOf(text, settings)}`
}

/** null: it is none of ours, or too old. */
export function openWay(sealed: string, settings: ProviderSettings, nowMs: number): Way | null {
  const [text = '', seal = ''] = sealed.split('.')
  if (!isSame(seal, sealOf(text, settings))) return null
  const way = JSON.parse(Buffer.from(text, 'base64url').toString()) as Way
  return nowMs - way.beganAtMs < WAY_LASTS_MS ? way : null
}

function sealOf(text: string, { clientSecret }: ProviderSettings): string {
  return createHmac('sha256', clientSecret.reveal()).update(`way ${text}`).digest('base64url')
}

/** Whether what came back is the answer to what this browser was sent away with. */
export function isOfWay(state: string, asking: Asking): boolean {
  return isSame(state, asking.state)
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Each way is gone once, at whichever server it ends. False: it was gone before. */
export function useWay(ledger: Pick<RequestLedger, 'keepRequest'>, { state }: Asking, nowMs: number): Promise<boolean> {
  const request = { holder: 'provider', target: 'return', key: sha256Of(state), sha256: '', nowMs }
  return ledger.keepRequest(request, {})
}
