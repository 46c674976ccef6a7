// Handing out work to whatever executes it.

import type { BatchId } from '../domain/ids.ts'

export interface Slice {
  readonly batchId: BatchId
  /** The most rows to take. */
  readonly rows: number
  /** Of its batch: one slice at a time is in it. */
  readonly place: number
}

/** Hands out work; remembers nothing that matters. Losing everything in it costs a tick. */
export interface Dispatch {
  /** Puts each slice into its place; one that is taken stays as it is. Rejects with `unavailable` where none can be handed out. */
  offer(slices: readonly Slice[]): Promise<void>
  /** Called whenever a slice has ended, with the rows it worked on, so that its place can be filled before the next tick. */
  onFreed(listener: (batchId: BatchId, rows: number) => void): void
  /** Takes no new slices; resolves when the running ones have ended, or after `withinMs`. */
  close(withinMs: number): Promise<void>
}
