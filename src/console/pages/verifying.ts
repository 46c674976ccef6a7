// The record, verified when somebody asks for it: what came of it is kept until this server ends.

import type { FastifyRequest } from 'fastify'
import { type VerifiedFor, verifyFor } from '../../app/verifying.ts'
import { isHead } from '../../domain/acts.ts'
import { atTerminal, words } from '../../domain/words.ts'
import type { Disagreement } from '../../ports/ledger/audit.ts'
import { type Html, html } from '../../present/html.ts'
import { plural } from '../../present/text.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { fieldsOf } from '../forms.ts'
import { form, idText, moment, NOTHING, note, table } from '../parts.ts'
import { typedIn } from '../refused.ts'
import { visitorOf } from '../visit.ts'
import { linked } from '../ways.ts'

interface Verification {
  /** Who asked for it. */
  readonly by: string
  readonly startedAtMs: number
  /** The earlier head that it was held against; null: none. */
  readonly anchor: string | null
  /** null: it is under way. */
  readonly ended: { readonly atMs: number; readonly verified: VerifiedFor } | null
}

/** Of this server. */
export interface Verifications {
  /** null: nobody has asked for one. */
  latest(): Verification | null
}

/** One at a time: each reads the whole ledger. */
export function addVerifying(pages: Pages, { verify, app, ledger }: ConsoleDoor): Verifications {
  let latest: Verification | null = null
  pages.post('/audit/verify', { config: { page: 'verifyAudit' } }, async (request, reply) => {
    const anchor = anchorIn(fieldsOf(request).anchor ?? '')
    if (verify === undefined) throw new PageError(409, 'This server verifies nothing itself. Nothing was changed.')
    if (latest !== null && latest.ended === null)
      throw new PageError(
        409,
        `${latest.by} started a verification, and it is still running. Yours was not started: wait until that one ends.`,
      )
    const { person, actor } = visitorOf(request)
    const started = { by: person.name, startedAtMs: app.clock.nowMs(), anchor, ended: null }
    latest = started
    void verifyFor(app, ledger, verify, { anchor, actor }).then((verified) => {
      latest = { ...started, ended: { atMs: app.clock.nowMs(), verified } }
    })
    return reply.redirect('/audit#verified', 303)
  })
  return { latest: () => latest }
}

function anchorIn(text: string): string | null {
  const anchor = text.trim()
  if (anchor === '' || isHead(anchor)) return anchor || null
  throw new PageError(
    422,
    'Write the earlier head as it was shown: a number, a colon and 64 digits and letters. Nothing was verified.',
  )
}

export function verifiedOf(request: FastifyRequest, door: ConsoleDoor, latest: Verification | null): Html {
  const isRunning = latest !== null && latest.ended === null
  const ask = isRunning || door.verify === undefined ? NOTHING : askForm(request, door)
  return html`<h2 id="verified">Is the record whole?</h2>${latest === null ? NOTHING : outcomeOf(latest)}${ask}`
}

function askForm(request: FastifyRequest, door: ConsoleDoor): Html {
  const hint = 'optional: a head that you wrote down elsewhere. The record must once have had it.'
  return form(request, door, {
    ...{ action: '/audit/verify', kind: 'other', button: 'Verify the record now' },
    fields: html`<p>Sums, rows, submissions, moves and acts are checked against each other and against the chain. A large ledger takes several minutes.</p><div class="field"><label>An earlier head<span class="hint"> ${hint} </span><input name="anchor" autocomplete="off" maxlength="100" value="${typedIn(request, '/audit/verify').anchor ?? ''}"></label></div>`,
  })
}

function outcomeOf({ by, startedAtMs, anchor, ended }: Verification): Html {
  if (ended === null)
    return note(
      'plain',
      html`<p>Verification has been running since ${moment(startedAtMs)}; ${by} started it. <a href="/audit#verified">Look again</a>.</p>`,
    )
  const against = anchor === null ? NOTHING : html`, held against ${idText(anchor)}`
  const asked = html`asked by ${by}, verified at ${moment(ended.atMs)}${against}`
  const { verified } = ended
  switch (verified.kind) {
    case 'whole':
      return note(
        'plain',
        html`<p><strong>The record is whole</strong> (${asked}), up to this head: ${idText(verified.head)}. Keep it where nobody who can write to the ledger can change it.</p>`,
      )
    case 'unknown':
      return note(
        'warn',
        html`<p><strong>It could not be verified</strong> (${asked}). So nothing is known about the record. ${linked(words`${atTerminal`Verify it: ${{ act: 'verify-audit' }}`}`)}</p>`,
      )
    case 'disagrees':
      return html`${onlyAnchor(verified.disagreements, anchor) ? COMPARE : NOTHING}${note('warn', html`<p><strong>${plural(verified.disagreements.length, 'disagreement')} in the record</strong> (${asked}). Send nothing before somebody knows why.${verified.isNoted ? '' : UNNOTED}</p>`)}${disagreementsTable(verified.disagreements)}`
  }
}

const COMPARE = note(
  'plain',
  html`<p>Compare the head that you typed with your note: a wrong digit looks the same.</p>`,
)

/** What is typed can be mistyped. */
function onlyAnchor(found: readonly Disagreement[], anchor: string | null): boolean {
  return anchor !== null && found.every(({ where }) => where === `head ${anchor}`)
}

const UNNOTED = ' The ledger could not record this, so the audit does not show it. Write it down elsewhere.'

const SHOWN = 100

function disagreementsTable(disagreements: readonly Disagreement[]): Html {
  const rows = disagreements.slice(0, SHOWN).map(({ where, means }) => [html`${where}`, html`${means}`])
  const caption = disagreements.length > SHOWN ? `The first ${SHOWN} disagreements` : 'Disagreements'
  return table(caption, [{ name: 'Where' }, { name: 'What does not fit', kind: 'text' }], rows)
}
