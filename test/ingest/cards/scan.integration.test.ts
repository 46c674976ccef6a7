// Card data in files that cannot be read as instructions: it is found wherever it stands, or nobody claims that it is not there.

import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findCards, findCardsBeside } from '../../../src/ingest/cards/scan.ts'
import { number, type Parts, partsOf, rowsOf, workbook, zip } from '../sheets.ts'

const PAN = '4111 1111 1111 1111'
const PIECE_BYTES = 64 * 1024

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tranche-scan-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

async function kindOf(bytes: string | Uint8Array, find = findCards): Promise<string> {
  const path = join(dir, 'file')
  await writeFile(path, bytes)
  const file = await open(path, 'r')
  return (await find(file).finally(() => file.close())).kind
}

test('a card number is found in whichever piece of the file it stands, also across two', async () => {
  const around = fc.integer({ min: PIECE_BYTES - 40, max: PIECE_BYTES + 40 })
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.nat(3 * PIECE_BYTES), around), fc.boolean(), async (at, grouped) => {
      const text = `${'x,'.repeat(at / 2)}${at % 2 === 1 ? 'y' : ''}"${grouped ? PAN : PAN.replaceAll(' ', '')}`
      expect(await kindOf(`${text}", half a row`)).toBe('cards')
      expect(await kindOf(text)).toBe('cards')
    }),
    { numRuns: 40 },
  )
})

test('a long number that holds one is none, wherever the pieces part', async () => {
  for (let before = PIECE_BYTES - 24; before < PIECE_BYTES + 2; before++)
    expect(await kindOf(`${'x'.repeat(before)},94111111111111111999,`)).toBe('none')
})

test.each([
  ['UTF-16', Buffer.from(`\ufeffa,b\n1,${PAN}\n`, 'utf16le'), 'cards'],
  ['Windows-1252', Buffer.from(`Stra\u00dfe,b\n1,${PAN}\n`, 'latin1'), 'cards'],
  ['digits of another script', 'a,b\n1,٤١١١١١١١١١١١١١١١\n', 'cards'],
  ['spaces that do not break', `a,b\n1,${PAN.replaceAll(' ', '\u00a0')}\n`, 'cards'],
  ['a column for it below a title', 'Refunds of May\n\nreference;"CVV";amount\nR-1;;3\n', 'cards'],
  ['a few NULs, which make it look like UTF-16', `a\0,\0b\0\n${'\0'.repeat(9)}${PAN}\n`, 'cards'],
  ['a workbook', Buffer.from('504b030400', 'hex'), 'unseen'],
  ['bytes that are no text', Buffer.from('a,b\n1,\x81\x8d\x90\n', 'latin1'), 'unseen'],
  ['plain nonsense', 'x,y\n1,"2\n', 'none'],
])('%s', async (_, bytes, kind) => {
  expect(await kindOf(bytes)).toBe(kind)
})

// A pattern for quotation marks took seconds each time, and so often minutes. Nothing counts its steps: only the time-out limits them.
test.each([
  ['quotation marks', 100, '"'.repeat(64 * 1024)],
  ['quotation marks between letters', 100, `x${'"'.repeat(60 * 1024)}x`],
  ['a table of digits', 1, '4,'.repeat(64 * 1024)],
  ['numbers of 16 digits that are none', 1, '4111111111111112,'.repeat(16 * 1024)],
])('a text of %s is looked through to its end', async (_, times, text) => {
  for (let nth = 0; nth < times; nth++) expect(await kindOf(`a;b\n${text}\n`)).toBe('none')
})

test('an IBAN or a UUID is none, wherever the pieces part', async () => {
  for (const other of ['DE89 4111 1111 1111 1111 11', 'a4111111-1111-4111-8111-11114111a111'])
    for (let before = PIECE_BYTES - 60; before < PIECE_BYTES + 4; before++)
      expect(await kindOf(`${'xyz '.repeat(before / 4).padEnd(before, '.')},${other},`)).toBe('none')
})

test('a card number among numbers alone is found, wherever the pieces part', async () => {
  for (let before = PIECE_BYTES - 60; before < PIECE_BYTES + 4; before++)
    expect(await kindOf(`${'7,'.repeat(before / 2).padEnd(before, '.')},${PAN},7,7,7\n`)).toBe('cards')
})

const ROWS = rowsOf([
  ['reference', 'cvv'],
  ['R-1', ''],
])
const beside = (sheets: Record<string, string>, over: Parts = {}) =>
  kindOf(zip(partsOf({ Rows: ROWS, ...sheets }, over)), (file) => findCardsBeside(file, 'Rows'))
const IN_RUNS = '<r><rPr><b/></rPr><t>4111 1111</t></r><r><t xml:space="preserve"> 1111 1111</t></r>'
const ID = 'uid="{40012345-6789-4123-8456-789012345678}"'

test.each<[string, Record<string, string>, Parts, string]>([
  ['nothing', { Other: rowsOf([['1', 'Credit card'], [number('0.4111111111111111')]]) }, {}, 'none'],
  ['words for cards in a list', { Lists: rowsOf([['Cash'], ['Credit card']]) }, {}, 'none'],
  ['a text in another sheet', { Other: rowsOf([['x'], ['', PAN]]) }, {}, 'cards'],
  ['a number in another sheet', { Other: rowsOf([[number('4.11111111111111E15')]]) }, {}, 'cards'],
  [
    'a column for it in another sheet',
    {
      Other: rowsOf([
        ['Name', 'CVV'],
        ['A', '123'],
      ]),
    },
    {},
    'cards',
  ],
  ['the name of a sheet', { [PAN]: '' }, {}, 'cards'],
  ['a text that no cell names', {}, { 'xl/sharedStrings.xml': `<sst><si>${IN_RUNS}</si></sst>` }, 'cards'],
  ['a reading', {}, { 'xl/sharedStrings.xml': `<sst><si><t>x</t><rPh><t>${PAN}</t></rPh></si></sst>` }, 'cards'],
  ['a formula', { Other: `<row r="1"><c r="A1"><f>LEN("${PAN}")</f><v>1</v></c></row>` }, {}, 'cards'],
  ['a note', {}, { 'xl/comments1.xml': `<comments><comment><text>${IN_RUNS}</text></comment></comments>` }, 'cards'],
  ['two notes', {}, { 'xl/comments1.xml': '<text>4111 1111 </text><text>1111 1111</text>' }, 'none'],
  ['a text box', {}, { 'xl/drawings/drawing1.xml': '<a:p><a:t>4111 </a:t><a:t>1111 1111 1111</a:t></a:p>' }, 'cards'],
  ['a property', {}, { 'docProps/core.xml': `<dc:title>${PAN}</dc:title>` }, 'cards'],
  ['an id that looks like one', {}, { 'xl/tables/table1.xml': `<table ${ID}/>` }, 'none'],
  ['another document', {}, { 'xl/embeddings/a.docx': Buffer.from('504b030414', 'hex') }, 'unseen'],
  ['a part with a long name', {}, { [`x/${'drawing.xml'.repeat(90)}y`]: '<a/>' }, 'none'],
  ['a part with a name beyond bounds', {}, { [`x/${'drawing.xml'.repeat(5_900)}y`]: '<a/>' }, 'unseen'],
  ['a part that is damaged', {}, { 'xl/worksheets/sheet2.xml': '<worksheet', 'xl/x.xml': PAN }, 'cards'],
])('a workbook whose rows hold no card, with %s', async (_, sheets, over, kind) => {
  expect(await beside(sheets, over)).toBe(kind)
})

test('a workbook that cannot be read any more is not called free of cards', async () => {
  const cut = workbook([['a'], ['b']]).subarray(0, 200)
  expect(await kindOf(cut, (file) => findCardsBeside(file, 'Sheet1'))).toBe('unseen')
})

test('a workbook of a spreadsheet program is called free of cards', async () => {
  const bytes = await readFile(new URL('../workbook/workbooks/libreoffice-refunds.xlsx', import.meta.url))
  expect(await kindOf(bytes, (file) => findCardsBeside(file, 'Refunds'))).toBe('none')
})
