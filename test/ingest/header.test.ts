import { describe, expect, test } from 'vitest'
import type { Currency } from '../../src/domain/money.ts'
import { sniffLayout } from '../../src/ingest/csv/delimiter.ts'
import { carriedColumns, type Header, isHeaderAgain, namesColumns } from '../../src/ingest/header.ts'
import type { HeaderNeeds } from '../../src/ingest/said-columns.ts'
import { headerOf } from './table.ts'

const REFUND = { operation: 'REFUND', currency: 'EUR' as Currency } as const

function header(line: string, needs: HeaderNeeds = {}): Header {
  const parsed = headerOf(line, needs)
  if ('kind' in parsed) throw new Error(parsed.problem)
  return parsed
}

function refusal(line: string, needs: HeaderNeeds = {}) {
  const parsed = headerOf(line, needs)
  if (!('kind' in parsed)) throw new Error('not refused')
  return parsed
}

describe('columns', () => {
  test('are found in any letter case and order', () => {
    const { fields, mapped } = header('AMOUNT;note;Transaction_Type; Request_Ref_Po_Id ')
    expect(fields).toEqual({ amount: 0, transaction_type: 2, request_ref_po_id: 3 })
    expect(mapped).toEqual([])
  })

  test('are found under other names, and the mapping is shown', () => {
    const { fields, mapped } = header('Order ID;orderType;e-mail;vaultId;Währung;operation;bill.addr.zip')
    expect(fields).toEqual({
      request_ref_po_id: 0,
      cust_email: 2,
      customer_vault_id: 3,
      request_currency: 4,
      transaction_type: 5,
      bill_addr_zip: 6,
    })
    expect(mapped).toContainEqual({ written: 'Order ID', field: 'request_ref_po_id' })
    expect(mapped).toContainEqual({ written: 'Währung', field: 'request_currency' })
  })

  test('that share one field refuse the file and are both named', () => {
    expect(refusal('type;request_ref_po_id;Order ID').problem).toBe(
      'the columns "request_ref_po_id" and "Order ID" both mean request_ref_po_id',
    )
    expect(refusal('type;currency;ccy').problem).toBe('the columns "currency" and "ccy" both mean request_currency')
  })

  test('of one name refuse the file, known or not', () => {
    expect(refusal('type;amount;Amount').problem).toBe('the columns "amount" and "Amount" have the same name')
    expect(refusal('type;cvv;cvv').problem).toBe('the columns "cvv" and "cvv" have the same name')
  })

  test('without a name may be many and are carried through', () => {
    expect(carriedColumns(header('type;;note;;'))).toEqual(['type', '', 'note', '', ''])
  })

  test('that every row needs refuse the file where they are missing, with what was found', () => {
    const fault = refusal('order_id;ammount;note', REFUND)
    expect(fault.problem).toBe('the file has no column amount; its first line has "order_id", "ammount", "note"')
    expect(fault.remedy).toBe('is "ammount" meant? Name it amount, or add --map "ammount=amount"')
    expect(refusal('order_id;amount').remedy).toContain('--operation')
    // A mark beside every amount may still say it.
    const { missingCurrency } = header('order_id;amount', { operation: 'REFUND' })
    expect(missingCurrency?.problem).toContain('no column request_currency')
    const both = refusal('order_id;x', { operation: 'REFUND' }).remedy
    expect(both).toMatch(/--map "COLUMN=amount"; .*--currency EUR/)
    expect(refusal('vault_id;note', { operation: 'CAPTURE', currency: 'EUR' as Currency }).problem).toContain('amount')
  })

  test('that only some rows need may be missing', () => {
    expect(header('type;order_id').fields).toEqual({ transaction_type: 0, request_ref_po_id: 1 })
    expect(header('order_id', { operation: 'CANCEL' }).fields).toEqual({ request_ref_po_id: 0 })
  })

  test('for card data are known under their many names', () => {
    const { cards } = header('type;pmt_numb;Card Number;CVV2;card exp date;expiry_note;Prüfziffer;pmtnumb;Track 2')
    expect(cards.map(({ place, kinds }) => [place, ...kinds])).toEqual([
      ...[
        [1, 'any'],
        [2, 'number'],
        [3, 'code'],
        [4, 'any'],
        [6, 'check'],
        [7, 'any'],
        [8, 'track'],
      ],
    ])
  })

  test('that may be for card data are judged by their values, unless they are read as a field', () => {
    const named = 'type;pin;exp date;card_type;amount;plz'
    const [pin, expiry] = [{ place: 1, meaning: 'code' } as const, { place: 2, meaning: 'expiry' } as const]
    expect(header(named)).toMatchObject({ cards: [], speaksOfCards: true, doubtful: [pin, expiry] })
    expect(header(named.replace('card_type', 'x')).speaksOfCards).toBe(false)
    const map = [{ column: 'pin', field: 'bill_addr_zip' }] as const
    expect(header(named.replace('plz', 'x'), { map }).doubtful).toEqual([expiry])
  })

  test('a card number among the names refuses the file and is not shown', () => {
    const fault = refusal('type;4111111111111111')
    expect(JSON.stringify(fault)).not.toContain('4111')
  })
})

describe('results fed back', () => {
  test('keep the columns of their input only', () => {
    const found = header('note;type;result_status;result_batch;Result_Row;result_reference')
    expect(carriedColumns(found)).toEqual(['note', 'type'])
    expect(found.results).toEqual({ reference: 5, batch: 3, row: 4 })
  })

  test('without their references are refused: they would be sent as new', () => {
    expect(refusal('type;result_status').problem).toContain('no column result_reference')
  })
})

describe('rejects that were mended', () => {
  const found = header("'=note;type;Reject_Line;reject_row;reject_column;reject_value;reject_error;reject_remedy")

  test('keep the columns of their input, and their cells lose the apostrophe that they were given', () => {
    expect(carriedColumns(found)).toEqual(['=note', 'type'])
    expect(found).toMatchObject({ guarded: true, results: null })
  })

  test('are new instructions: a column of that beginning that is not ours is the file’s own', () => {
    expect(carriedColumns(header('type;reject_code'))).toEqual(['type', 'reject_code'])
    expect(header('type;reject_code').guarded).toBe(false)
  })

  test('of fed-back results are fed-back results', () => {
    const again = header('type;result_reference;result_row;result_batch;reject_line;reject_error')
    expect(carriedColumns(again)).toEqual(['type'])
    expect(again.results).toEqual({ reference: 1, row: 2, batch: 3 })
  })
})

describe('the delimiter', () => {
  test.each([
    ['type;amount', ';'],
    ['type,amount', ','],
    ['type\tamount', '\t'],
    ['type|amount', '|'],
    ['type;"net, gross, tax, fee";amount', ';'],
    ['type,amount;order_id;vault_id', ';'],
    ['type;amount, net, gross, all of it;order_id', ';'],
    ['\r\n;;;\r\ntype,amount\r\n1;2;3;4', ','],
    ['"type\n1;2;3",amount', ','],
    ['order_id\r\n12', ','],
    ['größe;name\r\n', ';'],
  ])('of %j is %j', (head, delimiter) => {
    expect(sniffLayout(head)).toEqual({ delimiter, skippedCharacters: 0, firstLine: 1 })
  })

  test('is what a sep= line says', () => {
    expect(sniffLayout('sep=;\r\ntype,amount')).toEqual({ delimiter: ';', skippedCharacters: 7, firstLine: 2 })
    expect(sniffLayout('SEP=\t\ntype,amount')).toEqual({ delimiter: '\t', skippedCharacters: 6, firstLine: 2 })
    expect(sniffLayout('"sep=,"\rtype,amount')).toEqual({ delimiter: ',', skippedCharacters: 8, firstLine: 2 })
    expect(sniffLayout('sep=#\ntype#amount')).toHaveProperty('problem')
  })
})

describe('column names further down', () => {
  const found = header('Order ID;type;amount;note')

  test('are the header again in any case, with blanks, quotation marks or a byte order mark', () => {
    expect(isHeaderAgain(found, ['\ufefforder id', ' TYPE ', '"amount"', 'Note'])).toBe(true)
    expect(isHeaderAgain(found, ['Order ID', 'type', 'note', 'amount'])).toBe(false)
    expect(isHeaderAgain(found, ['Order ID', 'type', 'amount'])).toBe(false)
  })

  test.each([
    [['type', 'order_id', 'Betrag', 'x'], true],
    [['Referenz', 'Währung', 'Summe'], true],
    [['Order ID', 'type', '', ''], true],
    [['1001', 'refund', 'amount', 'Note'], false],
    [['Sum', 'refund', '12.30', 'Address'], false],
    [['', 'refund', '', 'amount'], false],
    [['', '', 'amount', ''], false],
    [['', '', '', ''], false],
  ])('%j: %s', (cells, names) => {
    expect(namesColumns(found, cells)).toBe(names)
  })

  // A pattern that went back for every digit took a minute: a test that does not end in time has failed.
  test('are looked for in long cells to their end', () => {
    const long = [`${'1'.repeat(32_000)}a`, '', `${'1'.repeat(32_000)}a`, '']
    for (let i = 0; i < 20; i++) expect(namesColumns(found, long)).toBe(false)
  })
})
