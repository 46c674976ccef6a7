// What processes of every simulation do alike.

import { countIn, endingOf } from '../../src/domain/batch-status.ts'
import type { AccountId, BatchId } from '../../src/domain/ids.ts'
import { fingerprintOf } from '../../src/domain/interpretation.ts'
import { PASSING } from '../../src/domain/reattempt.ts'
import type { SubmitRequest } from '../../src/domain/submission.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import type { Log } from '../../src/ports/log.ts'
import type { Handed } from './clerk.ts'
import type { Life } from './world.ts'

export function requestOf(
  accountId: AccountId,
  { file, allowLookalikes, allowAboveLimit = 0 }: Handed,
  life: Life,
  { captureTolerance, dailyLimits }: Pick<SubmitRequest, 'captureTolerance' | 'dailyLimits'>,
): SubmitRequest {
  const { runKey, retry, skipInvalid, onlyNew, canaryRows, maxDeclinedPercent } = file
  return {
    ...{ accountId, runKey, retry, skipInvalid, onlyNew, canaryRows, maxDeclinedPercent, allowLookalikes },
    fingerprint: fingerprintOf({ retry, reattempt: file.asksAgain ? PASSING : [] }),
    reattempt: file.asksAgain ? { categories: PASSING, reasonRules: [] } : null,
    sandbox: false,
    lookalikeDays: 20,
    captureTolerance,
    dailyLimits,
    allowAboveLimit,
    expectCount: null,
    expectTotals: [],
    nowMs: life.clock.nowMs(),
  }
}

/** Nothing of it can move without a person. */
export async function isIdle(ledger: Ledger, only: BatchId | null, life: Life, cards: boolean): Promise<boolean> {
  if (only !== null) {
    const batch = await ledger.batch(only)
    if (batch === null || endingOf(batch, life.clock.nowMs(), cards || !batch.needsFile) !== null) return true
    return countIn(batch, 'SENDING') === 0 && (await ledger.waitsFor(only, life.clock.nowMs())) !== null
  }
  return (await ledger.batches('open')).every(
    (batch) => batch.needsFile || endingOf(batch, life.clock.nowMs()) !== null,
  )
}

export function logOf(life: Life): Log {
  const line = (details: object, message: string) =>
    life.say(() => `log: ${message}${'err' in details ? ` (${(details.err as Error).message})` : ''}`)
  return { debug: () => {}, info: line, warn: line, error: line }
}
