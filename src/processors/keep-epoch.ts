// While a worker runs, the ledger's epoch is renewed again and again: a state that is copied meanwhile and put back later
// is known for an older one.

import { createToldTrouble, shownOf } from '../domain/trouble.ts'
import type { Clock } from '../ports/clock.ts'
import type { CopyLedger, SharedRegister } from '../ports/ledger/copies.ts'
import type { Log } from '../ports/log.ts'

/** A file that is put back before the first renewal after it was copied cannot be told from the ledger itself. */
const EVERY_MS = 30_000

export interface EpochParts {
  readonly ledger: Pick<CopyLedger, 'renewEpoch'>
  readonly register: SharedRegister | null
  readonly clock: Clock
  readonly log: Log
}

export interface EpochKeeper {
  /** Renews it once more: what was copied during this work is older than how it ended. */
  stop(): Promise<void>
}

/** The worker has renewed it once before, so that nothing was sent in an epoch that a copy knows. */
export function openEpoch({ ledger, register, clock, log }: EpochParts): EpochKeeper {
  const stopping = new AbortController()
  const trouble = createToldTrouble()

  async function renew(): Promise<void> {
    try {
      await ledger.renewEpoch(register)
      trouble.over()
    } catch (error) {
      // A full disk, mostly. The epoch before goes on until the next try.
      if (trouble.isNew(error)) log.warn(shownOf(error), 'the epoch of the ledger could not be renewed; trying again')
    }
  }

  async function keep(): Promise<void> {
    for (;;) {
      await clock.sleep(EVERY_MS, stopping.signal)
      const isLast = stopping.signal.aborted
      await renew()
      if (isLast) return
    }
  }
  const keeping = keep()
  return {
    async stop() {
      stopping.abort()
      await keeping
    },
  }
}
