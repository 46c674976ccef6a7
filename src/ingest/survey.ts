// The first reading of a file: what kind of file it is, and whether it is whole. A structural fault refuses all of it.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Fault } from '../domain/fault.ts'
import type { Operation } from '../domain/instruction.ts'
import type { Currency } from '../domain/money.ts'
import { type Encoding, readHead, sniffBinary, sniffEncoding } from './bytes.ts'
import { findCardData } from './card.ts'
import { DecimalEvidence, type DecimalSign } from './decimal.ts'
import { type Layout, sniffLayout } from './delimiter.ts'
import { type Header, parseHeader } from './header.ts'
import { isProblem, type Problem, refuse, type StructuralFault } from './problem.ts'
import { type CsvRecord, readRecords } from './records.ts'
import { parseRunKey } from './reference.ts'
import { openWorkbook, startsAsZip } from './workbook.ts'

/** What the command line says about a file. */
export interface ReadingOptions {
  /** For every row; a row that says another one is a fault. */
  readonly operation?: Operation | undefined
  /** For rows that name none. */
  readonly currency?: Currency | undefined
  readonly decimal?: DecimalSign | undefined
  readonly runKey?: string | undefined
  /** Of a workbook, where it has more than one with something in it. */
  readonly sheet?: string | undefined
  /** Identity of the account, the same for ever: xtl_order_ids are derived from it. */
  readonly accountKey: string
}

export type Survey = Surveyed & (CsvPlace | WorkbookPlace)

interface CsvPlace extends Layout {
  readonly encoding: Encoding
  readonly sheet: null
}

interface WorkbookPlace {
  readonly encoding: null
  readonly delimiter: null
  readonly sheet: string
}

interface Surveyed {
  readonly kind: 'survey'
  /** Of the bytes of the file, in hex. */
  readonly sha256: string
  readonly header: Header
  /** null: no amount of the file shows one. */
  readonly decimal: DecimalSign | null
  readonly rows: number
  /** The file is results of this program: references come from there, and it may send nothing by itself. */
  readonly fedBack: boolean
  readonly warnings: readonly string[]
}

/** A wrong run key is a fault of usage; whatever is wrong with the file is an answer. */
export async function surveyFile(file: FileHandle, options: ReadingOptions): Promise<Survey | StructuralFault> {
  const runKeyGiven = runKeyOf(options) !== null
  const head = await readHead(file)
  const found = startsAsZip(head) ? await surveyWorkbook(file, options) : await surveyCsv(file, head, options)
  if (found.kind === 'survey' && found.fedBack && runKeyGiven) {
    throw new Fault(
      'usage',
      'The file is results fed back: its references have their run key already. Run it without --run-key. Nothing was recorded, nothing was sent.',
    )
  }
  return found
}

async function surveyWorkbook(file: FileHandle, options: ReadingOptions): Promise<Survey | StructuralFault> {
  const workbook = await openWorkbook(file, options.sheet)
  if (workbook.kind === 'refused') return workbook
  const found = await surveyRecords(workbook.records(), options)
  if (found === 'not-text' || 'kind' in found) return found === 'not-text' ? refuse(NOT_TEXT) : found
  const { hiddenRows } = workbook.seen
  const hidden =
    hiddenRows === 0 ? [] : [`${hiddenRows} of the rows are hidden in the sheet and are read like any other.`]
  return toSurvey(found, workbook.sha256, { encoding: null, delimiter: null, sheet: workbook.sheet }, hidden)
}

async function surveyCsv(
  file: FileHandle,
  head: Uint8Array,
  options: ReadingOptions,
): Promise<Survey | StructuralFault> {
  if (options.sheet !== undefined) {
    throw new Fault(
      'usage',
      'The file is not an Excel workbook and has no sheets. Run it without --sheet. Nothing was recorded, nothing was sent.',
    )
  }
  const binary = sniffBinary(head)
  if (binary !== null) {
    return refuse({
      problem: `the file is ${binary}, neither CSV nor .xlsx`,
      remedy: 'save the sheet as .xlsx without a password, or as "CSV UTF-8", and use that file',
    })
  }
  const { encoding, certain } = sniffEncoding(head)
  const first = await surveyAs(file, head, encoding, options)
  const found = first === 'not-text' && !certain ? await surveyAs(file, head, 'windows-1252', options) : first
  return found === 'not-text' ? refuse(certain ? notDecodable(encoding) : NOT_TEXT) : found
}

/** The run key as it stands before references; null where none was given. */
export function runKeyOf(options: ReadingOptions): string | null {
  if (options.runKey === undefined) return null
  const key = parseRunKey(options.runKey)
  if (isProblem(key)) throw new Fault('usage', `The run key ${key.problem}: ${key.remedy}.`)
  return key
}

const EMPTY: Problem = {
  problem: 'the file is empty',
  remedy: 'check the export; the first line must name the columns',
}
const NO_ROWS: Problem = { problem: 'the file has column names but no rows', remedy: 'check the export' }
const NOT_TEXT: Problem = {
  problem: 'the file is neither UTF-8 nor Windows-1252 text',
  remedy: 'save it as "CSV UTF-8" and use that file',
}
const NOT_A_DELIMITER: Problem = {
  problem: 'the sep= line names a character that cannot part cells here',
  remedy: 'use a comma, a semicolon, a tab or |',
}

function notDecodable(encoding: Encoding): Problem {
  return {
    problem: `the file begins as ${encoding.toUpperCase()} but has bytes that are not`,
    remedy: 'the file may be damaged or joined from two: export it again as "CSV UTF-8"',
  }
}

async function surveyAs(
  file: FileHandle,
  head: Uint8Array,
  encoding: Encoding,
  options: ReadingOptions,
): Promise<Survey | StructuralFault | 'not-text'> {
  const layout = sniffLayout(new TextDecoder(encoding).decode(head))
  if (layout === null) return refuse(NOT_A_DELIMITER, { line: 1 })
  const hash = createHash('sha256')
  const found = await surveyRecords(readRecords(file, { ...layout, encoding }, hash), options)
  if (found === 'not-text' || 'kind' in found) return found
  const warnings =
    encoding === 'windows-1252'
      ? ['The file is not UTF-8 and was read as Windows-1252: look at a name with an accent before you go on.']
      : []
  return toSurvey(found, hash.digest('hex'), { ...layout, encoding, sheet: null }, warnings)
}

/** What the records of a file say, wherever they come from. */
interface RecordsFound {
  readonly header: Header
  readonly decimal: DecimalSign | null
  readonly rows: number
  readonly leaning: string | null
}

async function surveyRecords(
  records: AsyncIterable<CsvRecord | StructuralFault | { readonly kind: 'not-text' }>,
  options: ReadingOptions,
): Promise<RecordsFound | StructuralFault | 'not-text'> {
  const amounts = new DecimalEvidence()
  let header: Header | null = null
  let rows = 0
  for await (const read of records) {
    if (read.kind === 'not-text') return 'not-text'
    if (read.kind === 'refused') return read
    if (header === null) {
      const parsed = parseHeader(read.cells, read.line, options)
      if ('kind' in parsed) return parsed
      header = parsed
      continue
    }
    rows += 1
    const fault = findStructuralFault(header, read, rows)
    if (fault !== null) return fault
    const place = header.fields.amount ?? -1
    // A number of a workbook has no sign that was written.
    if (read.kinds?.[place] !== 'number') amounts.see(read.cells[place] ?? '', read.line)
  }
  if (header === null || rows === 0) return refuse(header === null ? EMPTY : NO_ROWS)
  const decimal = amounts.decide(options.decimal)
  if (decimal !== null && typeof decimal === 'object') return decimal
  const leaning = options.decimal === undefined ? amounts.leaning(decimal) : null
  return { header, decimal, rows, leaning }
}

/** What makes a record no row of its file. Asked again in the second reading. */
export function findStructuralFault(header: Header, record: CsvRecord, rowNo: number): StructuralFault | null {
  const found = record.cells.length
  const wanted = header.written.length
  if (found === wanted) return findCardData(header, record, rowNo)
  return refuse(
    {
      problem: `the row has ${found} cells and the header ${wanted}`,
      remedy: 'look for a delimiter inside a cell that is not in quotation marks, or a cell that is missing',
    },
    { rowNo, line: record.line },
  )
}

function toSurvey<Place>(
  { header, decimal, rows, leaning }: RecordsFound,
  sha256: string,
  place: Place,
  warnings: readonly string[],
): Surveyed & Place {
  const all = leaning === null ? warnings : [leaning, ...warnings]
  const fedBack = header.results !== null
  return { kind: 'survey', ...place, sha256, header, decimal, rows, fedBack, warnings: all }
}
