// Files are read one at a time: that is the ledger's rule anyway, and a workbook takes hundreds of megabytes.

import { ProblemError } from './problems.ts'

const WAITING_MOST = 100

export interface IngestQueue {
  /** Rejects with a problem where too many wait. `name`: by which its place is asked for. */
  run<T>(name: string, job: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** How many come before it; null: it does not wait. */
  placeOf(name: string): number | null
  /** Stops what is read now; nothing more begins. */
  close(): Promise<void>
}

export function createIngestQueue(): IngestQueue {
  const waiting: string[] = []
  const stopping = new AbortController()
  let last: Promise<unknown> = Promise.resolve()
  return {
    async run(name, job) {
      if (waiting.length >= WAITING_MOST)
        throw new ProblemError('uploads_busy', 'Too many files wait to be read. Nothing was changed.', {
          retryAfterS: 10,
        })
      waiting.push(name)
      const turn = last.then(() => {
        waiting.splice(waiting.indexOf(name), 1)
        if (stopping.signal.aborted)
          throw new ProblemError('starting_or_stopping', 'This server is ending. Nothing was changed: ask again.')
        return job(stopping.signal)
      })
      last = turn.catch(() => {})
      return turn
    },
    placeOf(name) {
      const place = waiting.indexOf(name)
      return place === -1 ? null : place
    },
    async close() {
      stopping.abort()
      await last
    },
  }
}
