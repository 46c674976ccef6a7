// The worklist of doubts: as a table for a person, and read again when it is filled in.

import { WORKLIST_COLUMNS } from '../domain/worklist-columns.ts'
import type { WorklistOptions } from '../ingest/worklist.ts'
import { openToRead } from './input-file.ts'

/** CSV as the results are written. */
export async function toWorklistCsv(doubts: readonly Readonly<Record<string, string | number>>[]): Promise<string> {
  const { toGuardedCsv } = await import('../results/formats.ts')
  return toGuardedCsv(
    WORKLIST_COLUMNS,
    doubts.map((doubt) => WORKLIST_COLUMNS.map((name) => String(doubt[name] ?? ''))),
  )
}

export async function readWorklistFile(path: string, options: WorklistOptions) {
  const { readWorklist } = await import('../ingest/worklist.ts')
  const handle = await openToRead(path)
  try {
    return await readWorklist(handle, options)
  } finally {
    await handle.close()
  }
}
