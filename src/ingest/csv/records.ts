// Text → records: csv-parse with its traps covered, and line numbers that stay true.

import type { Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { setImmediate as turnOfOthers } from 'node:timers/promises'
import { CsvError, type Options } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import type { StructuralFault } from '../../domain/problem.ts'
import { LIMITS } from '../limits.ts'
import type { CellKind } from '../workbook/cell.ts'
import { type Encoding, NotText, readText } from './bytes.ts'
import type { Layout } from './delimiter.ts'
import { cellTooLong, toFault, tooEmpty, tooLarge, unclear } from './faults.ts'
import { LineTooLong, QuickParser } from './quick-parser.ts'
import { isUnclear } from './quotes.ts'

export interface CsvRecord {
  readonly kind: 'record'
  /** Where the record begins, from 1, in the lines of the file. */
  readonly line: number
  readonly cells: readonly string[]
  /** The whole line was one cell in quotation marks, and stands here without them. */
  readonly wrapped?: true
  /** Of each cell, where a workbook says so; without them all is text. */
  readonly kinds?: readonly CellKind[]
  /** Beside the number of each cell, as a workbook shows it. */
  readonly marks?: readonly (readonly string[])[]
}

/** The text turned out not to be of the encoding it was read in. */
interface NotTextFound {
  readonly kind: 'not-text'
}

/** Quotation marks stand where RFC 4180 has none; the file is to be read again with patience. */
interface OddQuotesFound {
  readonly kind: 'odd-quotes'
}

/** `patient`: with quotation marks in the middle of cells, at the price of half the speed. */
export interface RecordLayout extends Layout {
  readonly encoding: Encoding
  readonly patient: boolean
}

type Read = CsvRecord | StructuralFault

/**
 * Every record that is not empty, the header first, as many at a time as are read together; a fault, where there is one, is the last
 * thing that comes. The hash holds all bytes of the file once the records have come to their end without a fault.
 */
export async function* readRecords(
  file: FileHandle,
  layout: RecordLayout,
  hash: Hash,
): AsyncGenerator<readonly (Read | NotTextFound | OddQuotesFound)[]> {
  const reading = new TextReading(layout)
  try {
    for await (const piece of inTurns(
      inPieces(withoutStart(readText(file, layout.encoding, hash), layout.skippedCharacters)),
    )) {
      const found = reading.read(piece)
      if (found.length > 0) yield found
      if (found.at(-1)?.kind === 'refused') return
    }
    const rest = reading.end()
    if (rest.length > 0) yield rest
  } catch (error) {
    if (error instanceof NotText) yield [{ kind: 'not-text' }]
    else if (error instanceof LineTooLong) yield [...reading.taken(), tooLarge(error.line)]
    else if (error instanceof CsvError)
      yield [...reading.taken(), isOddQuotes(error) ? { kind: 'odd-quotes' } : reading.fault(error)]
    else throw error
  }
}

/**
 * Text up to its first quotation mark needs no parser: a record is a line, and a cell is what stands between two delimiters. From there
 * on it is csv-parse that reads.
 *
 * Lines are counted here and not by csv-parse, whose `info.lines` is where a record ends and counts a quoted CRLF twice.
 * For the same reason it hands over empty records and wrong widths: it skips and checks in an order that loses lines.
 * Its relaxed reading of quotation marks is taken only where `isUnclear` finds that no cell can end elsewhere; that needs
 * the text of each record, which costs as much as all the rest.
 */
class TextReading {
  readonly #layout: RecordLayout
  #parser: QuickParser | null = null
  /** Of a line that is not complete. */
  #rest = ''
  #nextLine: number
  #emptyLines = 0
  #found: Read[] = []

  constructor(layout: RecordLayout) {
    this.#layout = layout
    this.#nextLine = layout.firstLine
  }

  /** The records that end in this piece, up to a fault. Throws what csv-parse finds wrong, and LineTooLong. */
  read(piece: string): readonly Read[] {
    if (this.#parser !== null || piece.includes('"')) this.#parse(piece)
    else this.#part(piece)
    return this.taken()
  }

  end(): readonly Read[] {
    if (this.#parser !== null) this.#parser.end()
    else if (this.#rest !== '') this.#seeLine(this.#rest.endsWith('\r') ? this.#rest.slice(0, -1) : this.#rest)
    return this.taken()
  }

  /** What was found and not handed over yet. */
  taken(): readonly Read[] {
    const found = this.#found
    this.#found = []
    const fault = found.findIndex(({ kind }) => kind === 'refused')
    return fault === -1 ? found : found.slice(0, fault + 1)
  }

  fault(error: CsvError): StructuralFault {
    return toFault(error, this.#nextLine)
  }

  #part(piece: string): void {
    const text = this.#rest + piece
    // The line feed of a last carriage return may come with the next piece.
    const end = Math.max(text.lastIndexOf('\n'), text.slice(0, -1).lastIndexOf('\r')) + 1
    this.#rest = text.slice(end)
    const lines = linesOf(text.slice(0, end))
    for (let i = 0; i < lines.length - 1; i++) this.#seeLine(lines[i] as string)
    if (this.#rest.length > LIMITS.recordBytes) throw new LineTooLong(this.#nextLine)
  }

  #seeLine(line: string): void {
    if (line.length > LIMITS.recordBytes) throw new LineTooLong(this.#nextLine)
    const cells = line.split(this.#layout.delimiter)
    if (mayBeTooLarge(line) && isTooLarge(cells)) throw new LineTooLong(this.#nextLine)
    this.#see(cells, null)
  }

  #parse(piece: string): void {
    this.#parser ??= new QuickParser(this.#parserOptions(), this.#nextLine)
    const text = this.#rest + piece
    this.#rest = ''
    this.#parser.read(text)
  }

  #parserOptions(): Options {
    const { patient } = this.#layout
    return {
      ...syntaxOf(this.#layout),
      max_record_size: LIMITS.recordBytes,
      raw: patient,
      on_record: patient
        ? ({ raw, record }: { raw: string; record: string[] }) => this.#see(record, raw)
        : (cells: string[]) => this.#see(cells, null),
    } as unknown as Options
  }

  #see(cells: string[], raw: string | null): null {
    const found = this.#toRecord(cells, raw)
    if (found !== null) this.#found.push(found)
    return null
  }

  #toRecord(cells: string[], raw: string | null): Read | null {
    const line = this.#nextLine
    this.#nextLine += 1 + (this.#parser === null ? 0 : lineBreaksIn(cells))
    if (cells.every(isEmpty)) {
      this.#emptyLines += 1
      return this.#emptyLines > LIMITS.emptyLines ? tooEmpty(line) : null
    }
    this.#emptyLines = 0
    if (raw !== null && isUnclear(raw, this.#layout.delimiter)) return unclear(line)
    const record = unwrapped({ kind: 'record', line, cells }, this.#layout)
    return record.cells.some((cell) => cell.length > LIMITS.cellCharacters) ? cellTooLong(record) : record
  }
}

/** With nothing behind the last line end. */
function linesOf(text: string): string[] {
  const plain = text.includes('\r') ? text.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : text
  return plain.split('\n')
}

const BYTES_OF_CHARACTER_MOST = 3

function mayBeTooLarge(line: string): boolean {
  return line.length * BYTES_OF_CHARACTER_MOST > LIMITS.recordBytes
}

/** As csv-parse counts: characters of the cells before, bytes of the one that is read. */
function isTooLarge(cells: readonly string[]): boolean {
  let before = 0
  return cells.some((cell) => {
    const isBeyond = before + Buffer.byteLength(cell) > LIMITS.recordBytes
    before += cell.length
    return isBeyond
  })
}

function syntaxOf({ delimiter, patient }: RecordLayout): Options {
  return {
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: patient,
  }
}

function isOddQuotes({ code }: CsvError): boolean {
  return code === 'INVALID_OPENING_QUOTE' || code === 'CSV_INVALID_CLOSING_QUOTE'
}

/** A spreadsheet that held each line in its first column wrote it out as one cell in quotation marks. */
function unwrapped(record: CsvRecord, layout: RecordLayout): CsvRecord {
  const [line] = record.cells
  // One cell that holds the delimiter was in quotation marks, or it would be several.
  if (record.cells.length !== 1 || line === undefined || !line.includes(layout.delimiter)) return record
  if (isUnclear(line, layout.delimiter)) return record
  try {
    const inner = parse(line, syntaxOf({ ...layout, patient: true })) as string[][]
    const [cells] = inner
    return cells === undefined || inner.length !== 1 ? record : { ...record, cells, wrapped: true }
  } catch (error) {
    if (error instanceof CsvError) return record
    throw error
  }
}

/** As much of the worst text as is parsed in some 20 ms. */
const PIECE_CHARACTERS = 4 * 1024

/** A character of two code units stays in one piece: the parser takes each piece for whole characters. */
async function* inPieces(text: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const chunk of text) {
    for (let at = 0, end = 0; at < chunk.length; at = end) {
      end = at + PIECE_CHARACTERS
      if (isHighSurrogate(chunk.charCodeAt(end - 1))) end += 1
      yield chunk.slice(at, end)
    }
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}

const TURN_MS = 10

/** A worker may read a file while it sends: whatever an item has cost, everything else soon has its turn. */
async function* inTurns<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  let sinceMs = performance.now()
  for await (const item of items) {
    yield item
    if (performance.now() - sinceMs < TURN_MS) continue
    await turnOfOthers()
    sinceMs = performance.now()
  }
}

/** Records that come one by one. */
export async function* inGroups<T>(records: AsyncIterable<T>): AsyncGenerator<readonly T[]> {
  for await (const record of records) yield [record]
}

export async function* oneByOne<T>(groups: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const group of groups) yield* group
}

/** The mark that ends a file of DOS is nothing either. */
function isEmpty(cell: string): boolean {
  return cell === '' || cell.trim() === '' || cell.trim() === '\x1a'
}

function lineBreaksIn(cells: readonly string[]): number {
  let count = 0
  for (const cell of cells) {
    if (cell.includes('\n') || cell.includes('\r')) count += cell.match(/\r\n|\r|\n/g)?.length ?? 0
  }
  return count
}

async function* withoutStart(text: AsyncIterable<string>, length: number): AsyncGenerator<string> {
  let left = length
  for await (const chunk of text) {
    const kept = chunk.slice(left)
    left = Math.max(0, left - chunk.length)
    if (kept !== '') yield kept
  }
}
