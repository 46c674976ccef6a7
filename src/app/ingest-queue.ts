// Files are read one at a time: that is the ledger's rule anyway, and a workbook takes hundreds of megabytes.

import { EventEmitter, once } from 'node:events'
import { Fault } from '../domain/fault.ts'
import type { IngestProgress } from '../domain/ingest.ts'

const WAITING_MOST = 100
/** Of one caller. */
const WAITING_OF_ONE = 20
/** The largest file that is taken is read in a fraction of it. */
const READ_WITHIN_MS = 30 * 60_000

/** Nothing was read. */
export class TooManyWait extends Fault {
  constructor() {
    super('unavailable', 'Too many files wait to be read. Nothing was changed: try again in a while.')
    this.name = 'TooManyWait'
  }
}

/** What waits for its turn. */
export interface IngestTurn {
  /** By which its place is asked for. */
  readonly name: string
  /** Callers take turns, however many files each of them has. */
  readonly caller: string
  /** Somebody waits to see it recorded, so it comes before all checks. It is not stopped where the server ends. */
  readonly records: boolean
}

type Job<T> = (signal: AbortSignal, tell: (progress: IngestProgress) => void) => Promise<T>

export interface IngestQueue {
  /** Rejects where too many wait, or the server ends. `job` is told to stop after half an hour. */
  run<T>(turn: IngestTurn, job: Job<T>): Promise<T>
  /** How many come before it, as far as is known now; null: it does not wait. */
  placeOf(name: string): number | null
  /** null: it is not being read, or has not reported anything yet. */
  progressOf(name: string): IngestProgress | null
  /** Resolves when it has reported progress or is over, at the latest after so long. */
  waitForProgress(name: string, withinMs: number): Promise<void>
  /** Stops the check that is read now; nothing more begins. */
  close(): Promise<void>
}

interface Waiting extends IngestTurn {
  readonly begin: () => void
}

/** In the order in which they will be read: what is recorded first, and of each kind one file of each caller after the other. */
function inOrder(waiting: readonly Waiting[], lastTurns: ReadonlyMap<string, number>): Waiting[] {
  const before = new Map<string, number>()
  const round = (one: Waiting) => {
    const of = `${one.records} ${one.caller}`
    const count = before.get(of) ?? 0
    before.set(of, count + 1)
    return count
  }
  const ranked = waiting.map((one) => ({ one, round: round(one), last: lastTurns.get(one.caller) ?? 0 }))
  return ranked
    .toSorted((a, b) => Number(b.one.records) - Number(a.one.records) || a.round - b.round || a.last - b.last)
    .map(({ one }) => one)
}

/** `readWithinMs`: of one file. */
export function createIngestQueue({ readWithinMs = READ_WITHIN_MS } = {}): IngestQueue {
  const waiting: Waiting[] = []
  const lastTurns = new Map<string, number>()
  const told = new Map<string, IngestProgress>()
  const news = new EventEmitter().setMaxListeners(0)
  const stopping = new AbortController()
  let turns = 0
  let reading: Promise<unknown> | null = null

  function next(): void {
    if (reading !== null) return
    const [first] = inOrder(waiting, lastTurns)
    if (first === undefined) return
    waiting.splice(waiting.indexOf(first), 1)
    turns += 1
    lastTurns.set(first.caller, turns)
    first.begin()
  }

  async function read<T>({ name, records }: IngestTurn, job: Job<T>): Promise<T> {
    if (stopping.signal.aborted)
      throw new Fault('interrupted', 'This server is ending. Nothing was changed: ask again.')
    const limit = AbortSignal.timeout(readWithinMs)
    try {
      return await job(records ? limit : AbortSignal.any([stopping.signal, limit]), (progress) => {
        told.set(name, progress)
        news.emit(name)
      })
    } finally {
      told.delete(name)
      news.emit(name)
    }
  }

  return {
    run(turn, job) {
      const ofItsKind = waiting.filter(({ records }) => records === turn.records)
      const itsOwn = ofItsKind.filter(({ caller }) => caller === turn.caller)
      if (ofItsKind.length >= WAITING_MOST || itsOwn.length >= WAITING_OF_ONE) return Promise.reject(new TooManyWait())
      const start = Promise.withResolvers<void>()
      const mine = start.promise.then(() => read(turn, job))
      const begin = () => {
        reading = mine
          .catch(() => {})
          .finally(() => {
            reading = null
            next()
          })
        start.resolve()
      }
      waiting.push({ ...turn, begin })
      next()
      return mine
    },
    placeOf(name) {
      const place = inOrder(waiting, lastTurns).findIndex((one) => one.name === name)
      return place === -1 ? null : place
    },
    progressOf: (name) => told.get(name) ?? null,
    async waitForProgress(name, withinMs) {
      if (told.has(name)) return
      await once(news, name, { signal: AbortSignal.timeout(withinMs) }).catch(() => {})
    },
    async close() {
      stopping.abort()
      while (reading !== null) await reading
    },
  }
}
