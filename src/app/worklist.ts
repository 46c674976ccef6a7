// The worklist of doubts: as a table for a person, and read again when it is filled in.

import { WORKLIST_COLUMNS } from '../domain/worklist-columns.ts'
import { openToRead } from './input-file.ts'

/** CSV as the results are written. */
export async function toWorklistCsv(doubts: readonly Readonly<Record<string, string | number>>[]): Promise<string> {
  const { toGuardedCsv } = await import('../results/formats.ts')
  return toGuardedCsv(
    WORKLIST_COLUMNS,
    doubts.map((doubt) => WORKLIST_COLUMNS.map((name) => String(doubt[name] ?? ''))),
  )
}

/** `reason` stands in for lines without one. */
export async function readWorklistFile(path: string, reason: string | null) {
  const { readWorklist } = await import('../ingest/worklist.ts')
  const handle = await openToRead(path)
  try {
    return await readWorklist(handle, reason)
  } finally {
    await handle.close()
  }
}
