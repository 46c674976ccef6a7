// What a worker keeps of its accounts: stopped, how their gateway is, how long a doubt rests.

import type { GatewayHealth } from '../../../domain/window.ts'
import type { WorkLedger } from '../../../ports/ledger/work.ts'
import { type Engine, FAULTING, KEPT } from '../engine.ts'
import { recordAct } from '../record/acts.ts'
import { all, change } from '../script.ts'

const KEEP_REST = `
    UPDATE account AS a SET doubt_rest = @greatest(CAST(:restMs AS BIGINT), CASE
      WHEN EXISTS (SELECT 1 FROM instruction i WHERE i.state = 'IN_DOUBT' AND i.account_id = a.id) THEN doubt_rest ELSE 0 END)`

const STOP = `
    UPDATE account SET stopped_reason = :reason WHERE id = :accountId AND stopped_reason IS NULL RETURNING id`

export function keepingAccountsOn(engine: Engine): Pick<WorkLedger, 'keepDoubtRest' | 'recordHealth' | 'stopAccount'> {
  return {
    keepDoubtRest: (restMs) => engine.write(() => change(KEEP_REST, { restMs }), KEPT),

    recordHealth: (accountId, condition) =>
      engine.write(
        () =>
          change('UPDATE account SET condition = :text WHERE id = :accountId', {
            ...{ accountId, text: condition === null ? null : formatHealth(condition) },
          }),
        FAULTING,
      ),

    stopAccount: (accountId, reason, nowMs) =>
      engine.write(function* () {
        const stopped = yield* all(STOP, { reason, accountId })
        if (stopped.length > 0) yield* recordAct({ what: 'stop-account', atMs: nowMs, actor: null, accountId, reason })
      }, KEPT),
  }
}

/** The keys are those of the version that stored health first. */
interface StoredHealth {
  readonly sinceMs: number
  readonly why: string
  readonly asksToWait: boolean
  readonly troubles: number
  readonly openMost: number
  readonly restUntilMs: number | null
}

function formatHealth({ failures, backoffUntilMs, ...rest }: GatewayHealth): string {
  return JSON.stringify({ ...rest, troubles: failures, restUntilMs: backoffUntilMs } satisfies StoredHealth)
}

export function parseHealth(text: string): GatewayHealth {
  const { troubles, restUntilMs, ...rest } = JSON.parse(text) as StoredHealth
  return { ...rest, failures: troubles, backoffUntilMs: restUntilMs }
}
