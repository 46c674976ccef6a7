// What a person sees of a batch while it is worked off.

import type { App } from '../app.ts'
import type { BatchView } from '../domain/batch.ts'
import { countIn, settledIn, standingOf } from '../domain/batch-status.ts'
import type { BatchId } from '../domain/ids.ts'
import { type Stillness, stillnessOf } from '../domain/stillness.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { type Motion, progressBar, progressLine, stillText } from '../present/progress.ts'
import { capital, plural } from '../present/text.ts'
import { countsOf, toJsonBatchTotals } from '../present/totals.ts'
import type { Terminal } from './terminal.ts'

const SPEAK_EVERY_MS = 5_000

/** Draws the progress of a batch while it is followed, and says once that nothing moves and why, and once that it moves again. */
export async function drawing<T>(
  app: App,
  terminal: Terminal,
  ledger: Pick<Ledger, 'accounts'>,
  follow: (onLook: (batch: BatchView) => void) => Promise<T>,
): Promise<T> {
  const stillness = createStillnessWatch(app, ledger)
  const progress = openProgress(app, terminal, stillness)
  const sentences = createSentences(terminal)
  try {
    return await follow((batch) => {
      sentences.look(stillness.look(batch), batch)
      progress.show(batch)
    })
  } finally {
    progress.end()
  }
}

/** What is over before this is not worth a word. */
const STILL_WORTH_MS = 2_000

interface StillnessWatch {
  /** Why no row has moved for a while; null: one has, or the reason is not known. */
  look(batch: BatchView): Stillness | null
}

function createStillnessWatch({ clock, config }: App, ledger: Pick<Ledger, 'accounts'>): StillnessWatch {
  let settledBefore = -1
  let movedAtMs = clock.monotonicMs()
  let ratePerSecond: number | null = null
  async function readRate({ merchant }: BatchView): Promise<void> {
    const account = (await ledger.accounts()).find(({ name }) => name === merchant)
    ratePerSecond = account?.ratePerSecond ?? config.merchants.get(merchant)?.ratePerSecond ?? null
  }
  return {
    look(batch) {
      const settled = settledIn(batch)
      if (settled !== settledBefore) {
        movedAtMs = clock.monotonicMs()
        void readRate(batch).catch(() => {}) // for people; the next row reads it again
      }
      settledBefore = settled
      if (clock.monotonicMs() - movedAtMs < STILL_WORTH_MS) return null
      return stillnessOf(batch, clock.nowMs(), ratePerSecond)
    },
  }
}

/** Of the reasons that a person may want to do something about: an answer that takes its time and a slow rate are none. */
function createSentences(terminal: Terminal) {
  let told: Stillness['code'] | null = null
  return {
    look(still: Stillness | null, batch: BatchView): void {
      if (still !== null && still.code !== told && still.code !== 'answers' && still.code !== 'rate') {
        const left = countIn(batch, 'READY') + countIn(batch, 'SENDING')
        terminal.say(`${capital(stillText(still))}. ${plural(left, 'row is', 'rows are')} left; it goes on by itself.`)
        told = still.code
      } else if (told === 'gateway' && batch.gatewayHealth === null) {
        terminal.say('The gateway answers again.')
        told = null
      } else if (still === null && told !== 'gateway') told = null
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
export function openProgress(
  { clock }: Pick<App, 'clock'>,
  terminal: Terminal,
  stillness: StillnessWatch | null = null,
): Progress {
  const startMs = clock.monotonicMs()
  let first: number | null = null
  let spokenAtMs = startMs
  return {
    show(batch) {
      const nowMs = clock.monotonicMs()
      const settled = settledIn(batch)
      first ??= settled
      const perSecond = nowMs - startMs < 500 ? null : ((settled - first) * 1000) / (nowMs - startMs)
      const motion = { perSecond, still: stillness?.look(batch) ?? null }
      if (terminal.isScreen && !terminal.json)
        terminal.redraw(progressBar(batch, motion, clock.nowMs(), (terminal.columns ?? 80) - 1))
      else if (nowMs - spokenAtMs >= SPEAK_EVERY_MS) {
        spokenAtMs = nowMs
        if (terminal.json) terminal.object(toJsonProgress(batch, motion))
        else terminal.note(progressLine(batch, motion))
      }
    },
    end: () => terminal.redraw(null),
  }
}

function toJsonProgress(batch: BatchView, { still }: Motion): object {
  return {
    ...{
      event: 'progress',
      batch: batch.batchId,
      rows: batch.rows,
      settled: settledIn(batch),
      counts: countsOf(batch),
    },
    ...(still === null ? {} : { waiting: stillText(still) }),
  }
}
