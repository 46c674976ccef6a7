// Text → records: csv-parse with its traps covered, and line numbers that stay true.

import type { Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { pipeline, Readable, type TransformCallback } from 'node:stream'
import { setImmediate as turnOfOthers } from 'node:timers/promises'
import { CsvError, type Options, Parser } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import { refuse, type StructuralFault } from '../../domain/problem.ts'
import { LIMITS } from '../limits.ts'
import type { CellKind } from '../workbook/cell.ts'
import { type Encoding, NotText, readText } from './bytes.ts'
import type { Layout } from './delimiter.ts'
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

/** csv-parse makes an error for every line of another width, an empty one too, and throws it away; its stack is most of the cost. */
class QuickParser extends Parser {
  override _transform(chunk: unknown, encoding: BufferEncoding, done: TransformCallback): void {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    try {
      super._transform(chunk, encoding, done)
    } finally {
      Error.stackTraceLimit = limit
    }
  }
}

/** A line between two line breaks, quoted or not, that is longer than any record may be. */
class LineTooLong extends Error {
  readonly line: number

  constructor(line: number) {
    super(`line ${line}`)
    this.line = line
  }
}

/**
 * Every record that is not empty, the header first; a fault, where there is one, is the last thing that comes. The hash
 * holds all bytes of the file once the records have come to their end without a fault.
 */
export async function* readRecords(
  file: FileHandle,
  layout: RecordLayout,
  hash: Hash,
): AsyncGenerator<CsvRecord | StructuralFault | NotTextFound | OddQuotesFound> {
  const lines = { next: layout.firstLine }
  const parser = new QuickParser(parserOptions(layout, lines))
  const whole = withoutStart(readText(file, layout.encoding, hash), layout.skippedCharacters)
  const text = inTurns(withinLines(inPieces(whole), lines.next))
  // Errors reach the loop below through the parser; the callback only keeps them from being thrown uncaught.
  pipeline(Readable.from(text, { highWaterMark: 1 }), parser, () => undefined)
  try {
    for await (const read of inTurns<CsvRecord | StructuralFault>(parser)) {
      yield read
      if (read.kind === 'refused') return
    }
  } catch (error) {
    if (error instanceof NotText) yield { kind: 'not-text' }
    else if (error instanceof LineTooLong) yield tooLarge(error.line)
    else if (error instanceof CsvError) yield isOddQuotes(error) ? { kind: 'odd-quotes' } : toFault(error, lines.next)
    else throw error
  }
}

/**
 * Lines are counted here and not by csv-parse, whose `info.lines` is where a record ends and counts a quoted CRLF twice.
 * For the same reason it hands over empty records and wrong widths: it skips and checks in an order that loses lines.
 * Its relaxed reading of quotation marks is taken only where `isUnclear` finds that no cell can end elsewhere; that needs
 * the text of each record, which costs as much as all the rest.
 */
function parserOptions(layout: RecordLayout, lines: { next: number }): Options {
  let emptyLines = 0
  const toRecord = (cells: string[], raw: string | null) => {
    const line = lines.next
    lines.next += 1 + lineBreaksIn(cells)
    if (cells.every(isEmpty)) return ++emptyLines > LIMITS.emptyLines ? tooEmpty(line) : null
    emptyLines = 0
    if (raw !== null && isUnclear(raw, layout.delimiter)) return unclear(line)
    const record = unwrapped({ kind: 'record', line, cells }, layout)
    return record.cells.some((cell) => cell.length > LIMITS.cellCharacters) ? cellTooLong(record) : record
  }
  return {
    ...syntaxOf(layout),
    max_record_size: LIMITS.recordBytes,
    raw: layout.patient,
    on_record: layout.patient
      ? ({ raw, record }: { raw: string; record: string[] }) => toRecord(record, raw)
      : (cells: string[]) => toRecord(cells, null),
  } as unknown as Options
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

/** csv-parse counts what stands in the cells only: a file of nothing but delimiters would fill the memory. */
async function* withinLines(text: AsyncIterable<string>, firstLine: number): AsyncGenerator<string> {
  let line = firstLine
  let length = 0
  let endedInCr = false
  for await (const chunk of text) {
    let begin = 0
    for (const { index, 0: lineEnd } of chunk.matchAll(/\r\n|\n|\r/g)) {
      if (length + index - begin > LIMITS.recordBytes) throw new LineTooLong(line)
      length = 0
      begin = index + lineEnd.length
      if (!(index === 0 && endedInCr && lineEnd === '\n')) line += 1
    }
    endedInCr = chunk.endsWith('\r')
    length += chunk.length - begin
    if (length > LIMITS.recordBytes) throw new LineTooLong(line)
    yield chunk
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

/** The error's own words quote cells, which may hold a card number: only its code is used. */
function toFault(error: CsvError, line: number): StructuralFault {
  const where = `the row that begins in line ${line}`
  switch (error.code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return refuse(
        {
          problem: `a quotation mark is opened in ${where} and never closed`,
          remedy: 'close it, or write a quotation mark that belongs to the text twice ("") inside a quoted cell',
        },
        { line },
      )
    case 'CSV_MAX_RECORD_SIZE':
      return tooLarge(line)
    default:
      return refuse({ problem: `${where} is not CSV (${error.code})`, remedy: 'export the file again' }, { line })
  }
}

function tooLarge(line: number): StructuralFault {
  return refuse(
    {
      problem: `the row that begins in line ${line} is larger than ${LIMITS.recordBytes / 1024} KiB`,
      remedy: 'look for a quotation mark in it that is never closed, for a wrong delimiter, or for missing line ends',
    },
    { line },
  )
}

function unclear(line: number): StructuralFault {
  return refuse(
    {
      problem: `the quotation marks in the row that begins in line ${line} leave open where a cell ends`,
      remedy:
        'put the whole cell in quotation marks, nothing before or behind them, and write those inside it twice ("")',
    },
    { line },
  )
}

function tooEmpty(line: number): StructuralFault {
  return refuse(
    {
      problem: `${LIMITS.emptyLines} empty lines follow each other`,
      remedy: 'delete the empty rows in the spreadsheet, or check the export',
    },
    { line },
  )
}

function cellTooLong({ line, cells }: CsvRecord): StructuralFault {
  const place = cells.findIndex((cell) => cell.length > LIMITS.cellCharacters) + 1
  return refuse(
    {
      problem: `cell ${place} of the row that begins in line ${line} is longer than ${LIMITS.cellCharacters} characters`,
      remedy: 'look for a quotation mark in it that is never closed, or shorten the cell',
    },
    { line },
  )
}
