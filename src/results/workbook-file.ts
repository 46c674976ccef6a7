// Results as an Excel workbook: two sheets, every cell a text, written piece by piece. What a person opens with a double
// click and saves again keeps every digit.

import type { FileHandle } from 'node:fs/promises'
import { Zip, ZipDeflate } from 'fflate'
import { Fault } from '../domain/fault.ts'
import { type Text, words } from '../domain/words.ts'
import type { Cells, Columns, ResultsFile } from './formats.ts'

/** More open slowly or not at all on a clerk's machine, and what is written here must be read here again. */
const WORKBOOK_ROWS_MOST = 200_000
const COLUMNS_MOST = 16_384
/** As much as is inflated when it is fed back; a plain zip archive ends at four times as much. */
const BYTES_MOST = 1024 * 1024 * 1024
const CELL_CHARACTERS_MOST = 32_767
const CUT = ' … (cut: a workbook holds no longer text; the CSV has it whole)'

/** Faults where the results do not fit. Asked before anything is sent. */
export function assertFitsWorkbook(rows: number, columns: number): void {
  if (rows > WORKBOOK_ROWS_MOST)
    throw tooLarge(`more than ${WORKBOOK_ROWS_MOST} rows do not fit a workbook that a person can open`)
  if (columns > COLUMNS_MOST) throw tooLarge(`more than ${COLUMNS_MOST} columns do not fit a workbook`)
}

/** Known only while they are written, at the end of a run. */
const RECORDED = words`What was sent is recorded; "${{ act: 'write-results', batchId: null, as: 'csv' }}" writes it.`

function tooLarge(what: string, meaning: Text = 'Nothing was sent and nothing was written.'): Fault {
  return new Fault('usage', words`Results of ${what}: write CSV, with ${{ set: 'out', to: 'NAME.csv' }}. ${meaning}`)
}

export async function openWorkbookFile(file: FileHandle, { names }: Columns): Promise<ResultsFile> {
  assertFitsWorkbook(0, names.length)
  const archive = openArchive(file)
  for (const [name, xml] of PARTS) {
    const part = archive.open(name)
    await part.write(xml)
    await part.close()
  }
  const results = openSheet(archive, 'xl/worksheets/sheet1.xml', names)
  return {
    async add(rows) {
      assertFitsWorkbook(results.rows() + rows.length, names.length)
      await results.add(rows)
    },
    async finish([header = [], ...records]) {
      await results.close()
      const summary = openSheet(archive, 'xl/worksheets/sheet2.xml', header)
      await summary.add(records)
      await summary.close()
      await archive.close()
    },
  }
}

// ───────────────────────────────────────────────────────────── Sheets

function openSheet(archive: Archive, name: string, header: Cells) {
  const part = archive.open(name)
  let rows = 0
  let begun = false
  const begin = async (first: readonly Cells[]) => {
    begun = true
    await part.write(`${SHEET_START}${columnsXml(header, first)}<sheetData>${rowXml(header, 1, HEADER_STYLE)}`)
  }
  return {
    rows: () => rows,
    async add(more: readonly Cells[]) {
      if (!begun) await begin(more)
      const first = rows + 2
      rows += more.length
      await part.write(more.map((cells, i) => rowXml(cells, first + i, TEXT_STYLE)).join(''))
    },
    async close() {
      if (!begun) await begin([])
      const last = `${lettersOf(Math.max(1, header.length))}${rows + 1}`
      await part.write(`</sheetData><autoFilter ref="A1:${last}"/></worksheet>`)
      await part.close()
    },
  }
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
/** The header stays in sight. */
const SHEET_START = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>`
const TEXT_STYLE = 1
const HEADER_STYLE = 2

/** As wide as the header and the first rows need, within reason. The format of text holds for cells added by hand, too. */
function columnsXml(header: Cells, first: readonly Cells[]): string {
  const widths = header.map((name, i) => {
    const longest = Math.max(name.length, ...first.map((cells) => cells[i]?.length ?? 0))
    return Math.min(Math.max(longest + 2, 8), 48)
  })
  const xml = widths.map(
    (width, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" style="${TEXT_STYLE}" customWidth="1"/>`,
  )
  return xml.length === 0 ? '' : `<cols>${xml.join('')}</cols>`
}

function rowXml(cells: Cells, line: number, style: number): string {
  const xml = cells.map((cell, i) => {
    if (cell === '') return ''
    return `<c r="${lettersOf(i + 1)}${line}" t="inlineStr" s="${style}"><is><t xml:space="preserve">${toCellText(cell)}</t></is></c>`
  })
  return `<row r="${line}">${xml.join('')}</row>`
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML cannot hold
const UNWRITABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)/g

/**
 * With its guard, as in CSV: a cell of text runs no formula, but the sheet may be saved as CSV one day. What XML cannot
 * hold, or would read as something else, is written in the workbook's own way, `_x000D_`.
 */
function toCellText(cell: string): string {
  return cut(cell.toWellFormed())
    .replace(UNWRITABLE, (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

function cut(text: string): string {
  if (text.length <= CELL_CHARACTERS_MOST) return text
  return text.slice(0, CELL_CHARACTERS_MOST - CUT.length).toWellFormed() + CUT
}

const LETTERS = new Map<number, string>()

function lettersOf(column: number): string {
  const known = LETTERS.get(column)
  if (known !== undefined) return known
  let letters = ''
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters
  }
  LETTERS.set(column, letters)
  return letters
}

// ───────────────────────────────────────────────────────────── The archive

interface Part {
  write(xml: string): Promise<void>
  close(): Promise<void>
}

interface Archive {
  /** One at a time. */
  open(name: string): Part
  close(): Promise<void>
}

/** Higher levels make the file a tenth smaller and take twice the time. */
const LEVEL = 3

function openArchive(file: FileHandle): Archive {
  let packed: Uint8Array[] = []
  let bytesLeft = BYTES_MOST
  let failed: Error | null = null
  const zip = new Zip((error, piece) => {
    failed ??= error
    if (error === null) packed.push(piece)
  })
  const flush = async () => {
    if (failed !== null) throw failed
    const bytes = Buffer.concat(packed)
    packed = []
    if (bytes.length > 0) await file.appendFile(bytes)
  }
  return {
    open(name) {
      const part = new ZipDeflate(name, { level: LEVEL })
      zip.add(part)
      return {
        async write(xml) {
          const bytes = Buffer.from(xml)
          bytesLeft -= bytes.length
          if (bytesLeft < 0) throw tooLarge('so much text do not fit a workbook', RECORDED)
          part.push(bytes, false)
          await flush()
        },
        async close() {
          part.push(new Uint8Array(0), true)
          await flush()
        },
      }
    },
    async close() {
      zip.end()
      await flush()
    },
  }
}

// ───────────────────────────────────────────────────────────── The parts that are always the same

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const START = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

const PARTS: ReadonlyArray<readonly [name: string, xml: string]> = [
  [
    '[Content_Types].xml',
    `${START}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/><Override PartName="/xl/worksheets/sheet2.xml" ContentType="${TYPE}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/></Types>`,
  ],
  [
    '_rels/.rels',
    `${START}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  ],
  [
    'xl/workbook.xml',
    `${START}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="Results" sheetId="1" r:id="rId1"/><sheet name="Summary" sheetId="2" r:id="rId2"/></sheets></workbook>`,
  ],
  [
    'xl/_rels/workbook.xml.rels',
    `${START}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${OFFICE}/worksheet" Target="worksheets/sheet2.xml"/><Relationship Id="rId3" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
  ],
  [
    // Cell styles: 0 as it comes, 1 text, 2 text in bold.
    'xl/styles.xml',
    `${START}<styleSheet xmlns="${MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/></cellXfs></styleSheet>`,
  ],
]
