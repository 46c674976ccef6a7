// Signing in by the company's identity provider, and proving there again who one is.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Entry, type EntryAgain, enterBy, proveBy } from '../../app/entering.ts'
import {
  askingOf,
  isOfWay,
  newWay,
  openProvider,
  openWay,
  sealWay,
  useWay,
  type Way,
} from '../../app/identity-provider.ts'
import { sha256Of } from '../../app/people.ts'
import type { ProviderSettings, Told } from '../../domain/identity.ts'
import { type Asking, type IdentityProvider, NotTold } from '../../ports/identity-provider.ts'
import { clearWay, sealedWayIn, secretIn, setSecret, setWay } from '../cookie.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { visitorOf } from '../visit.ts'
import { pathIn } from '../ways.ts'

const BACK = '/sign-in/provider/return'
/** From one address: each asks the provider, and may write a line into the ledger. */
const SELDOM = { rateLimit: { max: 60, timeWindow: 60_000 } } as const
const SAID_LONGEST = 300
const GROUPS_SHOWN = 10

interface Going {
  readonly Querystring: { readonly to?: string }
}

export function addProviderPages(pages: Pages, door: ConsoleDoor): void {
  const at: At = { door, provider: openProvider(door.app) }
  pages.get<Going>('/sign-in/provider', { config: { page: 'provider', ...SELDOM } }, async (request, reply) =>
    sendAway(at, request, reply, { to: pathIn(request.query.to), personId: null }),
  )
  pages.get<Going>('/step-up/provider', { config: { page: 'providerAgain', ...SELDOM } }, async (request, reply) => {
    const { person } = visitorOf(request)
    if (person.issuer !== settingsOf(door).issuer)
      throw new PageError(422, 'You sign in with a password of this server. Nothing was changed: show that again.')
    return sendAway(at, request, reply, { to: pathIn(request.query.to), personId: person.id })
  })
  pages.get(BACK, { config: { page: 'providerBack', ...SELDOM } }, async (request, reply) => {
    const settings = settingsOf(door)
    const { way, asking, query } = await wayBack(door, request, reply)
    const told = await whoCame(at, asking, query)
    const coming = { told, settings, address: request.ip, nowMs: door.app.clock.nowMs() }
    const entry =
      way.personId === null
        ? await enterBy(door.ledger, coming)
        : await proveBy(door.ledger, coming, await sessionOf(door, request, way))
    setSecret(reply, door, secretOf(entry, told, settings))
    return reply.redirect(way.to, 303)
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
  { to, personId }: Pick<Way, 'to' | 'personId'>,
): Promise<FastifyReply> {
  const settings = settingsOf(door)
  const way = newWay(to, personId, door.app.clock.nowMs())
  const asking = askingOf(way, redirectUri(door, request))
  const there = await opened(provider).wayThere(asking, personId !== null)
  setWay(reply, door, sealWay(way, settings))
  return reply.redirect(there, 303)
}

/** The way that this browser was sent, which is gone by it; anything else is refused. */
async function wayBack(door: ConsoleDoor, request: FastifyRequest, reply: FastifyReply) {
  const { app, ledger } = door
  const sealed = sealedWayIn(request, door)
  clearWay(reply, door)
  const way = sealed === null ? null : openWay(sealed, settingsOf(door), app.clock.nowMs())
  if (way === null) throw notOnTheWay()
  const query = new URLSearchParams(request.url.split('?').slice(1).join('?'))
  const asking = askingOf(way, redirectUri(door, request))
  if (!isOfWay(query.get('state') ?? '', asking)) throw notOnTheWay()
  if (!(await useWay(ledger, asking, app.clock.nowMs()))) throw notOnTheWay()
  return { way, asking, query }
}

/** As it is registered there: of the address that was written down, or of this machine. Another name could be anybody's. */
function redirectUri({ app }: ConsoleDoor, { protocol, headers, hostname }: FastifyRequest): string {
  const { publicUrl } = app.config.serving
  if (publicUrl !== null) return `${publicUrl}${BACK}`
  if (isOwnMachine(hostname)) return `${protocol}://${headers.host}${BACK}`
  throw new PageError(
    503,
    'Nobody can sign in under this name by the identity provider: whoever runs this server sets TRANCHE_PUBLIC_URL. Nothing was changed.',
  )
}

/** The log has the code of a failure, and nothing that came with it. */
async function whoCame({ door, provider }: At, asking: Asking, query: URLSearchParams): Promise<Told> {
  const { app } = door
  try {
    return await opened(provider).whoCame(asking, query)
  } catch (error) {
    if (!(error instanceof NotTold)) throw error
    const { code, said } = error
    app.log.warn({ code: app.scrub(code).slice(0, SAID_LONGEST) }, 'the identity provider recognised nobody')
    const words = said === null ? '' : ` It says: ${app.scrub(said).slice(0, SAID_LONGEST)}.`
    throw new PageError(
      401,
      `${settingsOf(door).name} did not say who you are.${words} Nobody was signed in, and nothing was changed. Try again; if it stays so, tell whoever runs this server.`,
    )
  }
}

/** The session that goes on: of whoever went away. */
async function sessionOf(door: ConsoleDoor, request: FastifyRequest, { personId }: Way): Promise<string> {
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

function isOwnMachine(hostname: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(hostname)
}

function notOnTheWay(): PageError {
  return new PageError(
    400,
    'This is no answer to a sign-in that this browser began within the last ten minutes, or it was used before. Nobody was signed in. Begin again at the page where you sign in, in one tab.',
  )
}

const OVER = 'You are no longer signed in here. Nothing was changed. Sign in and try again.'
const AGAIN = 'Nothing was changed, and you are still signed in.'

function secretOf(entry: Entry | EntryAgain, { groups }: Told, { name }: ProviderSettings): string {
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
        `${cannot} ${groupsText(groups)} Whoever runs this server says which groups have which roles.`,
      )
    }
    case 'apart':
      throw new PageError(
        403,
        `Your groups at ${name} give you the roles ${entry.roles.join(' and ')}, and one person may not have both: who makes people moves no money. Nothing was changed. Have yourself taken out of one of the groups.`,
      )
    default:
      throw new PageError(403, REFUSALS[entry.kind](name))
  }
}

type Refusal = Exclude<(Entry | EntryAgain)['kind'], 'in' | 'renewed' | 'over' | 'no-roles' | 'apart'>

/** `name`: of the provider. */
const REFUSALS: Readonly<Record<Refusal, (name: string) => string>> = {
  revoked: () =>
    'You can no longer sign in here: an administrator has revoked you, whatever your groups are. Nothing was changed.',
  'other-person': (name) =>
    `Somebody else signed in at ${name} than the one who is signed in here. ${AGAIN} Sign in there as the same person.`,
  'other-roles': (name) =>
    `Your groups at ${name} have changed, and your roles here with them. You were signed out by it, and nothing else was changed. Sign in again.`,
  unsaid: (name) =>
    `${name} does not say when you signed in there. ${AGAIN} Whoever runs it has it send auth_time in the ID token.`,
  old: (name) =>
    `You proved at ${name} who you are more than five minutes ago, and it did not ask you again. ${AGAIN} Sign out there, and try again.`,
  ahead: (name) =>
    `The clocks of ${name} and of this server differ by more than half a minute. ${AGAIN} Whoever runs this server sets its clock.`,
}

function groupsText(groups: readonly string[]): string {
  if (groups.length === 0) return 'It names no groups of yours.'
  const shown = groups.slice(0, GROUPS_SHOWN).map((group) => `“${group.slice(0, 100)}”`)
  const more = groups.length > GROUPS_SHOWN ? ` and ${groups.length - GROUPS_SHOWN} more` : ''
  return `Your groups there: ${shown.join(', ')}${more}.`
}
