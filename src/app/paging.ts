// Lists in pages, for doors that show them so.

import type { Pages } from '../domain/pages.ts'

export interface Found<Item, Position> {
  readonly data: readonly Item[]
  /** Behind which the next page begins; null: there is none. */
  readonly next: Position | null
}

/** Page after page; a short one is the last. */
export async function* onwards<Item, Position>(
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

interface OnwardsParts<Item, Position> {
  readonly after: Position | null
  readonly atOnce: number
  readonly positionOf: (item: Item) => Position
}

/** Looks through pages until there are enough; `most` bounds how much one request looks at. */
export async function gather<Item, Position>(
  pages: Pages<Item>,
  { limit, most, fits, positionOf }: GatherParts<Item, Position>,
): Promise<Found<Item, Position>> {
  const data: Item[] = []
  let looked = 0
  let last: Item | null = null
  for await (const page of pages) {
    for (const item of page) {
      // One more is there: only then the page has a next one.
      if (last !== null && (data.length === limit || looked === most)) return { data, next: positionOf(last) }
      if (fits(item)) data.push(item)
      looked += 1
      last = item
    }
  }
  return { data, next: null }
}

interface GatherParts<Item, Position> {
  readonly limit: number
  readonly most: number
  readonly fits: (item: Item) => boolean
  readonly positionOf: (item: Item) => Position
}
