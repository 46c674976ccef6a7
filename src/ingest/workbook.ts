// An Excel workbook (.xlsx): which of its sheets holds the rows, and those rows as records. What spreadsheet programs
// write is read; what they do not write is refused with a sentence.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Fault } from '../domain/fault.ts'
import { readAll } from './bytes.ts'
import { builtInStyle, formatStyle, type NumberStyle, stricter } from './cell.ts'
import { refuse, type StructuralFault, shown } from './problem.ts'
import type { CsvRecord } from './records.ts'
import { type Book, readCells, readSheet, sheetStart } from './sheet.ts'
import { joined, readXml, unescapeText } from './xml.ts'
import { type Budget, damaged, type Entry, inflate, readDirectory, Unreadable } from './zip.ts'

/** 100,000 rows of 15 columns take about a fifth of it. */
const FILE_BYTES_MOST = 50 * 1024 * 1024
/** Over the sheets and the texts, really inflated: some 20 s of reading. */
const INFLATED_BYTES_MOST = 1024 * 1024 * 1024
/** Of a part that lists sheets, relations or styles: it is held whole. */
const LIST_BYTES_MOST = 16 * 1024 * 1024
/**
 * Every text of the workbook stays in memory while the rows go by. A million texts of 17 characters take half a gigabyte,
 * everything included, and use three quarters of this.
 */
const SHARED_CHARACTERS_MOST = 64 * 1024 * 1024
/** Each is begun to be read to see whether something is in it. */
const SHEETS_MOST = 1_000
/** What a text costs beside its characters. */
const SHARED_OVERHEAD = 32

/** The first cell of the sheet that results carry beside their rows. */
const SUMMARY_MARK = 'summary_batch'

interface Sheet {
  readonly name: string
  readonly part: Entry
}

export interface Workbook {
  readonly kind: 'workbook'
  readonly sha256: string
  /** The sheet that the records come from. */
  readonly sheet: string
  /** Rows that a person does not see, so far. */
  readonly seen: { hiddenRows: number }
  /** The header first; a fault, where there is one, is the last thing that comes. */
  records(): AsyncGenerator<CsvRecord | StructuralFault>
}

/** Whether the bytes begin as a zip archive does, whatever the name of the file. */
export function startsAsZip(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(0, 4)).toString('latin1') === 'PK\x03\x04'
}

/**
 * All bytes are read and hashed before any of them is understood, so that every record is of the bytes that the hash
 * names. A sheet that is named and not there is a fault of usage; whatever is wrong with the file is an answer.
 */
export async function openWorkbook(file: FileHandle, wanted: string | undefined): Promise<Workbook | StructuralFault> {
  const bytes = await readAll(file, FILE_BYTES_MOST)
  if (bytes === null) {
    return refuse({
      problem: `the file is larger than ${FILE_BYTES_MOST / 1024 / 1024} MiB, which is more than is read of a workbook`,
      remedy: 'split it, or save the sheet as "CSV UTF-8": CSV may have any size',
    })
  }
  try {
    const budget = { leftBytes: INFLATED_BYTES_MOST }
    const { book, sheets } = await readBook(bytes, budget)
    const sheet = await chooseSheet(book, sheets, wanted)
    if ('kind' in sheet) return sheet
    const seen = { hiddenRows: 0 }
    return {
      kind: 'workbook',
      sha256: createHash('sha256').update(bytes).digest('hex'),
      sheet: sheet.name,
      seen,
      records: () => faultsAsAnswers(readSheet(book, sheet.part, seen)),
    }
  } catch (error) {
    return toRefusal(error)
  }
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
  const bytes = await readAll(file, FILE_BYTES_MOST)
  if (bytes === null) return null
  const { book, sheets } = await readBook(bytes, { leftBytes: INFLATED_BYTES_MOST })
  const budget = { leftBytes: INFLATED_BYTES_MOST }
  return {
    entries: readDirectory(bytes).values(),
    inflate: (entry) => inflate(bytes, entry, budget),
    shared: book.shared,
    async *rowsBeside(read) {
      for (const { name, part } of sheets) if (name !== read) yield* readCells(book, part)
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

const NOT_WORKBOOKS: ReadonlyArray<readonly [part: string, what: string]> = [
  ['content.xml', 'an OpenDocument spreadsheet (.ods)'],
  ['xl/workbook.bin', 'a binary Excel workbook (.xlsb)'],
  ['word/document.xml', 'a Word document'],
]

async function readBook(bytes: Buffer, budget: Budget): Promise<{ book: Book; sheets: readonly Sheet[] }> {
  const parts = readDirectory(bytes)
  const main = parts.get('xl/workbook.xml')
  if (main === undefined) {
    const what = NOT_WORKBOOKS.find(([part]) => parts.has(part))?.[1] ?? 'a zip archive without a workbook in it'
    throw new Unreadable({
      problem: `the file is ${what}`,
      remedy: 'save the sheet as .xlsx or as "CSV UTF-8" and use that file',
    })
  }
  const lists = { leftBytes: LIST_BYTES_MOST }
  const { named, from1904 } = await readMain(bytes, main, lists)
  const targets = await readTargets(bytes, parts.get('xl/_rels/workbook.xml.rels'), lists)
  const styles = parts.get(targets.styles ?? 'xl/styles.xml')
  const strings = parts.get(targets.strings ?? 'xl/sharedstrings.xml')
  const numberStyles = styles === undefined ? null : await readStyles(bytes, styles, lists)
  const shared = strings === undefined ? [] : await readShared(bytes, strings, budget)
  const sheets = named.flatMap(({ name, id }) => {
    const target = targets.sheets.get(id)
    if (target === undefined) return [] // a sheet of another kind: a chart
    const part = parts.get(target)
    if (part === undefined) throw damaged()
    return [{ name, part }]
  })
  return { book: { bytes, budget, shared, numberStyles, from1904 }, sheets }
}

async function readMain(bytes: Buffer, part: Entry, budget: Budget) {
  const named: { name: string; id: string }[] = []
  let from1904 = false
  const elements = {
    open(element: string, attribute: (name: string) => string | undefined) {
      if (element === 'workbookPr') from1904 ||= isTrue(attribute('date1904'))
      if (element !== 'sheet') return
      named.push({ name: unescapeText(attribute('name') ?? ''), id: attribute('id') ?? '' })
      if (named.length > SHEETS_MOST)
        throw new Unreadable({
          problem: `the workbook has more than ${SHEETS_MOST} sheets`,
          remedy: 'save the sheet with the instructions as a file of its own',
        })
    },
    close() {},
    text() {},
  }
  for await (const _ of readXml(bytes, part, budget, elements));
  return { named, from1904 }
}

interface Targets {
  readonly sheets: ReadonlyMap<string, string>
  readonly styles: string | null
  readonly strings: string | null
}

/** Which part is meant by which id. Names in lower case. */
async function readTargets(bytes: Buffer, part: Entry | undefined, budget: Budget): Promise<Targets> {
  if (part === undefined) throw damaged()
  const sheets = new Map<string, string>()
  let styles: string | null = null
  let strings: string | null = null
  const elements = {
    open(element: string, attribute: (name: string) => string | undefined) {
      if (element !== 'Relationship') return
      const kind = (attribute('Type') ?? '').replace(/^.*\//, '')
      const target = (attribute('Target') ?? '').toLowerCase()
      const path = target.startsWith('/') ? target.slice(1) : `xl/${target}`
      if (kind === 'worksheet') sheets.set(attribute('Id') ?? '', path)
      if (kind === 'styles') styles = path
      if (kind === 'sharedStrings') strings = path
    },
    close() {},
    text() {},
  }
  for await (const _ of readXml(bytes, part, budget, elements));
  return { sheets, styles, strings }
}

const NUMBER_FORMAT = 'styleSheet/numFmts/numFmt'
const CELL_STYLE = 'styleSheet/cellXfs/xf'

/**
 * Per cell style, what it makes of a number. By the whole path: conditional formats and tables have number formats too,
 * counted by another list, in which 14 is a per cent and no date.
 */
async function readStyles(bytes: Buffer, part: Entry, budget: Budget): Promise<readonly NumberStyle[]> {
  const formats = new Map<number, NumberStyle>()
  const styleOf = (id: number) => formats.get(id) ?? builtInStyle(id)
  const ids: number[] = []
  const path: string[] = []
  const elements = {
    open(element: string, attribute: (name: string) => string | undefined) {
      path.push(element)
      const at = path.join('/')
      const id = () => Number(attribute('numFmtId') ?? 0)
      if (at === NUMBER_FORMAT) formats.set(id(), stricter(styleOf(id()), formatStyle(attribute('formatCode') ?? '')))
      if (at === CELL_STYLE) ids.push(id())
    },
    close() {
      path.pop()
    },
    text() {},
  }
  for await (const _ of readXml(bytes, part, budget, elements));
  return ids.map(styleOf)
}

/** The texts that cells name by number: plain or in runs of different fonts; without the readings of Japanese ones. */
async function readShared(bytes: Buffer, part: Entry, budget: Budget): Promise<readonly string[]> {
  const shared: string[] = []
  let characters = 0
  let text = ''
  let inText = false
  let inReading = false
  const elements = {
    open(element: string) {
      if (element === 'si') text = ''
      if (element === 't') inText = true
      if (element === 'rPh') inReading = true
    },
    close(element: string) {
      if (element === 't') inText = false
      if (element === 'rPh') inReading = false
      if (element !== 'si') return
      shared.push(unescapeText(text))
      characters += text.length + SHARED_OVERHEAD
      if (characters > SHARED_CHARACTERS_MOST)
        throw new Unreadable({
          problem: 'the workbook holds more text than is read here',
          remedy: 'split it, or save the sheet as "CSV UTF-8": CSV may have any size',
        })
    },
    text(piece: string) {
      if (inText && !inReading) text = joined(text, piece)
    },
  }
  for await (const _ of readXml(bytes, part, budget, elements));
  return shared
}

/** The only sheet with anything in it, or the one that is named. The summary beside results is not asked about. */
async function chooseSheet(
  book: Book,
  sheets: readonly Sheet[],
  wanted: string | undefined,
): Promise<Sheet | StructuralFault> {
  const names = (some: readonly Sheet[]) => some.map(({ name }) => `"${shown(name)}"`).join(', ')
  if (wanted !== undefined) {
    const found = sheets.find(({ name }) => name.normalize('NFC') === wanted.normalize('NFC'))
    if (found !== undefined) return found
    throw new Fault(
      'usage',
      `--sheet ${shown(wanted)}: the workbook has no such sheet; it has ${names(sheets)}. Nothing was recorded and nothing was sent.`,
    )
  }
  const filled: { sheet: Sheet; start: string }[] = []
  for (const sheet of sheets) {
    const start = await sheetStart(book, sheet.part)
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
    remedy: 'say which one is meant with --sheet NAME, or remove the others',
  })
}

function isTrue(text: string | undefined): boolean {
  return text === '1' || text === 'true'
}
