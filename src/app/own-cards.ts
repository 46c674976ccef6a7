// The card details of the file that a run works off: opened when sending begins, and given up when the file has changed.

import { Fault } from '../domain/fault.ts'
import type { CardReader } from '../ports/cards.ts'
import type { CardFile } from '../processors/execute-slice.ts'

export interface OwnCards {
  /** The file has rows with card details. */
  readonly isNeeded: boolean
  /** Aborted when the file is no longer what was checked. */
  readonly changed: AbortSignal
  /** null: it needs none. */
  open(): Promise<CardFile | null>
  close(): Promise<void>
}

/** With it Node writes what passes through streams and sockets to stderr, and that may be a log. Faults where it is set. */
export function assertNothingTold({ NODE_DEBUG: told = '' }: NodeJS.ProcessEnv): void {
  if (told.trim() === '') return
  throw new Fault(
    'config',
    `NODE_DEBUG is set (${told}): Node would write card details to stderr. Take it out of the environment. Nothing was recorded and nothing was sent.`,
  )
}

/** `openCards`: null where the file has no card details. */
export function prepareOwnCards(openCards: (() => Promise<CardReader>) | null): OwnCards {
  const changed = new AbortController()
  let source: Promise<CardFile> | null = null
  return {
    isNeeded: openCards !== null,
    changed: changed.signal,
    async open() {
      if (openCards === null) return null
      source ??= openCards().then((reader) => ({ reader, onChanged: () => changed.abort() }))
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
