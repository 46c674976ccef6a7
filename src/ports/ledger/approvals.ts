// The ledger, for whatever lets people decide on batches before anything of them is sent.

import type { Actor } from '../../domain/actor.ts'
import type { ApprovalPolicy, ApprovalSheet, Unfit } from '../../domain/approval.ts'
import type { BatchId } from '../../domain/ids.ts'

export interface Decision {
  readonly batchId: BatchId
  /** Of the sheet that was shown. */
  readonly digest: string
  readonly reason: string
  readonly actor: Actor
  readonly nowMs: number
}

/** What a configuration's policy is to the ledger's: the one in force is in the ledger. */
export type PolicyAgreement = 'same' | 'none-configured' | 'taken' | 'differs'

export interface Unfitness {
  readonly why: Unfit
  /** From when on it is no reason any more; null: time alone does not mend it. */
  readonly untilMs: number | null
}

export interface ApprovalLedger {
  /** null: nothing needs an approval. */
  approvalPolicy(): Promise<ApprovalPolicy | null>
  /** The first policy that is configured becomes the ledger's; any later one has to be adopted by a person. */
  agreeOnPolicy(configured: ApprovalPolicy | null, actor: Actor, nowMs: number): Promise<PolicyAgreement>
  /** From now on; null: off. Batches with rows that may still be sent wait for the approvals that they need by it, and never for fewer. */
  adoptPolicy(policy: ApprovalPolicy | null, reason: string, actor: Actor, nowMs: number): Promise<void>
  /** null: the batch needs no approval. */
  approvalSheet(batchId: BatchId): Promise<ApprovalSheet | null>
  /** Why `approve` would refuse this actor whatever they were shown, by the very rule that it asks; null: it would not. */
  unfitness(who: Pick<Decision, 'batchId' | 'actor' | 'nowMs'>): Promise<Unfitness | null>
  /** Faults, and nothing is changed, where the actor may not, or the batch is another than the one that was shown. */
  approve(decision: Decision): Promise<void>
  /** Cancels it. */
  reject(decision: Omit<Decision, 'digest'>): Promise<void>
  /** What nobody decided on in time is cancelled. The rows follow with `finishCancelling`. */
  expireApprovals(nowMs: number): Promise<void>
}
