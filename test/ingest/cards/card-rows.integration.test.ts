// Files with card details: what is read of them, what is kept, and what refuses them.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { VAULT_OPERATIONS, type VaultOperation } from '../../../src/domain/instruction.ts'
import { isProblem } from '../../../src/domain/problem.ts'
import { parseColumnMap } from '../../../src/ingest/columns.ts'
import type { ReadingOptions } from '../../../src/ingest/inspect-records.ts'
import { vocabularyOf } from '../../../src/ingest/vocabulary.ts'
import { number as numberCell, workbook } from '../sheets.ts'
import { headerOf, read, readWhole, refusalOf } from '../table.ts'
import {
  AMEX,
  type Cells,
  card,
  csvOf,
  expiryText,
  grouped,
  masked,
  PAYMENTS,
  SALE,
  TAKEN,
  VISA,
} from './card-files.ts'

const VAULT = [
  'reference',
  'customer_vault_id',
  'cust_fname',
  'Street',
  'address_2',
  ...['last_name', 'email', 'phone', 'city', 'state', 'zip', 'country'],
  'card_number',
  'card_cvv',
  'expiry',
]
const STORED: Cells = {
  reference: 'R-1',
  cust_fname: 'Ann',
  last_name: 'Smith',
  Street: 'Road 1',
  card_number: VISA,
  card_cvv: '123',
  expiry: '04/31',
}
const EXPIRY = { month: '04', year: '2031' }

const rowsOf = async (columns: readonly string[], rows: readonly Cells[], options: Partial<ReadingOptions> = {}) =>
  (await readWhole(csvOf(columns, rows), { ...TAKEN, ...options })).rows
const rowOf = async (cells: Cells, options: Partial<ReadingOptions> = {}, columns = PAYMENTS) =>
  (await rowsOf(columns, [cells], options))[0]
const faultsOf = async (cells: Cells, options: Partial<ReadingOptions> = {}, columns = PAYMENTS) =>
  (await rowOf(cells, options, columns))?.faults.map(({ column, problem }) => `${column} ${problem}`) ?? []
const vault = (operation: VaultOperation) => ({ operation }) as const

describe('a payment with card details', () => {
  test('is an instruction with the mask of its card, in cells that hold no more', async () => {
    const row = await rowOf(SALE)
    expect(row?.instruction).toMatchObject({
      operation: 'CAPTURE',
      vaultId: null,
      card: { bin: '411111', lastFour: '1111', expiry: EXPIRY },
    })
    expect(row?.cells.slice(6)).toEqual(['411111******1111', '', '04/2031', ''])
  })

  test('may stand beside one of a stored card, but is not both', async () => {
    const stored: Cells = { ...SALE, pmt_numb: '', pmt_key: '', pmt_expiry: '', customer_vault_id: '7' }
    expect((await rowOf(stored))?.instruction).toMatchObject({ vaultId: '7', card: null })
    expect((await rowOf({ ...stored, pmt_numb: '411111******1111', pmt_key: '***' }))?.instruction?.card).toBeNull()
    for (const more of [{ pmt_numb: VISA }, { pmt_key: '123' }, { pmt_expiry: '04/31' }])
      expect(await faultsOf({ ...stored, ...more })).toContainEqual(expect.stringContaining('names a stored card'))
    expect(await faultsOf({ ...stored, customer_vault_id: '' })).toEqual([
      'customer_vault_id is empty, and the row has no card details either',
    ])
  })

  test('has a fault for each part that is missing or wrong', async () => {
    expect((await faultsOf({ ...SALE, pmt_key: '', pmt_expiry: '' })).map((fault) => fault.split(' ')[0])).toEqual([
      'pmt_expiry',
      'pmt_key',
    ])
    expect((await faultsOf({ ...SALE, pmt_numb: '', pmt_key: '12', pmt_expiry: '10/2026' })).join()).toMatch(
      /pmt_numb is empty.*pmt_expiry has expired.*pmt_key has fewer digits/,
    )
  })

  test('is none where the operation names an order', async () => {
    const refund = { ...SALE, transaction_type: 'REFUND', request_ref_po_id: '5' }
    expect(await faultsOf(refund)).toContainEqual(expect.stringContaining('takes no card details'))
    expect(await faultsOf({ ...refund, pmt_numb: '411111******1111', pmt_key: '', pmt_expiry: '' })).toEqual([])
  })

  test.each([
    ['Card No.', 'CVV', 'Expiry date'],
    ['PAN', 'security_code', 'card_expiry'],
    ['Kartennummer', 'Prüfziffer', 'Ablaufdatum'],
    ['numéro de carte', 'cryptogramme', "date d'expiration"],
  ])('is understood by %s, %s and %s, which are shown', async (...names) => {
    const fields = ['pmt_numb', 'pmt_key', 'pmt_expiry']
    const columns = [...PAYMENTS.slice(0, 6), ...names]
    const cells = { ...SALE, ...Object.fromEntries(names.map((name, i) => [name, SALE[fields[i] as string]])) }
    const { survey, rows } = await readWhole(csvOf(columns, [cells]), TAKEN)
    expect(survey.header.mapped).toEqual(names.map((written, i) => ({ written, field: fields[i] })))
    expect(rows[0]?.instruction?.card).toEqual({ bin: '411111', lastFour: '1111', expiry: EXPIRY })
  })

  test('may have month and year in columns of their own, and then in no third', async () => {
    const columns = [...PAYMENTS.slice(0, 8), 'exp_month', 'exp_year']
    const cells = { ...SALE, exp_month: '4', exp_year: '31' }
    expect((await rowOf(cells, {}, columns))?.instruction?.card?.expiry).toEqual(EXPIRY)
    expect(await faultsOf({ ...cells, exp_year: '' }, {}, columns)).toEqual([
      expect.stringContaining('exp_year is empty'),
    ])
    expect(await faultsOf(cells, {}, [...columns, 'pmt_expiry'])).toEqual([
      expect.stringContaining('beside the columns of month and year'),
    ])
  })

  test('of a workbook has its number as text', async () => {
    const cellsOf = (cells: Readonly<Record<string, unknown>>) =>
      workbook([PAYMENTS, PAYMENTS.map((name) => (cells[name] ?? '') as string)])
    const { rows } = await readWhole(cellsOf(SALE), TAKEN)
    expect(rows[0]?.instruction?.card?.lastFour).toBe('1111')
    const rounded = await readWhole(cellsOf({ ...SALE, pmt_numb: numberCell('4111111111111110') }), TAKEN)
    expect(rounded.rows[0]?.faults[0]).toMatchObject({ value: '411111******1110' })
    expect(rounded.rows[0]?.faults[0]?.problem).toContain('only zeros after its 15th digit')
    const code = await readWhole(cellsOf({ ...SALE, pmt_key: numberCell('12') }), TAKEN)
    expect(code.rows[0]?.faults[0]?.problem).toContain('leading zero')
  })
})

describe('a vault file', () => {
  test('of new cards has the card and the customer, whose names are those of cardholders too', async () => {
    const row = await rowOf({ ...STORED, address_2: 'c/o Bob' }, vault('VAULT_CREATE'), VAULT)
    expect(row?.instruction).toMatchObject({
      ...{ operation: 'VAULT_CREATE', money: null, orderId: null, vaultId: null, xtlOrderId: null },
      card: { bin: '411111', lastFour: '1111', expiry: EXPIRY },
      details: { first_name: 'Ann', address_1: 'Road 1', address_2: 'c/o Bob' },
    })
    expect(row?.cells.slice(12)).toEqual(['411111******1111', '', '04/31'])
  })

  test('of changes names the stored card and has the new one', async () => {
    const row = await rowOf({ ...STORED, customer_vault_id: '77' }, vault('VAULT_UPDATE'), VAULT)
    expect(row?.instruction).toMatchObject({ operation: 'VAULT_UPDATE', vaultId: '77', card: { lastFour: '1111' } })
    expect(await faultsOf(STORED, vault('VAULT_UPDATE'), VAULT)).toEqual([
      'customer_vault_id is empty, and VAULT_UPDATE needs it',
    ])
    expect((await faultsOf({ ...STORED, customer_vault_id: '77' }, vault('VAULT_CREATE'), VAULT)).join()).toContain(
      'stores a new card',
    )
  })

  test('of deletions has ids alone', async () => {
    const row = await rowOf({ reference: 'R', customer_vault_id: '77' }, vault('VAULT_DELETE'), VAULT.slice(0, 5))
    expect(row?.instruction).toMatchObject({ operation: 'VAULT_DELETE', vaultId: '77', card: null, details: {} })
    expect(row?.instruction).not.toHaveProperty('beside')
  })

  test('of deletions says whose record it means, where it has names', async () => {
    const cells = { reference: 'R', customer_vault_id: '77', last_name: 'Ash', email: 'ann@a.example' }
    const row = await rowOf(cells, vault('VAULT_DELETE'), Object.keys(cells))
    expect(row?.instruction).toMatchObject({
      details: {},
      beside: { details: { last_name: 'Ash', email: 'ann@a.example' } },
    })
  })

  test.each(VAULT_OPERATIONS)('%s takes no file of payments: its cards were to be charged', async (operation) => {
    const columns = [...VAULT.slice(0, operation === 'VAULT_DELETE' ? 5 : 15), 'amount', 'order_id', 'transaction_type']
    const cells = operation === 'VAULT_CREATE' ? STORED : { ...STORED, customer_vault_id: '77' }
    expect(await faultsOf(cells, { operation }, columns)).toEqual([])
    expect((await faultsOf({ ...cells, amount: '1.00' }, { operation }, columns)).join()).toContain(
      'looks like a payment',
    )
    expect((await faultsOf({ ...cells, order_id: '5' }, { operation }, columns)).join()).toContain(
      'looks like a payment',
    )
    expect((await faultsOf({ ...cells, transaction_type: 'sale' }, { operation }, columns)).join()).toContain(
      'says something else',
    )
    const word = operation.slice(6).toLowerCase()
    expect(await faultsOf({ ...cells, transaction_type: word }, { operation }, columns)).toEqual([])
  })

  test.each(['Total', 'Rechnungsbetrag'])(
    'with a column %s may be one of payments and is refused, unless that is nothing',
    async (column) => {
      const csv = csvOf(['customer_vault_id', column], [{ customer_vault_id: '77', [column]: '9' }])
      const operation = 'VAULT_DELETE'
      expect(await refusalOf(csv, { operation })).toMatchObject({
        problem: expect.stringContaining('may be a file of payments'),
      })
      expect(await read(csv, { operation, map: [{ column, field: null }] })).not.toMatchObject({ kind: 'refused' })
    },
  )

  test('takes no currency, and no empty name', async () => {
    const columns = ['customer_vault_id', 'currency']
    const faults = await faultsOf({ customer_vault_id: '77', currency: 'EUR' }, vault('VAULT_DELETE'), columns)
    expect(faults.join()).toContain('looks like a payment')
    expect(await faultsOf({ ...STORED, last_name: ' ' }, vault('VAULT_CREATE'), VAULT)).toEqual([
      'last_name is empty, and the vault needs the name of the holder',
    ])
  })

  test('that stores or changes cards is refused where they are not taken, with the way to do it', async () => {
    for (const [operation, command] of [
      ['VAULT_CREATE', 'tranche vault create FILE'],
      ['VAULT_UPDATE', 'tranche vault update FILE'],
    ] as const)
      expect(await refusalOf(csvOf(VAULT, [STORED]), { operation })).toMatchObject({
        problem: expect.stringContaining('card details are not taken here'),
        remedy: expect.stringContaining(command),
      })
  })

  test('is read back from its results, whose masks are not sent', async () => {
    const columns = [
      'card_number',
      'card_cvv',
      'card_expiry',
      'result_reference',
      'result_card_bin',
      'first_name',
      'last_name',
    ]
    const cells = {
      first_name: 'Ann',
      last_name: 'Smith',
      card_number: '411111******1111',
      card_expiry: '04/31',
      result_reference: 'R-1',
    }
    const more = { result_card_bin: '411111', result_card_expiry: '04/2031' }
    const row = await rowOf({ ...cells, ...more }, vault('VAULT_CREATE'), [...columns, 'result_card_expiry'])
    expect(row?.cells.slice(0, 3)).toEqual(['411111******1111', '', '04/31'])
    expect(row?.faults.map(({ problem }) => problem)).toContainEqual('is masked, so that it cannot be sent')
    expect(row?.said).toEqual({ operation: 'VAULT_CREATE', card: '411111-1111' })
    const pin = csvOf([...columns, 'result_card_pin'], [{ ...cells, result_card_pin: '1234' }])
    expect(await refusalOf(pin, { ...TAKEN, operation: 'VAULT_CREATE' })).toMatchObject({ column: 'result_card_pin' })
  })

  test('names the columns that every row needs', () => {
    expect(headerOf('reference;first_name;last_name;card_number;expiry;cvc', TAKEN)).toMatchObject({
      remedy: expect.stringContaining('to store the cards in the vault: tranche vault create FILE'),
    })
    const needs = { ...TAKEN, operation: 'VAULT_CREATE' } as const
    expect(headerOf('reference;first_name;last_name;card_number', needs)).toMatchObject({
      problem: expect.stringContaining('no column card_exp_mm, card_exp_yy, card_cvv;'),
    })
    expect(headerOf('reference;fname;lname;card_number;expiry;cvc', needs)).toHaveProperty('fields.card_expiry', 4)
    expect(headerOf('reference;card_number;expiry;cvc', needs)).toMatchObject({
      problem: expect.stringContaining('no column first_name, last_name'),
    })
    expect(headerOf('vault id;fname;lname;pan;expiry;cvc', { ...TAKEN, operation: 'VAULT_UPDATE' })).toMatchObject({
      problem: expect.stringContaining('An update replaces the whole record'),
    })
    expect(headerOf('reference;cust_lname', { operation: 'VAULT_DELETE' })).toMatchObject({
      problem: expect.stringContaining('no column customer_vault_id'),
    })
    expect(headerOf('reference;amount;currency', { ...TAKEN, operation: 'CAPTURE' })).toMatchObject({
      problem: expect.stringContaining('no column customer_vault_id'),
    })
    expect(headerOf('reference;amount;currency;pan', { ...TAKEN, operation: 'CAPTURE' })).toHaveProperty(
      'fields.pmt_numb',
      3,
    )
  })
})

describe('what is refused in a file of cards', () => {
  const planted = (column: string, value: string, options: Partial<ReadingOptions> = TAKEN) =>
    read(csvOf(PAYMENTS, [{ ...SALE, [column]: value }]), options)

  test.each(PAYMENTS.filter((name) => name !== 'pmt_numb'))('a card number in %s', async (column) => {
    const value = '5555 5555 5555 4444'
    const found = await planted(column, value)
    expect(found).toMatchObject({ kind: 'refused', code: 'card-data', line: 2, column })
    expect(JSON.stringify(found)).not.toMatch(/5555/)
  })

  test.each(PAYMENTS)('a magnetic track in %s', async (column) => {
    expect(await planted(column, ';4111111111111112=28121010000?')).toMatchObject({ code: 'card-data', column })
  })

  test.each([
    ['visa card number', VISA],
    ['PIN block', 'AB12'],
    ['Karten-PIN', '1234'],
    ['track 2', '4111111111111111'],
    ['CVV number', '123'],
  ])('a column %s that is read as nothing', async (column, value) => {
    const found = await refusalOf(csvOf([...PAYMENTS, column], [{ ...SALE, [column]: value }]), TAKEN)
    expect(found).toMatchObject({ code: 'card-data', column, problem: expect.stringContaining('not read as a part') })
    expect(found.remedy.includes('--map')).toBe(/number/.test(column))
  })

  test('an expiry of a card that is read as nothing', async () => {
    const found = await refusalOf(csvOf([...PAYMENTS, 'Card expires'], [{ ...SALE, 'Card expires': '12/28' }]), TAKEN)
    expect([found.problem, found.remedy]).toEqual([
      'has expiry dates of cards and is not read as a part of a card',
      'take the column out of the file',
    ])
  })

  test('parts of a card without its number', async () => {
    const found = await refusalOf(csvOf(PAYMENTS.toSpliced(6, 1), [SALE]), TAKEN)
    expect(found).toMatchObject({ code: 'card-data', column: 'pmt_key' })
    const door = { ...SALE, customer_vault_id: '7', expiry: '12/28', pmt_key: '' }
    expect((await readWhole(csvOf([...PAYMENTS.slice(0, 6), 'expiry'], [door]), TAKEN)).rows[0]?.cells[6]).toBe('12/28')
  })

  test.each([
    ['REFUND', { operation: 'REFUND', ...TAKEN }],
    ['VAULT_DELETE', { operation: 'VAULT_DELETE', ...TAKEN }],
  ] as const)('card details in a file of %s', async (_, options) => {
    const columns = ['reference', 'request_currency', 'customer_vault_id', 'request_ref_po_id', 'amount', 'pan', 'cvv']
    expect(await refusalOf(csvOf(columns, [{ cvv: '123' }]), options)).toMatchObject({
      ...{ code: 'card-data', column: 'cvv' },
    })
    expect(await refusalOf(csvOf(columns, [{ pan: VISA, cvv: '123' }]), options)).toMatchObject({
      ...{ code: 'card-data', column: 'pan' },
    })
  })

  test('card details where none are taken, with the way to send them', async () => {
    for (const options of [{}, { cards: 'refused' }] as const) {
      const found = await refusalOf(csvOf(PAYMENTS, [SALE]), options)
      expect(found).toMatchObject({ code: 'card-data', column: 'pmt_numb', line: 2 })
      expect(found.remedy).toContain('tranche run FILE')
      expect(found.remedy).toContain('tranche vault create FILE')
    }
  })

  test('a column of cards mapped to something else, and card fields where none are taken', () => {
    const taken = vocabularyOf(TAKEN)
    const said = (column: string, field: string, vocabulary = taken) =>
      isProblem(parseColumnMap([{ column, field }], vocabulary))
    expect(said('Visa card number', 'pmt_numb')).toBe(false)
    expect(said('x', 'pmt_key')).toBe(false)
    expect(said('Gültig bis', 'pmt_expiry')).toBe(false)
    expect(said('x', 'pmt_key', vocabularyOf({}))).toBe(true)
    expect(said('x', 'card_exp_mm', vocabularyOf({}))).toBe(true)
    expect(said('x', 'first_name')).toBe(true)
    expect(said('x', 'first_name', vocabularyOf({ operation: 'VAULT_DELETE' }))).toBe(false)
    for (const [column, field] of [
      ...[
        ['Visa card number', 'reference'],
        ['cvv2 code', 'pmt_numb'],
        ['Karten-PIN', 'pmt_key'],
      ],
      ...[
        ['track 2', 'pmt_numb'],
        ['PIN block', 'pmt_expiry'],
        ['Visa card number', 'ignore'],
      ],
    ] as [string, string][])
      expect(said(column, field)).toBe(true)
  })
})

test('nothing that is kept of a row holds its number or its code', async () => {
  const damage = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => grouped(text, ' '),
    (text) => `${text.slice(0, -1)}${(Number(text.at(-1)) + 1) % 10}`,
    (text) => `${text}x`,
    (text) => `no ${text}`,
    (text) => text.slice(0, 14),
    () => '',
  )
  const row = fc.record({ card, number: damage, code: damage, stored: fc.constantFrom('', '77', 'x') })
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
      const cells = rows.map((one, i) => ({
        ...SALE,
        ...{ reference: `R-${i}-z`, amount: '77.00', customer_vault_id: one.stored, pmt_expiry: expiryText(one.card) },
        ...{ pmt_numb: one.number(one.card.number), pmt_key: one.code(one.card.code).replaceAll(' ', '') },
      }))
      for (const [i, { rowNo, line, ...kept }] of (await rowsOf(PAYMENTS, cells)).entries()) {
        const { number, code } = (rows[i] as (typeof rows)[number]).card
        const hidden = JSON.stringify(kept, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
          .replaceAll(masked(number), '')
          .replace(`"pmt_expiry":"${expiryText((rows[i] as (typeof rows)[number]).card)}"`, '')
          .replace(/"(?:bin|lastFour)":"\d+"/g, '')
        expect(hidden).not.toContain(number)
        const middle = number.slice(6, -4)
        if (middle.length > 4) expect(hidden).not.toContain(middle) // fewer digits stand somewhere by chance
        expect(kept.cells[7]).toBe('')
        expect(kept.faults.filter(({ column }) => column === 'pmt_key').map(({ value }) => value ?? '')).toEqual(
          kept.faults.filter(({ column }) => column === 'pmt_key').map(() => ''),
        )
        const faults = kept.faults.map(({ problem, remedy }) => `${problem} ${remedy}`).join(' ')
        expect(faults.replace(/04\/2031|\b12\b|\b19\b|15th/g, '')).not.toContain(code)
      }
    }),
    { numRuns: 60 },
  )
})

test('a card is read by the clock that was given', async () => {
  const cells = { ...SALE, pmt_numb: AMEX, pmt_key: '1234', pmt_expiry: '11/26' }
  expect(await faultsOf(cells)).toEqual([])
  expect(await faultsOf(cells, { nowMs: Date.UTC(2026, 11, 1) })).toEqual(['pmt_expiry has expired'])
  await expect(readWhole(csvOf(PAYMENTS, [SALE]), { cards: 'taken' })).rejects.toThrow('clock')
})
