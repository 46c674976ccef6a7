// Group commit: writes that arrive together share one transaction, and no caller is told before its commit. What becomes of a write
// whose transaction could not be written is its own mode's to say.

import { Fault } from '../domain/fault.ts'
import type { Mode } from './texts/engine.ts'

/** The most writes in one transaction: it then stays far below the 50 ms that others may be made to wait. */
const WRITES_PER_COMMIT = 256
const BUSY_PAUSE_MS = 4
const FULL_PAUSE_MS = 250

/** How a transaction ended. Unless it was written, nothing of it is in the ledger. */
export type Transacted =
  /** `goesOn`: the next transaction begins before anyone is told of this one, who would keep this process busy while the server rests. */
  | { readonly kind: 'written'; readonly goesOn?: boolean }
  /** `fault`: it has lasted so long that a person is told instead of waiting. */
  | { readonly kind: 'not-written'; readonly why: 'full' | 'busy'; readonly fault?: Fault }
  /** One of its writes threw. */
  | { readonly kind: 'broke'; readonly error: unknown }

/** A write that waits for its transaction. */
export interface Entry<Work> {
  readonly work: Work
  readonly mode: Mode<unknown>
  /** What the work came to, by the transaction that ran it last. */
  result: unknown
}

export interface Turns {
  /** Runs it when whatever is under way now has handed in its writes. */
  soon(run: () => void): void
  later(run: () => void, afterMs: number): void
}

export interface WriteQueue<Work> {
  /**
   * Resolves to the result of the work after the commit. When the work throws, it alone is rolled back and rejects with what it threw;
   * its neighbours are written without it, so work may run more than once.
   */
  write(work: Work, mode: Mode<unknown>): Promise<unknown>
  /** Resolves when nothing is left to write. */
  drained(): Promise<void>
}

interface Asked<Work> extends Entry<Work> {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** `transact` runs the work of all of these in one transaction and says how it ended: at once, or later. */
export function createWriteQueue<Work>(
  transact: (entries: readonly Entry<Work>[], ended: (how: Transacted) => void) => void,
  fullText: string,
  { soon, later }: Turns,
): WriteQueue<Work> {
  let waiting: Asked<Work>[] = []
  /** So many of those that wait are written one by one: a transaction they shared broke, and one of them is why. */
  let alone = 0
  let scheduled = false
  let idle: Array<() => void> = []

  function schedule(pauseMs: number): void {
    if (scheduled) return
    scheduled = true
    if (pauseMs === 0) soon(flush)
    else later(flush, pauseMs)
  }

  function flush(): void {
    const entries = waiting.slice(0, alone > 0 ? 1 : WRITES_PER_COMMIT)
    waiting = waiting.slice(entries.length)
    transact(entries, (how) => ended(entries, how))
  }

  function ended(entries: readonly Asked<Work>[], how: Transacted): void {
    if (how.kind === 'written' && how.goesOn === true && waiting.length > 0) {
      alone = Math.max(0, alone - entries.length)
      flush()
      soon(() => tell(entries))
      return
    }
    scheduled = false
    const kept = settle(entries, how, fullText)
    alone = how.kind === 'broke' && kept.length > 0 ? kept.length : Math.max(0, alone - entries.length + kept.length)
    waiting = [...kept, ...waiting]
    if (waiting.length > 0) schedule(pauseAfter(how))
    else {
      const told = idle
      idle = []
      for (const resolve of told) resolve()
    }
  }

  return {
    write: (work, mode) =>
      new Promise((resolve, reject) => {
        waiting.push({ work, mode, resolve, reject, result: undefined })
        schedule(0)
      }),
    drained: () =>
      waiting.length === 0 && !scheduled ? Promise.resolve() : new Promise((resolve) => idle.push(resolve)),
  }
}

function tell(entries: readonly Asked<unknown>[]): void {
  for (const { resolve, result } of entries) resolve(result)
}

/** Answers those that are over. Returns the others, to be tried again. */
function settle<Work>(entries: readonly Asked<Work>[], how: Transacted, fullText: string): readonly Asked<Work>[] {
  switch (how.kind) {
    case 'written':
      tell(entries)
      return []
    case 'not-written':
      return entries.filter((entry) => !isGivenUp(entry, how, fullText))
    case 'broke':
      if (entries.length > 1) return entries
      for (const { reject } of entries) reject(how.error)
      return []
  }
}

/** Answers it where its mode does not wait any longer. */
function isGivenUp(
  { mode, resolve, reject }: Asked<unknown>,
  { why, fault }: Extract<Transacted, { kind: 'not-written' }>,
  fullText: string,
): boolean {
  switch (mode.kind) {
    case 'kept':
      return false
    case 'refusable':
      if (why === 'busy' && !mode.giveUp()) return false
      resolve(mode.refused(why))
      return true
    case 'faulting':
      if (why === 'busy' && fault === undefined) return false
      reject(fault ?? new Fault('full', fullText))
      return true
  }
}

function pauseAfter(how: Transacted): number {
  if (how.kind !== 'not-written') return 0
  return how.why === 'busy' ? BUSY_PAUSE_MS : FULL_PAUSE_MS
}
