// Whether Tranche can do its work now: the same checks as for monitors, and the workers. It asks neither the gateway nor Redis.

import { healthOn } from '../../app/health.ts'
import { type Check, isHealthy } from '../../domain/health.ts'
import type { WorkerView } from '../../domain/worker.ts'
import { type Html, html } from '../../present/html.ts'
import { workerWords } from '../../present/workers.ts'
import type { ConsoleDoor, Pages } from '../door.ts'
import { showScreen } from '../frame.ts'
import { NOTHING, note, table } from '../parts.ts'
import { attentionFor } from '../status-line.ts'
import { visitorOf } from '../visit.ts'
import { linked } from '../ways.ts'

export function addHealthPage(pages: Pages, door: ConsoleDoor): void {
  pages.get('/health', { config: { page: 'health' } }, async (request, reply) => {
    const mayView = visitorOf(request).may('view')
    const all = await healthOn(door.app, door.ledger, true)
    const checks = mayView ? all : all.map(unnamed)
    const seen = mayView ? await attentionFor(door) : null
    const main = html`${verdictOf(checks)}${checksOf(checks)}${workersOf(seen?.workers ?? [])}${seen === null ? NOTHING : html`<p><a href="/merchants">Merchants</a> shows whether the gateways answer.</p>`}<p>Whoever runs this server can check more there.</p>`
    return showScreen(door, request, reply, {
      title: 'Health',
      section: 'Health',
      main,
      ...(seen !== null && { now: seen }),
    })
  })
}

/** Which worker, on which host, is for whoever sees batches. */
function unnamed(check: Check): Check {
  if (check.name !== 'worker') return check
  return { ...check, says: check.ok ? 'a worker works' : 'no worker is heard from: nothing is being sent' }
}

function verdictOf(checks: readonly Check[]): Html {
  if (isHealthy(checks)) return html`<p class="head">Everything that was checked is in order</p>`
  const wrong = checks.filter(({ ok }) => !ok)
  return note(
    'warn',
    html`<p>To be mended: ${wrong.map(({ name }) => NAMES[name]).join(', ')}. Until then rows may wait; what was sent stays sent.</p>`,
  )
}

const NAMES: Readonly<Record<Check['name'], string>> = {
  ledger: 'Ledger',
  disk: 'Disk',
  worker: 'Worker',
  lease: 'Lease',
  tick: 'Work',
  redis: 'Redis',
}

function checksOf(checks: readonly Check[]): Html {
  const rows = checks.map(({ name, ok, says }) => [
    html`${NAMES[name]}`,
    ok ? html`<span class="state approved">in order</span>` : html`<span class="state failed">to be mended</span>`,
    html`${says}`,
  ])
  return table(
    'What was checked now',
    [{ name: 'What' }, { name: 'State', kind: 'word' }, { name: 'What was found', kind: 'text' }],
    rows,
  )
}

function workersOf(workers: readonly WorkerView[]): Html {
  if (workers.length === 0) return NOTHING
  return html`<h2>Workers</h2><ul>${workers.map((worker) => html`<li>${linked(workerWords(worker))}</li>`)}</ul>`
}
