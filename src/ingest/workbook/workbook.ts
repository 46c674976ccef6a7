// An Excel workbook (.xlsx): which of its sheets holds the rows, and those rows as records. What spreadsheet programs
// write is read; what they do not write is refused with a sentence.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Fault } from '../../domain/fault.ts'
import { refuse, type StructuralFault, shown } from '../../domain/problem.ts'
import { words } from '../../domain/words.ts'
import { readAll } from '../csv/bytes.ts'
import { type IsKnown, lineOfNames, TITLE_LINES_MOST } from '../csv/delimiter.ts'
import type { CsvRecord } from '../csv/records.ts'
import { LIMITS } from '../limits.ts'
import { readBook, type Sheet } from './book.ts'
import { type Comment, readComments } from './comments.ts'
import { readMerges } from './merges.ts'
import { type Book, readCells, readSheet, sheetStart, type Unseen } from './sheet.ts'
import { type Entry, inflate, inflationBudget, readDirectory, Unreadable } from './zip.ts'

/** The first cell of the sheet that results carry beside their rows. */
const SUMMARY_MARK = 'summary_batch'

export interface Workbook {
  readonly kind: 'workbook'
  readonly sha256: string
  /** The sheet that the records come from. */
  readonly sheet: string
  /** A person who opens the workbook does not see that sheet. */
  readonly isHidden: boolean
  /** The first row that is read. */
  readonly firstLine: number
  readonly unseen: Readonly<Unseen>
  /** What is written beside cells, as far as it is to be kept. */
  comments(keeps: (comment: Comment) => boolean): Promise<readonly Comment[]>
  /** The header first; a fault, where there is one, is the last thing that comes. */
  records(): AsyncGenerator<CsvRecord | StructuralFault>
  /** The row below this one that names columns; null: none does. */
  findHeaderBelow(firstLine: number, isKnown: IsKnown): Promise<number | null>
  /** The first row above this one that fits; null: none does. */
  findAbove(line: number, fits: (cells: readonly string[]) => boolean): Promise<number | null>
}

/** Whether the bytes begin as a zip archive does, whatever the name of the file. */
export function startsAsZip(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(0, 4)).toString('latin1') === 'PK\x03\x04'
}

/**
 * All bytes are read and hashed before any of them is understood, so that every record is of the bytes that the hash
 * names. A sheet that is named and not there is a fault of usage; whatever is wrong with the file is an answer.
 */
export async function openWorkbook(
  file: FileHandle,
  wanted: string | undefined,
  firstLine = 1,
): Promise<Workbook | StructuralFault> {
  const bytes = await readAll(file, LIMITS.workbookBytes)
  if (bytes === null) {
    return refuse({
      problem: `the file is larger than ${LIMITS.workbookBytes / 1024 / 1024} MiB, which is more than is read of a workbook`,
      remedy: 'split it, or save the sheet as "CSV UTF-8": CSV may have any size',
    })
  }
  try {
    const { book, sheets, parts } = await readBook(bytes)
    const sheet = await chooseSheet(book, sheets, wanted)
    if ('kind' in sheet) return sheet
    const { name, isHidden, part } = sheet
    if (part === null) return refuse(notThere(name))
    const merges = await readMerges(bytes, part, inflationBudget(bytes.length))
    const unseen: Unseen = { rows: 0, cells: 0, columns: [] }
    return {
      kind: 'workbook',
      sha256: createHash('sha256').update(bytes).digest('hex'),
      sheet: name,
      isHidden,
      firstLine,
      unseen,
      comments: (keeps) => readComments(bytes, parts, part, keeps),
      records: () => faultsAsAnswers(readSheet(book, part, { merges, unseen, firstLine })),
      findHeaderBelow: (firstLine, isKnown) => findHeaderBelow(book, part, firstLine, isKnown),
      findAbove: async (line, fits) => {
        for await (const row of readCells(book, part)) {
          if (row.line >= line) break
          if (fits(Array.from(row.cells, (cell) => cell?.text ?? ''))) return row.line
        }
        return null
      },
    }
  } catch (error) {
    return toRefusal(error)
  }
}

/** Only for a sentence: a sheet that cannot be read so far has none. */
async function findHeaderBelow(book: Book, part: Entry, firstLine: number, isKnown: IsKnown): Promise<number | null> {
  const known = Array.from({ length: TITLE_LINES_MOST }, () => 0)
  try {
    for await (const { line, cells } of readCells(book, part)) {
      if (line > TITLE_LINES_MOST) break
      known[line - 1] = cells.filter(({ text }) => isKnown(text)).length
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
  }
  return lineOfNames(known, firstLine)
}

/** All of a workbook that was read before, and not only the sheet with the rows. Throws Unreadable. */
export interface WholeWorkbook {
  readonly entries: Iterable<Entry>
  inflate(entry: Entry): AsyncGenerator<Buffer>
  /** Every text that cells may name, whether one does or not. */
  readonly shared: readonly string[]
  /** The rows of every sheet but this one. */
  rowsBeside(sheet: string): ReturnType<typeof readCells>
}

/** null: it is larger than is read. */
export async function openWhole(file: FileHandle): Promise<WholeWorkbook | null> {
  const bytes = await readAll(file, LIMITS.workbookBytes)
  if (bytes === null) return null
  const { book, sheets } = await readBook(bytes)
  const budget = inflationBudget(bytes.length)
  return {
    entries: readDirectory(bytes).values(),
    inflate: (entry) => inflate(bytes, entry, budget),
    shared: book.shared,
    async *rowsBeside(read) {
      for (const { name, part } of sheets) if (name !== read && part !== null) yield* readCells(book, part)
    },
  }
}

/** The first records of the sheet that the rows would be read from; null where the file is no workbook that can be read. */
export async function firstRecords(file: FileHandle, count: number): Promise<readonly (readonly string[])[] | null> {
  const workbook = await openWorkbook(file, undefined)
  if (workbook.kind === 'refused') return null
  const found: (readonly string[])[] = []
  for await (const read of workbook.records()) {
    if (read.kind === 'refused') return null
    if (found.push(read.cells) === count) break
  }
  return found
}

async function* faultsAsAnswers(
  records: AsyncGenerator<CsvRecord | StructuralFault>,
): AsyncGenerator<CsvRecord | StructuralFault> {
  try {
    yield* records
  } catch (error) {
    yield toRefusal(error)
  }
}

function toRefusal(error: unknown): StructuralFault {
  if (error instanceof Unreadable) return refuse({ problem: error.problem, remedy: error.remedy })
  throw error
}

function notThere(name: string) {
  return {
    problem: `the sheet "${shown(name)}" is listed in the workbook and missing from the file`,
    remedy: 'fetch or save it again; if it opens in a spreadsheet program, check that the sheet is complete there',
  }
}

/** The only sheet with anything in it, or the one that is named. The summary beside results is not asked about. */
async function chooseSheet(
  book: Book,
  sheets: readonly Sheet[],
  wanted: string | undefined,
): Promise<Sheet | StructuralFault> {
  const names = (some: readonly Sheet[]) => some.map(sheetText).join(', ')
  if (wanted !== undefined) {
    const found = sheets.find(({ name }) => name.normalize('NFC') === wanted.normalize('NFC'))
    if (found !== undefined) return found
    throw new Fault(
      'usage',
      words`${{ set: 'sheet', to: null }} ${shown(wanted)}: the workbook has no such sheet; it has ${names(sheets)}. Nothing was recorded and nothing was sent.`,
    )
  }
  const filled: { sheet: Sheet; start: string }[] = []
  for (const sheet of sheets) {
    const start = sheet.part === null ? '' : await sheetStart(book, sheet.part)
    if (start !== null) filled.push({ sheet, start })
  }
  const [first] = filled
  if (first === undefined) {
    return refuse({ problem: 'no sheet of the workbook has anything in it', remedy: 'check the export' })
  }
  if (filled.length === 1) return first.sheet
  const own = filled.filter(({ start }) => start !== SUMMARY_MARK).map(({ sheet }) => sheet)
  if (own.length === 1) return own[0] as Sheet
  return refuse({
    problem: `the workbook has more than one sheet with something in it: ${names(filled.map(({ sheet }) => sheet))}`,
    remedy: words`choose one with ${{ set: 'sheet', to: 'NAME' }}, or remove the others`,
  })
}

function sheetText({ name, isHidden, part }: Sheet): string {
  const quoted = `"${shown(name)}"`
  if (part === null) return `${quoted} (listed, but missing from the file)`
  return isHidden ? `${quoted} (hidden)` : quoted
}
