// Signing in by the company's identity provider, and proving there again who one is.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ProviderSignIn, type ProviderStepUp, signInWithProvider, stepUpWithProvider } from '../../app/entering.ts'
import {
  authorizationRequest,
  consumePending,
  lazyProvider,
  matchesState,
  newPendingSignIn,
  type PendingSignIn,
  readPending,
  signPending,
} from '../../app/identity-provider.ts'
import { sha256Of } from '../../app/people.ts'
import type { ProviderIdentity, ProviderSettings } from '../../domain/identity.ts'
import { isLoopback } from '../../files/networks.ts'
import { type AuthorizationRequest, type IdentityProvider, SignInRejected } from '../../ports/identity-provider.ts'
import { clearPending, pendingIn, secretIn, setPending, setSecret } from '../cookie.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { pathIn } from '../paths.ts'
import { visitorOf } from '../visit.ts'

const BACK = '/sign-in/provider/return'
/** From one address: each asks the provider, and may write a line into the ledger. */
const SELDOM = { rateLimit: { max: 60, timeWindow: 60_000 } } as const
const SAID_LONGEST = 300
const GROUPS_SHOWN = 10

interface Going {
  readonly Querystring: { readonly to?: string }
}

export function addProviderPages(pages: Pages, door: ConsoleDoor): void {
  const at: At = { door, provider: lazyProvider(door.app) }
  pages.get<Going>('/sign-in/provider', { config: { page: 'provider', ...SELDOM } }, async (request, reply) =>
    sendAway(at, request, reply, { to: pathIn(request.query.to), personId: null }),
  )
  pages.get<Going>('/step-up/provider', { config: { page: 'providerAgain', ...SELDOM } }, async (request, reply) => {
    const { person } = visitorOf(request)
    if (person.issuer !== settingsOf(door).issuer)
      throw new PageError(422, 'You sign in with a password of this server. Nothing was changed: confirm that instead.')
    return sendAway(at, request, reply, { to: pathIn(request.query.to), personId: person.id })
  })
  pages.get(BACK, { config: { page: 'providerBack', ...SELDOM } }, async (request, reply) => {
    const settings = settingsOf(door)
    const { pending, asking, query } = await pendingOf(door, request, reply)
    const told = await identityFrom(at, asking, query)
    const coming = { told, settings, address: request.ip, nowMs: door.app.clock.nowMs() }
    const entry =
      pending.personId === null
        ? await signInWithProvider(door.ledger, coming)
        : await stepUpWithProvider(door.ledger, coming, await sessionOf(door, request, pending))
    setSecret(reply, door, secretOf(entry, told, settings))
    return reply.redirect(pending.to, 303)
  })
}

interface At {
  readonly door: ConsoleDoor
  readonly provider: IdentityProvider | null
}

async function sendAway(
  { door, provider }: At,
  request: FastifyRequest,
  reply: FastifyReply,
  { to, personId }: Pick<PendingSignIn, 'to' | 'personId'>,
): Promise<FastifyReply> {
  const settings = settingsOf(door)
  const pending = newPendingSignIn(to, personId, door.app.clock.nowMs())
  const asking = authorizationRequest(pending, redirectUri(door, request))
  const there = await opened(provider).authorizationUrl(asking, personId !== null)
  setPending(reply, door, signPending(pending, settings))
  return reply.redirect(there, 303)
}

/** What this browser was sent away with; it works once. Anything else is refused. */
async function pendingOf(door: ConsoleDoor, request: FastifyRequest, reply: FastifyReply) {
  const { app, ledger } = door
  const signed = pendingIn(request, door)
  clearPending(reply, door)
  const pending = signed === null ? null : readPending(signed, settingsOf(door), app.clock.nowMs())
  if (pending === null) throw noPendingSignIn()
  const query = new URLSearchParams(request.url.split('?').slice(1).join('?'))
  const asking = authorizationRequest(pending, redirectUri(door, request))
  if (!matchesState(query.get('state') ?? '', asking)) throw noPendingSignIn()
  if (!(await consumePending(ledger, asking, app.clock.nowMs()))) throw noPendingSignIn()
  return { pending, asking, query }
}

/** As registered at the provider: under the public URL, or on this machine. Any other name could be anybody's. */
function redirectUri({ app }: ConsoleDoor, { protocol, headers, hostname }: FastifyRequest): string {
  const { publicUrl } = app.config.serving
  if (publicUrl !== null) return `${publicUrl}${BACK}`
  if (isLoopback(hostname)) return `${protocol}://${headers.host}${BACK}`
  throw new PageError(
    503,
    'You cannot sign in with the identity provider under this host name. Nothing was changed. Ask the administrator of this server to set TRANCHE_PUBLIC_URL.',
  )
}

/** The log has the code of a failure, and nothing that came with it. */
async function identityFrom(
  { door, provider }: At,
  asking: AuthorizationRequest,
  query: URLSearchParams,
): Promise<ProviderIdentity> {
  const { app } = door
  try {
    return await opened(provider).identityFrom(asking, query)
  } catch (error) {
    if (!(error instanceof SignInRejected)) throw error
    const { code, said } = error
    app.log.warn({ code: app.scrub(code).slice(0, SAID_LONGEST) }, 'the identity provider rejected a sign-in')
    const { name } = settingsOf(door)
    const words =
      code === 'acr'
        ? `You signed in at ${name} without the authentication method that this server requires (acr_values).`
        : `${name} did not say who you are.${said === null ? '' : ` It says: ${app.scrub(said).slice(0, SAID_LONGEST)}.`}`
    throw new PageError(
      401,
      `${words} You were not signed in, and nothing was changed. Try again; if it keeps failing, tell the administrator of this server.`,
    )
  }
}

/** The session that goes on: of whoever went away. */
async function sessionOf(door: ConsoleDoor, request: FastifyRequest, { personId }: PendingSignIn): Promise<string> {
  const secret = secretIn(request, door) ?? ''
  const visit = await door.ledger.visit(sha256Of(secret), door.app.clock.nowMs())
  if (visit !== null && visit.person.id === personId) return secret
  throw new PageError(401, OVER)
}

function settingsOf({ app }: ConsoleDoor): ProviderSettings {
  const { identityProvider } = app.config
  if (identityProvider !== null) return identityProvider
  throw new PageError(404, 'No identity provider is configured here. Sign in with a name and a password.')
}

function opened(provider: IdentityProvider | null): IdentityProvider {
  if (provider === null) throw new Error('bug: no identity provider is configured')
  return provider
}

function noPendingSignIn(): PageError {
  return new PageError(
    400,
    'This is not the answer to a sign-in that this browser started in the last ten minutes, or it has been used already. You were not signed in. Start again from the sign-in page, in one tab.',
  )
}

const OVER = 'You are no longer signed in here. Nothing was changed. Sign in and try again.'
const AGAIN = 'Nothing was changed, and you are still signed in.'

function secretOf(
  entry: ProviderSignIn | ProviderStepUp,
  { groups }: ProviderIdentity,
  { name }: ProviderSettings,
): string {
  switch (entry.kind) {
    case 'in':
    case 'renewed':
      return entry.secret
    case 'over':
      throw new PageError(401, OVER)
    case 'no-roles': {
      const cannot = `None of your groups at ${name} has a role here, so you cannot come in.`
      throw new PageError(
        403,
        `${cannot} ${groupsText(groups)} The administrator of this server decides which groups have roles.`,
      )
    }
    case 'apart':
      throw new PageError(
        403,
        `Your groups at ${name} give you the roles ${entry.roles.join(' and ')}, and one person may not have both: an administrator may not move money. Until you are removed from one of the groups, you have no role here.`,
      )
    default:
      throw new PageError(403, REFUSALS[entry.kind](name))
  }
}

type Refusal = Exclude<(ProviderSignIn | ProviderStepUp)['kind'], 'in' | 'renewed' | 'over' | 'no-roles' | 'apart'>

/** `name`: of the provider. */
const REFUSALS: Readonly<Record<Refusal, (name: string) => string>> = {
  revoked: () => 'You can no longer sign in here: an administrator has revoked your access. Nothing was changed.',
  'other-person': (name) => `You signed in at ${name} as a different person. ${AGAIN} Sign in there as yourself.`,
  'other-roles': (name) =>
    `Your groups at ${name} have changed, so your roles here have too. You were signed out; nothing else was changed. Sign in again.`,
  unsaid: (name) =>
    `${name} does not send the time of your sign-in. ${AGAIN} Its administrator must add auth_time to the ID token.`,
  old: (name) =>
    `Your last sign-in at ${name} is more than five minutes old, and it did not ask you again. ${AGAIN} Sign out there, then try again.`,
  ahead: (name) =>
    `The clocks of ${name} and of this server differ by more than half a minute. ${AGAIN} Ask the administrator to check the clock of this server.`,
}

function groupsText(groups: readonly string[]): string {
  if (groups.length === 0) return 'It sent no groups.'
  const shown = groups.slice(0, GROUPS_SHOWN).map((group) => `“${group.slice(0, 100)}”`)
  const more = groups.length > GROUPS_SHOWN ? ` and ${groups.length - GROUPS_SHOWN} more` : ''
  return `Your groups there: ${shown.join(', ')}${more}.`
}
