// Where several workers share a ledger, an account has one sender at a time: which are this worker's is asked again and again, and the
// limiters of the others begin nothing.

import type { AccountId, BatchId } from '../domain/ids.ts'
import type { Clock } from '../ports/clock.ts'
import type { WorkLedger } from '../ports/ledger/work.ts'
import type { AccountLane } from './execute-slice.ts'

export interface AccountsParts {
  readonly ledger: Pick<WorkLedger, 'isShared' | 'keepAccounts'>
  readonly lanes: ReadonlyMap<AccountId, AccountLane>
  readonly clock: Clock
  readonly only: BatchId | null
  readonly hasFile: boolean
}

export interface Accounts {
  /** `due`: something could be sent there now. */
  keep(due: ReadonlySet<AccountId>): Promise<void>
  isMine(accountId: AccountId): boolean
  /** From the next time on it keeps none: others send while what is open here is awaited. */
  end(): void
}

/** A gateway that has not answered for so long may answer another host. */
const FAILING_MS = 30_000

export function openAccounts({ ledger, lanes, clock, only, hasFile }: AccountsParts): Accounts {
  /** By account: when this worker became its sender last. */
  const tenures = new Map<AccountId, number>()
  if (!ledger.isShared) return { keep: async () => {}, isMine: () => true, end: () => {} }
  for (const { limiter } of lanes.values()) limiter.halt()
  let isEnding = false

  function isFailing(accountId: AccountId): boolean {
    const health = lanes.get(accountId)?.limiter.health() ?? null
    return health !== null && health.failures > 0 && clock.nowMs() - health.sinceMs >= FAILING_MS
  }

  return {
    isMine: (accountId) => tenures.has(accountId),
    end() {
      isEnding = true
    },
    async keep(due) {
      const own = [...tenures.keys()]
      const sending = await ledger.keepAccounts({
        ...{ lanes: new Set(lanes.keys()), due, only, hasFile, isEnding },
        failing: new Set(own.filter(isFailing)),
        quiet: new Set(own.filter((accountId) => lanes.get(accountId)?.limiter.isQuiet())),
        openIn: (accountId) => lanes.get(accountId)?.limiter.inFlight() ?? 0,
      })
      for (const [accountId, { limiter }] of lanes) {
        const now = sending.get(accountId)
        if (now === undefined) {
          if (tenures.delete(accountId)) limiter.halt()
          continue
        }
        limiter.setOpenElsewhere(now.openElsewhere)
        if (tenures.get(accountId) !== now.tenure) limiter.begin()
        tenures.set(accountId, now.tenure)
      }
    },
  }
}
