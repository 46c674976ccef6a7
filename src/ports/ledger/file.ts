// The ledger as a file, where its engine keeps it in one: damage.

import type { Ledger } from './ledger.ts'

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
}

export interface FileLedger extends Ledger, LedgerFile {}
