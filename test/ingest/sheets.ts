// Workbooks written by hand, part by part: what a spreadsheet program would never write among them.

import { strToU8, type ZipOptions, zipSync } from 'fflate'

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

export interface Parts {
  readonly [name: string]: string | Uint8Array
}

/** Sheets by name, each the XML of its rows. */
export function partsOf(sheets: Readonly<Record<string, string>>, over: Parts = {}): Parts {
  const names = Object.keys(sheets)
  const list = names.map((name, i) => `<sheet name="${name}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`)
  const relations = names.map(
    (_, i) =>
      `<Relationship Id="rId${i + 1}" Type="${RELATIONSHIPS}/worksheet" Target="worksheets/sheet${i + 1}.xml"/>`,
  )
  return {
    'xl/workbook.xml': `<?xml version="1.0"?><workbook xmlns="${MAIN}" xmlns:r="${RELATIONSHIPS}"><sheets>${list.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relations.join('')}<Relationship Id="s" Type="${RELATIONSHIPS}/styles" Target="/xl/styles.xml"/></Relationships>`,
    'xl/styles.xml': STYLES,
    ...Object.fromEntries(names.map((name, i) => [`xl/worksheets/sheet${i + 1}.xml`, sheetOf(sheets[name] as string)])),
    ...over,
  }
}

/** Styles by number: 0 general, 1 text, 2 a built-in date, 3 a date of one's own, 4 money. */
const STYLES = `<styleSheet xmlns="${MAIN}"><numFmts><numFmt numFmtId="164" formatCode="dd\\.mm\\.yyyy\\ hh:mm"/><numFmt numFmtId="165" formatCode="#,##0.00\\ [$&#x20AC;-407];[Red]\\-#,##0.00&quot; Soll&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="49" quotePrefix="1"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>`

export function sheetOf(rows: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<worksheet xmlns="${MAIN}"><dimension ref="A1:XFD1048576"/><sheetData>${rows}</sheetData></worksheet>`
}

export function zip(parts: Parts, options: ZipOptions = {}): Buffer {
  const files = Object.entries(parts).map(([name, part]) => [name, typeof part === 'string' ? strToU8(part) : part])
  return Buffer.from(zipSync(Object.fromEntries(files), options))
}

/** A cell as XML, or a text, which becomes an inline string. */
export type Written = string | { readonly xml: (address: string) => string }

export const number = (value: string, style = 0): Written => ({
  xml: (address) => `<c r="${address}" s="${style}"><v>${value}</v></c>`,
})
export const cell = (type: string, inside: string, style = 0): Written => ({
  xml: (address) => `<c r="${address}" t="${type}" s="${style}">${inside}</c>`,
})

export function rowsOf(table: readonly (readonly Written[])[], firstLine = 1): string {
  return table.map((cells, i) => rowOf(firstLine + i, cells)).join('')
}

export function rowOf(line: number, cells: readonly Written[], attributes = ''): string {
  const xml = cells.map((written, i) => toXml(written, `${String.fromCharCode(65 + i)}${line}`))
  return `<row r="${line}"${attributes}>${xml.join('')}</row>`
}

function toXml(written: Written, address: string): string {
  if (typeof written !== 'string') return written.xml(address)
  if (written === '') return ''
  const text = written.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<c r="${address}" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`
}

export function workbook(table: readonly (readonly Written[])[]): Buffer {
  return zip(partsOf({ Sheet1: rowsOf(table) }))
}
