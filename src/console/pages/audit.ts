// Every act of the last week, or since a day that is asked for, the oldest first.

import { Readable } from 'node:stream'
import { DOWNLOAD_TYPES, noteDownload } from '../../app/downloads.ts'
import { actsPage } from '../../app/paging.ts'
import type { LogEntry, LogPosition } from '../../domain/acts.ts'
import { isoOf } from '../../domain/batch-status.ts'
import type { Ledger } from '../../ports/ledger/ledger.ts'
import { logDetails, toJsonLogEntry } from '../../present/history.ts'
import { type Html, html } from '../../present/html.ts'
import { type ConsoleDoor, PageError, type Pages } from '../door.ts'
import { showScreen } from '../frame.ts'
import { idText, moment, NOTHING, table } from '../parts.ts'
import { batchPath } from '../paths.ts'
import { visitorOf } from '../visit.ts'
import { addVerifying, verifiedOf } from './verifying.ts'

const SHOWN = 100
const AT_ONCE = 500
const DAY_MS = 86_400_000
const DAYS = 7

interface Asked {
  readonly Querystring: { readonly since?: string; readonly after?: string; readonly who?: string }
}

export function addAuditPage(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  const verifications = addVerifying(pages, door)
  pages.get<Asked>('/audit', { config: { page: 'audit' } }, async (request, reply) => {
    const since = dayIn(request.query.since) ?? new Date(app.clock.nowMs() - DAYS * DAY_MS).toISOString().slice(0, 10)
    const who = String(request.query.who ?? '')
      .trim()
      .slice(0, 100)
    const after = positionIn(request.query.after)
    const fits = who === '' ? null : ({ by }: LogEntry) => by.includes(who)
    const { data, next } = await actsPage(ledger, Date.parse(since), { after, limit: SHOWN, fits })
    const main = html`${filterOf(since, who)}${actsTable(data, who, next !== null)}${nextOf(since, who, next)}${takeAway(since)}<h2>Head of the chain</h2><p>Written down elsewhere, it proves what was here.</p><p>${idText(await ledger.head())}</p>${verifiedOf(request, door, verifications.latest())}`
    return showScreen(door, request, reply, { title: 'Audit', section: 'Audit', main })
  })
  pages.get<Asked>('/audit.jsonl', { config: { page: 'auditJsonl' } }, async (request, reply) => {
    const since = dayIn(request.query.since)
    if (since === null) throw new PageError(422, 'Write the first day as YYYY-MM-DD. Nothing was changed.')
    const file = `audit-since-${since}.jsonl`
    await noteDownload(app, ledger, {
      ...{ actor: visitorOf(request).actor, batchId: null, details: { kind: 'audit', file } },
    })
    return reply
      .type(DOWNLOAD_TYPES.jsonl)
      .header('content-disposition', `attachment; filename="${file}"`)
      .send(Readable.from(linesSince(ledger, Date.parse(since))))
  })
}

/** As the command line exports them. One read for each part: a slow reader holds up nobody. */
async function* linesSince(ledger: Pick<Ledger, 'logAfter' | 'head'>, sinceMs: number): AsyncIterable<string> {
  let entries = 0
  for (let after: LogPosition | null = null; ; ) {
    const part: readonly LogEntry[] = await ledger.logAfter(sinceMs, after, AT_ONCE)
    entries += part.length
    if (part.length > 0) yield part.map((entry) => `${JSON.stringify(toJsonLogEntry(entry))}\n`).join('')
    if (part.length < AT_ONCE) break
    after = part.at(-1)?.position ?? null
  }
  const last = { event: 'result', since: isoOf(sinceMs), entries, head: await ledger.head() }
  yield `${JSON.stringify(last)}\n`
}

function takeAway(since: string): Html {
  return html`<p><a href="/audit.jsonl?since=${since}">Download all acts since ${since}</a> as JSON lines, whoever did them. The last line has the head of the chain: if it is missing, the file is incomplete.</p>`
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

function actsTable(entries: readonly LogEntry[], who: string, hasMore: boolean): Html {
  if (entries.length === 0 && hasMore) return html`<p>No act by that name on this page: go on to later acts.</p>`
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
