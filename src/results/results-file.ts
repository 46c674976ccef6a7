// A file of results in the form that its name asks for. Each form takes the same cells, row after row, and holds none.

import type { FileHandle } from 'node:fs/promises'
import { unguardCell } from '../domain/formula-guard.ts'
import { type Cells, type Columns, type Format, type ResultsFile, toCsvRecords, toCsvText } from './formats.ts'
import { openWorkbookFile } from './workbook-file.ts'

export async function openResultsFile(
  format: Format,
  file: FileHandle,
  columns: Columns,
  bom: boolean,
): Promise<ResultsFile> {
  switch (format) {
    case 'csv':
      return openCsvFile(file, columns, bom)
    case 'jsonl':
      return openJsonLines(file, columns)
    case 'xlsx':
      return openWorkbookFile(file, columns)
  }
}

async function openCsvFile(file: FileHandle, columns: Columns, bom: boolean): Promise<ResultsFile> {
  await file.appendFile(toCsvText([columns.names], bom))
  return {
    add: (rows) => file.appendFile(toCsvRecords(rows)),
    finish: async () => {},
  }
}

/** One object a row: the input's cells and the results, each under the name of its column. A program reads it: the guard is taken away. */
function openJsonLines(file: FileHandle, { names, carried }: Columns): ResultsFile {
  const input = uniqueKeys(names.slice(0, carried).map(unguardCell))
  const result = names.slice(carried)
  const toLine = (cells: Cells) =>
    `{"input":${toObject(input, cells)},"result":${toObject(result, cells.slice(carried))}}\n`
  return {
    add: (rows) => file.appendFile(rows.map(toLine).join('')),
    finish: async () => {},
  }
}

/** Written member by member: an object of the language would put names that are numbers first. */
function toObject(keys: Cells, cells: Cells): string {
  return `{${keys.map((key, i) => `${JSON.stringify(key)}:${JSON.stringify(unguardCell(cells[i] ?? ''))}`).join(',')}}`
}

/** A column without a name, or with one that is taken, goes by its place: `#3`. No cell is lost to another. */
function uniqueKeys(names: Cells): Cells {
  const taken = new Set(names)
  const used = new Set<string>()
  return names.map((name, i) => {
    let key = name
    if (name.trim() === '' || used.has(name)) {
      key = `#${i + 1}`
      while (taken.has(key) || used.has(key)) key = `#${key}`
    }
    used.add(key)
    return key
  })
}
