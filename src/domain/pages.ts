// What is too much to hold at once, in order, a page in hand at a time.

export type Pages<Item> = AsyncIterable<readonly Item[]>

/** As many as are there, up to `limit`. */
export async function firstOf<Item>(pages: Pages<Item>, limit: number): Promise<Item[]> {
  const first: Item[] = []
  for await (const page of pages) {
    first.push(...page.slice(0, limit - first.length))
    if (first.length >= limit) break
  }
  return first
}
