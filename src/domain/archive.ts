// The whole record of a finished batch, in a file that outlives it in the ledger.

import type { Actor } from './actor.ts'
import type { BatchId } from './ids.ts'
import type { PurgeRequest } from './purge.ts'

/** A line of it: what it tells of, and every column of that, by its name in the ledger. */
export interface RecordLine {
  readonly of: 'batch' | 'row' | 'move' | 'act'
  readonly values: Readonly<Record<string, unknown>>
}

/** A file that was written, read back and found whole. */
export interface ArchiveFile {
  /** Without its folder. */
  readonly name: string
  readonly bytes: number
  /** Of its bytes, in hex. */
  readonly sha256: string
  readonly rows: number
  readonly moves: number
}

export interface ArchiveRequest extends Pick<PurgeRequest, 'beforeMs' | 'reason' | 'nowMs' | 'categoryOf'> {
  readonly actor: Actor
}

/** What is archived as it was then, and no other state of it. */
export interface Archived {
  readonly batchId: BatchId
  /** Changes of the batch until then. */
  readonly version: number
  readonly file: Pick<ArchiveFile, 'name' | 'sha256'>
}
