// What a worker keeps of its accounts: stopped, how their gateway is, how long a doubt rests.

import type { GatewayHealth } from '../../../domain/window.ts'
import type { WorkLedger } from '../../../ports/ledger/work.ts'
import { type ClockKept, judgeClock } from '../../rules/clocks.ts'
import { type Engine, FAULTING, KEPT } from '../engine.ts'
import { recordAct } from '../record/acts.ts'
import { all, change, one } from '../script.ts'

const KEEP_REST = `
    UPDATE account AS a SET doubt_rest = @greatest(CAST(:restMs AS BIGINT), CASE
      WHEN EXISTS (SELECT 1 FROM instruction i WHERE i.state = 'IN_DOUBT' AND i.account_id = a.id) THEN doubt_rest ELSE 0 END)`

const STOP = `
    UPDATE account SET stopped_reason = :reason WHERE id = :accountId AND stopped_reason IS NULL RETURNING id`

/** Each once. */
const KEEP_TRIED = `
    UPDATE account SET tried_credentials = coalesce(tried_credentials || ' ', '') || :digest
    WHERE id = :accountId AND @position(coalesce(tried_credentials, ''), :digest) = 0`

/** An answer that is awaited may be the refusal of the credentials before these. */
const GO_ON = `
    UPDATE account AS a SET stopped_reason = NULL, resumes = resumes + 1
    WHERE id = :accountId AND stopped_reason IS NOT NULL AND tried_credentials IS NOT NULL AND @position(tried_credentials, :digest) = 0
      AND NOT EXISTS (SELECT 1 FROM instruction i WHERE i.state = 'SENDING' AND i.account_id = a.id)
    RETURNING id`

const CLOCK = 'SELECT clock_ahead AS "aheadMs", clock_meant AS "meantMs" FROM account WHERE id = :accountId'
const KEEP_CLOCK = `
    UPDATE account SET clock_ahead = :aheadMs, clock_ahead_at = :atMs, clock_meant = :meantMs WHERE id = :accountId`

const CREDENTIALS_CHANGED = 'the credentials changed: one request shows whether they are accepted'

export function keepingAccountsOn(
  engine: Engine,
): Pick<WorkLedger, 'keepDoubtRest' | 'recordHealth' | 'recordClock' | 'stopAccount' | 'tryCredentials'> {
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

    recordClock: (accountId, aheadMs, nowMs) =>
      engine.write(function* () {
        const before = (yield* one<ClockKept>(CLOCK, { accountId }))!
        const kept = judgeClock({ aheadMs, meantMs: before.meantMs })
        // Told again and again, and believed all along: nothing to write.
        if (kept.aheadMs === null && before.aheadMs === null && kept.meantMs === before.meantMs) return
        yield* change(KEEP_CLOCK, { ...kept, accountId, atMs: kept.aheadMs === null ? null : nowMs })
      }, KEPT),

    stopAccount: (accountId, reason, nowMs, refused = null) =>
      engine.write(function* () {
        if (refused !== null) yield* change(KEEP_TRIED, { accountId, digest: refused })
        const stopped = yield* all(STOP, { reason, accountId })
        if (stopped.length > 0) yield* recordAct({ what: 'stop-account', atMs: nowMs, actor: null, accountId, reason })
      }, KEPT),

    tryCredentials: (accountId, digest, nowMs) =>
      engine.write(function* () {
        if ((yield* all(GO_ON, { accountId, digest })).length === 0) return false
        yield* change(KEEP_TRIED, { accountId, digest })
        yield* recordAct({
          ...{ what: 'resume-account', atMs: nowMs, actor: null, accountId, reason: CREDENTIALS_CHANGED },
        })
        return true
      }, FAULTING),
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
