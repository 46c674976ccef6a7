// Signing in, showing the password again, and coming by a link.

import type { FastifyReply } from 'fastify'
import { hashPassword, newPersonId, passwordFault, sha256Of, signIn, stepUp } from '../../app/people.ts'
import { parsePersonName } from '../../domain/person.ts'
import { html } from '../../present/html.ts'
import { secretIn, setSecret } from '../cookie.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf, newFormToken } from '../forms.ts'
import { showPage } from '../page.ts'
import { visitorOf } from '../visit.ts'

const REFUSED =
  'Not signed in. The name or the password is wrong, or there were too many tries: after each, wait longer, up to 15 minutes.'
const AFTER = '/'

export function addSignInPages(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.get('/sign-in', { config: { page: 'signInPage' } }, async (_, reply) => showSignIn(reply, null))
  pages.post('/sign-in', { config: { page: 'signIn' } }, async (request, reply) => {
    const { name = '', password = '' } = fieldsOf(request)
    const shown = { name: parsePersonName(name) ?? '', password, address: request.ip }
    const opened = await signIn(ledger, shown, app.clock.nowMs())
    if (opened === null) return showSignIn(reply.code(401), REFUSED)
    setSecret(reply, door, opened.secret)
    return reply.redirect(AFTER, 303)
  })
  pages.get('/step-up', { config: { page: 'stepUpPage' } }, async (request, reply) =>
    showStepUp(reply, secretIn(request, door) ?? '', null),
  )
  pages.post('/step-up', { config: { page: 'stepUp' } }, async (request, reply) => {
    const secret = secretIn(request, door) ?? ''
    const shown = { secret, password: fieldsOf(request).password ?? '' }
    const renewed = await stepUp(ledger, visitorOf(request).person, shown, app.clock.nowMs())
    if (renewed === null) return showStepUp(reply.code(401), secret, REFUSED)
    setSecret(reply, door, renewed)
    return reply.redirect(AFTER, 303)
  })
  addJoining(pages, door)
}

function showSignIn(reply: FastifyReply, refused: string | null): FastifyReply {
  return showPage(
    reply,
    'Sign in',
    html`${refused === null ? '' : html`<p role="alert">${refused}</p>`}<form method="post" action="/sign-in"><p><label>Name <input name="name" autocomplete="username" required maxlength="64"></label></p><p><label>Password <input name="password" type="password" autocomplete="current-password" required maxlength="200"></label></p><p><button>Sign in</button></p></form>`,
  )
}

function showStepUp(reply: FastifyReply, secret: string, refused: string | null): FastifyReply {
  return showPage(
    reply,
    'Your password again',
    html`${refused === null ? '' : html`<p role="alert">${refused}</p>`}<form method="post" action="/step-up"><input type="hidden" name="form" value="${newFormToken(secret)}"><p><label>Password <input name="password" type="password" autocomplete="current-password" required maxlength="200"></label></p><p><button>Go on</button></p></form>`,
  )
}

function addJoining(pages: Pages, { ledger, app }: ConsoleDoor): void {
  pages.get<{ Params: { invitation: string } }>(
    '/join/:invitation',
    { config: { page: 'joinPage' } },
    async ({ params }, reply) => {
      const invited = await ledger.invited(sha256Of(params.invitation), app.clock.nowMs())
      if (invited === null) throw noInvitation()
      return showJoin(reply, params.invitation, invited.name, null)
    },
  )
  pages.post<{ Params: { invitation: string } }>(
    '/join/:invitation',
    { config: { page: 'join' } },
    async (request, reply) => {
      const { invitation } = request.params
      const invitationSha256 = sha256Of(invitation)
      const invited = await ledger.invited(invitationSha256, app.clock.nowMs())
      if (invited === null) throw noInvitation()
      const { name: given = '', password = '' } = fieldsOf(request)
      const name = invited.name ?? parsePersonName(given)
      const fault = name === null ? 'Choose a name of letters, digits, dots and dashes.' : passwordFault(password, name)
      if (name === null || fault !== null) return showJoin(reply.code(422), invitation, invited.name, fault)
      const first = { id: newPersonId(), name }
      const passwordHash = await hashPassword(password)
      const joining = { invitationSha256, first, passwordHash, address: request.ip, nowMs: app.clock.nowMs() }
      if ((await ledger.join(joining)) === null) throw noInvitation()
      return reply.redirect('/sign-in', 303)
    },
  )
}

function noInvitation(): PageError {
  return new PageError(
    404,
    'This link was used, is too old, or was never made. Nothing was changed. Ask an administrator for another one.',
  )
}

function showJoin(reply: FastifyReply, invitation: string, name: string | null, fault: string | null): FastifyReply {
  const who =
    name === null
      ? html`<p>You become the first administrator.</p><p><label>Name <input name="name" autocomplete="username" required maxlength="64"></label></p>`
      : html`<p>Your name here is ${name}.</p>`
  return showPage(
    reply,
    'Choose a password',
    html`${fault === null ? '' : html`<p role="alert">${fault} Nothing was changed.</p>`}<form method="post" action="/join/${encodeURIComponent(invitation)}">${who}<p><label>Password, 12 characters at least <input name="password" type="password" autocomplete="new-password" required minlength="12" maxlength="200"></label></p><p><button>Choose it</button></p></form>`,
  )
}
