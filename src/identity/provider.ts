// OpenID Connect: the authorization code with PKCE, state and nonce, and an ID token whose signature is verified. No token is kept.

import * as client from 'openid-client'
import { Fault } from '../domain/fault.ts'
import type { ProviderSettings } from '../domain/identity.ts'
import { type AuthorizationRequest, type IdentityProvider, SignInRejected } from '../ports/identity-provider.ts'
import { readClaims } from './claims.ts'
import { createGuardedFetch } from './guarded-fetch.ts'

const TIMEOUT_S = 10
/** Keys are fetched again when an unknown key id appears; addresses hardly ever change. */
const METADATA_KEPT_MS = 3_600_000
/** As asked for; the answer is held against our own clock. */
const MAX_AGE_S = 300

export function createProvider(settings: ProviderSettings, now: () => number): IdentityProvider {
  let known: { readonly configuration: Promise<client.Configuration>; readonly atMs: number } | null = null

  /** What the provider says of itself. A failure is not kept. */
  function configuration(): Promise<client.Configuration> {
    if (known !== null && now() - known.atMs < METADATA_KEPT_MS) return known.configuration
    const asked = { configuration: discover(settings), atMs: now() }
    known = asked
    asked.configuration.catch(() => {
      if (known === asked) known = null
    })
    return asked.configuration
  }

  return {
    async authorizationUrl({ redirectUri, state, nonce, verifier }, again) {
      const parameters = {
        ...{ redirect_uri: redirectUri, response_type: 'code', state, nonce },
        scope: ['openid', 'profile', 'email', ...settings.scopes].join(' '),
        ...{ code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
        ...(settings.acrValues.length === 0 ? {} : { acr_values: settings.acrValues.join(' ') }),
        ...(again ? { prompt: 'login', max_age: String(MAX_AGE_S) } : {}),
      }
      return client.buildAuthorizationUrl(await configuration(), parameters).href
    },
    async identityFrom(asking, query) {
      const found = await configuration()
      return readClaims(await claimsFor(found, asking, query), settings)
    },
  }
}

async function discover(settings: ProviderSettings): Promise<client.Configuration> {
  const issuer = new URL(settings.issuer)
  const isPlain = issuer.protocol === 'http:' // on this machine alone, as the configuration has it
  const guarded = createGuardedFetch(issuer)
  const found = await client
    .discovery(issuer, settings.clientId, {}, authenticating(settings.clientSecret.reveal()), {
      timeout: TIMEOUT_S,
      execute: [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])],
      [client.customFetch]: guarded.fetch,
    })
    .catch((error: unknown) => {
      throw unreachable(settings, error)
    })
  const said = found.serverMetadata()
  // One address may speak for many: only the one that was written down says who comes in here.
  if (said.issuer !== settings.issuer)
    throw new Fault(
      'unavailable',
      `The identity provider's issuer is ${said.issuer}, but the configuration has ${settings.issuer}. You were not signed in. If the first is right, the administrator of this server sets it as oidc.issuer in the file of TRANCHE_CONFIG.`,
    )
  const { authorization_endpoint, token_endpoint, jwks_uri } = said
  if (!guarded.allow([authorization_endpoint, token_endpoint, jwks_uri]))
    throw new Fault(
      'unavailable',
      `The identity provider ${settings.name} publishes endpoints that are missing or not https://. You were not signed in. The administrator of this server should check its /.well-known/openid-configuration.`,
    )
  return found
}

/** Without a word of the provider a secret goes into the header, and not into the body. */
function authenticating(secret: string): client.ClientAuth {
  const [inBody, inHeader] = [client.ClientSecretPost(secret), client.ClientSecretBasic(secret)]
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: ways = ['client_secret_basic'] } = server
    return (ways.includes('client_secret_basic') ? inHeader : inBody)(server, ...rest)
  }
}

async function claimsFor(found: client.Configuration, asking: AuthorizationRequest, query: URLSearchParams) {
  const cameTo = new URL(`${asking.redirectUri}?${query.toString()}`)
  try {
    const tokens = await client.authorizationCodeGrant(found, cameTo, {
      ...{ expectedState: asking.state, expectedNonce: asking.nonce, pkceCodeVerifier: asking.verifier },
      idTokenExpected: true,
    })
    return tokens.claims() ?? {}
  } catch (error) {
    throw rejected(error)
  }
}

/** Its words and its code alone: what else an error holds may be the answer itself, with its tokens. */
function rejected(error: unknown): Error {
  if (error instanceof client.AuthorizationResponseError)
    return new SignInRejected(error.error, error.error_description ?? error.error)
  if (error instanceof client.ResponseBodyError)
    return new SignInRejected(error.error, error.error_description ?? error.error)
  if (isSilence(error))
    return new Fault(
      'unavailable',
      'The identity provider does not answer. You were not signed in. Try again in a moment; a password of this server, if you have one, still works.',
    )
  return new SignInRejected(codeOf(error), null)
}

function unreachable({ name }: ProviderSettings, error: unknown): Error {
  if (error instanceof Fault) return error
  const why =
    error instanceof client.ClientError && !isSilence(error)
      ? `its answer is not valid (${codeOf(error)})`
      : 'it does not answer'
  return new Fault(
    'unavailable',
    `The identity provider ${name} cannot be used: ${why}. You were not signed in. Try again in a moment; a password of this server, if you have one, still works.`,
  )
}

/** No answer came, as against one that is no good. */
function isSilence(error: unknown): boolean {
  const code = codeOf(error)
  if (code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT') return true
  const { cause } = error as { readonly cause?: unknown }
  return error instanceof TypeError || cause instanceof TypeError
}

function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/i.test(code) ? code : 'no code'
}
