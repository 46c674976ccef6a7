// Signing in, showing the password again, and coming by a link.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { hashPassword, newPersonId, passwordFault, sha256Of, signIn, stepUp } from '../../app/people.ts'
import { comesInBy } from '../../domain/identity.ts'
import { parsePersonName } from '../../domain/person.ts'
import { type Html, html } from '../../present/html.ts'
import { secretIn, setSecret } from '../cookie.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf } from '../forms.ts'
import { showBare, showScreen } from '../frame.ts'
import { form, NOTHING, note } from '../parts.ts'
import { pathIn } from '../paths.ts'
import { visitorOf } from '../visit.ts'

const REFUSED =
  'Not signed in. The name or the password is wrong, or there were too many tries: after each, wait longer, up to 15 minutes.'
export const WRONG =
  'The password is wrong, or there were too many tries: after each, wait longer, up to 15 minutes. Nothing was changed, and you are still signed in.'

const JOINED = note('plain', html`<p>Your password is set: sign in with it.</p>`)

/** From one address: each takes a hash that is slow on purpose, and a line in the ledger. */
export const SELDOM = { rateLimit: { max: 60, timeWindow: 60_000 } } as const

interface Going {
  readonly Querystring: { readonly to?: string; readonly joined?: string }
}

export function addSignInPages(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.get<Going>('/sign-in', { config: { page: 'signInPage' } }, async ({ query }, reply) =>
    showSignIn(door, reply, pathIn(query.to), null, query.joined === undefined ? NOTHING : JOINED),
  )
  pages.post('/sign-in', { config: { page: 'signIn', ...SELDOM } }, async (request, reply) => {
    assertLocal(door)
    const { name = '', password = '', to } = fieldsOf(request)
    const shown = { name: parsePersonName(name) ?? '', password, address: request.ip }
    const opened = await signIn(ledger, shown, app.clock.nowMs())
    if (opened === null) return showSignIn(door, reply.code(401), pathIn(to), REFUSED)
    setSecret(reply, door, opened.secret)
    return reply.redirect(pathIn(to), 303)
  })
  pages.get<Going>('/step-up', { config: { page: 'stepUpPage' } }, async (request, reply) =>
    showStepUp(door, request, reply, { to: pathIn(request.query.to), refused: null }),
  )
  pages.post('/step-up', { config: { page: 'stepUp', ...SELDOM } }, async (request, reply) => {
    assertLocal(door)
    const secret = secretIn(request, door) ?? ''
    const { password = '', to } = fieldsOf(request)
    const shown = { secret, password, address: request.ip }
    const renewed = await stepUp(ledger, visitorOf(request).person, shown, app.clock.nowMs())
    if (renewed === null) return showStepUp(door, request, reply.code(401), { to: pathIn(to), refused: WRONG })
    setSecret(reply, door, renewed)
    return reply.redirect(pathIn(to), 303)
  })
  addJoining(pages, door)
}

/** Password sign-in may be turned off. */
function assertLocal({ app }: ConsoleDoor): void {
  const { identityProvider } = app.config
  if (identityProvider === null || comesInBy(null, identityProvider)) return
  throw new PageError(
    403,
    `Passwords of this server are turned off: sign in with ${identityProvider.name}. Nothing was changed.`,
  )
}

/** A link, not a form: it leads to another site. null: there is no provider. */
function providerLink({ app }: ConsoleDoor, page: '/sign-in' | '/step-up', to: string): Html | null {
  const { identityProvider } = app.config
  if (identityProvider === null) return null
  const href = `${page}/provider?to=${encodeURIComponent(to)}`
  const again = page === '/step-up' ? ' again' : ''
  return html`<p><a class="button" href="${href}">Sign in${again} with ${identityProvider.name}</a></p>`
}

function alertOf(text: string | null): Html | null {
  return text === null ? null : note('refused', html`<p role="alert">${text}</p>`)
}

function showSignIn(
  door: ConsoleDoor,
  reply: FastifyReply,
  to: string,
  refused: string | null,
  joined: Html = NOTHING,
): FastifyReply {
  const provider = providerLink(door, '/sign-in', to)
  const { identityProvider } = door.app.config
  if (!comesInBy(null, identityProvider))
    return showBare(door, reply, { title: 'Sign in', main: html`${alertOf(refused)}${provider}` })
  const others = provider === null ? null : html`${provider}<h2>Or with a name and password</h2>`
  const main = html`${alertOf(refused)}${joined}${others}<form method="post" action="/sign-in"><input type="hidden" name="to" value="${to}"><div class="field"><label>Name <input name="name" autocomplete="username" required maxlength="64"></label></div><div class="field"><label>Password <input name="password" type="password" autocomplete="current-password" required maxlength="200"></label></div><p><button>Sign in</button></p></form>`
  return showBare(door, reply, { title: 'Sign in', main: html`${rehearsalPeopleOf(door, to)}${main}` })
}

/** One click each, where no money moves. */
function rehearsalPeopleOf({ rehearsalPeople }: ConsoleDoor, to: string): Html | null {
  if (rehearsalPeople.length === 0) return null
  const forms = rehearsalPeople.map(
    ({ name, password, does }) =>
      html`<form method="post" action="/sign-in"><input type="hidden" name="to" value="${to}"><input type="hidden" name="name" value="${name}"><input type="hidden" name="password" value="${password}"><p><button>Sign in as ${name}</button> who ${does}</p></form>`,
  )
  return html`<p>This is a rehearsal: sign in as either of two people. To change over, sign out first.</p>${forms}<h2>Or with a name and a password</h2>`
}

function showStepUp(
  door: ConsoleDoor,
  request: FastifyRequest,
  reply: FastifyReply,
  { to, refused }: { readonly to: string; readonly refused: string | null },
) {
  const title = 'Your password again'
  if (request.visitor?.person.issuer != null) {
    const main = html`<p>This needs a sign-in from the last five minutes. Nothing was changed. You will come back to the page: fill it in and press the button again.</p>${providerLink(door, '/step-up', to)}`
    return showScreen(door, request, reply, { title: 'Sign in again', main })
  }
  const own = door.rehearsalPeople.find(({ name }) => name === request.visitor?.person.name)
  const fields = html`<input type="hidden" name="to" value="${to}"><div class="field"><label>Password <input name="password" type="password" value="${own?.password ?? ''}" autocomplete="current-password" required maxlength="200"></label></div>`
  const asked = form(request, door, { action: '/step-up', fields, button: 'Confirm the password' })
  const main = html`${alertOf(refused)}<p>This takes your password, not older than five minutes. Nothing was changed. You go back to the page then: fill it in, and press its button again.</p>${asked}`
  return showScreen(door, request, reply, { title, main })
}

function addJoining(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.get<{ Params: { invitation: string } }>(
    '/join/:invitation',
    { config: { page: 'joinPage' } },
    async ({ params }, reply) => {
      assertLocal(door)
      const invited = await ledger.invited(sha256Of(params.invitation), app.clock.nowMs())
      if (invited === null) throw noInvitation()
      return showJoin(door, reply, params.invitation, invited.name, null)
    },
  )
  pages.post<{ Params: { invitation: string } }>(
    '/join/:invitation',
    { config: { page: 'join', ...SELDOM } },
    async (request, reply) => {
      assertLocal(door)
      const { invitation } = request.params
      const invitationSha256 = sha256Of(invitation)
      const invited = await ledger.invited(invitationSha256, app.clock.nowMs())
      if (invited === null) throw noInvitation()
      const { name: given = '', password = '' } = fieldsOf(request)
      const name = invited.name ?? parsePersonName(given)
      const fault = name === null ? 'Choose a name of letters, digits, dots and dashes.' : passwordFault(password, name)
      if (name === null || fault !== null) return showJoin(door, reply.code(422), invitation, invited.name, fault)
      const first = { id: newPersonId(), name }
      const passwordHash = await hashPassword(password)
      const joining = { invitationSha256, first, passwordHash, address: request.ip, nowMs: app.clock.nowMs() }
      if ((await ledger.join(joining)) === null) throw noInvitation()
      return reply.redirect('/sign-in?joined=yes', 303)
    },
  )
}

function noInvitation(): PageError {
  return new PageError(
    404,
    'This link was used, is too old, or was never made. Nothing was changed. Ask an administrator for another one.',
  )
}

function showJoin(
  door: ConsoleDoor,
  reply: FastifyReply,
  invitation: string,
  name: string | null,
  fault: string | null,
): FastifyReply {
  const who =
    name === null
      ? html`<p>You become the first administrator: you add people and give them their roles, and move no money yourself.</p><div class="field"><label>Name <input name="name" autocomplete="username" required maxlength="64"></label></div>`
      : html`<p>Your name here is ${name}.</p>`
  const refused = fault === null ? null : `${fault} Nothing was changed.`
  const main = html`${alertOf(refused)}<form method="post" action="/join/${encodeURIComponent(invitation)}">${who}<div class="field"><label>Password, 12 characters at least <input name="password" type="password" autocomplete="new-password" required minlength="12" maxlength="200"></label></div><p><button>Set the password</button></p></form>`
  return showBare(door, reply, { title: 'Choose a password', main })
}
