// The card details of the file that a run works off: opened when sending begins, and given up when the file has changed.

import type { BatchId } from '../domain/ids.ts'
import type { CardReader } from '../ports/cards.ts'
import type { CardFile } from '../processors/execute-slice.ts'

export interface OwnCards {
  /** The file has rows with card details. */
  readonly isNeeded: boolean
  /** Aborted when the file is no longer what was checked. */
  readonly changed: AbortSignal
  /** Of the batch that the file is; null: it needs none. */
  open(batchId: BatchId): Promise<CardFile | null>
  close(): Promise<void>
}

/** `openCards`: null where the file has no card details. */
export function prepareOwnCards(openCards: (() => Promise<CardReader>) | null): OwnCards {
  const changed = new AbortController()
  let source: Promise<CardFile> | null = null
  return {
    isNeeded: openCards !== null,
    changed: changed.signal,
    async open(batchId) {
      if (openCards === null) return null
      source ??= openCards().then((reader) => ({ batchId, reader, onChanged: () => changed.abort() }))
      return source
    },
    async close() {
      await source?.then(
        ({ reader }) => reader.close(),
        () => {},
      )
    },
  }
}
