// Files that are done with: in archive/ with the batch that they became, or in rejected/, each beside its report.

import { readdir, rename, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { BatchId } from '../domain/ids.ts'
import type { Archived, InboxFolder, TakenFile } from '../domain/inbox.ts'
import { syncDirectory } from '../files/durable.ts'
import { partsOf, reportPathOf, TAKEN_ENDINGS } from './names.ts'
import { writeOnce, writeWhole } from './renames.ts'

type PuttingAway = Pick<
  InboxFolder,
  'archive' | 'archiveReport' | 'archived' | 'reject' | 'rejectedPath' | 'reportChanged'
>

export function createPuttingAway(path: string): PuttingAway {
  const inArchive = (name = '') => join(path, 'archive', name)
  const inRejected = (name: string) => join(path, 'rejected', name)
  const rejectedPath = ({ name, id }: TakenFile, ending = partsOf(name).ending) =>
    inRejected(`${partsOf(name).stem}.${id}${ending}`)

  /** Durable before anyone is told: a file that stood in the inbox again after a power cut would be submitted again. */
  async function putAway(file: TakenFile, target: string): Promise<string> {
    await rename(file.path, target)
    for (const folder of [dirname(target), dirname(file.path), path]) await syncDirectory(folder)
    await rmdir(dirname(file.path)).catch(() => {})
    return target
  }

  return {
    rejectedPath,

    async archive(file, batchId, report) {
      const { stem, ending } = partsOf(file.name)
      const first = `${stem}.${batchId}`
      const ofBatch = (await readdir(inArchive())).filter(
        (name) => name.includes(`.${batchId}.`) && !name.startsWith('.'),
      )
      const isFirst = ofBatch.every((name) => name === basename(reportPathOf(first)))
      const name = isFirst ? first : `${first}.again-${file.id}`
      await writeOnce(reportPathOf(inArchive(name)), report)
      return putAway(file, inArchive(`${name}${ending}`))
    },

    async archiveReport(file, batchId, report) {
      await writeOnce(reportPathOf(inArchive(`${partsOf(file.name).stem}.${batchId}`)), report)
    },

    async reject(file, report) {
      const reportPath = reportPathOf(rejectedPath(file, ''))
      await writeWhole(reportPath, report)
      return { path: await putAway(file, rejectedPath(file)), report: reportPath }
    },

    async reportChanged(batchId, report) {
      await writeWhole(reportPathOf(inRejected(`${batchId}.changed`)), report)
    },

    async archived() {
      const byBatch = Map.groupBy(await archivedIn(path), (one) => one.batchId)
      return Array.from(byBatch.values(), ([first]) => first as Archived)
    },
  }
}

/** The report of a batch is what remembers it: it stands before the file is moved beside it. */
const ARCHIVED_REPORT = /^(?<stem>.+)\.(?<batch>\d{6}-[0-9a-z]{5})\.report\.txt$/s

async function archivedIn(path: string): Promise<Archived[]> {
  const names = (await readdir(join(path, 'archive'))).toSorted()
  const files = new Map(names.map((name) => [name.replace(TAKEN_ENDINGS, ''), name]))
  return names.flatMap((name) => {
    const { stem, batch } = ARCHIVED_REPORT.exec(name)?.groups ?? {}
    if (stem === undefined || batch === undefined) return []
    const file = files.get(`${stem}.${batch}`)
    return {
      batchId: batch as BatchId,
      path: file === undefined ? null : join(path, 'archive', file),
      resultsPath: join(path, 'results', `${stem}.${batch}.results.csv`),
    }
  })
}
