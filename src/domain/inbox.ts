// The contract of an inbox: a folder into which people and programs put files, and what has become of each of them. The
// folder itself remembers everything: a file is under its name, taken, archived under its batch, or rejected.

import type { BatchView } from './batch.ts'
import type { BatchId } from './ids.ts'

/** The lines of a report. */
export type InboxReport = readonly string[]

/** What a look into the folder shows. `fingerprint` changes when the file is replaced or written to. */
export type InboxEntry =
  | { readonly kind: 'complete'; readonly name: string; readonly fingerprint: string }
  /** It may still be written to. */
  | { readonly kind: 'growing'; readonly name: string }
  /** It is never taken as it is. */
  | {
      readonly kind: 'unfit'
      readonly name: string
      readonly problem: string
      readonly remedy: string
      readonly fingerprint: string
    }

/** A file that no other process will take: it stands in a folder of its own under its own name. */
export interface TakenFile {
  /** Names the taking; later ones sort behind. */
  readonly id: string
  readonly name: string
  readonly path: string
  readonly takenAtMs: number
}

/** A batch that came through this inbox. */
export interface Archived {
  readonly batchId: BatchId
  /** The file as it was recorded; null where it was given back, or was put away by hand. */
  readonly path: string | null
  readonly resultsPath: string
}

/** Everything that moves a file is one rename, after the report of it stands: a crash leaves the file here or there. */
export interface InboxFolder {
  /** Rejects where it, or a folder in it, is another than was opened: what lies there now may be anyone's. */
  assertUnmoved(): Promise<void>
  look(): Promise<readonly InboxEntry[]>
  pathOf(name: string): string
  /** null: it is gone, or no longer the one with this fingerprint; then it stands where it was. */
  take(name: string, fingerprint: string): Promise<TakenFile | null>
  /** What was taken and not put away, oldest first; `taken` says what that is, and undoes a taking that was cut off. */
  claims(): Promise<readonly string[]>
  taken(claim: string): Promise<readonly TakenFile[]>
  /** Back under its name, or beside another file that has that name by now. Resolves to the name. */
  giveBack(file: TakenFile): Promise<string>
  /** Resolves to the path that it has now. A second file of the same batch is put beside the first. */
  archive(file: TakenFile, batchId: BatchId, report: InboxReport): Promise<string>
  /** The report of a batch alone, for a file that is not the one that was recorded any more. */
  archiveReport(file: TakenFile, batchId: BatchId, report: InboxReport): Promise<void>
  /** Where a rejected file is put. `ending`: of something beside it. */
  rejectedPath(file: TakenFile, ending?: string): string
  reject(file: TakenFile, report: InboxReport): Promise<Rejected>
  /** The report of a file that stays where it is, written once. `isKnown`: it was there, of the same file. */
  reportLeft(name: string, report: InboxReport): Promise<{ readonly path: string; readonly isKnown: boolean }>
  /** Removes the reports of files that stayed and are no longer among these. */
  forgetGone(entries: readonly InboxEntry[]): Promise<void>
  /** That the file of a batch was written to in the archive. */
  reportChanged(batchId: BatchId, report: InboxReport): Promise<void>
  archived(): Promise<readonly Archived[]>
  /** Of the bytes, in hex. */
  sha256Of(path: string): Promise<string>
}

export interface Rejected {
  readonly path: string
  readonly report: string
}

/** Whether a file may be moved: what holds card data, or could not be looked through, stays where it is. */
export type CardFinding =
  | { readonly kind: 'none' }
  | { readonly kind: 'cards'; readonly line: number | null; readonly column: string | null }
  | { readonly kind: 'unseen'; readonly problem: string; readonly remedy: string }

/** Why a file stays where it is: by what it holds, or because it is not taken as it is or cannot be read or moved. */
export type StaysFor =
  | Exclude<CardFinding, { readonly kind: 'none' }>
  | { readonly kind: 'unfit'; readonly problem: string; readonly remedy: string }

export type InboxEvent =
  | { readonly kind: 'claimed'; readonly name: string }
  | {
      readonly kind: 'recorded'
      readonly name: string
      readonly batch: BatchView
      /** It was recorded before: by this inbox until it was interrupted, or as the same bytes under another name. */
      readonly known: boolean
      readonly path: string
    }
  | { readonly kind: 'rejected'; readonly name: string; readonly path: string; readonly report: string }
  | {
      readonly kind: 'left'
      readonly name: string
      readonly report: string
      readonly finding: StaysFor
      /** An earlier process has told of it. */
      readonly isKnown: boolean
    }
  /** It was written to after it had been recorded: what was added is in no batch. */
  | { readonly kind: 'changed'; readonly name: string; readonly batchId: BatchId; readonly path: string }
  | { readonly kind: 'results'; readonly batch: BatchView; readonly path: string; readonly summaryPath: string }
  | { readonly kind: 'trouble'; readonly about: string; readonly error: unknown }
  | { readonly kind: 'over'; readonly about: string }
