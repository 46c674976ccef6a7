// Signing in by the company's identity provider, from leaving for it to coming back, and proving there again who one is. Doors put it
// into words.

import type { App } from '../app.ts'
import type { ProviderIdentity, ProviderSettings } from '../domain/identity.ts'
import { type AuthorizationRequest, type IdentityProvider, SignInRejected } from '../ports/identity-provider.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { type ProviderSignIn, type ProviderStepUp, signInWithProvider, stepUpWithProvider } from './entering.ts'
import {
  authorizationRequest,
  consumePending,
  matchesState,
  newPendingSignIn,
  type PendingSignIn,
  readPending,
  signPending,
} from './identity-provider.ts'
import { sha256Of } from './people.ts'

/** What the provider says, at most: it is shown. */
const SAID_LONGEST = 300

export interface ProviderDoor {
  readonly app: Pick<App, 'clock' | 'log' | 'scrub'>
  readonly ledger: Pick<Ledger, 'keepRequest' | 'visit' | 'enter' | 'enterAgain'>
  readonly provider: IdentityProvider
  readonly settings: ProviderSettings
}

/** `signed`: for a cookie, which the browser must bring back. */
export async function leaveForProvider(
  { app, provider, settings }: ProviderDoor,
  { to, personId }: Pick<PendingSignIn, 'to' | 'personId'>,
  redirectUri: string,
): Promise<{ readonly url: string; readonly signed: string }> {
  const pending = newPendingSignIn(to, personId, app.clock.nowMs())
  const url = await provider.authorizationUrl(authorizationRequest(pending, redirectUri), personId !== null)
  return { url, signed: signPending(pending, settings) }
}

export interface Return {
  /** Of the cookie; null: there is none. */
  readonly signed: string | null
  readonly query: URLSearchParams
  /** Asked once it is known that the browser went away from here. */
  readonly redirectUri: () => string
  /** Of the session that goes on, if somebody proves again who they are; empty: there is none. */
  readonly secret: string
  readonly address: string | null
}

/**
 * - `not-pending`: no answer to what this browser was sent away with, or used before
 * - `rejected`: by the provider, or it is none of its answers. `said`: in its words; null: it said nothing that counts
 * - `came`: somebody was recognised; `entry` is what that opens. `to`: where they were on their way
 */
export type Returned =
  | { readonly kind: 'not-pending' }
  | { readonly kind: 'rejected'; readonly code: string; readonly said: string | null }
  | {
      readonly kind: 'came'
      readonly entry: ProviderSignIn | ProviderStepUp
      readonly told: ProviderIdentity
      readonly to: string
    }

export async function returnFromProvider(door: ProviderDoor, back: Return): Promise<Returned> {
  const { app, ledger, settings } = door
  const { query, address } = back
  const pending = back.signed === null ? null : readPending(back.signed, settings, app.clock.nowMs())
  if (pending === null) return { kind: 'not-pending' }
  const asking = authorizationRequest(pending, back.redirectUri())
  if (!matchesState(query.get('state') ?? '', asking)) return { kind: 'not-pending' }
  if (!(await consumePending(ledger, asking, app.clock.nowMs()))) return { kind: 'not-pending' }
  const told = await identityFrom(door, asking, query)
  if (told instanceof SignInRejected) return rejected(door, told)
  const coming = { told, settings, address, nowMs: app.clock.nowMs() }
  const { to, personId } = pending
  if (personId === null) return { kind: 'came', entry: await signInWithProvider(ledger, coming), told, to }
  // The session that goes on is of whoever went away.
  const visit = await ledger.visit(sha256Of(back.secret), app.clock.nowMs())
  const isTheirs = visit !== null && visit.person.id === personId
  const entry = isTheirs ? await stepUpWithProvider(ledger, coming, back.secret) : ({ kind: 'over' } as const)
  return { kind: 'came', entry, told, to }
}

async function identityFrom(
  { provider }: ProviderDoor,
  asking: AuthorizationRequest,
  query: URLSearchParams,
): Promise<ProviderIdentity | SignInRejected> {
  return provider.identityFrom(asking, query).catch((error: unknown) => {
    if (error instanceof SignInRejected) return error
    throw error
  })
}

/** The log has the code of a failure, and nothing that came with it. */
function rejected({ app }: ProviderDoor, { code, said }: SignInRejected): Returned {
  app.log.warn({ code: app.scrub(code).slice(0, SAID_LONGEST) }, 'the identity provider rejected a sign-in')
  return { kind: 'rejected', code, said: said === null ? null : app.scrub(said).slice(0, SAID_LONGEST) }
}
