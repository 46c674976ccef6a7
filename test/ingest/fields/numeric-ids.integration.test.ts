// Ids that a workbook stores as numbers: read where nothing can have been lost, and a fault everywhere else.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cell, number, partsOf, rowsOf, type Written, zip } from '../sheets.ts'
import { readWhole, toCsv } from '../table.ts'

/** By style: what the spreadsheet shows of a number. */
const FORMATS = ['General', '0', '@', '000000000', '#,##0', '0.00', '"N"0', '0;0', '[Red]0', '0%', 'dd.mm.yyyy', '0E+0']
const BARE = [0, 1, 2]

function bookOf(table: readonly (readonly Written[])[]): Buffer {
  const quoted = FORMATS.map((code) => code.replaceAll('"', '&quot;'))
  const list = quoted.map((code, i) => `<numFmt numFmtId="${164 + i}" formatCode="${code}"/>`)
  const styles = quoted.map((_, i) => `<xf numFmtId="${164 + i}"/>`)
  return zip(
    partsOf(
      { A: rowsOf(table) },
      {
        'xl/styles.xml': `<styleSheet><numFmts>${list.join('')}</numFmts><cellXfs>${styles.join('')}</cellXfs></styleSheet>`,
      },
    ),
  )
}

const REFUND = { operation: 'REFUND' } as const
const refundsOf = (...ids: readonly Written[]) =>
  bookOf([['amount', 'currency', 'order_id'], ...ids.map((id) => ['5.00', 'EUR', id])])

async function idsOf(file: Uint8Array): Promise<readonly (string | null)[]> {
  const { rows } = await readWhole(file, REFUND)
  return rows.map(({ instruction }) => instruction?.orderId ?? null)
}

describe('order ids that are stored as numbers', () => {
  test('of up to 15 digits are read digit for digit, whatever plain format they have', async () => {
    // Of 13 digits and more some are card numbers, but none that begins with 9.
    const id = fc.oneof(
      fc.bigInt({ min: 1n, max: 999_999_999_999n }),
      fc.bigInt({ min: 900_000_000_000_000n, max: 999_999_999_999_999n }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(id, fc.constantFrom(...BARE)), { minLength: 1, maxLength: 6 }),
        async (all) => {
          const numbers = all.map(([n, style]) => number(n.toString(), style))
          expect(await idsOf(refundsOf(...numbers))).toEqual(all.map(([n]) => n.toString()))
          const stored = all.map(([n, style]) => number(Number(n).toExponential(), style))
          expect(await idsOf(refundsOf(...stored))).toEqual(all.map(([n]) => n.toString()))
        },
      ),
      { numRuns: 40 },
    )
  })

  test('are told of once, with how many digits they have', async () => {
    const { survey, rows } = await readWhole(refundsOf(number('700010001'), number('700010002')), REFUND)
    expect(survey.warnings).toEqual([
      "2 order ids are stored as numbers (9 digits) and read as they stand. If the gateway's ids begin with zeros, format the column as Text and fill it again.",
    ])
    expect(rows.map(({ cells }) => cells[2])).toEqual(['700010001', '700010002'])
  })

  test('are the same instructions as those of the results, where they are text', async () => {
    const { rows } = await readWhole(refundsOf(number('700010001')), REFUND)
    const again = await readWhole(
      toCsv([['amount', 'currency', 'order_id'], ...rows.map(({ cells }) => [...cells])], ',', '\n'),
      REFUND,
    )
    expect(again.rows[0]?.instruction?.orderId).toBe('700010001')
  })

  test.each(FORMATS.map((format, style) => [format, style] as const).filter(([, style]) => !BARE.includes(style)))(
    'are faults where the format is %s',
    async (_, style) => {
      expect(await idsOf(refundsOf(number('700010001', style)))).toEqual([null])
    },
  )

  test.each(['0', '-5', '1.5', '1000000000000000', '1234567890123456', '1E+15', '1E+20', '0.1'])(
    'are faults where the number is %s',
    async (stored) => {
      expect(await idsOf(refundsOf(number(stored)))).toEqual([null])
    },
  )

  test('of more than 15 digits are said to be numbers, which have lost digits', async () => {
    const { rows } = await readWhole(refundsOf(number('9234567890123456')), REFUND)
    expect(rows[0]?.faults).toMatchObject([{ problem: expect.stringContaining('is stored as a number') }])
  })

  test.each([
    ['a text begins with a zero', '000010001'],
    ['a text is shorter', '70001000'],
    ['a text is longer', '7000100011'],
    ['a text is none', 'n/a'],
    ['a format shows zeros', number('10001', 3)],
    ['a format parts thousands', number('700010009', 4)],
  ])('are faults in a column where %s', async (_, other) => {
    const [first] = await idsOf(refundsOf(number('700010001'), other))
    expect(first).toBeNull()
  })

  test('are read beside texts of the same length, and empty cells', async () => {
    expect(await idsOf(refundsOf(number('700010001'), '700010002', ''))).toEqual(['700010001', '700010002', null])
  })

  test('that are refused come with the steps that mend them', async () => {
    const { rows } = await readWhole(refundsOf(number('700010001'), '000010002'), REFUND)
    expect(rows[0]?.faults[0]?.remedy).toContain('Data, Text to Columns, Next, Next, Text, Finish')
  })
})

test('a vault id that is stored as a number is read in the same way', async () => {
  const rows = [
    ['amount', 'currency', 'vault_id'],
    ['5.00', 'EUR', number('4711')],
  ]
  const { survey, rows: read } = await readWhole(bookOf(rows), { operation: 'CAPTURE' })
  expect(read[0]?.instruction?.vaultId).toBe('4711')
  expect(survey.warnings).toEqual([expect.stringContaining('1 vault id is stored as a number (4 digits)')])
})

test.each(['reference', 'xtl_order_id'])('%s as a number stays a fault: it is compared as text', async (column) => {
  const rows = [
    ['amount', 'currency', 'vault_id', column],
    ['5.00', 'EUR', '7', number('4711')],
  ]
  const { rows: read } = await readWhole(bookOf(rows), { operation: 'CAPTURE' })
  expect(read[0]?.faults).toMatchObject([{ column, problem: expect.stringContaining('stored as a number') }])
})

test('a truth value, a date or an error in such a column is a fault of its row alone', async () => {
  const others = [cell('b', '<v>1</v>'), cell('e', '<v>#N/A</v>'), number('46357', 10)]
  expect(await idsOf(refundsOf(number('700010001'), ...others))).toEqual(['700010001', null, null, null])
})
