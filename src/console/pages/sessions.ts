// A person's own sessions and password: which sessions are open, ending them, and choosing another password.

import type { FastifyRequest } from 'fastify'
import { changePassword, passwordFault } from '../../app/people.ts'
import { type Html, html } from '../../present/html.ts'
import { clearSecret, secretIn, setSecret } from '../cookie.ts'
import { redirectDone } from '../done.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf } from '../forms.ts'
import { showScreen } from '../frame.ts'
import { form, moment, NOTHING, table } from '../parts.ts'
import { visitorOf } from '../visit.ts'
import { SELDOM, WRONG } from './sign-in.ts'

export function addSessionPages(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.get('/sessions', { config: { page: 'sessionsPage' } }, async (request, reply) => {
    const { person, session } = visitorOf(request)
    const open = await ledger.sessions(person.id, app.clock.nowMs())
    const rows = open.map(({ id, startedAtMs, address }) => [
      moment(startedAtMs),
      html`${address ?? 'an unknown address'}${id === session.id ? ' (this one)' : ''}`,
      form(request, door, { action: `/sessions/${id}/end`, fields: NOTHING, button: 'End it', kind: 'other' }),
    ])
    const leave = form(request, door, { action: '/sign-out', fields: NOTHING, button: 'Sign out' })
    const columns = [{ name: 'Since' }, { name: 'From' }, { name: '' }]
    const main = html`<p>You are ${person.name}.</p>${leave}${table('Where you are signed in', columns, rows)}${passwordForm(request, door)}`
    return showScreen(door, request, reply, { title: 'Your sessions', section: 'Sessions', main })
  })
  pages.post('/sign-out', { config: { page: 'signOut' } }, async (request, reply) => {
    const { person, session, actor } = visitorOf(request)
    await ledger.endSession(person.id, session.id, actor, app.clock.nowMs())
    clearSecret(reply, door)
    return reply.redirect('/sign-in', 303)
  })
  pages.post('/sessions/password', { config: { page: 'changePassword', ...SELDOM } }, async (request, reply) => {
    const { person } = visitorOf(request)
    if (person.issuer !== null)
      throw new PageError(
        422,
        'You sign in with the identity provider: you have no password here. Nothing was changed.',
      )
    const { password = '', new_password: chosen = '' } = fieldsOf(request)
    const fault = chosen === password ? 'That is your current password.' : passwordFault(chosen, person.name)
    if (fault !== null) throw new PageError(422, `${fault} Nothing was changed.`)
    const shown = { secret: secretIn(request, door) ?? '', password, address: request.ip, chosen }
    const secret = await changePassword(ledger, person, shown, app.clock.nowMs())
    if (secret === null) throw new PageError(422, WRONG)
    setSecret(reply, door, secret)
    const told = { done: { act: 'change-password' }, isAgain: false } as const
    return redirectDone(door, request, reply, '/sessions', told, secret)
  })
  pages.post<{ Params: { session: string } }>(
    '/sessions/:session/end',
    { config: { page: 'endSession' } },
    async (request, reply) => {
      const { person, actor } = visitorOf(request)
      const { session } = request.params
      if (!(await ledger.endSession(person.id, session, actor, app.clock.nowMs())))
        throw new PageError(404, 'There is no such session of yours. Nothing was changed.')
      return redirectDone(door, request, reply, '/sessions', { done: { act: 'end-session' }, isAgain: false })
    },
  )
}

/** None for people of a provider, who have their password there. */
function passwordForm(request: FastifyRequest, door: ConsoleDoor): Html {
  if (visitorOf(request).person.issuer !== null) return NOTHING
  const fields = html`<p>This ends all your other sessions.</p><div class="field"><label>Current password <input name="password" type="password" autocomplete="current-password" required maxlength="200"></label></div><div class="field"><label>New password, 12 characters at least <input name="new_password" type="password" autocomplete="new-password" required minlength="12" maxlength="200"></label></div>`
  return html`<h2>Change your password</h2>${form(request, door, { action: '/sessions/password', fields, button: 'Change the password', kind: 'other' })}`
}
