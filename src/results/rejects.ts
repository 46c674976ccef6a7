// The rows that cannot be sent as written, as a file that a person mends and hands in again: one line for each, whole.

import type { FileHandle } from 'node:fs/promises'
import { type Options as ParseOptions, parse } from 'csv-parse/sync'
import type { Reject, RowFault } from '../domain/draft.ts'
import { Fault } from '../domain/fault.ts'
import { guardCell } from '../domain/formula-guard.ts'
import type { Pages } from '../domain/pages.ts'
import type { ResultsBeside, WrittenRejects } from '../domain/rejects.ts'
import { REJECT_COLUMNS } from '../domain/result-columns.ts'
import { words } from '../domain/words.ts'
import { openFile } from '../files/open-file.ts'
import { oneLine } from './cells.ts'
import { toCsvText } from './formats.ts'
import {
  isSamePlace,
  type OutWords,
  outPathsOf,
  realPathOf,
  refuseInput,
  statOf,
  toOutFault,
  tryToWrite,
} from './out.ts'
import { Staged } from './stage.ts'

/** What the file comes from. */
export interface RejectedFile {
  /** The carried columns, as the results name them. */
  readonly columns: readonly string[]
  /** It is results fed back: its rows are to be found again by what the results say, mended or not. */
  readonly fedBack: boolean
  /** Which of the columns names references; null: none does. */
  readonly referencePlace: number | null
  /** Stands before every reference of the rows, and will again when the mended file is handed in. */
  readonly runKey: string | null
  /** As its own cells are parted: a spreadsheet that opened the one opens the other. */
  readonly delimiter: string
  readonly rejects: Pages<Reject>
}

/** A structural fault: there are no rows that could be told apart. */
export type WholeFault = Pick<RowFault, 'column' | 'problem' | 'remedy'> & { readonly line: number | null }

/**
 * Where rejects may be written; faults with `usage` before anything else happens where they may not: over the input, over
 * the results, over anything that is no earlier file of rejects. A file is put there and removed for the test.
 */
export async function checkRejects(named: string, inputPath: string, results: ResultsBeside | null): Promise<string> {
  // A rehearsal must not overwrite real rejects that are being corrected.
  const path = results?.sandbox === true ? (await outPathsOf(named, true)).path : await realPathOf(named, WORDS)
  await refuseInput(path, inputPath, 'rejects')
  // Found out only after everything was sent, it would leave the run without any results.
  if (results !== null && (await takenBy(results)).some((taken) => isSamePlace(taken, path)))
    throw new Fault(
      'usage',
      words`${path} is where the results of this run go; nothing was recorded and nothing was sent, name another file with ${REJECTS}.`,
    )
  await refuseForeign(path)
  await tryToWrite(path, WORDS)
  return path
}

async function takenBy({ out, exceptions, report, sandbox }: ResultsBeside): Promise<readonly string[]> {
  const { path, summaryPath } = await outPathsOf(out, sandbox)
  const others = [exceptions, report].filter((other) => other !== null)
  return [
    path,
    summaryPath,
    ...(await Promise.all(others.map(async (other) => (await outPathsOf(other, sandbox)).path))),
  ]
}

/** Row by row, complete or not at all. */
export async function writeRejects(path: string, file: RejectedFile): Promise<WrittenRejects> {
  const { columns, fedBack, referencePlace, delimiter } = file
  const own = fedBack ? FED_BACK_COLUMNS : referencePlace === null ? ['reference'] : []
  const names = [...columns, ...own, ...REJECT_COLUMNS]
  return write(path, names, recordsOf(file), delimiter)
}

/** A file that is no table has no rows: the one line says what is wrong with all of it. */
export async function writeWholeReject(path: string, fault: WholeFault): Promise<WrittenRejects> {
  const { line, column, problem, remedy } = fault
  const record = [line === null ? '' : String(line), '', column ?? '', '', oneLine(problem), oneLine(remedy)]
  return write(path, REJECT_COLUMNS, onePage([record]))
}

const REJECTS = { set: 'rejects', to: null } as const
const WORDS: OutWords = {
  what: 'The rejects',
  safe: 'Nothing was recorded and nothing was sent.',
  setting: 'rejects',
}

/** By these, fed-back results find the recorded row that each line came from. */
const FED_BACK_COLUMNS = ['result_row', 'result_reference', 'result_batch']

/**
 * One line for each row, however much is wrong with it: a row that stood there twice would clash with itself when the
 * mended file is handed in.
 */
async function* recordsOf(file: RejectedFile): Pages<readonly string[]> {
  for await (const page of file.rejects) yield page.map((reject) => toRecord(reject, file))
}

async function* onePage<Item>(items: readonly Item[]): Pages<Item> {
  yield items
}

function toRecord(reject: Reject, file: RejectedFile): readonly string[] {
  const { rowNo, line, faults } = reject
  const named = faults.map(({ column, problem }) => (column === null ? problem : `${column}: ${problem}`))
  return [
    ...toOwnCells(reject, file),
    String(line),
    String(rowNo),
    joined(faults.map(({ column }) => column)),
    faults.map(({ value }) => oneLine(value)).join('; '),
    joined(named),
    joined(faults.map(({ remedy }) => remedy)),
  ]
}

/**
 * The row as it was, and what makes it the same row whenever it comes back. A row without a reference gets the one that it
 * would have had: else it would get another with every change of the file, and could be sent twice.
 */
function toOwnCells(
  { cells, reference, cameFrom }: Reject,
  { columns, fedBack, referencePlace, runKey }: RejectedFile,
): string[] {
  const own = columns.map((_, i) => cells[i] ?? '')
  if (fedBack) return [...own, cameFrom === null ? '' : String(cameFrom.rowNo), reference, cameFrom?.batchId ?? '']
  const bare = runKey !== null && reference.startsWith(`${runKey}/`) ? reference.slice(runKey.length + 1) : reference
  if (referencePlace === null) return [...own, bare]
  return own.map((cell, i) => (i === referencePlace && EMPTY_CELL.test(cell) ? bare : cell))
}

/** As rows are read: quotation marks around nothing are nothing. */
const EMPTY_CELL = /^\s*(?:("+)\s*\1\s*)?$/

function joined(texts: readonly (string | null)[]): string {
  return [...new Set(texts.filter((text) => text !== null).map(oneLine))].join('; ')
}

async function write(
  path: string,
  columns: readonly string[],
  records: Pages<readonly string[]>,
  delimiter = ',',
): Promise<WrittenRejects> {
  const staged = new Staged()
  try {
    const rows = await writeRecords(await staged.open(path), columns, records, delimiter)
    await refuseForeign(path)
    const stands = (await statOf(path)) !== null
    if (rows === 0 && !stands) {
      await staged.discard()
      return { path, rows, kind: 'nothing' }
    }
    await staged.finish()
    return { path, rows, kind: rows === 0 ? 'emptied' : stands ? 'replaced' : 'written' }
  } catch (error) {
    await staged.discard()
    throw toOutFault(error, path, WORDS)
  }
}

async function writeRecords(
  file: FileHandle,
  columns: readonly string[],
  records: Pages<readonly string[]>,
  delimiter: string,
): Promise<number> {
  let rows = 0
  // With a byte order mark, whatever else is asked for: the file is made to be opened in a spreadsheet.
  await file.appendFile(toCsvText([columns.map(guardCell)], true, delimiter))
  for await (const page of records) {
    rows += page.length
    await file.appendFile(
      toCsvText(
        page.map((record) => record.map(guardCell)),
        false,
        delimiter,
      ),
    )
  }
  return rows
}

/** No header of ours is longer. */
const HEAD_BYTES = 1024 * 1024
const HEADER: ParseOptions = { to: 1, bom: true, relax_column_count: true, delimiter: [',', ';', '\t', '|'] }

async function refuseForeign(path: string): Promise<void> {
  const there = await statOf(path)
  if (there === null) return
  const why = there.isFile() ? ((await isRejects(path)) ? null : 'is not a file of rejects') : 'is not a regular file'
  if (why === null) return
  throw new Fault(
    'usage',
    words`${path} exists and ${why}; it will not be written over: move it away, or name another file with ${REJECTS}. Nothing was recorded and nothing was sent.`,
  )
}

/** Rejects are known by their last columns, whatever was mended in the rows. */
async function isRejects(path: string): Promise<boolean> {
  const file = await openFile(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    const [header = []] = parse(buffer.subarray(0, bytesRead), HEADER) as string[][]
    return REJECT_COLUMNS.every((name, i) => header.at(i - REJECT_COLUMNS.length) === name)
  } catch {
    return false
  } finally {
    await file.close()
  }
}
