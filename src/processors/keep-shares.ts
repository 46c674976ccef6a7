// Where several workers divide an account, each asks again and again for its part, and its limiter keeps to what it is given.

import type { AccountId } from '../domain/ids.ts'
import type { Clock } from '../ports/clock.ts'
import type { WorkLedger } from '../ports/ledger/work.ts'
import type { Log } from '../ports/log.ts'
import type { AccountLane } from './execute-slice.ts'

const EVERY_MS = 1_000

export interface SharesParts {
  readonly ledger: Pick<WorkLedger, 'dividesAccounts' | 'takeShare'>
  readonly lanes: ReadonlyMap<AccountId, AccountLane>
  readonly clock: Clock
  readonly log: Log
}

export interface SharesKeeper {
  /** None is asked for any more. */
  stop(): Promise<void>
}

/** Nothing may leave before the first part is given: it begins before anything is handed out. */
export function openShares({ ledger, lanes, clock, log }: SharesParts): SharesKeeper {
  const stopping = new AbortController()
  if (!ledger.dividesAccounts) return { stop: async () => {} }
  for (const { limiter } of lanes.values()) limiter.resize({ ratePerSecond: 0, inFlightMax: 0 })

  async function ask(accountId: AccountId, { limiter, configured }: AccountLane): Promise<void> {
    try {
      await ledger.takeShare({
        ...{ accountId, configured, inFlight: limiter.inFlight, use: limiter.resize },
        rests: (limiter.health()?.failures ?? 0) > 0,
      })
    } catch (error) {
      // The server is away, mostly. What it holds stays its own until its lease is over, and then it sends nothing.
      log.debug({ err: error }, 'the share of an account could not be asked for')
    }
  }

  async function keep(): Promise<void> {
    while (!stopping.signal.aborted) {
      for (const [accountId, lane] of lanes) await ask(accountId, lane)
      await clock.sleep(EVERY_MS, stopping.signal)
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
