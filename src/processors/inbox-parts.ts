// What the work on an inbox is given: its folder, the record, how its files are read, and what its reports say.

import type { BatchView } from '../domain/batch.ts'
import type { Fault } from '../domain/fault.ts'
import type { AccountId, BatchId } from '../domain/ids.ts'
import type { CardFinding, InboxEvent, InboxFolder, InboxReport, StaysFor } from '../domain/inbox.ts'
import type { Fingerprint } from '../domain/interpretation.ts'
import type { FileRefusal, InstructionFile, Known, Reviewed, Submitted } from '../domain/submission.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'

/** A file as it was opened; `F` may carry more than is used here. */
type Opened<F> = (F & { readonly kind: 'file'; readonly file: InstructionFile; close(): Promise<void> }) | FileRefusal

/** Why a file cannot be taken as the inbox was started, in words. */
export interface InboxRefusals {
  /** It is a batch that was recorded otherwise than is asked for now. */
  otherwise(known: Exclude<Known, { kind: 'known' }>): Fault
  /** It was recorded before the inbox was interrupted, read otherwise. */
  recordedOtherwise(batch: BatchView): Fault
  /** It was recorded before the inbox was interrupted, for another merchant. */
  recordedForAnother(batch: BatchView): Fault
}

/** What became of a file that is taken. */
export type Taken = Extract<Submitted, { kind: 'recorded' | 'known' }>

/** Where a refused file is put, and its bad rows in a table; null: it has none. */
export interface PutAside {
  readonly path: string
  readonly rejects: string | null
}

/** What stands in the reports, a line each. */
export interface InboxReports<F> {
  recorded(name: string, opened: F, submitted: Taken, batch: BatchView): InboxReport
  refused(name: string, opened: F, reviewed: Reviewed, put: PutAside): InboxReport
  unreadable(name: string, fault: FileRefusal): InboxReport
  /** By a fault that stands for the whole file. */
  failed(name: string, fault: Fault): InboxReport
  left(name: string, finding: StaysFor): InboxReport
  changed(name: string, batch: BatchView): InboxReport
}

export interface InboxParts<F> {
  readonly folder: InboxFolder
  readonly ledger: Pick<Ledger, 'alarm' | 'batch' | 'batches'>
  readonly ledgerPath: string
  readonly accountId: AccountId
  /** How the bytes of its files are read. */
  readonly fingerprint: Fingerprint
  readonly clock: Clock
  readonly lookalikeDays: number
  readonly reports: InboxReports<F>
  readonly refusals: InboxRefusals
  findCards(path: string): Promise<CardFinding>
  /** `name`: what the file is called in the record. */
  open(path: string, name: string): Promise<Opened<F>>
  /** `path`: where the file stands, for whose it is. */
  submit(file: InstructionFile, path: string): Promise<Submitted>
  /** `batchId`: the batch as which the file was recorded. */
  holdAgainst(batchId: BatchId, file: InstructionFile): Promise<Known>
  writeRejects(opened: F & { readonly file: InstructionFile }, reviewed: Reviewed, path: string): Promise<void>
  writeResults(batchId: BatchId, out: string): Promise<{ readonly path: string; readonly summaryPath: string }>
  /** A file with card data in it stays where it is. Called whenever it is met. */
  cardsFound(path: string, place: { readonly line: number | null; readonly column: string | null }): Promise<void>
  tell(event: InboxEvent): void
}
