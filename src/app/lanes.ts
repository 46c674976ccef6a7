// One lane for each account: its gateway, and the limiter that keeps its pace.

import type { App } from '../app.ts'
import type { AccountId, BatchId } from '../domain/ids.ts'
import type { Merchant } from '../domain/merchant.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { AccountLane } from '../processors/execute-slice.ts'
import { sendingAccountOf } from './accounts.ts'
import { openRenewable } from './credentials.ts'
import { gatewayOptionsOf } from './gateway.ts'

const REPEATED =
  'The gateway repeats our password in its answers. None of it is kept here, and no verdict depends on it. Logs on the way may hold it: have it changed'

export interface MerchantLane extends AccountLane {
  readonly merchant: Merchant
}

/** For one batch only its own merchant's: what is wrong with another is no reason to keep this one waiting. */
export async function openLanes(app: App, ledger: Ledger, only: BatchId | null): Promise<Map<AccountId, MerchantLane>> {
  const [{ openGateway }, { createLimiter }] = await Promise.all([
    import('../gateway/client.ts'),
    import('../throttle/limiter.ts'),
  ])
  const lanes = new Map<AccountId, MerchantLane>()
  const wanted = only === null ? null : ((await ledger.batch(only))?.merchant ?? null)
  for (const merchant of app.config.merchants.values()) {
    if (wanted !== null && merchant.name !== wanted) continue
    const { inFlightMax, ratePerSecond, timeoutMs, notExecutedStatus, deleteAnswer, dailyLimits, reasonRules } =
      merchant
    const limiter = createLimiter({ inFlightMax, ratePerSecond, clock: app.clock })
    const onRepeated = () => app.log.error({ merchant: merchant.name }, REPEATED)
    lanes.set(await sendingAccountOf(app, ledger, merchant, (text) => app.log.warn({}, text)), {
      ...openRenewable(merchant, ledger.ledgerId, (renewed) =>
        openGateway({ ...gatewayOptionsOf(app, renewed), departure: limiter.departure, onRepeated }),
      ),
      limiter,
      dailyLimits,
      timeoutMs,
      notExecutedStatus,
      deleteAnswer,
      reasonRules,
      merchant,
    })
  }
  return lanes
}
