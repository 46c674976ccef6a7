// An Excel workbook (.xlsx): which of its sheets holds the rows, and those rows as records. What spreadsheet programs
// write is read; what they do not write is refused with a sentence.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { posix } from 'node:path'
import { Fault } from '../../domain/fault.ts'
import { refuse, type StructuralFault, shown } from '../../domain/problem.ts'
import { words } from '../../domain/words.ts'
import { readAll } from '../csv/bytes.ts'
import { type IsKnown, lineOfNames, TITLE_LINES_MOST } from '../csv/delimiter.ts'
import type { CsvRecord } from '../csv/records.ts'
import { LIMITS } from '../limits.ts'
import { readMerges } from './merges.ts'
import { builtInFormat, type NumberFormat, spelledOut } from './number-format.ts'
import { type Book, readCells, readSheet, sheetStart, textBudget, tooMuchText, type Unseen } from './sheet.ts'
import { type AttributeOf, readXml, type Shape, TEXT_OR_RUNS } from './xml.ts'
import { isTrue, joined, unescapeText } from './xml-text.ts'
import { type Budget, damaged, type Entry, inflate, inflationBudget, readDirectory, Unreadable } from './zip.ts'

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
  readonly isHidden: boolean
  /** null: the workbook lists it, and it is not in the file. */
  readonly part: Entry | null
}

export interface Workbook {
  readonly kind: 'workbook'
  readonly sha256: string
  /** The sheet that the records come from. */
  readonly sheet: string
  /** A person who opens the workbook does not see that sheet. */
  readonly isHidden: boolean
  readonly unseen: Readonly<Unseen>
  /** The header first; a fault, where there is one, is the last thing that comes. */
  records(): AsyncGenerator<CsvRecord | StructuralFault>
  /** The row below this one that names columns; null: none does. */
  findHeaderBelow(firstLine: number, isKnown: IsKnown): Promise<number | null>
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
  const bytes = await readAll(file, LIMITS.workbookBytes)
  if (bytes === null) {
    return refuse({
      problem: `the file is larger than ${LIMITS.workbookBytes / 1024 / 1024} MiB, which is more than is read of a workbook`,
      remedy: 'split it, or save the sheet as "CSV UTF-8": CSV may have any size',
    })
  }
  try {
    const { book, sheets } = await readBook(bytes)
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
      unseen,
      records: () => faultsAsAnswers(readSheet(book, part, merges, unseen)),
      findHeaderBelow: (firstLine, isKnown) => findHeaderBelow(book, part, firstLine, isKnown),
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
    remedy: 'fetch or save it again; if it opens in a spreadsheet program, look whether the sheet is whole there',
  }
}

const NOT_WORKBOOKS: ReadonlyArray<readonly [part: string, what: string]> = [
  ['content.xml', 'an OpenDocument spreadsheet (.ods)'],
  ['xl/workbook.bin', 'a binary Excel workbook (.xlsb)'],
  ['word/document.xml', 'a Word document'],
]

function noWorkbook(what = 'a zip archive without a workbook in it'): Unreadable {
  return new Unreadable({
    problem: `the file is ${what}`,
    remedy: 'save the sheet as .xlsx or as "CSV UTF-8" and use that file',
  })
}

type PartsByName = ReadonlyMap<string, Entry>

async function readBook(bytes: Buffer): Promise<{ book: Book; sheets: readonly Sheet[] }> {
  const budget = inflationBudget(bytes.length)
  const parts = readDirectory(bytes)
  const lists = { ...budget, leftBytes: LIST_BYTES_MOST }
  const path = await findMain(bytes, parts, lists)
  const { named, from1904, isStale } = await readMain(bytes, parts.get(path) as Entry, lists)
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  const relations = parts.get(`${folder}_rels/${path.slice(folder.length)}.rels`)
  if (relations === undefined) throw damaged()
  const targets = await readRelations(bytes, relations, folder, lists)
  const styles = parts.get(only(targets, 'styles') ?? `${folder}styles.xml`)
  const strings = parts.get(only(targets, 'sharedStrings') ?? `${folder}sharedstrings.xml`)
  const numberFormats = styles === undefined ? [] : await readStyles(bytes, styles, lists)
  const shared = strings === undefined ? [] : await readShared(bytes, strings, budget)
  const sheets = named.flatMap(({ name, id, isHidden }) => {
    const target = targets.get(id)
    if (target?.kind !== 'worksheet') return [] // a sheet of another kind: a chart
    return [{ name, isHidden, part: parts.get(target.path) ?? null }]
  })
  const book = { bytes, budget, shared, numberFormats, from1904, isStale, textBudget: textBudget(bytes.length) }
  return { book, sheets }
}

/** The part that the archive names as its document; where it names none, the one of the usual name. */
async function findMain(bytes: Buffer, parts: PartsByName, budget: Budget): Promise<string> {
  const relations = parts.get('_rels/.rels')
  const named = relations && only(await readRelations(bytes, relations, '', budget), 'officeDocument')
  const path = named ?? 'xl/workbook.xml'
  const another = NOT_WORKBOOKS.find(
    ([part]) => part === path || (!parts.has(path) && named === undefined && parts.has(part)),
  )
  if (another !== undefined) throw noWorkbook(another[1])
  if (!parts.has(path)) throw named === undefined ? noWorkbook() : damaged()
  return path
}

const WORKBOOK: Shape = { workbook: { workbookPr: {}, sheets: { sheet: {} }, calcPr: {} } }

async function readMain(bytes: Buffer, part: Entry, budget: Budget) {
  const named: { name: string; id: string; isHidden: boolean }[] = []
  let from1904 = false
  let isWorkbook = false
  let isStale = false
  const elements = {
    open(element: string, attribute: AttributeOf) {
      isWorkbook ||= element === 'workbook'
      if (element === 'workbookPr') from1904 ||= isTrue(attribute('date1904'))
      if (element === 'calcPr') isStale ||= saysStale(attribute)
      if (element !== 'sheet') return
      const id = attribute('id', 'relation')
      if (id === undefined) throw damaged()
      const isHidden = (attribute('state') ?? 'visible') !== 'visible'
      named.push({ name: unescapeText(attribute('name') ?? ''), id, isHidden })
      if (named.length > SHEETS_MOST)
        throw new Unreadable({
          problem: `the workbook has more than ${SHEETS_MOST} sheets`,
          remedy: 'save the sheet with the instructions as a file of its own',
        })
    },
    close() {},
    text() {},
  }
  for await (const _ of readXml(bytes, part, budget, WORKBOOK, elements));
  if (!isWorkbook) throw noWorkbook()
  return { named, from1904, isStale }
}

/** The values of formulas are from before the last change: a program that writes no values says so, and Excel where it was stopped. */
function saysStale(attribute: AttributeOf): boolean {
  const isFalse = (text: string | undefined) => text === '0' || text === 'false'
  return (
    isTrue(attribute('fullCalcOnLoad')) || isTrue(attribute('forceFullCalc')) || isFalse(attribute('calcCompleted'))
  )
}

/** By id: which part is meant, in lower case, and what it is. */
type Relations = ReadonlyMap<string, { readonly kind: string; readonly path: string }>

const RELATIONSHIPS: Shape = { Relationships: { Relationship: {} } }

async function readRelations(bytes: Buffer, part: Entry, folder: string, budget: Budget): Promise<Relations> {
  const relations = new Map<string, { kind: string; path: string }>()
  const elements = {
    open(element: string, attribute: AttributeOf) {
      if (element !== 'Relationship' || attribute('TargetMode') === 'External') return
      const id = attribute('Id') ?? ''
      if (relations.has(id)) throw damaged()
      const kind = (attribute('Type') ?? '').replace(/^.*\//, '')
      relations.set(id, { kind, path: pathOf(attribute('Target') ?? '', folder) })
    },
    close() {},
    text() {},
  }
  for await (const _ of readXml(bytes, part, budget, RELATIONSHIPS, elements));
  return relations
}

/** As a name in the archive. One that leads out of it is the name of no part. */
function pathOf(target: string, folder: string): string {
  const path = target.replaceAll('\\', '/').toLowerCase()
  return posix.normalize(path.startsWith('/') ? path.slice(1) : folder + path)
}

/** Where two parts could be meant, neither is. */
function only(relations: Relations, wanted: string): string | undefined {
  const paths = new Set([...relations.values()].filter(({ kind }) => kind === wanted).map(({ path }) => path))
  if (paths.size > 1) throw damaged()
  return [...paths][0]
}

/** Conditional formats and tables have number formats too, counted by another list, in which 14 is a per cent and no date. */
const STYLES: Shape = { styleSheet: { numFmts: { numFmt: {} }, cellStyleXfs: { xf: {} }, cellXfs: { xf: {} } } }

/** Per cell style. */
async function readStyles(bytes: Buffer, part: Entry, budget: Budget): Promise<readonly NumberFormat[]> {
  const formats = new Map<number, NumberFormat>()
  const named: number[] = []
  const own: { readonly id: string | undefined; readonly named: string | undefined }[] = []
  let isNamed = false
  const elements = {
    open(element: string, attribute: AttributeOf) {
      isNamed = element === 'cellStyleXfs' || (isNamed && element === 'xf')
      const numFmtId = attribute('numFmtId')
      const id = Number(numFmtId ?? 0)
      if (element === 'numFmt') formats.set(id, spelledOut(id, attribute('formatCode') ?? '', formats.get(id)))
      if (element !== 'xf') return
      if (isNamed) named.push(id)
      else own.push({ id: numFmtId, named: attribute('xfId') })
    },
    close() {},
    text() {},
  }
  for await (const _ of readXml(bytes, part, budget, STYLES, elements));
  // A style without a format of its own has that of the named style that it is of.
  const ids = own.map((style) => Number(style.id ?? named[Number(style.named)] ?? 0))
  for (const id of ids) if (!formats.has(id)) formats.set(id, builtInFormat(id))
  return ids.map((id) => formats.get(id) as NumberFormat)
}

const SHARED: Shape = { sst: { si: TEXT_OR_RUNS } }

/** The texts that cells name by number: plain or in runs of different fonts. */
async function readShared(bytes: Buffer, part: Entry, budget: Budget): Promise<readonly string[]> {
  const shared: string[] = []
  let characters = 0
  let text = ''
  const elements = {
    open(element: string) {
      if (element === 'si') text = ''
    },
    close(element: string) {
      if (element !== 'si') return
      shared.push(unescapeText(text))
      characters += text.length + SHARED_OVERHEAD
      if (characters > SHARED_CHARACTERS_MOST) throw tooMuchText()
    },
    text(piece: string) {
      text = joined(text, piece)
    },
  }
  for await (const _ of readXml(bytes, part, budget, SHARED, elements));
  return shared
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
    remedy: words`say which one is meant with ${{ set: 'sheet', to: 'NAME' }}, or remove the others`,
  })
}

function sheetText({ name, isHidden, part }: Sheet): string {
  const quoted = `"${shown(name)}"`
  if (part === null) return `${quoted} (listed, but missing from the file)`
  return isHidden ? `${quoted} (hidden)` : quoted
}
