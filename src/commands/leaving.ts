// How a worker on a PostgreSQL server ends within its bound, whatever holds it up.

import type { App } from '../app.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { EXIT } from '../present/exit-codes.ts'
import { answersByMs } from './signals.ts'
import type { Terminal } from './terminal.ts'

/** Beyond the last moment at which an answer can come; less than a service manager is told to add. */
const LEAVE_MARGIN_MS = 10_000
/** A server that is there answers a look at once. */
const LOOK_MS = 2_000

/** A server that is away may stay so. Answers that it does not have are in a file by then, and whoever starts next hands them in. */
export function leaveInTime(
  { clock, config }: Pick<App, 'clock' | 'config'>,
  ledger: Pick<Ledger, 'accounts'>,
  signal: AbortSignal,
  terminal: Pick<Terminal, 'say' | 'io'>,
): { ended(): void } {
  const over = new AbortController()
  async function leave(): Promise<void> {
    await clock.sleep(answersByMs({ clock, config }) - clock.nowMs() + LEAVE_MARGIN_MS - LOOK_MS, over.signal)
    const silent = clock.sleep(LOOK_MS, over.signal).then(() => false)
    const isThere = await Promise.race([
      silent,
      ledger.accounts().then(
        () => true,
        () => silent,
      ),
    ])
    if (over.signal.aborted) return
    terminal.say(`${isThere ? HELD_UP : AWAY} ${KEPT}`)
    terminal.io.exit(isThere ? EXIT.failure : EXIT.unavailable)
  }
  if (config.ledgerServer !== null) signal.addEventListener('abort', () => void leave(), { once: true })
  return { ended: () => over.abort() }
}

const AWAY = 'Left without the PostgreSQL server, which does not answer.'
const HELD_UP =
  'Left before the work had come to its end: the PostgreSQL server answers, and what holds the work up is not known.'
const KEPT = 'Answers that it does not have are kept in the data directory; the next worker here hands them in.'
