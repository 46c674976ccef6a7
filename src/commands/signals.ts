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

const AWAITED = 'nothing new is sent; open requests are awaited so that none ends in doubt'

/** `openRequests` counts what would be left in doubt. `now` says what happens at the first signal. */
export function openInterruption(
  terminal: Terminal,
  openRequests: () => Promise<number>,
  now: string = AWAITED,
): Interruption {
  const controller = new AbortController()
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) {
      void leaveNow()
      return
    }
    terminal.say('') // behind the ^C that the screen shows
    terminal.say(`${name}: ${now}. Again: leave at once.`)
    controller.abort()
  }
  async function leaveNow(): Promise<void> {
    const open = await openRequests().catch(() => null)
    const cost =
      open === null
        ? 'Requests that were open are in doubt at the next start.'
        : open === 0
          ? 'No request was open.'
          : `${plural(open, 'request was', 'requests were')} open and will be in doubt at the next start (tranche in-doubt list).`
    terminal.say(`Left at once. ${cost}`)
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
