// A person's own sessions: which are open, and ending them.

import { isoOf } from '../../domain/batch-status.ts'
import { html } from '../../present/html.ts'
import { clearSecret, secretIn } from '../cookie.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { newFormToken } from '../forms.ts'
import { showPage } from '../page.ts'
import { visitorOf } from '../visit.ts'

export function addSessionPages(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.get('/sessions', { config: { page: 'sessionsPage' } }, async (request, reply) => {
    const { person, session } = visitorOf(request)
    const token = () => newFormToken(secretIn(request, door) ?? '')
    const open = await ledger.sessions(person.id, app.clock.nowMs())
    const rows = open.map(
      ({ id, startedAtMs, address }) =>
        html`<li>${isoOf(startedAtMs)} from ${address ?? 'an unknown address'}${id === session.id ? ' (this one)' : ''} <form method="post" action="/sessions/${id}/end"><input type="hidden" name="form" value="${token()}"><button>End it</button></form></li>`,
    )
    return showPage(
      reply,
      'Your sessions',
      html`<p>You are ${person.name}. <a href="/">Batches</a></p><ul>${rows}</ul><form method="post" action="/sign-out"><input type="hidden" name="form" value="${token()}"><button>Sign out</button></form>`,
    )
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
      return reply.redirect('/sessions', 303)
    },
  )
}
