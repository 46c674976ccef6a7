// One pass over an inbox: what was taken is brought to its end, what is complete is taken, and the results that are due
// are written. Trouble that is not a file's fault leaves the file taken, for the next pass.

import { type Alarm, stoppedBy } from '../domain/alarm.ts'
import type { BatchView } from '../domain/batch.ts'
import { countIn } from '../domain/batch-status.ts'
import { holdsCardData } from '../domain/card-secrets.ts'
import { errorCodeOf, messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import type { AccountId, BatchId } from '../domain/ids.ts'
import type {
  Archived,
  CardFinding,
  InboxEntry,
  InboxEvent,
  InboxFolder,
  InboxReport,
  StaysFor,
  TakenFile,
} from '../domain/inbox.ts'
import { type Fingerprint, isSameFingerprint } from '../domain/interpretation.ts'
import type { FileRefusal, InstructionFile, Known, Reviewed, Submitted } from '../domain/submission.ts'
import { words } from '../domain/words.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'

/** A file as it was opened; `F` knows more of it than is asked here. */
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
type Taken = Extract<Submitted, { kind: 'recorded' | 'known' }>

/** What stands in the reports, a line each. */
export interface InboxReports<F> {
  recorded(name: string, opened: F, submitted: Taken, batch: BatchView): InboxReport
  refused(name: string, opened: F, reviewed: Reviewed, rejects: string | null): InboxReport
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
  readonly reports: InboxReports<F>
  readonly refusals: InboxRefusals
  findCards(path: string): Promise<CardFinding>
  /** `name`: what the file is called in the record. */
  open(path: string, name: string): Promise<Opened<F>>
  submit(file: InstructionFile): Promise<Submitted>
  /** `batchId`: what the file is. */
  holdAgainst(batchId: BatchId, file: InstructionFile): Promise<Known>
  writeRejects(opened: F & { readonly file: InstructionFile }, reviewed: Reviewed, path: string): Promise<void>
  writeResults(batchId: BatchId, out: string): Promise<{ readonly path: string; readonly summaryPath: string }>
  /** A file with card data in it stays where it is. Called whenever it is met. */
  cardsFound(path: string, place: { readonly line: number | null; readonly column: string | null }): Promise<void>
  tell(event: InboxEvent): void
}

export interface InboxWork {
  /** Ends between two files when the signal aborts. Resolves to the files that may still be written to. */
  pass(signal: AbortSignal): Promise<{ readonly growing: readonly string[] }>
}

/** A refusal that another reading may not repeat, because the file or the record moved meanwhile, is believed at the third. */
const READINGS_BEFORE_REFUSING = 3
/** Results that were written are looked at again so seldom: rows of them change when a person resolves a doubt. */
const LOOK_AGAIN_AFTER_MS = 60_000
/** With thousands of batches under way a round takes a while: between two it rests so many times as long. */
const REST_PER_ROUND = 20
const TRIED_AGAIN =
  'it is tried again by itself: see that the user of the inbox may read and move it, give it a shorter name, or take it out'

export function createInboxWork<F extends object>(parts: InboxParts<F>): InboxWork {
  const { folder, ledger, tell } = parts
  const troubles = openTroubles(tell)
  const said = new Map<string, string>()
  const refusedReadings = new Map<string, number>()
  const results = openDelivery(parts, troubles)

  async function mayTake(): Promise<boolean> {
    return troubles.over('the ledger', async () => {
      const alarm: Alarm | null = await ledger.alarm()
      if (alarm !== null) throw stoppedBy(alarm, parts.ledgerPath)
    })
  }

  /** Resolves to whether the next file may be tried: what stands in the way of all need not be met by each. */
  async function bringToEnd(file: TakenFile, isFresh: boolean): Promise<boolean> {
    let everyone = false
    await troubles.over(file.name, async () => {
      try {
        await takeIn(parts, file, isFresh)
        refusedReadings.delete(file.id)
      } catch (error) {
        if (!isRefusal(error)) {
          everyone = concernsAll(error)
          throw error
        }
        const readings = (refusedReadings.get(file.id) ?? 0) + 1
        refusedReadings.set(file.id, readings)
        if (readings < READINGS_BEFORE_REFUSING) throw error
        await reject(parts, file, parts.reports.failed(file.name, error))
        refusedReadings.delete(file.id)
      }
    })
    return !everyone
  }

  async function bringAllToEnd(signal: AbortSignal): Promise<boolean> {
    let goOn = true
    const looked = await troubles.over('what was taken before', async () => {
      for (const claim of await folder.claims()) {
        for (const file of await takenIn(claim)) {
          if (signal.aborted) return
          goOn = (await bringToEnd(file, false)) && goOn
        }
      }
    })
    return looked && goOn
  }

  async function takenIn(claim: string): Promise<readonly TakenFile[]> {
    let files: readonly TakenFile[] = []
    await troubles.over(`claimed/${claim}`, async () => {
      files = await folder.taken(claim)
    })
    return files
  }

  async function takeNew(entries: readonly InboxEntry[], signal: AbortSignal): Promise<void> {
    for (const entry of entries) {
      if (signal.aborted) return
      if (entry.kind === 'growing') continue
      if (said.get(entry.name) === entry.fingerprint) continue
      if (entry.kind === 'unfit') {
        await leaveUnfit(entry)
        continue
      }
      const file = await takeOne(entry.name, entry.fingerprint)
      if (file !== null && !(await bringToEnd(file, true))) return
    }
  }

  async function leaveUnfit(entry: InboxEntry & { readonly kind: 'unfit' }): Promise<void> {
    const { name, problem, remedy, fingerprint } = entry
    await troubles.over(`the report of ${name}`, async () => {
      await leave(parts, name, { kind: 'unfit', problem, remedy })
      said.set(name, fingerprint)
    })
  }

  /** The error of one file. It is met again at every pass, told once, and may be over at any. */
  async function leaveForNow(name: string, fingerprint: string, errno: string): Promise<void> {
    const trouble = `${fingerprint} ${errno}`
    if (said.get(name) === trouble) return
    await leave(parts, name, { kind: 'unfit', problem: `it cannot be read or moved (${errno})`, remedy: TRIED_AGAIN })
    said.set(name, trouble)
  }

  /** null: it stands where it stood, or is gone. */
  async function takeOne(name: string, fingerprint: string): Promise<TakenFile | null> {
    let file = null as TakenFile | null
    await troubles.over(`${name}, which stays in the inbox`, async () => {
      try {
        const finding = await lookThrough(parts, folder.pathOf(name), name)
        if (finding === null) return // gone meanwhile
        if (finding.kind === 'none') {
          file = await folder.take(name, fingerprint)
          if (file !== null) tell({ kind: 'claimed', name })
          return
        }
        await leave(parts, name, finding)
        said.set(name, fingerprint)
      } catch (error) {
        const errno = ownErrnoOf(error)
        if (errno === null) throw error
        await leaveForNow(name, fingerprint, errno)
      }
    })
    return file
  }

  return {
    async pass(signal) {
      let entries: readonly InboxEntry[] = []
      if (!(await troubles.over('where the inbox is', () => folder.assertUnmoved()))) return { growing: [] }
      if ((await mayTake()) && (await bringAllToEnd(signal))) {
        await troubles.over('the folder', async () => {
          entries = await folder.look()
          await folder.forgetGone(entries)
          for (const name of said.keys()) if (!entries.some((entry) => entry.name === name)) said.delete(name)
        })
        await takeNew(entries, signal)
      }
      if (!signal.aborted) await results.deliver(signal)
      return { growing: entries.filter(({ kind }) => kind === 'growing').map(({ name }) => name) }
    },
  }
}

/** Cells and columns that could not be read are no reason to move a file: it may hold anything. */
async function lookThrough<F>(parts: InboxParts<F>, path: string, name: string): Promise<CardFinding | null> {
  if (holdsCardData(name)) return { kind: 'cards', line: null, column: null }
  try {
    return await parts.findCards(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null
    throw error
  }
}

async function leave<F>(
  { folder, reports, cardsFound, tell }: InboxParts<F>,
  name: string,
  finding: StaysFor,
): Promise<void> {
  const report = await folder.reportLeft(name, reports.left(name, finding))
  if (finding.kind === 'cards') await cardsFound(folder.pathOf(name), { line: finding.line, column: finding.column })
  tell({ kind: 'left', name, report, finding })
}

/** Every step can be repeated: the same bytes are the same batch, or rows that are recorded already. */
async function takeIn<F extends object>(parts: InboxParts<F>, file: TakenFile, isFresh: boolean): Promise<void> {
  const opened = await parts.open(file.path, file.name)
  if (opened.kind === 'refused') return takeUnreadable(parts, file, opened)
  try {
    const recorded = isFresh ? null : await findRecorded(parts, file, opened.file.sha256)
    const submitted =
      recorded === null ? await parts.submit(opened.file) : await parts.holdAgainst(recorded, opened.file)
    if (submitted.kind === 'refused')
      return await refuse(parts, file, opened, submitted.reviewed).finally(() => submitted.reviewed.draft.discard())
    if (submitted.kind !== 'recorded' && submitted.kind !== 'known') throw parts.refusals.otherwise(submitted)
    await putIntoArchive(parts, file, opened, submitted)
  } finally {
    await opened.close()
  }
}

/** The rejects stand before the file is moved: a crash between the two leaves a file that the next pass writes over. */
async function refuse<F extends object>(
  parts: InboxParts<F>,
  file: TakenFile,
  opened: F & { readonly file: InstructionFile },
  reviewed: Reviewed,
): Promise<void> {
  const rejects = reviewed.review.invalid === 0 ? null : `${parts.folder.rejectedStem(file)}.rejects.csv`
  if (rejects !== null) await parts.writeRejects(opened, reviewed, rejects)
  await reject(parts, file, parts.reports.refused(file.name, opened, reviewed, rejects))
}

/** The file may have been replaced after it was looked through. */
async function takeUnreadable<F>(parts: InboxParts<F>, file: TakenFile, fault: FileRefusal): Promise<void> {
  const finding = await lookThrough(parts, file.path, file.name)
  if (finding === null) return
  if (finding.kind === 'none') return reject(parts, file, parts.reports.unreadable(file.name, fault))
  await leave(parts, await parts.folder.giveBack(file), finding)
}

async function reject<F>({ folder, tell }: InboxParts<F>, file: TakenFile, report: InboxReport): Promise<void> {
  tell({ kind: 'rejected', name: file.name, ...(await folder.reject(file, report)) })
}

/**
 * The batch that was recorded from this very file before the inbox was interrupted. Its results may have been written by
 * hand since, so that the bytes alone would be taken for a file that comes a second time; and the inbox may have been
 * started again for another merchant, where nothing would be known of it.
 */
async function findRecorded<F>(
  { ledger, accountId, fingerprint, refusals }: InboxParts<F>,
  file: TakenFile,
  sha256: string,
): Promise<BatchId | null> {
  const first = (await ledger.batches()).findLast(
    (batch) => batch.fileSha256 === sha256 && batch.runKey === null && batch.createdAtMs >= file.takenAtMs,
  )
  if (first === undefined) return null
  if (first.accountId !== accountId) throw refusals.recordedForAnother(first)
  if (isSameFingerprint(first.fingerprint, fingerprint)) return first.batchId
  throw refusals.recordedOtherwise(first)
}

async function putIntoArchive<F>(
  parts: InboxParts<F>,
  file: TakenFile,
  opened: F & { readonly file: InstructionFile },
  submitted: Taken,
): Promise<void> {
  const { folder, ledger, reports, tell } = parts
  const { batchId } = submitted
  const batch = await ledger.batch(batchId)
  if (batch === null) throw new Error(`bug: batch ${batchId} is recorded and not there`)
  const known = submitted.kind === 'known'
  const report = reports.recorded(file.name, opened, submitted, batch)
  // A program that held it open may have gone on writing. What the archive shows must be what was recorded.
  if ((await folder.sha256Of(file.path)) === opened.file.sha256) {
    const path = await folder.archive(file, batchId, report)
    tell({ kind: 'recorded', name: file.name, batch, known, path })
    return
  }
  await folder.archiveReport(file, batchId, report)
  const finding = await lookThrough(parts, file.path, file.name)
  tell({ kind: 'recorded', name: file.name, batch, known, path: file.path })
  if (finding !== null && finding.kind !== 'none') return leave(parts, await folder.giveBack(file), finding)
  const { path } = await folder.reject(file, reports.changed(file.name, batch))
  tell({ kind: 'changed', name: file.name, batchId, path })
}

// ───────────────────────────────────────────────────────────── Results

function openDelivery<F>(parts: InboxParts<F>, troubles: Troubles) {
  const { folder, ledger, clock, reports, tell } = parts
  const lookAgainAtMs = new Map<BatchId, number>()
  let nextRoundAtMs = 0

  async function deliverOne(archived: Archived): Promise<void> {
    const { batchId, resultsPath } = archived
    const batch = await ledger.batch(batchId)
    if (batch?.batchId !== batchId)
      throw new Fault(
        'stopped',
        words`Batch ${batchId} stands in the archive and is not in this ledger. Its results cannot be written. An older ledger may have been put back: see ${{ act: 'diagnose', look: 'usual' }}.`,
      )
    if (countIn(batch, 'READY') + countIn(batch, 'SENDING') > 0) return
    // Those of a purged batch would be written again without the columns of the file.
    if (batch.purgedAtMs === null && (batch.resultsPath !== resultsPath || batch.resultsStale)) {
      await sayWhereChanged(archived, batch)
      tell({ kind: 'results', batch, ...(await parts.writeResults(batchId, resultsPath)) })
    }
    lookAgainAtMs.set(batchId, clock.monotonicMs() + LOOK_AGAIN_AFTER_MS)
  }

  /** The last look at the file: rows that came after it had been put away would be in no batch, unnoticed. */
  async function sayWhereChanged({ path, batchId }: Archived, batch: BatchView): Promise<void> {
    if (path === null || (await folder.sha256Of(path)) === batch.fileSha256) return
    const name = batch.fileName ?? batchId
    await folder.reportChanged(batchId, reports.changed(name, batch))
    tell({ kind: 'changed', name, batchId, path })
  }

  return {
    async deliver(signal: AbortSignal): Promise<void> {
      const beganMs = clock.monotonicMs()
      if (beganMs < nextRoundAtMs) return
      await troubles.over('the results', async () => {
        for (const archived of await folder.archived()) {
          if (signal.aborted) return
          if ((lookAgainAtMs.get(archived.batchId) ?? 0) > clock.monotonicMs()) continue
          await troubles.over(`the results of ${archived.batchId}`, () => deliverOne(archived))
        }
      })
      nextRoundAtMs = clock.monotonicMs() + REST_PER_ROUND * (clock.monotonicMs() - beganMs)
    },
  }
}

// ───────────────────────────────────────────────────────────── Trouble

interface Troubles {
  /** Runs it. What it throws is told once, until it runs through. false: it threw. */
  over(about: string, run: () => Promise<void>): Promise<boolean>
}

function openTroubles(tell: (event: InboxEvent) => void): Troubles {
  const told = new Map<string, string>()
  return {
    async over(about, run) {
      try {
        await run()
      } catch (error) {
        const what = errnoOf(error) ?? messageOf(error)
        if (told.get(about) !== what) tell({ kind: 'trouble', about, error })
        told.set(about, what)
        return false
      }
      if (told.delete(about)) tell({ kind: 'over', about })
      return true
    },
  }
}

/** A file that the disk does not give is no bad file. */
function isRefusal(error: unknown): error is Fault {
  return error instanceof Fault && error.code === 'refused' && errnoOf(error) === null
}

/** Errors of the file system that every other file would meet as well. */
const OF_ALL = [
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ESTALE',
  'ENOTCONN',
  'EHOSTDOWN',
  'ETIMEDOUT',
]

/** What the file system says of one file (may not be read, name too long, bad sector …); null: it is not its own. */
function ownErrnoOf(error: unknown): string | null {
  const cause = error instanceof Fault ? error.cause : error
  if (!(cause instanceof Error && 'syscall' in cause && 'code' in cause)) return null
  const code = String(cause.code)
  return OF_ALL.includes(code) ? null : code
}

function concernsAll(error: unknown): boolean {
  if (error instanceof Fault) return !['usage', 'config', 'refused'].includes(error.code)
  return ownErrnoOf(error) === null
}

/** The same trouble though its message names another path each time. */
function errnoOf(error: unknown): string | null {
  const cause = error instanceof Fault ? error.cause : error
  return errorCodeOf(cause)
}
