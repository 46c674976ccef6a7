// The people who approve, and what they do wrong: too early, twice, their own batch, or one that has changed since they looked.

import type { ApprovalPolicy } from '../../src/domain/approval.ts'
import { isAwaiting } from '../../src/domain/approval.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import { CLERK, personAt } from '../fixtures/ledgers.ts'
import type { Random } from './random.ts'
import type { Life } from './world.ts'

/** The first is whoever hands everything in. */
export const PEOPLE = [CLERK, personAt('ann'), personAt('bob'), personAt('cat')] as const

export interface Approving {
  readonly what: 'approve' | 'reject'
  readonly which: number
  readonly who: number
  /** Between the look and the decision, in steps of the process. */
  readonly hesitates: number
}

/** null: nothing needs an approval. From a stream of its own, so that the rest of a plan stays what its seed makes it. */
export function drawPolicy(random: Random): ApprovalPolicy | null {
  if (random.chance(0.3)) return null
  const fourEyes = random.chance(0.5)
  const rule = {
    ...{ merchants: null, operations: random.chance(0.2) ? (['REFUND'] as const) : null, fourEyes },
    bands:
      fourEyes && random.chance(0.5)
        ? {}
        : {
            EUR: [
              { upTo: '300.00', approvals: 0 },
              { upTo: null, approvals: random.whole(1, 2) },
            ],
          },
    rowOver: random.chance(0.3) ? { EUR: '500.00' } : {},
  }
  return {
    rules: [rule],
    expireAfterMs: random.chance(0.2) ? random.whole(1_000, 60_000) : 30 * 86_400_000,
    osUsers: true,
  }
}

/** As many that most batches go on while there are faults: what is not sent meets none. */
export function drawApproving(random: Random, endsAtMs: number): ({ readonly atMs: number } & Approving)[] {
  return Array.from({ length: random.whole(4, 20) }, () => ({
    atMs: random.between(0, endsAtMs),
    what: random.chance(0.9) ? ('approve' as const) : ('reject' as const),
    which: random.whole(0, 9),
    who: random.whole(0, PEOPLE.length - 1),
    hesitates: random.chance(0.4) ? random.whole(1, 8) : 0,
  }))
}

/** What that person makes of one of the batches that wait. */
export async function decideOn(life: Life, ledger: Ledger, { what, which, who, hesitates }: Approving): Promise<void> {
  const waiting = (await ledger.batches()).filter(({ approval, hold }) => isAwaiting(approval) && hold !== 'cancelled')
  const batch = waiting[which % Math.max(1, waiting.length)]
  const actor = PEOPLE[who]
  if (batch === undefined || actor === undefined) return
  const { batchId } = batch
  const told = { batchId, reason: 'a person said so', actor }
  if (what === 'reject') return ledger.reject({ ...told, nowMs: life.clock.nowMs() })
  const sheet = await ledger.approvalSheet(batchId)
  await life.pause(hesitates)
  await ledger.approve({ ...told, digest: sheet?.digest ?? '', nowMs: life.clock.nowMs() })
  life.say(() => `${batchId} is approved by ${actor.name}`)
}

/** Everything that waits is approved by as many as it needs. */
export async function approveAll(life: Life, ledger: Ledger): Promise<void> {
  for (const { batchId, approval, hold } of await ledger.batches()) {
    if (!isAwaiting(approval) || hold === 'cancelled') continue
    for (const actor of PEOPLE.slice(1)) {
      const { digest = '' } = (await ledger.approvalSheet(batchId)) ?? {}
      const decision = { batchId, digest, reason: 'looked at', actor, nowMs: life.clock.nowMs() }
      await ledger.approve(decision).catch((error: Error) => life.say(() => `${batchId}: ${error.message}`))
    }
  }
}
