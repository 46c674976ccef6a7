// Which forms are taken, and what is said of the others.

import { describe, expect, it } from 'vitest'
import { parseForm, parseRequest } from '../../src/sandbox/form.ts'

const NOW_MS = Date.UTC(2026, 10, 20)
const CARD = { pmt_numb: '4111111111111111', pmt_key: '123', pmt_expiry: '12/2027' }

function read(fields: Record<string, string>, nowMs = NOW_MS) {
  const form = new URLSearchParams({ req_username: 'u', req_password: 'p', ...fields })
  return parseRequest(parseForm(form.toString()), nowMs)
}

function faultsOf(fields: Record<string, string>): string[] {
  const parsed = read(fields)
  return parsed.kind === 'wrong' ? parsed.message.split('; ') : []
}

const SALE = { transaction_type: 'CAPTURE', amount: '12.30', request_currency: 'EUR', customer_vault_id: '55' }
const REFUND = { transaction_type: 'REFUND', amount: '12.30', request_ref_po_id: '00077' }

describe('forms that are taken', () => {
  it('a sale by vault id, with all its details', () => {
    const details = { cust_fname: 'Zoë', bill_addr_country: 'NL', xtl_order_id: 'A-1', save_card_on_file: 'Y' }
    expect(read({ ...SALE, ...details })).toMatchObject({
      kind: 'request',
      request: {
        operation: 'CAPTURE',
        source: { kind: 'vault', vaultId: '55' },
        saveFor: { firstName: 'Zoë', lastName: '' },
        xtlOrderId: 'A-1',
      },
    })
  })

  it('an authorization by card keeps the first six and last four digits and nothing else of it', () => {
    const { customer_vault_id: _, ...rest } = SALE
    const parsed = read({ ...rest, ...CARD, transaction_type: 'AUTH' })
    expect(parsed).toMatchObject({
      request: { source: { card: { bin: '411111', lastFour: '1111', expiry: { month: '12', year: '2027' } } } },
    })
    const kept = JSON.stringify(parsed, (_name, value) => (typeof value === 'bigint' ? String(value) : value))
    expect(kept).not.toContain(CARD.pmt_numb)
    expect(kept).not.toContain('123"')
  })

  it('a refund; its order id loses leading zeros', () => {
    expect(read(REFUND)).toMatchObject({ request: { operation: 'REFUND', orderId: '77', amount: '12.30' } })
  })

  it('the earlier variant names a refund CCCREDIT', () => {
    const { transaction_type: _, ...rest } = REFUND
    expect(read({ ...rest, request_action: 'CCCREDIT' })).toEqual(read(REFUND))
  })

  it('a cancellation with and without an amount; an empty field is an absent one', () => {
    const cancel = { transaction_type: 'CANCEL', request_ref_po_id: '77' }
    expect(read(cancel)).toMatchObject({ request: { amount: null } })
    expect(read({ ...cancel, amount: '' })).toMatchObject({ request: { amount: null } })
    expect(read({ ...cancel, amount: '1.00' })).toMatchObject({ request: { amount: '1.00' } })
  })

  it('a card is good to the last millisecond of its month, UTC', () => {
    const { customer_vault_id: _, ...rest } = SALE
    const card = { ...rest, ...CARD, pmt_expiry: '12/2026' }
    expect(read(card, Date.UTC(2027, 0) - 1).kind).toBe('request')
    expect(read(card, Date.UTC(2027, 0)).kind).toBe('wrong')
  })
})

describe('forms that are refused', () => {
  const AMOUNT = 'amount must be a decimal number greater than zero, such as 1.12'
  const table: ReadonlyArray<readonly [string, Record<string, string>, readonly string[]]> = [
    ['no operation', { amount: '1' }, ['transaction_type is missing']],
    [
      'an unknown operation',
      { transaction_type: 'SALE' },
      ['transaction_type must be one of CAPTURE, AUTH, CAUTH, REFUND, CANCEL'],
    ],
    [
      'an inherited name as operation',
      { transaction_type: 'toString' },
      ['transaction_type must be one of CAPTURE, AUTH, CAUTH, REFUND, CANCEL'],
    ],
    ['another action', { request_action: 'REFUND' }, ['request_action must be CCCREDIT']],
    [
      'both operation parameters',
      { ...REFUND, request_action: 'CCCREDIT' },
      ['transaction_type and request_action exclude each other'],
    ],
    [
      'a bare sale',
      { transaction_type: 'CAPTURE' },
      [
        'amount is missing',
        'request_currency is missing',
        'customer_vault_id is missing, or pmt_numb, pmt_key and pmt_expiry',
      ],
    ],
    [
      'a bare capture',
      { transaction_type: 'CAUTH' },
      ['amount is missing', 'request_currency is missing', 'request_ref_po_id is missing'],
    ],
    ['a bare refund', { transaction_type: 'REFUND' }, ['amount is missing', 'request_ref_po_id is missing']],
    ['a bare cancellation', { transaction_type: 'CANCEL' }, ['request_ref_po_id is missing']],
    ['a refund with a currency', { ...REFUND, request_currency: 'EUR' }, ['request_currency is not a field of REFUND']],
    [
      'an authorization that saves the card',
      { ...SALE, transaction_type: 'AUTH', save_card_on_file: 'Y' },
      ['save_card_on_file is not a field of AUTH'],
    ],
    ['save_card_on_file other than Y', { ...SALE, save_card_on_file: 'N' }, ['save_card_on_file must be Y']],
    ['a comma in the amount', { ...SALE, amount: '12,30' }, [AMOUNT]],
    ['a negative amount', { ...REFUND, amount: '-1.00' }, [AMOUNT]],
    ['an amount of zero', { ...REFUND, amount: '0.00' }, [AMOUNT]],
    [
      'too many decimals for the currency',
      { ...SALE, amount: '5.50', request_currency: 'JPY' },
      ['amount has more decimals than JPY'],
    ],
    [
      'small letters in the currency',
      { ...SALE, request_currency: 'eur' },
      ['request_currency must be a 3-letter ISO 4217 code in capitals'],
    ],
    [
      'a spreadsheet order id',
      { ...REFUND, request_ref_po_id: '1.2E+12' },
      ['request_ref_po_id must be 1 to 20 digits'],
    ],
    [
      'card and vault id',
      { ...SALE, ...CARD },
      ['pmt_numb', 'pmt_key', 'pmt_expiry'].map((name) => `${name} and customer_vault_id exclude each other`),
    ],
    [
      'half a card',
      { ...SALE, customer_vault_id: '', pmt_numb: CARD.pmt_numb },
      ['pmt_key is missing', 'pmt_expiry is missing'],
    ],
    [
      'a wrong card',
      { ...SALE, customer_vault_id: '', pmt_numb: '4111111111111112', pmt_key: '12', pmt_expiry: '13/2027' },
      ['pmt_numb must be a card number', 'pmt_key must be 3 or 4 digits', 'pmt_expiry must be MM/YYYY and not past'],
    ],
    [
      'an expired card',
      { ...SALE, ...CARD, customer_vault_id: '', pmt_expiry: '10/2026' },
      ['pmt_expiry must be MM/YYYY and not past'],
    ],
    ['a text without end', { ...SALE, cust_fname: 'x'.repeat(256) }, ['cust_fname is longer than 255 characters']],
  ]
  it.each(table)('%s', (_what, fields, faults) => {
    expect(faultsOf(fields)).toEqual(faults)
  })

  it('a field given twice', () => {
    const parsed = parseRequest(parseForm(`${new URLSearchParams(REFUND)}&amount=1.00`), NOW_MS)
    expect(parsed).toEqual({ kind: 'wrong', message: 'amount is given twice' })
  })

  it('a card number in the wrong place is not repeated, neither as a value nor as a name', () => {
    const faults = faultsOf({ ...REFUND, request_ref_po_id: `x${CARD.pmt_numb}`, [CARD.pmt_numb]: '1' })
    expect(faults).toHaveLength(2)
    expect(faults.join()).not.toContain(CARD.pmt_numb)
  })
})
