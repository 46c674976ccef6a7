// What a signal means: the first lets open requests end, the second leaves at once and says what that costs.

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
  /** What leaving at once costs. */
  cost(): Promise<string>
}

const AWAITED = 'nothing new is sent; open requests are awaited so that none ends in doubt'

/** Of a process that sends. `openRequests` counts what would be left in doubt. */
export function awaiting(openRequests: () => Promise<number>, now: string = AWAITED): AtSignal {
  return { now, cost: async () => costText(await openRequests().catch(() => null)) }
}

function costText(open: number | null): string {
  if (open === null) return 'Requests that were open are in doubt at the next start.'
  if (open === 0) return 'No request was open.'
  return `${plural(open, 'request was', 'requests were')} open and will be in doubt at the next start (tranche in-doubt list).`
}

/** `at` is asked at each signal: what is true of it changes while a command runs. */
export function openInterruption(terminal: Terminal, at: () => AtSignal): Interruption {
  const controller = new AbortController()
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) {
      void leaveNow()
      return
    }
    terminal.say('') // behind the ^C that the screen shows
    terminal.say(`${name}: ${at().now}. Again: leave at once.`)
    controller.abort()
  }
  async function leaveNow(): Promise<void> {
    terminal.say(`Left at once. ${await at().cost()}`)
    process.exit(130)
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  return {
    signal: controller.signal,
    close() {
      for (const name of SIGNALS) process.off(name, onSignal)
    },
  }
}
