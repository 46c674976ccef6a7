// The card details of the file that a run works off: opened when sending begins, and given up when the file has changed.

import { Fault } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import type { CardReader } from '../ports/cards.ts'
import type { Io } from '../ports/io.ts'
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

/** Readies the process for card details, before the first is kept in it. Faults where they would be written to a log. */
export function prepareProcess({ env: { NODE_DEBUG: told = '' }, keepHeapSmall }: Io): void {
  // With it Node writes what passes through streams and sockets to stderr.
  if (told.trim() !== '')
    throw new Fault(
      'config',
      `NODE_DEBUG is set (${told}): Node would write card details to stderr. Take it out of the environment. Nothing was recorded and nothing was sent.`,
    )
  // JavaScript cannot wipe a string. A heap that stays small overwrites it sooner, and is the same for any number of rows.
  keepHeapSmall()
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
