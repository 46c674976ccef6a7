// Signing in with the company's identity provider: what the browser carries there and back.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { App } from '../app.ts'
import type { ProviderSettings } from '../domain/identity.ts'
import type { AuthorizationRequest, IdentityProvider } from '../ports/identity-provider.ts'
import type { RequestLedger } from '../ports/ledger/requests.ts'
import { sha256Of } from './people.ts'

/** How long a browser may be on its way there and back. */
const PENDING_LASTS_MS = 10 * 60_000

/** What a browser is sent away with, and must bring back. */
export interface PendingSignIn {
  /** Known to the browser alone: state, nonce and verifier are made of it. */
  readonly secret: string
  readonly beganAtMs: number
  /** Where they were on their pending to. */
  readonly to: string
  /** Who must come back; null: whoever signs in. */
  readonly personId: string | null
}

/** null: none is configured. The library is loaded when somebody comes. */
export function lazyProvider({ config, clock }: Pick<App, 'config' | 'clock'>): IdentityProvider | null {
  const { identityProvider: settings } = config
  if (settings === null) return null
  const opened = async () => (await import('../identity/provider.ts')).createProvider(settings, () => clock.nowMs())
  let provider: Promise<IdentityProvider> | null = null
  const only = () => {
    provider ??= opened()
    return provider
  }
  return {
    authorizationUrl: async (asking, again) => (await only()).authorizationUrl(asking, again),
    identityFrom: async (asking, query) => (await only()).identityFrom(asking, query),
  }
}

export function newPendingSignIn(to: string, personId: string | null, nowMs: number): PendingSignIn {
  return { secret: randomBytes(32).toString('base64url'), beganAtMs: nowMs, to, personId }
}

export function authorizationRequest({ secret }: PendingSignIn, redirectUri: string): AuthorizationRequest {
  const made = (what: string) => createHmac('sha256', secret).update(what).digest('base64url')
  return { redirectUri, state: made('state'), nonce: made('nonce'), verifier: made('verifier') }
}

/** For a cookie. Signed, not encrypted: any server with the same client secret can verify it, and nobody else can make one. */
export function signPending(pending: PendingSignIn, settings: ProviderSettings): string {
  const text = Buffer.from(JSON.stringify(pending)).toString('base64url')
  return `${text}.${signatureOf(text, settings)}`
}

/** null: it is none of ours, or too old. */
export function readPending(signed: string, settings: ProviderSettings, nowMs: number): PendingSignIn | null {
  const [text = '', signature = ''] = signed.split('.')
  if (!isSame(signature, signatureOf(text, settings))) return null
  const pending = JSON.parse(Buffer.from(text, 'base64url').toString()) as PendingSignIn
  return nowMs - pending.beganAtMs < PENDING_LASTS_MS ? pending : null
}

function signatureOf(text: string, { clientSecret }: ProviderSettings): string {
  return createHmac('sha256', clientSecret.reveal()).update(`pending ${text}`).digest('base64url')
}

/** Whether what came back is the answer to what this browser was sent away with. */
export function matchesState(state: string, asking: AuthorizationRequest): boolean {
  return isSame(state, asking.state)
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Each is used once, across all servers. False: it was used before. */
export function consumePending(
  ledger: Pick<RequestLedger, 'keepRequest'>,
  { state }: AuthorizationRequest,
  nowMs: number,
): Promise<boolean> {
  const request = { holder: 'provider', target: 'return', key: sha256Of(state), sha256: '', nowMs }
  return ledger.keepRequest(request, {})
}
