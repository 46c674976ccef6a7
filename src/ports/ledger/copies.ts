// The ledger, told from its copies: sending from an older state would move money twice.

import type { Actor } from '../../domain/actor.ts'
import type { Adoption, Alarm } from '../../domain/alarm.ts'

/** What several hosts see of a ledger: in a Redis that they share. One that was emptied says nothing. */
export interface SharedRegister {
  /** The newest epoch; null: it knows none. */
  newest(): Promise<string | null>
  /** Sets it where it still holds `expected`; false: another host was first. */
  replace(expected: string | null, next: string): Promise<boolean>
  /** What was testified last, by place. */
  testimonies(): Promise<ReadonlyMap<string, string>>
  /** In place of what was testified there before. Waits for nothing and never fails: while Redis is away, it is told the newest when it is back. */
  testify(place: string, said: string): void
  /** Each where it is still what was testified last. */
  forget(testimonies: ReadonlyMap<string, string>): Promise<void>
}

/** What a copy holds. */
export interface Backup {
  readonly path: string
  /** The moment that it shows. */
  readonly atMs: number
  readonly rows: number
  readonly batches: number
  readonly bytes: number
}

export interface CopyLedger {
  /** null: nothing suggests that this is another ledger than the one that sent last. Looks only. */
  alarm(): Promise<Alarm | null>
  /**
   * Called by the process that sends: what was copied before is an older state from now on. Faults with `stopped` on an alarm. `register`:
   * what other hosts see too, where they share anything.
   */
  renewEpoch(register?: SharedRegister | null): Promise<void>
  /**
   * Takes this ledger over, while no worker sends. `restored`: what is READY or SENDING becomes IN_DOUBT first;
   * broken off, it goes on when it is called again. Resolves to the rows that this call brought into doubt. `dueBeforeMs`: from then on
   * nothing was sent of what is lost, so that a row to be executed later stays READY; null or absent: that is not known.
   */
  adopt(how: Adoption, reason: string, actor: Actor, nowMs: number, dueBeforeMs?: number | null): Promise<number>
  /** A consistent copy in a file that must not exist. Holds up no writer. The copy sends nothing until it is adopted. */
  backup(path: string, nowMs: number): Promise<Backup>
  /** The last claim in this ledger, whatever people recorded since; null: there is none. What an older state lacks was sent after it. */
  lastSentAtMs(): Promise<number | null>
}
