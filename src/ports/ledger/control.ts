// The ledger, for whatever steers batches and accounts: people, and the worker that does as they say.

import type { Actor } from '../../domain/actor.ts'
import type { AccountId, BatchId } from '../../domain/ids.ts'
import type { Environment } from '../../domain/merchant.ts'

export interface AccountControls {
  /** Of the merchant. */
  readonly name: string
  /** Grows with every resume of the account or one of its batches: every back-off ends. */
  readonly resumes: number
  /** As a person set it; null: as configured. */
  readonly ratePerSecond: number | null
  /** Digests of credentials that were refused, or tried since, in one text; null: it is not stopped, or not for its credentials. */
  readonly triedCredentials: string | null
}

export interface RowPlace {
  readonly batchId: BatchId
  readonly rowNo: number
}

export interface ControlLedger {
  pause(batchId: BatchId, reason: string, actor: Actor, nowMs: number): Promise<void>
  /** A person has looked: the hold of its account ends with that of the batch. */
  resume(batchId: BatchId, reason: string, actor: Actor, nowMs: number): Promise<void>
  /** READY rows become CANCELLED; open requests are awaited by the worker that sent them. */
  cancel(batchId: BatchId, reason: string, actor: Actor, nowMs: number): Promise<void>
  /** The one row, where it is READY; a fault where it is not. */
  cancelRow(at: RowPlace, reason: string, actor: Actor, nowMs: number): Promise<void>
  /** `clockIsRight`: a person says so, however far it is from the gateway's; else rows that wait for the clock still do. */
  resumeAccount(
    accountId: AccountId,
    reason: string,
    actor: Actor,
    nowMs: number,
    clockIsRight?: boolean,
  ): Promise<void>
  /** The account of that name has another address or user from now on. While no worker sends. */
  adoptAccount(name: string, url: string, username: string, reason: string, actor: Actor, nowMs: number): Promise<void>
  /**
   * Says which world the account is of. `taken`: it had no label, and has this one from now on. Faults where it has the other one.
   */
  labelAccount(accountId: AccountId, environment: Environment, actor: Actor, nowMs: number): Promise<'taken' | 'same'>
  /** The account of that name has another label from now on. While no worker sends, and nothing was sent for it. */
  relabelAccount(name: string, environment: Environment, reason: string, actor: Actor, nowMs: number): Promise<void>
  /** Requests per second, instead of the configured rate; null: as configured. `why`: in a person's words, where they gave any. */
  setRate(accountId: AccountId, ratePerSecond: number | null, actor: Actor, nowMs: number, why?: string): Promise<void>
  /** The state that people asked for; the worker reads it at every tick. */
  controls(accountId: AccountId): Promise<AccountControls>
}
