// What was counted of each merchant, once a minute, for the last hour: in the memory of this server alone. A minute that was not looked
// at in time has no sample, and is never taken for one in which nothing happened.

import type { App } from '../app.ts'
import { messageOf } from '../domain/errors.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { ConsoleDoor, Pages } from './door.ts'

export const MINUTE_MS = 60_000
export const MINUTES_SHOWN = 60
/** A figure of a whole minute is of a whole minute, to this. */
const LATE_MOST_MS = 5_000
/** A timer may end a moment too early. */
const SLEEP_LEAST_MS = 1_000

/** `open`, `inDoubt`: at that moment; the others: in all, until then. */
export interface Taken {
  readonly approved: number
  readonly declined: number
  readonly failed: number
  readonly inDoubt: number
  readonly open: number
}

const NOTHING_YET: Taken = { approved: 0, declined: 0, failed: 0, inDoubt: 0, open: 0 }

/** The minute that ended then. null: not known. */
export interface Minute {
  readonly endMs: number
  readonly approved: number | null
  readonly declined: number | null
  readonly failed: number | null
  readonly inDoubt: number | null
  readonly open: number | null
}

export interface Samples {
  /** When it began to take them. */
  sinceMs(): number
  /** `atMs`: the end of a minute. */
  keep(atMs: number, taken: ReadonlyMap<string, Taken>): void
  /** The last hour of a merchant, oldest first; from the first sample on. */
  of(merchant: string, nowMs: number): readonly Minute[]
}

export function createSamples(startedAtMs: number): Samples {
  let sinceMs = startedAtMs
  let kept: ReadonlyMap<number, ReadonlyMap<string, Taken>> = new Map()
  let lastMs = 0

  /** Of one that the ledger did not know then, nothing had come. */
  const takenAt = (atMs: number, merchant: string) => {
    const sample = kept.get(atMs)
    return sample === undefined ? null : (sample.get(merchant) ?? NOTHING_YET)
  }
  return {
    sinceMs: () => sinceMs,
    keep(atMs, taken) {
      if (atMs < lastMs) {
        // The clock was set back: these minutes come a second time.
        kept = new Map()
        sinceMs = atMs
      }
      if (atMs === lastMs) return
      lastMs = atMs
      const stillShown = [...kept].filter(([one]) => one >= atMs - MINUTES_SHOWN * MINUTE_MS)
      kept = new Map([...stillShown, [atMs, taken]])
    },
    of(merchant, nowMs) {
      const endMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS
      // The sample of the minute that has just ended may be on its way.
      const isComing = lastMs === endMs - MINUTE_MS && nowMs - endMs <= LATE_MOST_MS
      const untilMs = isComing ? lastMs : endMs
      const fromMs = Math.max(Math.min(...kept.keys()), untilMs - (MINUTES_SHOWN - 1) * MINUTE_MS)
      const minutes: Minute[] = []
      for (let atMs = fromMs; atMs <= untilMs; atMs += MINUTE_MS)
        minutes.push({ endMs: atMs, ...during(takenAt(atMs - MINUTE_MS, merchant), takenAt(atMs, merchant)) })
      return minutes
    },
  }
}

function during(before: Taken | null, after: Taken | null): Omit<Minute, 'endMs'> {
  const came = (name: 'approved' | 'declined' | 'failed') => {
    const more = before === null || after === null ? null : after[name] - before[name]
    // Corrected rows went from this outcome to another: how many came is not known.
    return more !== null && more < 0 ? null : more
  }
  return {
    ...{ approved: came('approved'), declined: came('declined'), failed: came('failed') },
    ...{ inDoubt: after?.inDoubt ?? null, open: after?.open ?? null },
  }
}

/** As long as the pages are served. Nothing that goes wrong with it may end them. */
export function takeSamples(pages: Pages, { app, ledger }: ConsoleDoor, samples: Samples): void {
  const stop = new AbortController()
  let ended = Promise.resolve()
  pages.addHook('onReady', async () => {
    ended = everyMinute(app, ledger, samples, stop.signal)
  })
  pages.addHook('preClose', async () => {
    stop.abort()
    await ended
  })
}

async function everyMinute(app: App, ledger: Ledger, samples: Samples, signal: AbortSignal): Promise<void> {
  const { clock } = app
  for (;;) {
    await clock.sleep(Math.max(SLEEP_LEAST_MS, MINUTE_MS - (clock.nowMs() % MINUTE_MS)), signal)
    if (signal.aborted) return
    const atMs = Math.round(clock.nowMs() / MINUTE_MS) * MINUTE_MS
    try {
      const taken = await takenNow(ledger)
      if (Math.abs(clock.nowMs() - atMs) <= LATE_MOST_MS) samples.keep(atMs, taken)
    } catch (error) {
      app.log.debug({ why: app.scrub(messageOf(error)) }, 'figures of this minute could not be read')
    }
  }
}

async function takenNow(ledger: Pick<Ledger, 'figures' | 'outcomes'>): Promise<ReadonlyMap<string, Taken>> {
  const { accounts } = await ledger.figures()
  const outcomes = new Map((await ledger.outcomes()).map((one) => [one.merchant, one]))
  return new Map(
    accounts.map(({ merchant, sending, inDoubt }) => {
      const { approved, declined, failed } = outcomes.get(merchant) ?? NOTHING_YET
      return [merchant, { approved, declined, failed, inDoubt, open: sending }]
    }),
  )
}
