// Lists in pages, for the doors that show them so.

import type { LogEntry, LogPosition } from '../domain/acts.ts'
import type { BatchId } from '../domain/ids.ts'
import type { Pages } from '../domain/pages.ts'
import type { ReconciliationRow } from '../domain/reconciliation.ts'
import { type ResultStatus, resultStatusOf } from '../domain/states.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'

export interface Found<Item, Position> {
  readonly data: readonly Item[]
  /** Behind which the next page begins; null: there is none. */
  readonly next: Position | null
}

/** How much is looked at for one page of those that fit, where few do; and how much of it at once. */
interface Effort {
  readonly most: number
  readonly atOnce: number
}

interface PageAsked<Item, Position> {
  /** Behind which it begins; null: at the first. */
  readonly after: Position | null
  readonly limit: number
  /** null: all do. */
  readonly fits: ((item: Item) => boolean) | null
}

export type RowsAsked = ResultStatus | 'warned' | null

const EFFORT: Effort = { most: 10_000, atOnce: 500 }

/** Rows of a batch, in the order in which they came. `only` null: whatever became of them; 'warned': with a warning. */
export function rowsPage(
  ledger: Pick<Ledger, 'rowsAfter'>,
  batchId: BatchId,
  { after, limit, only }: { readonly after: number; readonly limit: number; readonly only: RowsAsked },
): Promise<Found<ReconciliationRow, number>> {
  const fits =
    only === null
      ? null
      : ({ state, warning }: ReconciliationRow) =>
          only === 'warned' ? warning !== null : resultStatusOf(state) === only
  return findPage(
    (last, most) => ledger.rowsAfter(batchId, last ?? 0, most),
    { after, limit, fits },
    ({ rowNo }) => rowNo,
  )
}

/** Acts, the oldest first. `sinceMs` null: from the first. */
export function actsPage(
  ledger: Pick<Ledger, 'logAfter'>,
  sinceMs: number | null,
  asked: PageAsked<LogEntry, LogPosition>,
): Promise<Found<LogEntry, LogPosition>> {
  return findPage(
    (last, most) => ledger.logAfter(sinceMs, last, most),
    asked,
    ({ position }) => position,
  )
}

/** `read`: so many behind that one, fewer only at the end. */
export function findPage<Item, Position>(
  read: (after: Position | null, most: number) => Promise<readonly Item[]>,
  { after, limit, fits }: PageAsked<Item, Position>,
  positionOf: (item: Item) => Position,
  { most, atOnce }: Effort = EFFORT,
): Promise<Found<Item, Position>> {
  // One more than is shown says whether there is a next page.
  const pages = onwards(read, { after, atOnce: fits === null ? limit + 1 : atOnce, positionOf })
  return gather(pages, { limit, most, positionOf, fits: fits ?? (() => true) })
}

interface OnwardsParts<Item, Position> {
  readonly after: Position | null
  readonly atOnce: number
  readonly positionOf: (item: Item) => Position
}

/** Page after page; a short one is the last. */
async function* onwards<Item, Position>(
  read: (after: Position | null, most: number) => Promise<readonly Item[]>,
  { after, atOnce, positionOf }: OnwardsParts<Item, Position>,
): Pages<Item> {
  for (let last = after; ; ) {
    const page = await read(last, atOnce)
    const item = page.at(-1)
    if (item === undefined) return
    yield page
    if (page.length < atOnce) return
    last = positionOf(item)
  }
}

interface GatherParts<Item, Position> {
  readonly limit: number
  readonly most: number
  readonly fits: (item: Item) => boolean
  readonly positionOf: (item: Item) => Position
}

/** Looks through pages until there are enough; `most` bounds how much one request looks at. */
async function gather<Item, Position>(
  pages: Pages<Item>,
  { limit, most, fits, positionOf }: GatherParts<Item, Position>,
): Promise<Found<Item, Position>> {
  const data: Item[] = []
  let looked = 0
  let last: Item | null = null
  for await (const page of pages) {
    for (const item of page) {
      if (last !== null && (data.length === limit || looked === most)) return { data, next: positionOf(last) }
      if (fits(item)) data.push(item)
      looked += 1
      last = item
    }
  }
  return { data, next: null }
}
