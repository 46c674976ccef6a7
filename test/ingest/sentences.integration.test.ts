// Why a file is refused, in sentences that are true and that help.

import { describe, expect, test } from 'vitest'
import { number, partsOf, rowsOf, workbook, zip } from './sheets.ts'
import { readWhole, refusalOf } from './table.ts'

const HEADER = 'reference;transaction_type;amount;request_currency;request_ref_po_id;note'
const ROW = 'R1;REFUND;12.30;EUR;0123;x'
const COLUMNS = HEADER.split(';')
const CELLS = ROW.split(';')

describe('text of another encoding', () => {
  /** Names in the encoding of their country: next to nothing of it is right in UTF-8. */
  const inBytes = (...notes: readonly (readonly number[])[]) =>
    Buffer.concat([
      Buffer.from(`${HEADER}\n`),
      ...notes.map((note, i) =>
        Buffer.concat([Buffer.from(`R${i};REFUND;1.00;EUR;1;`), Buffer.from(note), Buffer.from('\n')]),
      ),
    ])

  test('is not called UTF-8 because a few of its bytes are right by chance', async () => {
    // "Beijing, Shanghai, Guangzhou" in GBK, with a pair that is a letter of UTF-8 as well
    const gbk = [0xb1, 0xb1, 0xbe, 0xa9, 0xc9, 0xcf, 0xba, 0xa3, 0xb9, 0xe3, 0xd6, 0xdd]
    const fault = await refusalOf(inBytes([...gbk, 0xc2, 0xa9], gbk))
    expect(fault).toMatchObject({
      line: 2,
      problem: 'the file is not UTF-8, and may be in any of the older encodings',
      remedy: expect.stringContaining('export it again as "CSV UTF-8"'),
    })
  })

  test('is called damaged UTF-8 where most of it is right', async () => {
    const fault = await refusalOf(inBytes([0xc3, 0xa9, 0xc3, 0xbc, 0xc3, 0xb6], [0x78, 0xe9, 0x79]))
    expect(fault).toMatchObject({ line: 3, problem: expect.stringContaining('UTF-8 except for some bytes') })
  })

  test('is not taken for UTF-16 because of a few zeros', async () => {
    const fault = await refusalOf('a,b\n1\0,2\n')
    expect(fault.problem).toBe('the file is neither UTF-8 nor Windows-1252 text')
    const wide = Buffer.from(`Überschrift;${HEADER}\nü;${ROW}\n`, 'utf16le')
    expect((await readWhole(wide)).rows).toHaveLength(1)
  })
})

describe('a first line that is mostly numbers', () => {
  const DATEV =
    '"EXTF";700;21;"Buchungsstapel";13;20240130140440439;;"RE";"";"";29098;55003;20240101;4;20240101;20240831;"Stapel";"WD";1;0;0;"EUR"'
  test.each([DATEV, 'R1;1;1;2.00;700', 'R1;REFUND;12,30;1001;1002;1003'])('holds no column names: %s', async (line) => {
    const fault = await refusalOf(`${line}\n${ROW}\n`, { operation: 'REFUND' })
    expect(fault).toMatchObject({
      line: 1,
      problem: 'the first line is mostly numbers, so that it does not seem to name the columns',
      remedy:
        'put the line with the column names first, and delete what is above it, or say which line it is with --header-row N',
    })
  })

  test('may name columns all the same', async () => {
    const found = await readWhole(
      `${HEADER.replace('note', '1;2;3;4;5;6;7;8')}\n${ROW.replace('x', 'a;b;c;d;e;f;g;h')}\n`,
    )
    expect(found.rows).toHaveLength(1)
  })
})

describe('title lines above the names of a workbook', () => {
  const titled = (...above: readonly (readonly string[])[]) => workbook([...above, COLUMNS, CELLS])
  test('are told, with the row that has the names', async () => {
    expect(await refusalOf(titled(['Refunds of November'], ['Shop Nord', '', '2026']))).toMatchObject({
      line: 1,
      problem:
        'the file begins with "Refunds of November" where the column names should be; line 3 looks like the column names',
      remedy: 'take out lines 1 to 2, so that the column names come first, or leave them in and say --header-row 3',
    })
    const gap = rowsOf([['Title', 'of', 'six', 'cells', 'in', 'all']], 2) + rowsOf([COLUMNS, CELLS], 5)
    expect((await refusalOf(zip(partsOf({ A: gap })))).problem).toContain('line 5 looks like the column names')
  })

  test('are not found where no row names two columns', async () => {
    const fault = await refusalOf(workbook([['Title'], ['x', 'y'], ['amount', number('1')]]), { operation: 'REFUND' })
    expect(fault.problem).toContain('the file has no column amount')
  })

  test('are told after a card number', async () => {
    expect((await refusalOf(titled(['4111111111111111']))).problem).toContain('card number')
  })
})

describe('a row of another length', () => {
  test('whose surplus is empty says so, and is refused where it may be shifted', async () => {
    // Read as five cells it would refund 12 and not 12.30.
    const shifted = 'transaction_type;amount;request_ref_po_id;request_currency;note\nREFUND;12;30;EUR;x;\n'
    expect(await refusalOf(shifted)).toMatchObject({
      line: 2,
      problem: 'the row has 6 cells and the header 5; the extra cells at its end are empty',
      remedy:
        'if every row ends with a delimiter, end the first line with one too; else look for a delimiter inside a cell that is not in quotation marks',
    })
  })

  test('whose surplus is not empty, or that is short as every row is, is refused', async () => {
    for (const [row, cells] of [
      [`${ROW};y`, 7],
      [`${ROW};;y`, 8],
      [ROW.replace(';x', ''), 5],
    ] as const)
      expect((await refusalOf(`${HEADER}\n${row}\n`)).problem).toBe(`the row has ${cells} cells and the header 6`)
  })
})
