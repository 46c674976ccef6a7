// Files are read one at a time: that is the ledger's rule anyway, and a workbook takes hundreds of megabytes.

import { EventEmitter, once } from 'node:events'
import { Fault } from '../domain/fault.ts'
import type { IngestProgress } from '../domain/ingest.ts'

const WAITING_MOST = 100

/** Nothing was read. */
export class TooManyWait extends Fault {
  constructor() {
    super('unavailable', 'Too many files wait to be read. Nothing was changed: try again in a while.')
    this.name = 'TooManyWait'
  }
}

export interface IngestQueue {
  /** Rejects where too many wait, or the server ends. `name`: by which its place is asked for. */
  run<T>(name: string, job: (signal: AbortSignal, tell: (progress: IngestProgress) => void) => Promise<T>): Promise<T>
  /** How many come before it; null: it does not wait. */
  placeOf(name: string): number | null
  /** null: it is not being read, or has not reported anything yet. */
  progressOf(name: string): IngestProgress | null
  /** Resolves when it has reported progress or is over, at the latest after so long. */
  waitForProgress(name: string, withinMs: number): Promise<void>
  /** Stops what is read now; nothing more begins. */
  close(): Promise<void>
}

export function createIngestQueue(): IngestQueue {
  const waiting: string[] = []
  const told = new Map<string, IngestProgress>()
  const news = new EventEmitter().setMaxListeners(0)
  const stopping = new AbortController()
  let last: Promise<unknown> = Promise.resolve()
  return {
    async run(name, job) {
      if (waiting.length >= WAITING_MOST) throw new TooManyWait()
      waiting.push(name)
      const turn = last.then(() => {
        waiting.splice(waiting.indexOf(name), 1)
        if (stopping.signal.aborted)
          throw new Fault('interrupted', 'This server is ending. Nothing was changed: ask again.')
        return job(stopping.signal, (progress) => {
          told.set(name, progress)
          news.emit(name)
        }).finally(() => {
          told.delete(name)
          news.emit(name)
        })
      })
      last = turn.catch(() => {})
      return turn
    },
    placeOf(name) {
      const place = waiting.indexOf(name)
      return place === -1 ? null : place
    },
    progressOf: (name) => told.get(name) ?? null,
    async waitForProgress(name, withinMs) {
      if (told.has(name)) return
      await once(news, name, { signal: AbortSignal.timeout(withinMs) }).catch(() => {})
    },
    async close() {
      stopping.abort()
      await last
    },
  }
}
