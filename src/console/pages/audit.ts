// Every act of the last week, or since a day that is asked for, the oldest first.

import { actsPage } from '../../app/paging.ts'
import type { LogEntry, LogPosition } from '../../domain/acts.ts'
import { atTerminal, words } from '../../domain/words.ts'
import { logDetails } from '../../present/history.ts'
import { type Html, html } from '../../present/html.ts'
import type { ConsoleDoor, Pages } from '../door.ts'
import { showScreen } from '../frame.ts'
import { idText, moment, NOTHING, table } from '../parts.ts'
import { batchPath, linked } from '../ways.ts'

const SHOWN = 100
const DAY_MS = 86_400_000
const DAYS = 7

interface Asked {
  readonly Querystring: { readonly since?: string; readonly after?: string; readonly who?: string }
}

export function addAuditPage(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.get<Asked>('/audit', { config: { page: 'audit' } }, async (request, reply) => {
    const since = dayIn(request.query.since) ?? new Date(app.clock.nowMs() - DAYS * DAY_MS).toISOString().slice(0, 10)
    const who = (request.query.who ?? '').trim().slice(0, 100)
    const after = positionIn(request.query.after)
    const fits = who === '' ? null : ({ by }: LogEntry) => by.includes(who)
    const { data, next } = await actsPage(ledger, Date.parse(since), { after, limit: SHOWN, fits })
    const main = html`${filterOf(since, who)}${actsOf(data, who, next !== null)}${nextOf(since, who, next)}<h2>Head of the chain</h2><p>Written down elsewhere, it proves what was here. ${linked(words`${atTerminal`Verify it: ${{ act: 'verify-audit' }}`}`)}</p><p>${idText(await ledger.head())}</p>`
    return showScreen(door, request, reply, { title: 'Audit', section: 'Audit', main })
  })
}

function dayIn(text: string | undefined): string | null {
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : null
}

/** Behind which entry the page begins. */
function positionIn(text: string | undefined): LogPosition | null {
  const [atMs, kind, id] =
    /^(\d{1,15})-(\d{1,3})-(\d{1,15})$/
      .exec(text ?? '')
      ?.slice(1)
      .map(Number) ?? []
  return atMs === undefined || kind === undefined || id === undefined ? null : { atMs, kind, id }
}

function filterOf(since: string, who: string): Html {
  return html`<form method="get" action="/audit" class="acts"><label>Since (UTC) <input type="date" name="since" value="${since}"></label><label>Who <input name="who" value="${who}" maxlength="100" autocomplete="off"></label><button class="other">Show</button></form>`
}

function actsOf(entries: readonly LogEntry[], who: string, hasMore: boolean): Html {
  if (entries.length === 0 && hasMore)
    return html`<p>Nothing by anybody of that name among the acts that were looked at: go on to later ones.</p>`
  if (entries.length === 0)
    return html`<p>Nothing was recorded since that day${who === '' ? '' : ` by a name that contains “${who}”`}.</p>`
  const columns = [
    { name: 'When' },
    { name: 'What', kind: 'word' },
    { name: 'Who' },
    { name: 'Of', kind: 'text' },
    { name: 'Why', kind: 'text' },
  ] as const
  return table('Acts, the oldest first', columns, entries.map(rowOf))
}

function rowOf(entry: LogEntry): readonly Html[] {
  const { atMs, what, by, batchId, merchant, reference, from, to, reason } = entry
  const details = Object.entries(logDetails(entry) ?? {}).flatMap(([name, value]) =>
    value === null || value === '' ? [] : [`${name} ${value}`],
  )
  return [
    moment(atMs),
    html`${what.replaceAll('-', ' ')}`,
    html`${by}`,
    html`${reference === null ? NOTHING : html`${reference}: ${from} → ${to}; `}${batchId === null ? html`${merchant}` : html`<a href="${batchPath(batchId)}">${batchId}</a>`} ${details.join(', ')}`,
    html`${reason}`,
  ]
}

function nextOf(since: string, who: string, next: LogPosition | null): Html {
  if (next === null) return NOTHING
  const { atMs, kind, id } = next
  const query = new URLSearchParams({ since, who, after: `${atMs}-${kind}-${id}` })
  return html`<p><a rel="next" href="/audit?${query.toString()}">Later acts</a></p>`
}
