// A person's own sessions: which are open, and ending them.

import { html } from '../../present/html.ts'
import { clearSecret } from '../cookie.ts'
import { redirectDone } from '../done.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { showScreen } from '../frame.ts'
import { form, moment, NOTHING, table } from '../parts.ts'
import { visitorOf } from '../visit.ts'

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
    const main = html`<p>You are ${person.name}.</p>${leave}${table('Where you are signed in', columns, rows)}`
    return showScreen(door, request, reply, { title: 'Your sessions', section: 'Sessions', main })
  })
  pages.post('/sign-out', { config: { page: 'signOut' } }, async (request, reply) => {
    const { person, session, actor } = visitorOf(request)
    await ledger.endSession(person.id, session.id, actor, app.clock.nowMs())
    clearSecret(reply, door)
    return reply.redirect('/sign-in', 303)
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
