// What a signal means: the first lets open requests end, the second leaves at once and says what that costs.

import type { App } from '../app.ts'
import { isoOf } from '../domain/batch-status.ts'
import type { Io } from '../ports/io.ts'
import { plural } from '../present/text.ts'
import type { Terminal } from './terminal.ts'

/** A closed terminal (SIGHUP) leaves requests open as well. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Interruption {
  readonly signal: AbortSignal
  /** Stops listening. */
  close(): void
}

/** What a signal means at the moment at which it comes. */
export interface AtSignal {
  /** What happens at the first one. */
  readonly now: string
  /** What is waited for from then on; null: nothing. */
  waitsFor(): Promise<string | null>
  /** What leaving at once costs. */
  cost(): Promise<string>
}

const AWAITED = 'nothing new is sent; open requests are awaited, and one without an answer by then is in doubt'

interface OpenRequests {
  /** What would be left in doubt. */
  count(): Promise<number>
  /** When the last of them has its answer, or its deadline has passed. */
  overByMs(): number
}

/** Of a process that sends. */
export function awaiting({ count, overByMs }: OpenRequests): AtSignal {
  return {
    now: AWAITED,
    waitsFor: async () => {
      const [open, by] = [await count(), isoOf(overByMs())]
      return open === 0
        ? null
        : `${plural(open, 'request is', 'requests are')} open; the last answer is awaited until ${by} at the latest.`
    },
    cost: async () => costText(await count().catch(() => null)),
  }
}

/** When no request that leaves now can be answered any more. */
export function answersByMs({ clock, config }: Pick<App, 'clock' | 'config'>): number {
  return clock.nowMs() + Math.max(0, ...Array.from(config.merchants.values(), ({ timeoutMs }) => timeoutMs))
}

/** Of a process that sends nothing. `now`: what it brings to its end. */
export function finishing(now: string): AtSignal {
  return { now, waitsFor: async () => null, cost: async () => costText(0) }
}

function costText(open: number | null): string {
  if (open === null) return 'Requests that were open are in doubt at the next start.'
  if (open === 0) return 'No request was open.'
  return `${plural(open, 'request was', 'requests were')} open and will be in doubt at the next start (tranche in-doubt list).`
}

/** `at` is asked at each signal: what is true of it changes while a command runs. */
export function openInterruption(terminal: Terminal, at: () => AtSignal): Interruption {
  const { signals, exit } = terminal.io
  const controller = new AbortController()
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) {
      void leaveNow()
      return
    }
    terminal.say('') // behind the ^C that the screen shows
    const meaning = at()
    terminal.say(`${name}: ${meaning.now}. A second one leaves at once.`)
    void meaning.waitsFor().then(
      (waits) => waits !== null && terminal.say(waits),
      () => {}, // the record cannot be read now; what matters is said already
    )
    controller.abort()
  }
  async function leaveNow(): Promise<void> {
    terminal.say(`Left at once. ${await at().cost()}`)
    exit(130)
  }
  for (const name of SIGNALS) signals.on(name, onSignal)
  return {
    signal: controller.signal,
    close() {
      for (const name of SIGNALS) signals.off(name, onSignal)
    },
  }
}

/** Of a command that only looks: the first signal ends it, and a second one does whatever the system does with it. */
export async function stoppable<T>({ signals }: Io, look: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const stop = () => controller.abort()
  for (const name of STOPS) signals.once(name, stop)
  try {
    return await look(controller.signal)
  } finally {
    for (const name of STOPS) signals.off(name, stop)
  }
}

const STOPS = ['SIGINT', 'SIGTERM'] as const
