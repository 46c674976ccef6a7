// Another policy comes into force: configured first, adopted by a person, or because people with roles exist.

import type { Actor } from '../../../domain/actor.ts'
import { type ApprovalPolicy, FOUR_EYES } from '../../../domain/approval.ts'
import type { PolicyAgreement } from '../../../ports/ledger/approvals.ts'
import { recordAct } from '../record/acts.ts'
import { change, exists, type Script } from '../script.ts'
import { POLICY_KEY, policyText } from './policy.ts'
import { askAgain } from './waiting.ts'

/** The first one that is configured is taken. */
export function* agreeOnPolicy(
  configured: ApprovalPolicy | null,
  actor: Actor,
  nowMs: number,
): Script<PolicyAgreement> {
  if (configured === null) return 'none-configured'
  const inForce = yield* policyText()
  if (inForce === JSON.stringify(configured)) return 'same'
  if (inForce !== null) return 'differs'
  yield* adoptPolicy(configured, 'the first one that was configured', actor, nowMs)
  return 'taken'
}

const EVER_DECIDED = "SELECT 1 FROM act WHERE what = 'approval-policy'"

/** From now on one person approves what another hands in, unless somebody has decided on a policy, or on none. */
export function* beginFourEyes(reason: string, actor: Actor, nowMs: number): Script<void> {
  if ((yield* policyText()) !== null || (yield* exists(EVER_DECIDED))) return
  yield* adoptPolicy(FOUR_EYES, reason, actor, nowMs)
}

/** In a transaction that writes. Whatever is still to be sent is judged by it, so that nothing of it leaves without the approvals that it needs now. */
export function* adoptPolicy(policy: ApprovalPolicy | null, reason: string, actor: Actor, nowMs: number): Script<void> {
  const before = yield* policyText()
  yield* policy === null
    ? change(`DELETE FROM meta WHERE key = '${POLICY_KEY}'`)
    : change(
        `INSERT INTO meta (key, value) VALUES ('${POLICY_KEY}', :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
        { value: JSON.stringify(policy) },
      )
  const details = { before: before ?? 'none', after: policy === null ? 'none' : JSON.stringify(policy) }
  yield* recordAct({ what: 'approval-policy', atMs: nowMs, actor, reason, details })
  yield* askAgain(nowMs)
}
