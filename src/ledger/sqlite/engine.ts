// SQLite as the engine of the scripts: each runs to its end at once, and those that write share a commit.

import type { DatabaseSync } from 'node:sqlite'
import type { Engine, Reader } from '../texts/engine.ts'
import { createBookkeeping } from '../texts/record/book.ts'
import { type Boot, notingBoot } from './clock-steps.ts'
import type { Committer } from './commit.ts'
import { prepareRunning, type Run } from './run-script.ts'

export function engineOn(db: DatabaseSync, committer: Committer, run: Run, boot: () => Boot | null): Engine {
  const { book, close, forget } = createBookkeeping()
  committer.beforeCommit(() => run(close()))
  committer.afterRollback(forget)
  const noting = notingBoot(book, boot)
  return {
    read: async (script) => inOneMoment(db, () => run(script())),
    write: (script, mode) => committer.write(() => run(script(noting)), mode),
  }
}

/** On a connection of its own. */
export function readerOn(db: DatabaseSync): Reader {
  const run = prepareRunning(db)
  db.exec('BEGIN')
  return {
    read: async (script) => run(script()),
    close: async () => db.close(),
  }
}

/** What all statements of it see is one moment, whatever other connections commit meanwhile. */
function inOneMoment<T>(db: DatabaseSync, read: () => T): T {
  db.exec('BEGIN')
  try {
    return read()
  } finally {
    if (db.isTransaction) db.exec('COMMIT') // an error may have ended it
  }
}
