// The reports of files that stay where they are: in rejected/, gone when their files are.

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { InboxFolder } from '../domain/inbox.ts'
import { leftReportOf, NOT_TAKEN } from './names.ts'
import { writeUnlessSame } from './renames.ts'

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
      await writeUnlessSame(join(rejected, reportName), report)
      return join(rejected, reportName)
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
