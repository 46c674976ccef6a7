// The rows of a surveyed file once more, through the same descriptor.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Fault } from '../domain/fault.ts'
import type { StructuralFault } from '../domain/problem.ts'
import { squared } from './csv/ragged.ts'
import { type CsvRecord, inGroups, readRecords } from './csv/records.ts'
import { isHeaderAgain } from './header.ts'
import type { Survey } from './inspect-file.ts'
import { openWorkbook } from './workbook/workbook.ts'

export interface NumberedRecord {
  readonly record: CsvRecord
  /** Data row, from 1. */
  readonly rowNo: number
}

/** `sha256` is of the bytes that were read: of a CSV file when the rows have come to their end, of a workbook at once. */
export async function readAgain(
  file: FileHandle,
  survey: Survey,
): Promise<{ readonly rows: AsyncGenerator<readonly NumberedRecord[]>; readonly sha256: () => string }> {
  if (survey.sheet === null) {
    const hash = createHash('sha256')
    return { rows: numbered(readRecords(file, survey, hash), survey), sha256: () => hash.digest('hex') }
  }
  const workbook = await openWorkbook(file, survey.sheet, survey.firstLine)
  if (workbook.kind === 'refused') throw changed()
  return { rows: numbered(inGroups(workbook.records()), survey), sha256: () => workbook.sha256 }
}

async function* numbered(
  groups: AsyncIterable<readonly (CsvRecord | StructuralFault | { readonly kind: 'not-text' | 'odd-quotes' })[]>,
  { header }: Survey,
): AsyncGenerator<readonly NumberedRecord[]> {
  let rowNo = -1
  for await (const group of groups) {
    const rows: NumberedRecord[] = []
    for (const read of group) {
      if (read.kind !== 'record') throw changed()
      // The header, which the survey has, and where files were pasted together the header again.
      if (rowNo >= 0 && isHeaderAgain(header, read.cells)) continue
      rowNo += 1
      if (rowNo > 0) rows.push({ record: squared(header, read), rowNo })
    }
    yield rows
  }
}

export function changed(): Fault {
  return new Fault(
    'refused',
    'The file changed while it was read, so what was checked is not known; nothing was recorded, nothing was sent. Run it again when the file is complete.',
  )
}
