import { describe, expect, test } from 'vitest'
import type { Currency } from '../../src/domain/money.ts'
import { AMBIGUOUS } from '../../src/ingest/fields/decimal-sign.ts'
import { NO_MINUSES } from '../../src/ingest/fields/minus.ts'
import { instruct, type Reading } from '../../src/ingest/instruction.ts'
import type { FieldFault } from '../../src/ingest/row-reading.ts'
import { NO_CURRENCY_SAID } from '../../src/ingest/statements/currency.ts'

const READING: Reading = {
  operation: null,
  currency: NO_CURRENCY_SAID,
  decimal: '.',
  isDecimalMixed: false,
  oddFrom: null,
  minuses: NO_MINUSES,
  accountKey: 'account',
  timeZone: null,
  card: null,
}

function read(cells: Partial<Record<string, string>>, reading: Partial<Reading> = {}) {
  return instruct((field) => cells[field] ?? '', cells.reference ?? 'R1', { ...READING, ...reading })
}

function instructionOf(cells: Record<string, string>, reading: Partial<Reading> = {}) {
  const found = read(cells, reading)
  if (found.kind === 'faults') throw new Error(JSON.stringify(found.faults))
  return found.instruction
}

function faultsOf(cells: Record<string, string>, reading: Partial<Reading> = {}): readonly FieldFault[] {
  const found = read(cells, reading)
  return found.kind === 'faults' ? found.faults : []
}

const SALE = { transaction_type: 'CAPTURE', amount: '12.30', request_currency: 'EUR', customer_vault_id: '77' }
const REFUND = { transaction_type: 'REFUND', amount: '12.30', request_currency: 'EUR', request_ref_po_id: '000123' }

describe('instructions', () => {
  test('a sale has a vault id, details and an order id of its own', () => {
    const sale = { ...SALE, save_card_on_file: 'Y', cust_fname: ' Ada ', execute_at: '2026-12-01T00:00:00Z' }
    expect(instructionOf(sale)).toEqual({
      reference: 'R1',
      operation: 'CAPTURE',
      money: { amountMinor: 1230n, currency: 'EUR' },
      orderId: null,
      vaultId: '77',
      card: null,
      saveCardOnFile: true,
      xtlOrderId: 'R1',
      details: { cust_fname: 'Ada' },
      executeAtMs: Date.UTC(2026, 11, 1),
      expiresAtMs: null,
    })
  })

  test('a refund keeps its order id as written and sends no details and no order id of ours', () => {
    const odd = { customer_vault_id: 'x', save_card_on_file: 'no', xtl_order_id: '--', cust_email: 'a\nb' }
    expect(instructionOf({ ...REFUND, ...odd })).toMatchObject({
      orderId: '000123',
      vaultId: null,
      card: null,
      xtlOrderId: null,
      details: {},
    })
  })

  test('a cancel may have no amount and then needs no currency', () => {
    expect(instructionOf({ transaction_type: 'void', request_ref_po_id: '5' }).money).toBeNull()
  })

  test('the words capture and CAPTURE are not the same operation', () => {
    expect(instructionOf({ ...REFUND, transaction_type: 'capture' }).operation).toBe('CAUTH')
    expect(faultsOf({ ...REFUND, transaction_type: 'Capture' })).toMatchObject([{ field: 'transaction_type' }])
  })

  test('operation and currency of the file hold for rows that name none', () => {
    const row = { amount: '5', request_ref_po_id: '5' }
    const found = instructionOf(row, {
      operation: 'REFUND',
      currency: { ...NO_CURRENCY_SAID, forAll: 'JPY' as Currency },
    })
    expect(found).toMatchObject({ operation: 'REFUND', money: { amountMinor: 5n, currency: 'JPY' } })
    expect(instructionOf({ ...row, request_currency: 'usd' }, { operation: 'REFUND' }).money?.currency).toBe('USD')
  })

  test('an expiry is a moment as execute_at is, in the same time zone', () => {
    const row = { ...SALE, execute_at: '2026-12-01T09:00', expires_at: '2026-12-01T10:00' }
    const [executeAtMs, expiresAtMs] = [8, 9].map((hour) => Date.UTC(2026, 11, 1, hour))
    expect(instructionOf(row, { timeZone: 'Europe/Berlin' })).toMatchObject({ executeAtMs, expiresAtMs })
  })

  test('the file names the order id that travels, else it comes from the reference', () => {
    expect(instructionOf({ ...SALE, xtl_order_id: 'Own1' }).xtlOrderId).toBe('Own1')
    expect(instructionOf({ ...SALE, reference: 'R/1' }).xtlOrderId).toMatch(/^T[A-Z2-7]{19}$/)
  })
})

describe('faults', () => {
  test.each<[string, Record<string, string>, string[]]>([
    ['no operation', { ...REFUND, transaction_type: '' }, ['transaction_type']],
    ['an unknown operation', { ...REFUND, transaction_type: 'PAY' }, ['transaction_type']],
    ['no amount', { ...REFUND, amount: '' }, ['amount']],
    ['a wrong amount', { ...REFUND, amount: 'ten' }, ['amount']],
    ['an amount without a currency', { ...REFUND, request_currency: '' }, ['request_currency']],
    ['an unknown currency', { ...REFUND, request_currency: 'EURO' }, ['request_currency']],
    [
      'a cancel with an amount and no currency',
      { ...REFUND, transaction_type: 'CANCEL', request_currency: '' },
      ['request_currency'],
    ],
    [
      'a cancel with an unknown currency',
      { transaction_type: 'CANCEL', request_ref_po_id: '1', request_currency: '?' },
      ['request_currency'],
    ],
    ['no order', { ...REFUND, request_ref_po_id: ' ' }, ['request_ref_po_id']],
    ['a damaged order', { ...REFUND, request_ref_po_id: '1.2E+12' }, ['request_ref_po_id']],
    ['a sale without a vault id', { ...SALE, customer_vault_id: '' }, ['customer_vault_id']],
    ['a sale of an order', { ...SALE, request_ref_po_id: '5' }, ['request_ref_po_id']],
    [
      'an authorization that saves',
      { ...SALE, transaction_type: 'AUTH', save_card_on_file: 'Y' },
      ['save_card_on_file'],
    ],
    ['a save that is not Y', { ...SALE, save_card_on_file: 'yes' }, ['save_card_on_file']],
    ['a wrong own order id', { ...SALE, xtl_order_id: 'INV-1' }, ['xtl_order_id']],
    ['a detail of two lines', { ...SALE, bill_addr: 'a\nb' }, ['bill_addr']],
    ['a detail that is too long', { ...SALE, bill_addr: 'a'.repeat(256) }, ['bill_addr']],
    ['a time without an offset', { ...SALE, execute_at: '2026-12-01T00:00' }, ['execute_at']],
    ['an expiry without an offset', { ...SALE, expires_at: '2026-12-01T00:00' }, ['expires_at']],
    [
      'an expiry that is not after the earliest moment',
      { ...SALE, execute_at: '2026-12-01T00:00Z', expires_at: '2026-12-01T01:00+01:00' },
      ['expires_at'],
    ],
    [
      'several at once, all reported',
      {
        ...SALE,
        amount: '-1',
        request_currency: '',
        customer_vault_id: 'x',
        execute_at: 'soon',
        cust_email: '\u0001x',
      },
      ['amount', 'request_currency', 'customer_vault_id', 'cust_email', 'execute_at'],
    ],
    [
      'an unknown operation does not hide the others',
      { transaction_type: '?', amount: '1.234', request_currency: 'EUR', request_ref_po_id: 'x' },
      ['transaction_type', 'amount', 'request_ref_po_id'],
    ],
  ])('%s', (_, cells, fields) => {
    expect(
      faultsOf(cells)
        .map((fault) => fault.field)
        .sort(),
    ).toEqual([...fields].sort())
  })

  test('a sale of an order is told of CAUTH', () => {
    expect(faultsOf({ ...SALE, request_ref_po_id: '5' })[0]?.remedy).toContain('CAUTH')
  })

  test('a row that says another operation than its file is one', () => {
    expect(faultsOf(REFUND, { operation: 'CANCEL' })).toMatchObject([
      { field: 'transaction_type', problem: 'says REFUND, and the whole file was declared to be CANCEL' },
    ])
    expect(faultsOf(REFUND, { operation: 'REFUND' })).toEqual([])
  })

  test('an ambiguous amount in a file that does not settle it is one', () => {
    expect(faultsOf({ ...REFUND, amount: '1.234' }, { decimal: null })[0]?.remedy).toBe(AMBIGUOUS.remedy)
  })
})
