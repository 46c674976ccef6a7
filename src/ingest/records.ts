// Text → records: csv-parse with its traps covered, and line numbers that stay true.

import type { Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { CsvError, type Options, Parser } from 'csv-parse'
import { type Encoding, NotText, readText } from './bytes.ts'
import type { CellKind } from './cell.ts'
import type { Layout } from './delimiter.ts'
import { refuse, type StructuralFault } from './problem.ts'

export interface CsvRecord {
  readonly kind: 'record'
  /** Where the record begins, from 1, in the lines of the file. */
  readonly line: number
  readonly cells: readonly string[]
  /** Of each cell, where a workbook says so; without them all is text. */
  readonly kinds?: readonly CellKind[]
}

/** The text turned out not to be of the encoding it was read in. */
interface NotTextFound {
  readonly kind: 'not-text'
}

const MAX_RECORD_BYTES = 64 * 1024

/**
 * Every record that is not empty, the header first; a fault, where there is one, is the last thing that comes. The hash
 * holds all bytes of the file once the records have come to their end without a fault.
 */
export async function* readRecords(
  file: FileHandle,
  layout: Layout & { readonly encoding: Encoding },
  hash: Hash,
): AsyncGenerator<CsvRecord | StructuralFault | NotTextFound> {
  const lines = { next: layout.sepLineLength === 0 ? 1 : 2 }
  const parser = new Parser(parserOptions(layout, lines))
  const text = withoutStart(readText(file, layout.encoding, hash), layout.sepLineLength)
  // Errors reach the loop below through the parser; the callback only keeps them from being thrown at nobody.
  pipeline(Readable.from(text), parser, () => undefined)
  try {
    for await (const record of parser) yield record as CsvRecord
  } catch (error) {
    if (error instanceof NotText) yield { kind: 'not-text' }
    else if (error instanceof CsvError) yield toFault(error, lines.next)
    else throw error
  }
}

/**
 * Lines are counted here and not by csv-parse, whose `info.lines` is where a record ends and counts a quoted CRLF twice.
 * For the same reason it hands over empty records and wrong widths: it skips and checks in an order that loses lines.
 */
function parserOptions(layout: Layout, lines: { next: number }): Options {
  const options: Options<CsvRecord, string[]> = {
    delimiter: layout.delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    max_record_size: MAX_RECORD_BYTES,
    relax_column_count: true,
    on_record: (cells) => {
      const line = lines.next
      lines.next += 1 + lineBreaksIn(cells)
      return cells.every((cell) => cell.trim() === '') ? null : { kind: 'record', line, cells }
    },
  }
  return options as unknown as Options
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
      return refuse(
        {
          problem: `${where} is larger than ${MAX_RECORD_BYTES / 1024} KiB`,
          remedy: 'look for a quotation mark in it that is never closed, or for a wrong delimiter',
        },
        { line },
      )
    case 'INVALID_OPENING_QUOTE':
    case 'CSV_INVALID_CLOSING_QUOTE':
      return refuse(
        {
          problem: `a quotation mark stands in the middle of a cell of ${where}`,
          remedy: 'put the whole cell in quotation marks and write those inside it twice ("")',
        },
        { line },
      )
    default:
      return refuse({ problem: `${where} is not CSV (${error.code})`, remedy: 'export the file again' }, { line })
  }
}
