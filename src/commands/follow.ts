// What a person sees of a batch while it is worked off.

import type { App } from '../app.ts'
import type { BatchView } from '../domain/batch.ts'
import { countIn, settledIn, standingOf } from '../domain/batch-status.ts'
import type { BatchId } from '../domain/ids.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { whyText } from '../present/standing.ts'
import { durationText } from '../present/text.ts'
import { countsOf, toJsonBatchTotals } from '../present/totals.ts'
import type { Terminal } from './terminal.ts'

const SPEAK_EVERY_MS = 5_000

/** Draws the progress of a batch while it is followed, and says once when the gateway is in trouble and once when it is over. */
export async function drawing<T>(
  app: App,
  terminal: Terminal,
  follow: (onLook: (batch: BatchView) => void) => Promise<T>,
): Promise<T> {
  const progress = openProgress(app, terminal)
  const trouble = createTroubleWatch(app, terminal)
  try {
    return await follow((batch) => {
      progress.show(batch)
      trouble.look(batch)
    })
  } finally {
    progress.end()
  }
}

/** A trouble that is over before this is not worth a word. */
const TROUBLE_WORTH_MS = 1_500

/** Says once when the way to the gateway is in trouble, and once when it is over. */
function createTroubleWatch({ clock }: App, terminal: Terminal): { look(batch: BatchView): void } {
  let told = false
  return {
    look(batch) {
      const { gatewayHealth } = batch
      if (gatewayHealth === null) {
        if (told) terminal.say('The gateway answers again.')
        told = false
      } else if (!told && gatewayHealth.failures > 0 && clock.nowMs() - gatewayHealth.sinceMs > TROUBLE_WORTH_MS) {
        const { state, why } = standingOf(batch, clock.nowMs(), true)
        if (why.length === 0) return
        terminal.say(`${state === 'waiting' ? 'Waiting: ' : ''}${whyText(why)}.`)
        told = true
      }
    },
  }
}

/** Where the record stood then: in a log that is kept elsewhere it proves what was recorded. */
export async function logEnding(app: App, ledger: Ledger, batch: BatchView): Promise<void> {
  const { batchId, merchant, rows } = batch
  const { state } = standingOf(batch, app.clock.nowMs(), true)
  const sums = toJsonBatchTotals(batch)
  app.log.info(
    { batch: batchId, merchant, state, rows, counts: countsOf(batch), totals: sums, head: await ledger.head() },
    'batch ended',
  )
}

export async function viewOf(ledger: Ledger, batchId: BatchId): Promise<BatchView> {
  const batch = await ledger.batch(batchId)
  if (batch === null) throw new Error(`bug: batch ${batchId} is gone`)
  return batch
}

interface Progress {
  show(batch: BatchView): void
  end(): void
}

/** A bar on a screen; a line every five seconds elsewhere; an object with `--json`. */
export function openProgress({ clock }: Pick<App, 'clock'>, terminal: Terminal): Progress {
  const startMs = clock.monotonicMs()
  let first: number | null = null
  let spokenAtMs = startMs
  return {
    show(batch) {
      const nowMs = clock.monotonicMs()
      const settled = settledIn(batch)
      first ??= settled
      const perSecond = nowMs - startMs < 500 ? null : ((settled - first) * 1000) / (nowMs - startMs)
      if (terminal.isScreen && !terminal.json) terminal.redraw(barOf(batch, settled, perSecond))
      else if (nowMs - spokenAtMs >= SPEAK_EVERY_MS) {
        spokenAtMs = nowMs
        if (terminal.json)
          terminal.object({
            event: 'progress',
            batch: batch.batchId,
            rows: batch.rows,
            settled,
            counts: countsOf(batch),
          })
        else terminal.say(lineOf(batch, settled, perSecond))
      }
    },
    end: () => terminal.redraw(null),
  }
}

const BAR_WIDTH = 20

function barOf(batch: BatchView, settled: number, perSecond: number | null): string {
  const filled = batch.rows === 0 ? BAR_WIDTH : Math.floor((settled / batch.rows) * BAR_WIDTH)
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${lineOf(batch, settled, perSecond)}`
}

function lineOf(batch: BatchView, settled: number, perSecond: number | null): string {
  const said = (['APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT', 'CANCELLED'] as const)
    .filter((state) => countIn(batch, state) > 0)
    .map((state) => `${state.toLowerCase().replace('_', ' ')} ${countIn(batch, state)}`)
  // A speed of before the trouble says nothing of when it will be over.
  if ((batch.gatewayHealth?.failures ?? 0) > 0)
    return [`${settled} of ${batch.rows}`, ...said, 'waiting for the gateway'].join(' · ')
  const left = batch.rows - settled
  const speed = perSecond === null || perSecond === 0 ? [] : [`${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s`]
  const time = perSecond === null || perSecond === 0 || left === 0 ? [] : [`${durationText(left / perSecond)} left`]
  return [`${settled} of ${batch.rows}`, ...said, ...speed, ...time].join(' · ')
}
