// What is wrong with the text of a file as CSV, with the line.

import type { CsvError } from 'csv-parse'
import { refuse, type StructuralFault } from '../../domain/problem.ts'
import { LIMITS } from '../limits.ts'

/** The error's own words quote cells, which may hold a card number: only its code is used. */
export function toFault(error: CsvError, line: number): StructuralFault {
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

export function tooLarge(line: number): StructuralFault {
  return refuse(
    {
      problem: `the row that begins in line ${line} is larger than ${LIMITS.recordBytes / 1024} KiB`,
      remedy: 'look for a quotation mark in it that is never closed, for a wrong delimiter, or for missing line ends',
    },
    { line },
  )
}

export function unclear(line: number): StructuralFault {
  return refuse(
    {
      problem: `the quotation marks in the row that begins in line ${line} leave open where a cell ends`,
      remedy:
        'put the whole cell in quotation marks, nothing before or behind them, and write those inside it twice ("")',
    },
    { line },
  )
}

export function tooEmpty(line: number): StructuralFault {
  return refuse(
    {
      problem: `${LIMITS.emptyLines} empty lines follow each other`,
      remedy: 'delete the empty rows in the spreadsheet, or check the export',
    },
    { line },
  )
}

export function cellTooLong({
  line,
  cells,
}: {
  readonly line: number
  readonly cells: readonly string[]
}): StructuralFault {
  const place = cells.findIndex((cell) => cell.length > LIMITS.cellCharacters) + 1
  return refuse(
    {
      problem: `cell ${place} of the row that begins in line ${line} is longer than ${LIMITS.cellCharacters} characters`,
      remedy: 'look for a quotation mark in it that is never closed, or shorten the cell',
    },
    { line },
  )
}
