// When the newest thing in the ledger happened.

import { one, type Script } from '../script.ts'

const LAST = `
  SELECT @greatest(
    coalesce((SELECT at FROM move WHERE cause <> 'restore' ORDER BY id DESC LIMIT 1), 0),
    coalesce((SELECT max(created_at) FROM batch WHERE stage = 'open'), 0),
    coalesce((SELECT max(at) FROM act), 0)) AS at`

/** null: nothing did. */
export function* lastRecordAtMs(): Script<number | null> {
  const { at } = (yield* one<{ at: number }>(LAST))!
  return at === 0 ? null : at
}
