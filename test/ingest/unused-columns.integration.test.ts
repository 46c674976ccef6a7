// Columns that do not matter to the operation of a file: never a reason to refuse it, never lost, always told.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainName } from '../../src/ingest/columns.ts'
import { carriedColumns } from '../../src/ingest/header.ts'
import { numbered } from '../../src/ingest/unused-columns.ts'
import { readWhole, refusalOf, toCsv } from './table.ts'

const REFUND = { operation: 'REFUND' } as const
const fileOf = (names: readonly string[], ...rows: readonly (readonly string[])[]) =>
  toCsv(
    [['amount', 'currency', 'order_id', ...names], ...rows.map((row, i) => ['5.00', 'EUR', `${100 + i}`, ...row])],
    ';',
    '\n',
  )

describe('two columns of one field', () => {
  test('are carried through where the operation does not use it', async () => {
    const { survey, rows } = await readWhole(fileOf(['Country', 'Country Code'], ['Germany', 'DE']), REFUND)
    expect(rows[0]?.instruction?.details).toEqual({})
    expect(rows[0]?.cells.slice(3)).toEqual(['Germany', 'DE'])
    expect(survey.warnings).toEqual([
      '"Country" and "Country Code" mean bill_addr_country, which REFUND does not use: carried through.',
    ])
  })

  test('refuse the file where it is used, or where no operation is said', async () => {
    const sale = 'amount;currency;vault_id;Country;Country Code\n5.00;EUR;7;Germany;DE\n'
    expect((await refusalOf(sale, { operation: 'CAPTURE' })).problem).toContain('both mean bill_addr_country')
    const any = 'type;amount;currency;order_id;Country;Country Code\nREFUND;5.00;EUR;7;Germany;DE\n'
    expect((await refusalOf(any)).problem).toContain('both mean bill_addr_country')
    expect((await refusalOf(fileOf(['Betrag'], ['6.00']), REFUND)).problem).toContain('both mean amount')
  })
})

describe('columns of one name', () => {
  test('that are carried through keep their cells and get a number in the results', async () => {
    const { survey, rows } = await readWhole(fileOf(['Fee', 'Fee', 'fee (2)', 'FEE'], ['a', 'b', 'c', 'd']), REFUND)
    expect(carriedColumns(survey.header).slice(3)).toEqual(['Fee', 'Fee (3)', 'fee (2)', 'FEE (4)'])
    expect(rows[0]?.cells.slice(3)).toEqual(['a', 'b', 'c', 'd'])
    expect(survey.warnings).toEqual([
      'Columns that are carried through have the same name; in the results the later ones are called "Fee (3)", "FEE (4)".',
    ])
  })

  test('that mean something, or that a person names, refuse the file', async () => {
    expect((await refusalOf(fileOf(['Amount'], ['6.00']), REFUND)).problem).toContain('have the same name')
    expect((await refusalOf(fileOf(['cvv', 'cvv'], ['', '']), REFUND)).problem).toContain('have the same name')
    const map = [{ column: 'Beleg', field: 'reference' as const }]
    expect((await refusalOf(fileOf(['Beleg', 'Beleg'], ['a', 'b']), { ...REFUND, map })).problem).toContain(
      'could mean',
    )
  })

  test('are numbered so that no name is there twice, none is lost and the first stays', () => {
    const names = fc.array(fc.constantFrom('Fee', 'fee', 'Fee (2)', 'Fee (3)', '', ' Fee ', 'Net', 'net (2)'), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(names, (written) => {
        const found = numbered(written)
        expect(found).toHaveLength(written.length)
        const plain = found.map(plainName).filter((name) => name !== '')
        expect(new Set(plain).size).toBe(plain.length)
        found.forEach((name, i) => {
          const isFirst = written.findIndex((other) => plainName(other) === plainName(written[i] as string)) === i
          if (isFirst) expect(name).toBe(written[i])
        })
      }),
    )
  })
})

describe('a column called Type', () => {
  test('is carried through where its cells are no operations and one is said for the file', async () => {
    const { survey, rows } = await readWhole(fileOf(['Type'], ['Payment Refund'], ['']), REFUND)
    expect(rows.map(({ instruction }) => instruction?.operation)).toEqual(['REFUND', 'REFUND'])
    expect(rows[0]?.cells[3]).toBe('Payment Refund')
    expect(survey.warnings).toEqual([
      '"Type" holds no operation ("Payment Refund"): carried through, and every row is read as what the whole file was declared to be.',
    ])
  })

  test('is not passed over where it has more than one kind of row: a payment would be refunded', async () => {
    const { rows } = await readWhole(fileOf(['Type'], ['Payment Refund'], ['General Withdrawal']), REFUND)
    expect(rows.map(({ faults }) => faults.map(({ problem }) => problem).join())).toEqual([
      'is not an operation',
      'is not an operation',
    ])
  })

  test('is for a person to judge where its words are of no money: orders may stand beside returns', async () => {
    for (const other of ['Child', 'Umtausch']) {
      const file = fileOf(['Type'], ['Adult'], [other], ['Adult'])
      const refusal = await refusalOf(file, REFUND)
      expect(refusal.problem).toBe(
        `the column "Type" tells kinds of rows apart ("Adult", "${other}"), and none is an operation`,
      )
      const { rows } = await readWhole(file, { ...REFUND, map: [{ column: 'Type', field: null }] })
      expect(rows.map(({ instruction }) => instruction?.operation)).toEqual(['REFUND', 'REFUND', 'REFUND'])
    }
    for (const other of ['Fee', 'Payout', 'Rücklastschrift', '2', '返品']) {
      const { rows: kept } = await readWhole(fileOf(['Type'], ['Adult'], [other]), REFUND)
      expect(kept[1]?.faults).toMatchObject([{ problem: 'is not an operation' }])
    }
    expect((await refusalOf(fileOf(['Type'], ['approved'], ['rejected']), REFUND)).problem).toContain('decides which')
  })

  test('is the operation where one cell is, and the others are faults', async () => {
    const { rows } = await readWhole(fileOf(['Type'], ['Payment'], ['Refund'], ['void']), REFUND)
    expect(rows.map(({ faults }) => faults.map(({ problem }) => problem).join())).toEqual([
      'is not an operation',
      '',
      'says CANCEL, and the whole file was declared to be REFUND',
    ])
    const { rows: alike } = await readWhole(fileOf(['Type'], ['void'], ['void']), REFUND)
    expect(alike.map(({ faults }) => faults.map(({ problem }) => problem).join())).toEqual([
      'says CANCEL, and the whole file was declared to be REFUND',
      'says CANCEL, and the whole file was declared to be REFUND',
    ])
  })

  test.each(['transaction_type', 'Transaction Type'])('is not what "%s" is, where that was said', async (column) => {
    const map = [{ column, field: 'transaction_type' as const }]
    const { rows } = await readWhole(fileOf([column], ['Payment Refund']), { ...REFUND, map })
    expect(rows[0]?.faults).toMatchObject([{ problem: 'is not an operation' }])
  })

  test('is not carried through in silence where it says which way the money goes', async () => {
    const fault = await refusalOf(fileOf(['Type'], ['Debit'], ['Credit']), REFUND)
    expect(fault.problem).toContain('says which way the money of a row goes')
  })

  test('says an operation in the words of an export', async () => {
    for (const [word, operation] of [
      ['refunded', 'REFUND'],
      ['Refunded', 'REFUND'],
      ['voided', 'CANCEL'],
      ['Cancelled', 'CANCEL'],
      ['canceled', 'CANCEL'],
      ['captured', 'CAUTH'],
    ] as const) {
      const { rows } = await readWhole(fileOf(['Type'], [word]))
      expect(rows[0]?.instruction?.operation).toBe(operation)
    }
    // As for Capture: it could be a sale, or the capture of an authorization.
    expect((await readWhole(fileOf(['Type'], ['Captured']))).rows[0]?.faults).toMatchObject([
      { problem: 'is not an operation' },
    ])
  })
})

test("the amount has the gateway's own names", async () => {
  for (const name of ['TRANS_VALUE', 'trans_amount']) {
    const file = `TRANS_REQUEST_ID,TRANS_ORDER_ID,${name},TRANS_CUR\n1,700,5.00,EUR\n`
    expect((await readWhole(file, REFUND)).rows[0]?.instruction?.money?.amountMinor).toBe(500n)
  }
})
