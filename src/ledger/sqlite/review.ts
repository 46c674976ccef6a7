// The review of a draft on SQLite: what it has seen, the indexes it wants, and its answers a page at a time.

import type { DatabaseSync } from 'node:sqlite'
import type { Draft, DraftHeader, DraftReview } from '../../domain/draft.ts'
import { causes, type FoundFault, faultsAfter, rejectsAfter } from '../texts/faults.ts'
import { lookalikesAfter, review as reviewing } from '../texts/review.ts'
import type { SeenUpTo } from '../texts/since-review.ts'
import { indexDraftTables } from './draft-tables.ts'
import { findRow } from './found.ts'
import { pagesOf, ROWS_PER_PAGE } from './pages.ts'
import { prepareRunning, runNow } from './run-script.ts'

export function review(
  db: DatabaseSync,
  header: DraftHeader,
): { readonly found: Omit<DraftReview, 'amountsUnread'>; readonly seen: SeenUpTo } {
  const seen = seenNow(db)
  indexDraftTables(db)
  return { found: runNow(db, reviewing(header)), seen }
}

/** Before anything is compared. Not the rows of a draft, nor what came after them: another submit may make it visible once this one has looked. */
function seenNow(db: DatabaseSync): SeenUpTo {
  const firstOf = '(SELECT id FROM instruction WHERE batch_id = b.id ORDER BY row_no LIMIT 1)'
  const last = db.prepare(`
      SELECT coalesce((SELECT min(${firstOf}) - 1 FROM batch b WHERE b.stage = 'draft'), (SELECT max(id) FROM instruction), 0) AS row,
        (SELECT coalesce(max(id), 0) FROM move) AS move, (SELECT coalesce(max(id), 0) FROM act) AS act`)
  return findRow<SeenUpTo>(last)!
}

export function createReading(db: DatabaseSync): Pick<Draft, 'faults' | 'causes' | 'rejects' | 'lookalikes'> {
  const run = prepareRunning(db)
  return {
    faults() {
      const read = (last: FoundFault | null) => run(faultsAfter(last, ROWS_PER_PAGE))
      return pagesOf(read, ({ id: _, ...fault }) => fault)
    },
    causes: async (limit) => run(causes(limit)),
    rejects: () => pagesAfterRow((last) => run(rejectsAfter(last, ROWS_PER_PAGE))),
    lookalikes: () => pagesAfterRow((last) => run(lookalikesAfter(last, ROWS_PER_PAGE))),
  }
}

function pagesAfterRow<Item extends { readonly rowNo: number }>(read: (last: number) => readonly Item[]) {
  return pagesOf(
    (last: Item | null) => read(last?.rowNo ?? 0),
    (item) => item,
  )
}
