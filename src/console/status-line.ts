// The line below the top of every page: of which moment its figures are, whether anything moves, and what needs a person.

import { type AttentionNow, attentionNow } from '../app/attention.ts'
import { atTerminal, words } from '../domain/words.ts'
import { livingWorkers } from '../domain/worker.ts'
import { type Html, html } from '../present/html.ts'
import { plural } from '../present/text.ts'
import type { ConsoleDoor } from './door.ts'
import { moment, NOTHING } from './parts.ts'
import { linked } from './ways.ts'

export async function attentionFor({ app, ledger }: ConsoleDoor): Promise<AttentionNow> {
  return attentionNow(app, ledger)
}

const START_WORKER = { act: 'start-worker', untilIdle: false } as const

/** What the line below the top says, for whoever watches. */
export function frameFigures({ workers, attention }: AttentionNow): {
  readonly needs: string
  readonly workers: string
} {
  return {
    needs:
      attention.length === 0
        ? 'nothing needs a person'
        : `${plural(attention.length, 'thing needs', 'things need')} a person`,
    workers: `${plural(livingIn(workers), 'worker runs', 'workers run')}`,
  }
}

/** The line reads differently with a worker and without one, so that is part of the shape. */
export function shapeWith({ workers }: AttentionNow, shape: string): string {
  return `${livingIn(workers) > 0 ? 'runs' : 'still'} ${shape}`
}

function livingIn(workers: AttentionNow['workers']): number {
  return livingWorkers(workers).length
}

/** Figures are of this moment; and what is not running is said, not left to be noticed. */
export function statusLine({ app }: ConsoleDoor, now: AttentionNow | null): Html {
  if (now === null) return NOTHING
  const { needs, workers } = frameFigures(now)
  const at = html`As of <span id="as-of">${moment(app.clock.nowMs())}</span>`
  const asked = html`<a href="/" data-live="needs">${needs}</a>`
  if (livingIn(now.workers) === 0)
    return html`<p class="as-of still">${at}: no worker is running, so nothing is being sent. ${linked(words`${atTerminal`Start one: ${START_WORKER}`}`)} · ${asked}</p>`
  return html`<p class="as-of">${at} · <span data-live="workers">${workers}</span> · ${asked}</p>`
}
