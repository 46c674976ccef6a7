// Lists in pages, for doors that show them so.

export interface Found<Item, Position> {
  readonly data: readonly Item[]
  /** Behind which the next page begins; null: there is none. */
  readonly next: Position | null
}

/** Looks through pages until there are enough; `most` bounds how much one request looks at. */
export async function gather<Item, Position>(
  pages: AsyncIterable<readonly Item[]>,
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
