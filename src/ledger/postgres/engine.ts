// PostgreSQL as the engine of the scripts: it awaits each step. A script takes the turnstile exclusively, as SQLite's one writer would, so
// that it means the same on both. The rows of a draft, which are slow and decide nothing, are copied with it shared.

import type { Engine, Mode } from '../texts/engine.ts'
import { type Book, createBookkeeping } from '../texts/record/book.ts'
import { LINKED_LATER } from '../texts/record/chain.ts'
import type { Script } from '../texts/script.ts'
import { createWriteQueue, type Entry, type Transacted, type Turns } from '../write-queue.ts'
import { assertOwnVersion } from './make-tables.ts'
import type { Reads } from './reads.ts'
import type { Transactor } from './transactor.ts'

export interface PostgresEngine extends Engine {
  /** Resolves when nothing is left to write. */
  drained(): Promise<void>
}

type Work = (book: Book) => Script<unknown>

function mayShare({ mode }: Entry<Work>): boolean {
  return mode.kind === 'faulting' && mode.shared === true
}

/** What a process of before an upgrade writes may lack what is asked now. Settlements tell what happened, and lack nothing. */
function isFaulting({ mode }: Entry<Work>): boolean {
  return mode.kind === 'faulting'
}

export const FULL_TEXT =
  'The disk of the PostgreSQL server is full. Nothing was recorded and nothing was sent. Free some space there and try again.'

export function engineOn(transactor: Transactor, reads: Pick<Reads, 'read'>, turns: Turns): PostgresEngine {
  const { book, close, forget } = createBookkeeping(LINKED_LATER)

  async function transact(entries: readonly Entry<Work>[]): Promise<Transacted> {
    forget()
    return transactor.write(entries.every(mayShare) ? 'shared' : 'exclusive', async (session) => {
      if (entries.some(isFaulting)) await session.run(assertOwnVersion())
      for (const entry of entries) entry.result = await session.run(entry.work(book))
      await session.run(close())
    })
  }

  const queue = createWriteQueue<Work>(
    (entries, ended) => {
      if (entries.length === 0) ended({ kind: 'written' })
      else void transact(entries).then(ended)
    },
    FULL_TEXT,
    turns,
  )
  return {
    read: reads.read,
    write: <T>(script: (book: Book) => Script<T>, mode: Mode<T>) =>
      queue.write(script, mode as Mode<unknown>) as Promise<T>,
    drained: queue.drained,
  }
}
