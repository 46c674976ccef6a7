// Reading in pages. No cursor stays open between two, so that whatever else uses the connection goes on meanwhile.

import type { Pages } from '../../domain/pages.ts'
import type { Engine } from './engine.ts'
import type { Script } from './script.ts'

export const ROWS_PER_PAGE = 500

/** `read` finds what comes after the last one of the page before; null: from the first. A short page is the last. */
export async function* pagesOf<Found, Item>(
  engine: Pick<Engine, 'read'>,
  read: (last: Found | null) => Script<readonly Found[]>,
  toItem: (found: Found) => Item,
): Pages<Item> {
  for (let last: Found | null = null; ; ) {
    const after: Found | null = last
    const found: readonly Found[] = await engine.read(() => read(after))
    if (found.length > 0) yield found.map(toItem)
    if (found.length < ROWS_PER_PAGE) return
    last = found.at(-1) as Found
  }
}
