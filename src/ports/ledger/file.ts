// The ledger as a file, where its engine keeps it in one: backups and damage.

import type { Ledger } from './ledger.ts'

/** What a copy holds. */
export interface Backup {
  readonly path: string
  /** The moment that it shows. */
  readonly atMs: number
  readonly rows: number
  readonly batches: number
  readonly bytes: number
}

/** What a look at every page of the ledger has shown. */
export type Inspection =
  | { readonly kind: 'sound'; readonly bytes: number }
  /** In SQLite's words. */
  | { readonly kind: 'damaged'; readonly found: string }
  /** It is so large that a look takes longer than a person waits without a word. */
  | { readonly kind: 'not-looked'; readonly bytes: number }

export interface LedgerFile {
  /** Whether its pages can be read and fit together. Holds up no writer; `any`: however long it takes. */
  inspect(howLarge: 'seconds' | 'any'): Promise<Inspection>
  /** A consistent copy in a file that must not exist. Holds up no writer. The copy sends nothing until it is adopted. */
  backup(path: string, nowMs: number): Promise<Backup>
}

export interface FileLedger extends Ledger, LedgerFile {}
