// When the ledger sent last, as far as it knows.

import { one, type Script } from '../script.ts'

/**
 * Of all that is recorded, claims alone are surely older than the moment at which an older state was put back: from then on nothing is claimed,
 * while people still hand in files, make backups and sign in.
 */
const LAST_CLAIM = "SELECT at FROM move WHERE cause = 'claim' ORDER BY id DESC LIMIT 1"

/** null: it never sent anything. */
export function* lastSentAtMs(): Script<number | null> {
  return (yield* one<{ at: number }>(LAST_CLAIM))?.at ?? null
}
