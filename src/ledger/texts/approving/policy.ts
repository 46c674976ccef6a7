// The approval policy in force. It is the ledger's, so that no other configuration gets round it.

import type { ApprovalPolicy } from '../../../domain/approval.ts'
import { one, type Script } from '../script.ts'

export const POLICY_KEY = 'approval_policy'

/** null: none. */
export function* policyInForce(): Script<ApprovalPolicy | null> {
  const text = yield* policyText()
  return text === null ? null : (JSON.parse(text) as ApprovalPolicy)
}

/** As it is kept; null: none. */
export function* policyText(): Script<string | null> {
  const found = yield* one<{ value: string }>(`SELECT value FROM meta WHERE key = '${POLICY_KEY}'`)
  return found?.value ?? null
}
