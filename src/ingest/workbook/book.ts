// What a workbook has for all of its sheets: their names and parts, the texts that cells share, and number formats.

import { posix } from 'node:path'
import { builtInFormat, type NumberFormat, spelledOut } from './number-format.ts'
import { type Book, textBudget, tooMuchText } from './sheet.ts'
import { type AttributeOf, readXml, type Shape, TEXT_OR_RUNS } from './xml.ts'
import { isOn, isTrue, joined, unescapeText } from './xml-text.ts'
import { type Budget, damaged, type Entry, inflationBudget, readDirectory, Unreadable } from './zip.ts'

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

export interface Sheet {
  readonly name: string
  readonly isHidden: boolean
  /** null: the workbook lists it, and it is not in the file. */
  readonly part: Entry | null
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

const NONE: ReadonlySet<number> = new Set()

export type PartsByName = ReadonlyMap<string, Entry>

export async function readBook(bytes: Buffer): Promise<{ book: Book; sheets: readonly Sheet[]; parts: PartsByName }> {
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
  const { numberFormats, struckStyles } =
    styles === undefined ? { numberFormats: [], struckStyles: NONE } : await readStyles(bytes, styles, lists)
  const { shared, struckTexts } =
    strings === undefined ? { shared: [], struckTexts: NONE } : await readShared(bytes, strings, budget)
  const sheets = named.flatMap(({ name, id, isHidden }) => {
    const target = targets.get(id)
    if (target?.kind !== 'worksheet') return [] // a sheet of another kind: a chart
    return [{ name, isHidden, part: parts.get(target.path) ?? null }]
  })
  const texts = { shared, struckTexts, textBudget: textBudget(bytes.length) }
  const book = { bytes, budget, ...texts, numberFormats, struckStyles, from1904, isStale }
  return { book, sheets, parts }
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

export async function readRelations(bytes: Buffer, part: Entry, folder: string, budget: Budget): Promise<Relations> {
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
const STYLES: Shape = {
  styleSheet: {
    numFmts: { numFmt: {} },
    fonts: { font: { strike: {} } },
    cellStyleXfs: { xf: {} },
    cellXfs: { xf: {} },
  },
}

interface Style {
  readonly format: string | undefined
  readonly font: string | undefined
  /** The number of the named style that it is of. */
  readonly named: string | undefined
}

/** Per cell style. */
async function readStyles(
  bytes: Buffer,
  part: Entry,
  budget: Budget,
): Promise<{ numberFormats: readonly NumberFormat[]; struckStyles: ReadonlySet<number> }> {
  const formats = new Map<number, NumberFormat>()
  const named: Style[] = []
  const own: Style[] = []
  const struckFonts = new Set<number>()
  let fonts = 0
  let isNamed = false
  const elements = {
    open(element: string, attribute: AttributeOf) {
      isNamed = element === 'cellStyleXfs' || (isNamed && element === 'xf')
      if (element === 'font') fonts += 1
      else if (element === 'strike' && isOn(attribute('val'))) struckFonts.add(fonts - 1)
      const format = attribute('numFmtId')
      const id = Number(format ?? 0)
      if (element === 'numFmt') formats.set(id, spelledOut(id, attribute('formatCode') ?? '', formats.get(id)))
      if (element === 'xf')
        (isNamed ? named : own).push({ format, font: attribute('fontId'), named: attribute('xfId') })
    },
    close() {},
    text() {},
  }
  for await (const _ of readXml(bytes, part, budget, STYLES, elements));
  // What a style does not say, the named style that it is of says.
  const said = (what: 'format' | 'font') =>
    own.map((style) => Number(style[what] ?? named[Number(style.named)]?.[what] ?? 0))
  const ids = said('format')
  for (const id of ids) if (!formats.has(id)) formats.set(id, builtInFormat(id))
  return {
    numberFormats: ids.map((id) => formats.get(id) as NumberFormat),
    struckStyles: new Set(said('font').flatMap((font, style) => (struckFonts.has(font) ? [style] : []))),
  }
}

const SHARED: Shape = { sst: { si: TEXT_OR_RUNS } }

/** The texts that cells name by number: plain or in runs of different fonts. */
async function readShared(
  bytes: Buffer,
  part: Entry,
  budget: Budget,
): Promise<{ shared: readonly string[]; struckTexts: ReadonlySet<number> }> {
  const shared: string[] = []
  const struckTexts = new Set<number>()
  let characters = 0
  let text = ''
  const elements = {
    open(element: string, attribute: AttributeOf) {
      if (element === 'si') text = ''
      else if (element === 'strike' && isOn(attribute('val'))) struckTexts.add(shared.length)
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
  return { shared, struckTexts }
}
