// The reports of files that stay where they are: in rejected/, gone when their files are.

import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { InboxFolder } from '../domain/inbox.ts'
import { leftReportOf, NOT_TAKEN } from './names.ts'
import { isSame, writeWhole } from './renames.ts'

export function createLeftReports(path: string): Pick<InboxFolder, 'reportLeft' | 'forgetGone'> {
  const rejected = join(path, 'rejected')

  /** The folder may hold thousands of rejected files: what an earlier process left there is read once. */
  let reportNames: Set<string> | null = null
  async function knownReports(): Promise<Set<string>> {
    reportNames ??= new Set((await readdir(rejected)).filter((name) => name.endsWith(NOT_TAKEN)))
    return reportNames
  }

  return {
    async reportLeft(name, report) {
      const reportName = leftReportOf(name)
      ;(await knownReports()).add(reportName)
      const reportPath = join(rejected, reportName)
      const isKnown = (await isSame(reportPath, report)) && (await isAbout(reportPath, join(path, name)))
      if (!isKnown) await writeWhole(reportPath, report)
      return { path: reportPath, isKnown }
    },

    async forgetGone(entries) {
      const kept = new Set(entries.map(({ name }) => leftReportOf(name)))
      const known = await knownReports()
      for (const reportName of known) {
        if (kept.has(reportName)) continue
        await rm(join(rejected, reportName), { force: true })
        known.delete(reportName)
      }
    },
  }
}

/** Whether the report is younger than the last change of its file; both times are of one file system. A folder has none that counts. */
async function isAbout(reportPath: string, path: string): Promise<boolean> {
  try {
    const [report, file] = await Promise.all([lstat(reportPath), lstat(path)])
    return file.isDirectory() || report.mtimeMs >= file.ctimeMs
  } catch {
    return true // its name cannot be written in UTF-8, or it has gone
  }
}
