// The ledger as a file: backups, damage, and telling it from its copies.

import type { Actor } from '../../domain/actor.ts'
import type { Adoption, Alarm } from '../../domain/alarm.ts'

/** What a copy holds. */
export interface Backup {
  readonly path: string
  /** The moment that it shows. */
  readonly atMs: number
  readonly rows: number
  readonly batches: number
  readonly bytes: number
}

/** Where several hosts see the newest epoch of a ledger: a Redis that they share. */
export interface EpochRegister {
  /** null: it knows none. */
  newest(): Promise<string | null>
  /** Sets it where it still holds `expected`; false: another host was first. */
  replace(expected: string | null, next: string): Promise<boolean>
}

/** What a look at every page of the ledger has shown. */
export type Inspection =
  | { readonly kind: 'sound'; readonly bytes: number }
  /** In SQLite's words. */
  | { readonly kind: 'damaged'; readonly found: string }
  /** It is so large that a look takes longer than a person waits without a word. */
  | { readonly kind: 'not-looked'; readonly bytes: number }

/** One thing in the record that does not fit with another. */
export interface Disagreement {
  /** The table, the reference or the link of the chain. */
  readonly where: string
  /** What does not fit, what it means for the money and what to do: a sentence or two. */
  readonly means: string
}

export interface CopyLedger {
  /**
   * Whether the record agrees with itself, from one read transaction that holds up no writer. `head`: one that was written
   * down earlier is compared as well; null: none.
   */
  audit(head: string | null): Iterable<Disagreement>
  /** How many batches an earlier version recorded, which kept no digest of what was submitted. */
  unbound(): Promise<number>
  /** The end of the chain over all that was recorded, as `LINK:HASH`. Written down elsewhere, it proves what was here. */
  head(): Promise<string>
  /** Whether its pages can be read and fit together. Holds up no writer; `any`: however long it takes. */
  inspect(howLarge: 'seconds' | 'any'): Promise<Inspection>
  /** null: this is the ledger that it remembers to be. Looks only. */
  alarm(): Promise<Alarm | null>
  /**
   * Called by the process that sends: what was copied before is an older state from now on. Faults with `stopped` on an alarm. `register`:
   * what other hosts see too, where they share anything.
   */
  renewEpoch(register?: EpochRegister | null): Promise<void>
  /** A consistent copy in a file that must not exist. Holds up no writer. The copy sends nothing until it is adopted. */
  backup(path: string, nowMs: number): Promise<Backup>
  /**
   * Takes this file over, by the holder of the worker lock. `restored`: what is READY or SENDING becomes IN_DOUBT first;
   * broken off, it goes on when it is called again. Resolves to the rows that this call brought into doubt.
   */
  adopt(how: Adoption, reason: string, actor: Actor, nowMs: number): Promise<number>
  /** When the newest thing in this ledger happened; null: nothing did. */
  lastRecordAtMs(): Promise<number | null>
  /** The account of that name has another address or user from now on. By the holder of the worker lock. */
  moveAccount(name: string, url: string, username: string, reason: string, actor: Actor, nowMs: number): Promise<void>
}
