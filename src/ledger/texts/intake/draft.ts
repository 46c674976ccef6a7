// A file on its way in: gathered in tables that only its connection sees, reviewed there, then copied into the record.

import { formatCardMask } from '../../../domain/card.ts'
import type { Draft, DraftHeader, DraftRow } from '../../../domain/draft.ts'
import { assert } from '../../../domain/fault.ts'
import type { BatchId } from '../../../domain/ids.ts'
import { plainId } from '../../../domain/instruction.ts'
import { type Neighbours, type OddNeighbour, watchNeighbours } from '../../rules/neighbours.ts'
import type { Engine } from '../engine.ts'
import { pagesOf, ROWS_PER_PAGE } from '../pages.ts'
import { checkedRowsAfter } from '../review/checked-rows.ts'
import { causes, type FoundFault, faultsAfter, rejectsAfter } from '../review/faults.ts'
import { lookalikesAfter } from '../review/found-lookalikes.ts'
import { review } from '../review/review.ts'
import type { SeenUpTo } from '../review/since-review.ts'
import { one, type Script } from '../script.ts'
import { recordDraft } from './drafts.ts'
import type { NewBatchId } from './messages.ts'

/** The connection of a draft, with its tables: see `review/draft-tables.ts`. */
export interface DraftEngine extends Engine {
  add(rows: readonly DraftRow[]): Promise<void>
  /** Once all rows are there, and again where more came. */
  index(): Promise<void>
  close(): void
}

export interface DraftEnds {
  readonly newBatchId: NewBatchId
  /** Lets the next submit begin. */
  readonly release: () => void
  /** See `IntakeParts`. */
  readonly assertGoesOn?: (() => Script<void>) | undefined
}

export function openDraftOn(
  engine: DraftEngine,
  header: DraftHeader,
  { newBatchId, release, assertGoesOn }: DraftEnds,
): Draft {
  const neighbours = watchNeighbours()
  let amountsUnread = 0
  let seen = NOTHING_SEEN
  let open = true

  function close(): void {
    if (!open) return
    open = false
    engine.close()
    release()
  }

  return {
    async add(rows) {
      assert(open, 'a row was added to a closed draft')
      await engine.add(rows)
      for (const row of rows) addNeighbour(neighbours, row)
      amountsUnread += rows.filter(({ money }) => money === 'unread').length
    },
    async review() {
      await engine.index()
      const reviewed = await engine.read(() => reviewNow(header, neighbours.found()), 'settled')
      seen = reviewed.seen
      return { ...reviewed.found, amountsUnread }
    },
    ...readingDraft(engine),
    async record(actor, signal): Promise<BatchId> {
      assert(open, 'a closed draft was recorded')
      assert(header.lookOnly !== true, 'a draft that was only to be looked at was recorded')
      try {
        return await recordDraft(engine, header, {
          actor,
          batchId: newBatchId(header.nowMs),
          seen,
          signal,
          assertGoesOn,
        })
      } finally {
        close()
      }
    },
    discard: async () => close(),
  }
}

/** Without a review everything that is recorded came after it. */
const NOTHING_SEEN: SeenUpTo = { row: 0, move: 0, act: 0 }

function* reviewNow(header: DraftHeader, odd: readonly OddNeighbour[]) {
  const seen = yield* seenNow()
  return { found: yield* review(header, odd), seen }
}

function addNeighbour(neighbours: Neighbours, { rowNo, cells, instruction }: DraftRow): void {
  if (instruction === null || instruction.money === null) return
  const { reference, operation, money, orderId, vaultId, card } = instruction
  const orderKey = orderId === null ? null : plainId(orderId)
  const target = orderKey ?? (card === null ? plainId(vaultId ?? '') : formatCardMask(card))
  neighbours.add({ ...{ rowNo, reference, operation, ...money, target, orderKey, cells } })
}

const FIRST_OF_DRAFT = '(SELECT id FROM instruction WHERE batch_id = b.id ORDER BY row_no LIMIT 1)'
const SEEN = `
    SELECT coalesce((SELECT min(${FIRST_OF_DRAFT}) - 1 FROM batch b WHERE b.stage = 'draft'), (SELECT max(id) FROM instruction), 0) AS row,
      (SELECT coalesce(max(id), 0) FROM move) AS move, (SELECT coalesce(max(id), 0) FROM act) AS act`

/** Before anything is compared. Not the rows of a draft, nor what came after them: another submit may make it visible once this one has looked. */
function* seenNow(): Script<SeenUpTo> {
  return (yield* one<SeenUpTo>(SEEN))!
}

function readingDraft(engine: Engine): Pick<Draft, 'faults' | 'causes' | 'rejects' | 'lookalikes' | 'rows'> {
  return {
    faults: () =>
      pagesOf(
        engine,
        (last: FoundFault | null) => faultsAfter(last, ROWS_PER_PAGE),
        ({ id: _, ...fault }) => fault,
      ),
    causes: (limit) => engine.read(() => causes(limit)),
    rejects: () => pagesAfterRow(engine, (last) => rejectsAfter(last, ROWS_PER_PAGE)),
    lookalikes: () => pagesAfterRow(engine, (last) => lookalikesAfter(last, ROWS_PER_PAGE)),
    rows: () => pagesAfterRow(engine, (last) => checkedRowsAfter(last, ROWS_PER_PAGE)),
  }
}

function pagesAfterRow<Item extends { readonly rowNo: number }>(
  engine: Engine,
  read: (last: number) => Script<readonly Item[]>,
) {
  return pagesOf(
    engine,
    (last: Item | null) => read(last?.rowNo ?? 0),
    (item) => item,
  )
}
