// What a worker asks that shares its ledger with no other.

import type { WorkLedger } from '../../../ports/ledger/work.ts'

/** Where one worker at a time works off a ledger, it is the sender of every account. */
export const ALONE = {
  maySend: () => true,
  isShared: false,
  keepAccounts: async () => new Map(),
  tenure: () => () => true,
} as const satisfies Partial<WorkLedger>
