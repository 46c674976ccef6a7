// The first page: what needs somebody, what runs, and which batches there are.

import { createHash } from 'node:crypto'
import type { AttentionNow } from '../../app/attention.ts'
import { standingNow } from '../../app/standing.ts'
import type { Attention } from '../../domain/attention.ts'
import type { BatchView } from '../../domain/batch.ts'
import type { Standing } from '../../domain/batch-status.ts'
import { mayDo, type Permission, type Person } from '../../domain/person.ts'
import { attentionWords } from '../../present/attention.ts'
import { type Html, html } from '../../present/html.ts'
import { secondPersonText } from '../../present/people.ts'
import { progressLine } from '../../present/progress.ts'
import { plural } from '../../present/text.ts'
import type { ConsoleDoor, Pages } from '../door.ts'
import { showScreen } from '../frame.ts'
import { moment, NOTHING, stateText, table } from '../parts.ts'
import { batchPath } from '../paths.ts'
import { attentionFor } from '../status-line.ts'
import { visitorOf } from '../visit.ts'
import { linked } from '../ways.ts'

const SHOWN_MOST = 50

export function addOverview(pages: Pages, door: ConsoleDoor): void {
  const { ledger, app } = door
  pages.get('/', { config: { page: 'overview' } }, async (request, reply) => {
    const screen = { title: 'Overview', section: 'Overview' } as const
    if (!visitorOf(request).may('view'))
      return showScreen(door, request, reply, {
        ...screen,
        main: visitorOf(request).may('administer')
          ? afterSettingUp(await ledger.people())
          : html`<p>${waitingText(visitorOf(request).person) ?? 'Your roles do not let you see batches. An administrator gives roles.'}</p>`,
      })
    const now = await attentionFor(door)
    const latest = await ledger.batchesAfter(null, SHOWN_MOST, null)
    const standing = (batch: BatchView) => standingNow(app, batch, now.workers)
    const running = latest.filter((batch) => standing(batch).state === 'running')
    const main = html`${needsOf(now, app.paths.ledger)}${runningOf(running)}${latestOf(latest, standing, visitorOf(request).may('submit'))}`
    const live = { watch: '', shape: shapeOf(now, latest, standing) }
    return showScreen(door, request, reply, { ...screen, main, now, live })
  })
}

/** null: none of the visitor's roles waits. */
function waitingText({ waiting }: Person): string | null {
  const [one, ...others] = waiting.map(({ name }) => name)
  if (one === undefined) return null
  const roles = others.length === 0 ? `role ${one} waits` : `roles ${[one, ...others].join(', ')} wait`
  return `Your ${roles} until a second person confirms whose account this is: another administrator does so, or the owner of this machine.`
}

/** What comes next for an administrator, who sees no batches. */
function afterSettingUp(people: readonly Person[]): Html {
  const has = (permission: Permission) => people.some((one) => one.joined && mayDo(one, permission))
  const unconfirmed = people.filter((one) => secondPersonText(one) !== null)
  const steps = [
    ...(has('submit') ? [] : [html`Add somebody who hands files in: the roles submitter and results.`]),
    ...(has('approve') ? [] : [html`Add somebody else who approves: the role approver.`]),
    ...(has('operate') ? [] : [html`Somebody steers batches and looks doubts up: the role operator.`]),
    ...unconfirmed.map(
      ({ name }) =>
        html`A second person confirms <a href="/people/${encodeURIComponent(name)}">${name}</a>: the page says who can.`,
    ),
  ]
  const next =
    steps.length === 0
      ? html`<p>People for every step are there.</p>`
      : html`<ol>${steps.map((step) => html`<li>${step}</li>`)}</ol>`
  return html`<p>Your roles do not let you see batches: who makes people moves no money.</p><h2>What comes next</h2>${next}<p><a href="/people">People</a> · <a href="/keys">Keys of services</a></p>`
}

/** For whoever watches it. */
export async function overviewShape({ app, ledger }: ConsoleDoor, now: AttentionNow): Promise<string> {
  const latest = await ledger.batchesAfter(null, SHOWN_MOST, null)
  return shapeOf(now, latest, (batch) => standingNow(app, batch, now.workers))
}

/** Everything that it shows but the moment. */
function shapeOf(
  { attention, workers }: AttentionNow,
  batches: readonly BatchView[],
  standing: (batch: BatchView) => Standing,
): string {
  const shown = batches.map((batch) => [batch.batchId, standing(batch).state, batch.counts])
  const text = JSON.stringify([attention, workers.length, shown], (_, value) =>
    typeof value === 'bigint' ? `${value}` : value,
  )
  return createHash('sha256').update(text).digest('base64url')
}

function needsOf({ attention }: AttentionNow, ledgerPath: string): Html {
  if (attention.length === 0)
    return html`<p>Nothing needs you: no row is in doubt, no batch waits for approval, no merchant is stopped.</p>`
  const cards = attention.map(
    (one) => html`<li class="${kindOf(one)}">${linked(attentionWords(one, ledgerPath).says)}</li>`,
  )
  return html`<h2>${plural(attention.length, 'thing needs', 'things need')} a person</h2><ul class="cards">${cards}</ul>`
}

function kindOf({ code }: Attention): string {
  switch (code) {
    case 'in-doubt':
    case 'left-open':
    case 'late-answers':
      return 'doubt'
    case 'alarm':
    case 'stopped':
    case 'silent':
      return 'stopped'
    default:
      return ''
  }
}

function runningOf(batches: readonly BatchView[]): Html {
  if (batches.length === 0) return NOTHING
  const lines = batches.map(
    (batch) =>
      html`<li><a href="${batchPath(batch.batchId)}">${batch.fileName ?? 'messages'}</a>: ${progressLine(batch, { perSecond: null, still: null })}</li>`,
  )
  return html`<h2>Running</h2><ul>${lines}</ul>`
}

function latestOf(batches: readonly BatchView[], standing: (batch: BatchView) => Standing, maySubmit: boolean): Html {
  if (batches.length === 0) {
    const first = maySubmit ? html` <a href="/new">Hand a file in</a>: it is checked before anything is sent.` : NOTHING
    return html`<h2>Batches</h2><p>No batch was handed in yet.${first}</p>`
  }
  const caption = batches.length < SHOWN_MOST ? 'All batches' : `The latest ${SHOWN_MOST} batches`
  const columns = [
    { name: 'Batch' },
    { name: 'From', kind: 'text' },
    { name: 'Merchant' },
    { name: 'Rows', kind: 'number' },
    { name: 'State', kind: 'word' },
    { name: 'Recorded' },
  ] as const
  const rows = batches.map((batch) => [
    html`<a href="${batchPath(batch.batchId)}">${batch.batchId}</a>`,
    html`${batch.fileName ?? 'messages'}`,
    html`${batch.merchant}`,
    html`${batch.rows}`,
    stateText(standing(batch).state),
    moment(batch.createdAtMs),
  ])
  return html`<h2>Batches</h2>${table(caption, columns, rows)}`
}
