// One pass over an inbox: what was taken is brought to its end, what is complete is taken, and the results that are due
// are written. Trouble that is not a file's fault leaves the file taken, for the next pass.

import { type Alarm, stoppedBy } from '../domain/alarm.ts'
import type { InboxEntry } from '../domain/inbox.ts'
import { createDelivery } from './deliver-results.ts'
import { createFinishing } from './finish-files.ts'
import type { InboxParts } from './inbox-parts.ts'
import { createTroubles } from './inbox-troubles.ts'
import { createTaking } from './take-files.ts'

export interface InboxWork {
  /** Ends between two files when the signal aborts. Resolves to the files that may still be written to. */
  pass(signal: AbortSignal): Promise<{ readonly growing: readonly string[] }>
}

export function createInboxWork<F extends object>(parts: InboxParts<F>): InboxWork {
  const { folder, ledger } = parts
  const troubles = createTroubles(parts.tell)
  const finishing = createFinishing(parts, troubles)
  const taking = createTaking(parts, troubles, (file) => finishing.finish(file, true))
  const results = createDelivery(parts, troubles)

  async function mayTake(): Promise<boolean> {
    return troubles.over('the ledger', async () => {
      const alarm: Alarm | null = await ledger.alarm()
      if (alarm !== null) throw stoppedBy(alarm, parts.ledgerPath)
    })
  }

  return {
    async pass(signal) {
      let entries: readonly InboxEntry[] = []
      if (!(await troubles.over('where the inbox is', () => folder.assertUnmoved()))) return { growing: [] }
      if ((await mayTake()) && (await finishing.finishAll(signal))) {
        await troubles.over('the folder', async () => {
          entries = await folder.look()
          await taking.forgetGone(entries)
        })
        await taking.takeNew(entries, signal)
      }
      if (!signal.aborted) await results.deliver(signal)
      return { growing: entries.filter(({ kind }) => kind === 'growing').map(({ name }) => name) }
    },
  }
}
