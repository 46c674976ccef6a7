// A file that was taken, brought to its end: into the archive with its batch, or among the rejected with a report.

import { isOver } from '../domain/batch-status.ts'
import type { BatchId } from '../domain/ids.ts'
import type { InboxReport, TakenFile } from '../domain/inbox.ts'
import { type FileRefusal, type InstructionFile, metAgain, type Reviewed } from '../domain/submission.ts'
import type { InboxParts, Taken } from './inbox-parts.ts'
import { concernsAll, isRefusal, type Troubles } from './inbox-troubles.ts'
import { leave, lookThrough } from './take-files.ts'

/** A refusal counts at the third reading only: the file or the record may have changed meanwhile. */
const READINGS_BEFORE_REFUSING = 3

export function createFinishing<F extends object>(parts: InboxParts<F>, troubles: Troubles) {
  const { folder } = parts
  const refusedReadings = new Map<string, number>()

  /** Resolves to whether the next file may be tried. false: every other file would fail in the same way. */
  async function finish(file: TakenFile, isFresh: boolean): Promise<boolean> {
    let failsForAll = false
    await troubles.over(file.name, async () => {
      try {
        await takeIn(parts, file, isFresh)
        refusedReadings.delete(file.id)
      } catch (error) {
        if (!isRefusal(error)) {
          failsForAll = concernsAll(error)
          throw error
        }
        const readings = (refusedReadings.get(file.id) ?? 0) + 1
        refusedReadings.set(file.id, readings)
        if (readings < READINGS_BEFORE_REFUSING) throw error
        await reject(parts, file, parts.reports.failed(file.name, error))
        refusedReadings.delete(file.id)
      }
    })
    return !failsForAll
  }

  async function takenIn(claim: string): Promise<readonly TakenFile[]> {
    let files: readonly TakenFile[] = []
    await troubles.over(`claimed/${claim}`, async () => {
      files = await folder.taken(claim)
    })
    return files
  }

  return {
    finish,
    /** What was taken before. Resolves as `finish` does. */
    async finishAll(signal: AbortSignal): Promise<boolean> {
      let goOn = true
      const looked = await troubles.over('what was taken before', async () => {
        for (const claim of await folder.claims()) {
          for (const file of await takenIn(claim)) {
            if (signal.aborted) return
            goOn = (await finish(file, false)) && goOn
          }
        }
      })
      return looked && goOn
    },
  }
}

/** Every step can be repeated: the same bytes are the same batch, or rows that are recorded already. */
async function takeIn<F extends object>(parts: InboxParts<F>, file: TakenFile, isFresh: boolean): Promise<void> {
  const opened = await parts.open(file.path, file.name)
  if (opened.kind === 'refused') return takeUnreadable(parts, file, opened)
  try {
    const recorded = isFresh ? null : await findRecorded(parts, file, opened.file.sha256)
    const submitted =
      recorded === null ? await parts.submit(opened.file, file.path) : await parts.holdAgainst(recorded, opened.file)
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
  const rejects = reviewed.review.invalid === 0 ? null : parts.folder.rejectedPath(file, '.rejects.csv')
  if (rejects !== null) await parts.writeRejects(opened, reviewed, rejects)
  await reject(
    parts,
    file,
    parts.reports.refused(file.name, opened, reviewed, { path: parts.folder.rejectedPath(file), rejects }),
  )
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
  if (first.fingerprint === fingerprint) return first.batchId
  throw refusals.recordedOtherwise(first)
}

async function putIntoArchive<F>(
  parts: InboxParts<F>,
  file: TakenFile,
  opened: F & { readonly file: InstructionFile },
  submitted: Taken,
): Promise<void> {
  const { folder, ledger, reports, tell, clock, lookalikeDays } = parts
  const { batchId } = submitted
  const found = await ledger.batch(batchId)
  if (found === null) throw new Error(`bug: batch ${batchId} is recorded and not there`)
  const known = submitted.kind === 'known'
  const batch = known && isOver(found) ? metAgain(found, { nowMs: clock.nowMs(), lookalikeDays }) : found
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
