import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import type { Currency } from '../../src/domain/money.ts'
import { holdsPan } from '../../src/domain/pan.ts'
import { surveyFile } from '../../src/ingest/inspect-file.ts'
import { readRows } from '../../src/ingest/rows.ts'
import { ENCODINGS, encode, READING, read, readWhole, refusalOf, toCsv, type Written, withFile } from './table.ts'

const TABLE = [
  ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id', 'größe und name'],
  ['R1', 'REFUND', '12.30', 'EUR', '123', 'Zoë, "die; Große"\tà | 5 €'],
  ['R2', 'refund', '1,000.00', 'USD', '0124', ''],
  ['R3', 'CANCEL', '', '', '125', ' spaces stay '],
]
const PAN = '4111111111111111'

describe('files of every kind', () => {
  const kinds = ENCODINGS.flatMap((encoding) =>
    [',', ';', '\t', '|'].flatMap((delimiter) =>
      ['\r\n', '\n', '\r'].map((lineEnd) => ({
        encoding,
        delimiter,
        lineEnd,
        name: JSON.stringify([encoding, delimiter, lineEnd]),
      })),
    ),
  )

  test.each(kinds)('are read alike: $name', async ({ encoding, delimiter, lineEnd }) => {
    const bytes = encode(toCsv(TABLE, delimiter, lineEnd), encoding)
    const { survey, rows } = await readWhole(bytes)
    expect(survey).toMatchObject({
      sha256: createHash('sha256').update(bytes).digest('hex'),
      encoding: encoding.replace('utf8', 'utf-8').replace('utf16', 'utf-16').replace('-bom', ''),
      delimiter,
      decimal: '.',
      rows: 3,
      fedBack: false,
    })
    expect(survey.warnings).toHaveLength(encoding === 'windows-1252' ? 1 : 0)
    expect(rows.map((row) => row.cells)).toEqual(TABLE.slice(1))
    expect(rows.map((row) => [row.rowNo, row.line])).toEqual([
      [1, 2],
      [2, 3],
      [3, 4],
    ])
    expect(rows.map((row) => row.instruction?.money ?? null)).toEqual([
      { amountMinor: 1230n, currency: 'EUR' },
      { amountMinor: 100000n, currency: 'USD' },
      null,
    ])
  })

  test('any table reads back the same cells, rows and lines', async () => {
    const LETTERS = [...'ab01 é€ü;,|\t"\r\n\'=.-']
    // "é€€" in Windows-1252 would be a right character of UTF-8, and the file is then refused.
    const cell = fc
      .string({ unit: fc.constantFrom(...LETTERS), maxLength: 12 })
      .filter((text) => !holdsPan(text) && !text.includes('é€€'))
    const any = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !text.includes('\0') && !holdsPan(text))
    const kind = fc.record({
      encoding: fc.constantFrom<Written>(...ENCODINGS),
      delimiter: fc.constantFrom(',', ';', '\t', '|'),
      lineEnd: fc.constantFrom('\r\n', '\n', '\r'),
      sep: fc.boolean(),
    })
    const tables = kind.chain((of) =>
      fc.record({
        of: fc.constant(of),
        rows: fc.array(
          fc.array(of.encoding === 'windows-1252' ? cell : fc.oneof(cell, any), { minLength: 3, maxLength: 3 }),
          { minLength: 1, maxLength: 8 },
        ),
      }),
    )
    await fc.assert(
      fc.asyncProperty(tables, async ({ of: { encoding, delimiter, lineEnd, sep }, rows }) => {
        // "größe" in Windows-1252 is no UTF-8, so that the encoding is never in question.
        const table = [['transaction_type', 'name', 'größe', 'ort\r\n"neu"'], ...rows.map((cells) => ['x', ...cells])]
        const text = (sep ? `sep=${delimiter}${lineEnd}` : '') + toCsv(table, delimiter, lineEnd)
        const found = await readWhole(encode(text, encoding))
        let line = sep ? 2 : 1
        const expected = table.map((cells, i) => {
          const begins = line
          line += 1 + cells.join('x').split(/\r\n|\r|\n/).length - 1
          return { rowNo: i, line: begins, cells }
        })
        expect(found.rows.map(({ rowNo, line, cells }) => ({ rowNo, line, cells }))).toEqual(expected.slice(1))
        expect(found.survey.rows).toBe(rows.length)
      }),
      { numRuns: 150 },
    )
  })

  test('longer than one chunk of bytes keep characters, rows and lines whole', async () => {
    const rows = Array.from({ length: 5000 }, (_, i) => [`R${i}`, 'CANCEL', String(i + 1), `Zoë 😀\r\n${i}`])
    const table = [['reference', 'type', 'order_id', 'note'], ...rows]
    for (const encoding of ['utf8', 'utf16be-bom'] as const) {
      const found = await readWhole(encode(toCsv(table, ';', '\r\n'), encoding))
      expect(found.rows.map((row) => row.cells)).toEqual(rows)
      expect(found.rows.at(-1)).toMatchObject({ rowNo: 5000, line: 2 + 2 * 4999, reference: 'R4999' })
    }
  })

  test('an accent after the first chunk still makes it Windows-1252', async () => {
    const text = `type;order_id;note\n${'CANCEL;1;plain\n'.repeat(10_000)}CANCEL;2;Zo\xeb\n`
    const { survey, rows } = await readWhole(Buffer.from(text, 'latin1'))
    expect(survey.encoding).toBe('windows-1252')
    expect(rows.at(-1)?.cells[2]).toBe('Zoë')
  })
})

describe('lines and rows', () => {
  test('empty rows are skipped and counted as lines only', async () => {
    const { rows } = await readWhole(
      '\n;;\ntype;order_id;x\n\nCANCEL;1;\n;;\n ; ;\n;;;;;\nCANCEL;2;"a\r\nb\rc\nd"\nCANCEL;3;\n;;\n\n',
    )
    expect(rows.map((row) => [row.rowNo, row.line])).toEqual([
      [1, 5],
      [2, 9],
      [3, 13],
    ])
  })

  test('a sep= line counts as a line', async () => {
    const { survey, rows } = await readWhole('sep=;\r\ntype;order_id\r\nCANCEL;1\r\n')
    expect(survey.delimiter).toBe(';')
    expect(rows[0]).toMatchObject({ rowNo: 1, line: 3 })
  })

  test('the last row needs no line end', async () => {
    expect((await readWhole('type;order_id\nCANCEL;1\nCANCEL;2')).rows).toHaveLength(2)
  })

  test('come in chunks, in file order', async () => {
    const text = `order_id\n${Array.from({ length: 1201 }, (_, i) => `${i + 1}\n`).join('')}`
    const options = { ...READING, operation: 'CANCEL' } as const
    await withFile(text, async (file) => {
      const survey = await surveyFile(file, options)
      const sizes: number[] = []
      if (survey.kind === 'survey') for await (const rows of readRows(file, survey, options)) sizes.push(rows.length)
      expect(sizes).toEqual([500, 500, 201])
    })
  })
})

describe('a file is refused', () => {
  const HEAD = 'type;order_id;note\n'
  test.each<[string, string | Uint8Array, object]>([
    ['that is empty', '', { problem: 'the file is empty' }],
    ['of empty lines', '\r\n \n,,\n', { problem: 'the file is empty' }],
    ['of a sep= line', 'sep=;\n', { problem: 'the file is empty' }],
    ['of a header', HEAD, { problem: 'the file has column names but no rows' }],
    [
      'with a quote that is never closed',
      `${HEAD}CANCEL;1;a\nCANCEL;2;"b\nCANCEL;3;c\n`,
      { line: 3, problem: /never closed/ },
    ],
    ['with a delimiter in quotes and text behind them', `${HEAD}CANCEL;1;"a;b"c\n`, { line: 2, problem: /leave open/ }],
    [
      'with a line break in quotes and text behind them',
      `${HEAD}CANCEL;1;"a\nb"c\n`,
      { line: 2, problem: /leave open/ },
    ],
    ['with quotes behind a blank around a delimiter', `${HEAD}CANCEL; "1;2"\n`, { line: 2, problem: /leave open/ }],
    ['with a row too long', `${HEAD}CANCEL;1;a\nCANCEL;1;${'x'.repeat(70_000)}\n`, { line: 3, problem: /64 KiB/ }],
    [
      'with a quote open over too much',
      `${HEAD}CANCEL;1;"a\n${'CANCEL;1;b\n'.repeat(9000)}`,
      { line: 2, problem: /64 KiB/ },
    ],
    [
      'with a cell too many',
      `${HEAD}CANCEL;1;a\n\nCANCEL;1;a;b\n`,
      { rowNo: 2, line: 4, problem: /4 cells and the header 3/ },
    ],
    ['with a cell too few', `${HEAD}1;CANCEL\n`, { rowNo: 1, line: 2, problem: /2 cells and the header 3/ }],
    ['with a column twice', 'type;amount;Amount\n1;2;3\n', { line: 1, problem: /same name/ }],
    ['with a column missing', '\norder_id;note\n1;2\n', { line: 2, problem: /no column transaction_type/ }],
    ['with a sep= line that makes no sense', 'sep=#\na#b\n', { line: 1 }],
    ['with two decimal signs', 'type;amount\nREFUND;1,50\nREFUND;1.50\n', { line: 3, problem: /line 3 .* line 2/ }],
    [
      'that begins as UTF-8 and is not',
      Buffer.from('\xef\xbb\xbftype;order_id\nCANCEL;\xeb\n', 'latin1'),
      { problem: /UTF-8/ },
    ],
    [
      'in UTF-16 that ends in half a character',
      Buffer.concat([encode(`${HEAD}CANCEL;1;a`, 'utf16le-bom'), Buffer.from('a')]),
      { problem: /UTF-16LE/ },
    ],
    ['that is not text', Buffer.from(`${HEAD}CANCEL;1;\xeb\x00`, 'latin1'), { problem: /neither/ }],
    ['with bytes that Windows-1252 has not', Buffer.from(`${HEAD}CANCEL;1;\x8dek\n`, 'latin1'), { problem: /neither/ }],
    ['that is a workbook', Buffer.from('PK\x03\x04rest'), { problem: /Excel/ }],
  ])('%s', async (_, content, expected) => {
    const fault = await refusalOf(content)
    for (const [name, value] of Object.entries(expected)) {
      if (value instanceof RegExp) expect(fault).toHaveProperty(name, expect.stringMatching(value))
      else expect(fault).toHaveProperty(name, value)
    }
  })

  test('for a card number in any cell, by row, line and column, never by value', async () => {
    const fault = await refusalOf(`${HEAD}CANCEL;1;"a\nb"\nCANCEL;2;${PAN}\n`)
    expect(fault).toMatchObject({ rowNo: 2, line: 4, column: 'note' })
    expect(JSON.stringify(fault)).not.toContain('1111')
  })

  test('for any value in a column for card data', async () => {
    const fault = await refusalOf('type;order_id;CVV\nCANCEL;1;\nCANCEL;2;737\n')
    expect(fault).toMatchObject({ rowNo: 2, line: 3, column: 'CVV' })
    expect(JSON.stringify(fault)).not.toContain('737')
    expect(await readWhole('type;order_id;CVV\nCANCEL;1;\n')).toMatchObject({ rows: [{ cells: ['CANCEL', '1', ''] }] })
  })

  test('for a quotation mark beside a card number without showing it', async () => {
    expect(JSON.stringify(await refusalOf(`${HEAD}CANCEL;1;${PAN}"x\n`))).not.toContain('1111')
  })
})

describe('references', () => {
  const TEXT = 'type;order_id;reference\nCANCEL;1; R1 \nCANCEL;2;\nCANCEL;3;=bad\n'
  const sha = createHash('sha256').update(TEXT).digest('hex').slice(0, 16)

  test('come from the file, else from its hash and row number, and are marked where bad', async () => {
    const { rows } = await readWhole(TEXT)
    expect(rows.map((row) => row.reference)).toEqual(['R1', `${sha}-2`, `${sha}-3-unread`])
    expect(rows[2]).toMatchObject({ instruction: null, faults: [{ column: 'reference', value: '=bad' }] })
  })

  test('have the run key in front', async () => {
    const { rows } = await readWhole(TEXT, { runKey: '2026-12' })
    expect(rows.map((row) => row.reference)).toEqual(['2026-12/R1', `2026-12/${sha}-2`, `2026-12/${sha}-3-unread`])
    expect(rows[0]?.instruction?.reference).toBe('2026-12/R1')
  })

  test('with a wrong run key are a fault of usage', async () => {
    await expect(read(TEXT, { runKey: 'a/b' })).rejects.toMatchObject({ code: 'usage' })
  })
})

describe('row faults', () => {
  test('name row, line, column and cell as written, masked of control characters and cut', async () => {
    const { rows } = await readWhole(`"Order ID";type;note\n12;CANCEL;"a\nb"\n"\u001b[2J${'x'.repeat(80)}";CANCEL;\n`)
    expect(rows[1]?.faults).toEqual([
      {
        rowNo: 2,
        line: 4,
        column: 'Order ID',
        value: `␛[2J${'x'.repeat(56)}`,
        problem: 'contains an invisible character (U+001B)',
        remedy: expect.any(String),
      },
    ])
  })

  test('name the gateway’s column where the file has none', async () => {
    const { rows } = await readWhole('type\nREFUND\n')
    expect(rows[0]?.faults.map(({ column, value }) => [column, value])).toEqual([
      ['amount', null],
      ['request_ref_po_id', null],
    ])
  })

  test('of ambiguous amounts vanish when the sign is declared or shown elsewhere', async () => {
    const text = 'type;order_id;currency;amount\nREFUND;1;EUR;1.234\n'
    expect((await readWhole(text)).rows[0]?.faults).toMatchObject([{ column: 'amount', value: '1.234' }])
    const money = { amountMinor: 123400n, currency: 'EUR' as Currency }
    expect((await readWhole(text, { decimal: ',' })).rows[0]?.instruction?.money).toEqual(money)
    expect((await readWhole(`${text}REFUND;2;EUR;1,5\n`)).rows[0]?.instruction?.money).toEqual(money)
  })
})

describe('results fed back', () => {
  const FED = [
    'reference,type,order_id,note,result_status,result_reference,result_batch,result_row',
    "R1,CANCEL,1,'=1+1,FAILED,2026-12/R1,B7,1",
    "R2,CANCEL,2,'plain,INVALID,,B7,2",
    "R3,CANCEL,3,,FAILED,'@R3,,",
  ].join('\r\n')

  test('keep their references, lose guard and result columns, and say where they came from', async () => {
    const { survey, rows } = await readWhole(FED)
    expect(survey.fedBack).toBe(true)
    expect(rows.map((row) => row.cells)).toEqual([
      ['R1', 'CANCEL', '1', '=1+1'],
      ['R2', 'CANCEL', '2', "'plain"],
      ['R3', 'CANCEL', '3', ''],
    ])
    expect(rows.map((row) => row.cameFrom)).toEqual([{ batchId: 'B7', rowNo: 1 }, { batchId: 'B7', rowNo: 2 }, null])
    expect(rows.slice(0, 2).map((row) => row.instruction?.reference)).toEqual(['2026-12/R1', 'R2'])
    expect(rows[2]?.faults).toMatchObject([{ column: 'result_reference', value: "'@R3" }])
  })

  test('take no run key', async () => {
    await expect(read(FED, { runKey: '2026-12' })).rejects.toMatchObject({ code: 'usage' })
  })
})

describe('a reference that this program makes', () => {
  const madeIn = async (text: string, over: Parameters<typeof readWhole>[1] = {}) =>
    (await readWhole(text, over)).rows.map(({ made }) => made)

  test('is told from one that the row gives, whatever that looks like', async () => {
    const text = 'reference,type,order_id\n,CANCEL,1\n86cd799439011a2b-2,CANCEL,2\n=1+1,CANCEL,3\n'
    expect(await madeIn(text)).toEqual([true, false, true])
    expect(await madeIn(text, { runKey: '2026-12' })).toEqual([true, false, true])
    expect(await madeIn('type,order_id\nCANCEL,1\n')).toEqual([true])
  })

  test('is known again in a file of rejects by the row that it was made for', async () => {
    const rejects = (rows: readonly string[]) =>
      ['type,order_id,reference,reject_line,reject_row,reject_column,reject_value,reject_error,reject_remedy', ...rows]
        .map((row, i) => (i === 0 ? row : `CANCEL,${i},${row},amount,x,bad,mend it`))
        .join('\n')
    const hash = '86cd799439011a2b'
    const text = rejects([
      `${hash}-7,8,7`,
      `${hash}-7,9,8`,
      `${hash}-07,8,07`,
      `0${hash}-7,8,7`,
      `${hash}-7x,8,7`,
      'R1,2,1',
    ])
    for (const runKey of [null, '2026-12'])
      expect(await madeIn(text, runKey === null ? {} : { runKey })).toEqual([true, false, false, false, false, false])
    expect(
      await madeIn(
        `${rejects([`${hash}-7,8,7`]).replace('type,', 'type,result_reference,')}`.replace('CANCEL,', 'CANCEL,R9,'),
      ),
    ).toEqual([false])
  })
})

describe('a file that changes between the readings', () => {
  const options = READING
  const TEXT = 'type;order_id\nCANCEL;1\nCANCEL;2\n'
  test.each([
    ['another order', 'type;order_id\nCANCEL;1\nCANCEL;3\n'],
    ['a row more', `${TEXT}CANCEL;3\n`],
    ['a row less', 'type;order_id\nCANCEL;1\n'],
    ['a quote that is not closed', 'type;order_id\nCANCEL;"1\nCANCEL;2\n'],
    ['a cell more', 'type;order_id\nCANCEL;1;1\nCANCEL;2\n'],
    ['a card number', `type;order_id\nCANCEL;${PAN}\n`],
    ['other bytes', Buffer.from('type;order_id\nCANCEL;\xeb\n', 'latin1')],
  ])('gives a fault and no last rows: %s', async (_, content) => {
    await withFile(TEXT, async (file) => {
      const survey = await surveyFile(file, options)
      if (survey.kind !== 'survey') throw new Error(survey.problem)
      await file.truncate(0)
      await file.write(content as string, 0)
      const rows: unknown[] = []
      const reading = async () => {
        for await (const chunk of readRows(file, survey, options)) rows.push(...chunk)
      }
      await expect(reading()).rejects.toSatisfy((error) => error instanceof Fault && error.code === 'refused')
      expect(rows).toEqual([])
    })
  })
})
