// The file of rejects: checked before anything is recorded, written as the rows turn out.

import type { Reject } from '../domain/draft.ts'
import type { Pages } from '../domain/pages.ts'
import type { ResultsBeside, WrittenRejects } from '../domain/rejects.ts'
import type { OpenedFile } from './instruction-file.ts'

export interface RejectsFile {
  readonly path: string
  /** The rows that cannot be sent as written. */
  writeRows(rows: RejectedRows): Promise<WrittenRejects>
  /** The file is no table: why there are no rows to be told apart. */
  writeWhole(refusal: OpenedFile & { readonly kind: 'refused' }): Promise<WrittenRejects>
}

export interface RejectedRows {
  readonly opened: OpenedFile & { readonly kind: 'file' }
  readonly runKey: string | null
  readonly rejects: Pages<Reject>
}

/** Faults where rejects may not go there. `results`: where this run writes its results. */
export async function prepareRejects(
  named: string,
  inputPath: string,
  results: ResultsBeside | null,
): Promise<RejectsFile> {
  const { checkRejects, writeWholeReject } = await import('../results/rejects.ts')
  const path = await checkRejects(named, inputPath, results)
  return {
    path,
    writeRows: (rows) => writeRejects(path, rows),
    writeWhole: (refusal) => writeWholeReject(path, refusal),
  }
}

/** `path`: one that may be written over. */
export async function writeRejects(path: string, { opened, runKey, rejects }: RejectedRows): Promise<WrittenRejects> {
  const { writeRejects: write } = await import('../results/rejects.ts')
  const { file, referencePlace, delimiter } = opened
  const { columns, fedBack } = file
  return write(path, { columns, fedBack, referencePlace, runKey, delimiter: delimiter ?? ',', rejects })
}
