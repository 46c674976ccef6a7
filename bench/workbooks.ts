// The worst workbooks of each kind that fit into a file of 1 MiB: how long until they are read or refused, and what they hold.
//
//   npx node bench/workbooks.ts [KiB of the file] [words of the kinds]      default 1024, every kind

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { surveyFile } from '../src/ingest/inspect-file.ts'
import { readRows } from '../src/ingest/rows.ts'
import { commandLine } from '../src/present/command-line.ts'

const given = process.argv.slice(2)
const [kib = 1024] = given.filter((word) => /^\d+$/.test(word)).map(Number)
const words = given.filter((word) => !/^\d+$/.test(word))
const MOST_BYTES = kib * 1024

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const HEADER =
  '<row r="1">' +
  ['reference', 'request_ref_po_id', 'a', 'b', 'c', 'd', 'e']
    .map((name, i) => `<c r="${'ABCDEFG'[i]}1" t="inlineStr"><is><t>${name}</t></is></c>`)
    .join('') +
  '</row>'
const row = (line: number, cells: string, attributes = '') =>
  `<row r="${line}"${attributes}><c r="A${line}" t="inlineStr"><is><t>R${line}</t></is></c><c r="B${line}" t="inlineStr"><is><t>${1000 + line}</t></is></c>${cells}</row>`
const named = (count: number) => Array.from({ length: count }, (_, i) => ` a${i.toString(36)}=""`).join('')

interface Kind {
  readonly what: string
  /** The rows of the sheet behind its header: `size` says how many of something. */
  readonly rows: (size: number) => string
  readonly behind?: (size: number) => string
  readonly shared?: (size: number) => string
  readonly entries?: (size: number) => Record<string, Uint8Array>
}

const lines = (size: number, toRow: (line: number) => string) =>
  Array.from({ length: size }, (_, i) => toRow(i + 2)).join('')
const one = () => row(2, '')
const LONG = `<si><t>${'x'.repeat(12_000)}</t></si>`

const KINDS: readonly Kind[] = [
  { what: 'plain rows', rows: (size) => lines(size, (line) => row(line, `<c r="C${line}"><v>${line}</v></c>`)) },
  { what: '64 attributes a row', rows: (size) => lines(size, (line) => row(line, '', named(60))) },
  { what: '64 attributes a cell', rows: (size) => lines(size, (line) => row(line, `<c r="C${line}"${named(60)}/>`)) },
  { what: '2,000 attributes a row', rows: (size) => lines(size, (line) => row(line, '', named(2000))) },
  {
    what: 'a shared text in every cell',
    shared: () => LONG,
    rows: (size) =>
      lines(size, (line) =>
        row(
          line,
          'CDEFG'.replace(/./g, (c) => `<c r="${c}${line}" t="s"><v>0</v></c>`),
        ),
      ),
  },
  {
    what: 'a shared text of digits in every cell',
    shared: () => LONG.replaceAll('xx', '4 '),
    rows: (size) =>
      lines(size, (line) =>
        row(
          line,
          'CDEFG'.replace(/./g, (c) => `<c r="${c}${line}" t="s"><v>0</v></c>`),
        ),
      ),
  },
  { what: 'shared texts, short', shared: (size) => '<si><t>x</t></si>'.repeat(size * 10), rows: one },
  { what: 'empty rows', rows: (size) => lines(size * 4, (line) => `<row r="${line}"/>`) },
  { what: 'empty cells', rows: (size) => lines(size, (line) => row(line, '<c s="0"/>'.repeat(500))) },
  { what: 'blanks between elements', rows: (size) => one() + `${' '.repeat(1000)}<x/>`.repeat(size * 4) },
  { what: 'comments', rows: (size) => one() + '<!---->'.repeat(size * 40) },
  { what: 'elements of others, nested', rows: (size) => one() + ('<x>'.repeat(90) + '</x>'.repeat(90)).repeat(size) },
  {
    what: 'namespaces declared anew',
    rows: (size) => one() + '<x xmlns:a="b" xmlns:c="d" xmlns:e="f"/>'.repeat(size * 10),
  },
  {
    what: 'entities',
    rows: (size) => lines(size, (line) => row(line, `<c t="inlineStr"><is><t>${'&lt;'.repeat(10_000)}</t></is></c>`)),
  },
  {
    what: 'escapes',
    rows: (size) => lines(size, (line) => row(line, `<c t="inlineStr"><is><t>${'_x0041_'.repeat(8_000)}</t></is></c>`)),
  },
  {
    what: 'runs of one letter',
    rows: (size) => lines(size, (line) => row(line, `<c t="inlineStr"><is>${'<r><t>x</t></r>'.repeat(2000)}</is></c>`)),
  },
  {
    what: 'merged cells',
    rows: one,
    behind: (size) =>
      `<mergeCells>${Array.from({ length: size * 4 }, (_, i) => `<mergeCell ref="A${i + 3}:B${i + 3}"/>`).join('')}</mergeCells>`,
  },
  {
    what: 'entries with long names',
    rows: one,
    entries: (size) =>
      Object.fromEntries(
        Array.from({ length: Math.min(size, 900) }, (_, i) => [
          `${String(i).padStart(5, '0')}${'a/'.repeat(500)}`,
          new Uint8Array(),
        ]),
      ),
  },
]

function bookOf({ rows, behind, shared, entries }: Kind, size: number): Uint8Array {
  const text = new TextEncoder()
  return zipSync(
    {
      'xl/workbook.xml': text.encode(
        `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>`,
      ),
      'xl/_rels/workbook.xml.rels': text.encode(
        `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
      ),
      'xl/sharedStrings.xml': text.encode(`<sst xmlns="${MAIN}">${shared?.(size) ?? ''}</sst>`),
      'xl/worksheets/sheet1.xml': text.encode(
        `<worksheet xmlns="${MAIN}"><sheetData>${HEADER}${rows(size)}</sheetData>${behind?.(size) ?? ''}</worksheet>`,
      ),
      ...entries?.(size),
    },
    { level: 6 },
  )
}

/** What is inflated beyond it is not read, which takes no longer. */
const INFLATED_BYTES = 63 * 1024 ** 2

/** The largest that still fits into the file and is inflated to its end, as a sample tells it. */
function worstOf(kind: Kind): Uint8Array {
  const sample = 2_000
  const inflated = kind.rows(sample).length + (kind.shared?.(sample).length ?? 0) + (kind.behind?.(sample).length ?? 0)
  const times = Math.min(MOST_BYTES / bookOf(kind, sample).length, INFLATED_BYTES / inflated)
  return bookOf(kind, Math.floor(sample * times * 0.95))
}

const dir = mkdtempSync(join(tmpdir(), 'workbooks-'))
try {
  console.log(`load of the machine ${loadavg()[0]?.toFixed(1)}`)
  for (const kind of KINDS) {
    if (words.length > 0 && !words.some((word) => kind.what.includes(word))) continue
    const path = join(dir, 'book.xlsx')
    const book = worstOf(kind)
    writeFileSync(path, book)
    const file = await open(path)
    const [startMs, before] = [performance.now(), process.cpuUsage()]
    const options = { accountKey: 'a', operation: 'CANCEL', spelling: commandLine } as const
    const survey = await surveyFile(file, options)
    let characters = 0
    if (survey.kind === 'survey')
      for await (const rows of readRows(file, survey, options))
        for (const { cells } of rows) characters += cells.reduce((sum, cell) => sum + cell.length, 0)
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
    const { user, system } = process.cpuUsage(before)
    const cpu = ((user + system) / 1e6).toFixed(1)
    await file.close()
    const became =
      survey.kind === 'survey' ? `${survey.rows} rows, ${(characters / 1e6).toFixed(1)} M characters` : survey.problem
    console.log(
      `${kind.what.padEnd(40)} ${(book.length / 1024).toFixed(0).padStart(5)} KiB ${seconds.padStart(6)} s ${cpu.padStart(6)} s of processor  ${became}`,
    )
  }
} finally {
  rmSync(dir, { recursive: true })
}
