// The first reading of a file: what kind of file it is, and whether it is whole. A structural fault refuses all of it.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Fault } from '../domain/fault.ts'
import type { Operation } from '../domain/instruction.ts'
import type { Currency } from '../domain/money.ts'
import { type Encoding, readHead, sniffBinary, sniffEncoding, type Weighed, weighUtf8 } from './bytes.ts'
import { findCardData } from './card.ts'
import { fieldOf, type MappedColumn, squeezed } from './columns.ts'
import { DecimalEvidence, type DecimalSign } from './decimal.ts'
import { type Delimiter, findHeaderBelow, sniffLayout } from './delimiter.ts'
import { type Header, isHeaderAgain, namesColumns, parseHeader } from './header.ts'
import { LIMITS } from './limits.ts'
import { lineTakenIn, Oddities, takenInFault, titledFault } from './oddities.ts'
import { isProblem, type Problem, refuse, type StructuralFault } from './problem.ts'
import { unquoted } from './quotes.ts'
import { type CsvRecord, readRecords } from './records.ts'
import { parseRunKey } from './reference.ts'

/** What the command line says about a file. */
export interface ReadingOptions {
  /** For every row; a row that says another one is a fault. */
  readonly operation?: Operation | undefined
  /** For rows that name none. */
  readonly currency?: Currency | undefined
  readonly decimal?: DecimalSign | undefined
  readonly runKey?: string | undefined
  /** What the columns are, where their names do not say it. */
  readonly map?: readonly MappedColumn[] | undefined
  /** IANA name: where moments without an offset are read. */
  readonly timeZone?: string | undefined
  /** Identity of the account, the same for ever: xtl_order_ids are derived from it. */
  readonly accountKey: string
}

export interface Survey {
  readonly kind: 'survey'
  /** Of the bytes of the file, in hex. */
  readonly sha256: string
  readonly encoding: Encoding
  readonly delimiter: Delimiter
  readonly sepLineLength: number
  /** Some cell has quotation marks in its middle. */
  readonly patient: boolean
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
  const { size } = await file.stat()
  if (size > LIMITS.fileBytes) return refuse(TOO_LARGE)
  const head = await readHead(file)
  const binary = sniffBinary(head)
  if (binary !== null) {
    return refuse({
      problem: `the file is ${binary}, not CSV`,
      remedy: 'save the sheet as "CSV UTF-8" and use that file',
    })
  }
  const { encoding, certain } = sniffEncoding(head)
  const first = await surveyAs(file, head, encoding, options)
  const found =
    first !== 'not-text' ? first : certain ? refuse(notDecodable(encoding)) : await surveyAsOld(file, head, options)
  if (found.kind === 'survey' && found.fedBack && runKeyGiven) {
    throw new Fault(
      'usage',
      'The file is results fed back: its references have their run key already. Run it without --run-key. Nothing was recorded, nothing was sent.',
    )
  }
  return found
}

/**
 * As Windows-1252, unless what is wrong shows that it is UTF-8 that was damaged, cut or joined: read as Windows-1252 its
 * references and names would be others than they are.
 */
async function surveyAsOld(
  file: FileHandle,
  head: Uint8Array,
  options: ReadingOptions,
): Promise<Survey | StructuralFault> {
  const weighed = await weighUtf8(file)
  if (weighed.wrong === 0) return refuse(NOT_TEXT)
  const { right, onlyAtEnd, firstWrongLine } = weighed
  if (right > 0 || onlyAtEnd) return refuse(brokenUtf8(weighed), { line: firstWrongLine })
  const found = await surveyAs(file, head, 'windows-1252', options)
  if (found === 'not-text') return refuse(NOT_TEXT, { line: firstWrongLine })
  if (found.kind === 'refused') return found
  return { ...found, warnings: [...found.warnings, asOldWarning(firstWrongLine)] }
}

function brokenUtf8({ right, firstWrongLine }: Weighed): Problem {
  return right === 0
    ? {
        problem: 'the last character of the file is cut through, or the file is not UTF-8',
        remedy: 'the file may be incomplete: export it again as "CSV UTF-8"',
      }
    : {
        problem: `the file is UTF-8 but for some bytes, the first of them in line ${firstWrongLine}`,
        remedy: 'it may be damaged, or joined from files of two encodings: export it again as "CSV UTF-8"',
      }
}

function asOldWarning(line: number): string {
  return `The file is not UTF-8 and was read as Windows-1252: look at the letters with accents in line ${line} before you go on.`
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
const TOO_MANY_HEADERS: Problem = {
  problem: `more than ${LIMITS.headersAgain} lines repeat the column names`,
  remedy: 'check the export: one line with the column names is enough',
}
const NO_ROWS: Problem = { problem: 'the file has column names but no rows', remedy: 'check the export' }
const NOT_TEXT: Problem = {
  problem: 'the file is neither UTF-8 nor Windows-1252 text',
  remedy: 'save it as "CSV UTF-8" and use that file',
}
const TOO_LARGE: Problem = {
  problem: `the file is larger than ${LIMITS.fileBytes / 1024 ** 3} GiB`,
  remedy: 'split it into several files, each with the column names in its first line',
}
const TOO_MANY_ROWS: Problem = {
  problem: `the file has more than ${LIMITS.rows} rows`,
  remedy: 'split it into several files, each with the column names in its first line',
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
  patient = false,
): Promise<Survey | StructuralFault | 'not-text'> {
  const text = new TextDecoder(encoding).decode(head)
  const isKnown = knownWith(options.map ?? [])
  const layout = sniffLayout(text, isKnown)
  if (isProblem(layout)) return refuse(layout, { line: 1 })
  const hash = createHash('sha256')
  const amounts = new DecimalEvidence()
  const oddities = new Oddities()
  let header: Header | null = null
  let rows = 0
  for await (const read of readRecords(file, { ...layout, encoding, patient }, hash)) {
    if (read.kind === 'not-text') return 'not-text'
    if (read.kind === 'odd-quotes') return surveyAs(file, head, encoding, options, true)
    if (read.kind === 'refused') return read
    oddities.see(read)
    if (header === null) {
      const parsed = parseHeader(read.cells, read.line, options)
      if ('kind' in parsed) return titledFault(read, findHeaderBelow(text, read.line, isKnown)) ?? parsed
      header = parsed
      continue
    }
    if (isHeaderAgain(header, read.cells)) {
      if (oddities.seeHeader(read) > LIMITS.headersAgain) return refuse(TOO_MANY_HEADERS, { line: read.line })
      continue
    }
    rows += 1
    if (rows > LIMITS.rows) return refuse(TOO_MANY_ROWS, { line: read.line })
    const takenIn = lineTakenIn(header, read, layout.delimiter)
    if (takenIn !== null) oddities.seeTakenIn(takenIn)
    const fault =
      findStructuralFault(header, read, rows) ?? (takenIn === null ? null : takenInFault(header, read, rows, takenIn))
    if (fault !== null) return fault
    amounts.see(unquoted(read.cells[header.fields.amount ?? -1] ?? ''), read.line)
  }
  if (header === null || rows === 0) return refuse(header === null ? EMPTY : NO_ROWS)
  const decimal = amounts.decide(options.decimal)
  if (decimal !== null && typeof decimal === 'object') return decimal
  const leaning = options.decimal === undefined ? amounts.leaning(decimal) : null
  const warnings = [...(leaning === null ? [] : [leaning]), ...oddities.warnings()]
  const found = { sha256: hash.digest('hex'), encoding, patient, header, decimal, rows, warnings }
  return { kind: 'survey', ...layout, ...found, fedBack: header.results !== null }
}

function knownWith(map: readonly MappedColumn[]): (column: string) => boolean {
  const said = new Map(map.map(({ column, field }) => [squeezed(column), field]))
  return (column) => (said.get(squeezed(column)) ?? fieldOf(column) ?? null) !== null
}

/** What makes a record no row of its file. Asked again in the second reading. */
export function findStructuralFault(header: Header, record: CsvRecord, rowNo: number): StructuralFault | null {
  const at = { rowNo, line: record.line }
  const { length } = record.cells
  const wanted = header.written.length
  if (namesColumns(header, record.cells)) return refuse(OTHER_NAMES, at)
  if (length === wanted) return findCardData(header, record, rowNo)
  return refuse(
    {
      problem: `the row has ${length} ${length === 1 ? 'cell' : 'cells'} and the header ${wanted}`,
      remedy:
        length === 1 && /[;,\t|]/.test(record.cells[0] ?? '')
          ? 'the row seems to be parted by another character than the header: use one for the whole file'
          : 'look for a delimiter inside a cell that is not in quotation marks, a cell that is missing, or a missing line end',
    },
    at,
  )
}

const OTHER_NAMES: Problem = {
  problem:
    'the row names columns again, and not as the first line does: two different files seem to be pasted together',
  remedy: 'run them as two files, each with its own column names in the first line',
}
