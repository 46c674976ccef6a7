// Signing in by the company's identity provider, and proving there again who one is.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProviderSignIn, ProviderStepUp } from '../../app/entering.ts'
import { lazyProvider } from '../../app/identity-provider.ts'
import { leaveForProvider, type ProviderDoor, type Returned, returnFromProvider } from '../../app/provider-sign-in.ts'
import type { ProviderIdentity, ProviderSettings } from '../../domain/identity.ts'
import { isLoopback } from '../../files/networks.ts'
import type { IdentityProvider } from '../../ports/identity-provider.ts'
import { clearPending, pendingIn, secretIn, setPending, setSecret } from '../cookie.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { pathIn } from '../paths.ts'
import { visitorOf } from '../visit.ts'

const BACK = '/sign-in/provider/return'
/** From one address: each asks the provider, and may write a line into the ledger. */
const SELDOM = { rateLimit: { max: 60, timeWindow: 60_000 } } as const
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
    const own = providerDoorOf(at)
    const signed = pendingIn(request, door)
    clearPending(reply, door)
    const returned = await returnFromProvider(own, {
      ...{ signed, secret: secretIn(request, door) ?? '', address: request.ip },
      query: new URLSearchParams(request.url.split('?').slice(1).join('?')),
      redirectUri: () => redirectUri(door, request),
    })
    const { entry, told, to } = cameBy(returned, own.settings)
    setSecret(reply, door, secretOf(entry, told, own.settings))
    return reply.redirect(to, 303)
  })
}

interface At {
  readonly door: ConsoleDoor
  readonly provider: IdentityProvider | null
}

async function sendAway(
  at: At,
  request: FastifyRequest,
  reply: FastifyReply,
  going: { readonly to: string; readonly personId: string | null },
): Promise<FastifyReply> {
  const own = providerDoorOf(at)
  const { url, signed } = await leaveForProvider(own, going, redirectUri(at.door, request))
  setPending(reply, at.door, signed)
  return reply.redirect(url, 303)
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

function cameBy(returned: Returned, { name }: ProviderSettings): Extract<Returned, { kind: 'came' }> {
  switch (returned.kind) {
    case 'came':
      return returned
    case 'not-pending':
      throw new PageError(
        400,
        'This is not the answer to a sign-in that this browser started in the last ten minutes, or it has been used already. You were not signed in. Start again from the sign-in page, in one tab.',
      )
    case 'rejected': {
      const { code, said } = returned
      const words =
        code === 'acr'
          ? `You signed in at ${name} without the authentication method that this server requires (acr_values).`
          : `${name} did not say who you are.${said === null ? '' : ` It says: ${said}.`}`
      throw new PageError(
        401,
        `${words} You were not signed in, and nothing was changed. Try again; if it keeps failing, tell the administrator of this server.`,
      )
    }
  }
}

function providerDoorOf({ door, provider }: At): ProviderDoor {
  const settings = settingsOf(door)
  if (provider === null) throw new Error('bug: no identity provider is configured')
  return { app: door.app, ledger: door.ledger, provider, settings }
}

function settingsOf({ app }: ConsoleDoor): ProviderSettings {
  const { identityProvider } = app.config
  if (identityProvider !== null) return identityProvider
  throw new PageError(404, 'No identity provider is configured here. Sign in with a name and a password.')
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
