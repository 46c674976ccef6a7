import { describe, expect, test } from 'vitest'
import { type Operation, parseOperation } from '../../src/domain/instruction.ts'
import { isProblem } from '../../src/domain/problem.ts'
import { fieldOf, isCardColumn, isResultColumn, parseColumnMap, squeezed } from '../../src/ingest/columns.ts'
import { understoodColumns } from '../../src/ingest/header.ts'
import { headerOf } from './table.ts'

describe('names', () => {
  test('are one whatever their case, blanks, accents, quotation marks and hidden characters', () => {
    for (const name of [
      'Währung',
      'wahrung',
      'WA\u0308HRUNG',
      '"Währung"',
      ' Wäh\u00adrung\u200b',
      '\ufeffWährung\u00a0',
    ]) {
      expect(fieldOf(name)).toBe('request_currency')
    }
    expect(squeezed('Straße')).toBe(squeezed('strasse'))
  })

  test.each([
    'Order number',
    'Order No.',
    'Bestellnummer',
    'Bestell-ID',
    'Auftragsnummer',
    'Numéro de commande',
    'ID de commande',
    'Número de pedido',
    "Numero d'ordine",
    'Kundennummer',
    'Nettobetrag',
    'Datum',
    'Name',
    'Nom',
  ])('%s means nothing by itself: money could go astray', (name) => {
    expect(fieldOf(name)).toBeUndefined()
  })

  test.each(['Bestell-ID', 'ID de commande', 'ID de pedido', "ID dell'ordine"])(
    '%s is the order id where the operation needs one and no other column has it',
    (name) => {
      const fieldsOf = (line: string, operation: Operation) => {
        const header = headerOf(line, { operation })
        return 'kind' in header
          ? header.problem
          : understoodColumns(header).map(({ written, field }) => `${written}=${field}`)
      }
      const [amount, currency] = ['amount=amount', 'currency=request_currency']
      expect(fieldsOf(`${name};amount;currency`, 'REFUND')).toEqual([`${name}=request_ref_po_id`, amount, currency])
      expect(fieldsOf(`${name};amount;currency;order_id`, 'CAUTH')).toEqual([
        ...[amount, currency, 'order_id=request_ref_po_id'],
      ])
      expect(fieldsOf(`${name};amount;currency;vault_id`, 'CAPTURE')).not.toContain(`${name}=request_ref_po_id`)
      const ignored = headerOf(`${name};amount;currency`, { operation: 'REFUND', map: [{ column: name, field: null }] })
      expect('kind' in ignored && ignored.problem).toContain('the file has no column request_ref_po_id')
    },
  )

  test.each(['Kartennummer', 'numéro de carte', 'Número de tarjeta', 'numero carta', 'Prüfziffer', 'CVV2'])(
    '%s is for card data',
    (name) => {
      expect(isCardColumn(name)).toBe(true)
      expect(fieldOf(name)).toBeUndefined()
    },
  )

  test('of results are known in quotation marks too, or the file would be sent as new', () => {
    expect(isResultColumn('"result_status"')).toBe(true)
    expect(isResultColumn('\ufeffResult_Status ')).toBe(true)
  })
})

describe('words for operations', () => {
  test.each([
    ['Erstattung', 'REFUND'],
    ['RÜCKERSTATTUNG', 'REFUND'],
    ['remboursement', 'REFUND'],
    ['Reembolso', 'REFUND'],
    ['rimborso', 'REFUND'],
    ['Storno', 'CANCEL'],
    ['annulation', 'CANCEL'],
    ['Anulación', 'CANCEL'],
    ['anulacion', 'CANCEL'],
    ['annullamento', 'CANCEL'],
  ])('%s is %s', (word, operation) => {
    expect(parseOperation(word)).toBe(operation)
  })

  test.each([
    'Verkauf',
    'Gutschrift',
    'vente',
    'venta',
    'vendita',
    'captura',
    'cattura',
    'Einzug',
    'Capture',
    'crédit',
  ])('%s is none: it leaves open which way money goes or whether a card is charged again', (word) => {
    expect(parseOperation(word)).toBeUndefined()
  })
})

describe('columns that a person maps', () => {
  const said = (...texts: string[]) =>
    parseColumnMap(texts.map((text) => ({ column: text.split('=')[0] ?? '', field: text.split('=')[1] ?? '' })))
  const problemOf = (...texts: string[]) => {
    const map = said(...texts)
    return isProblem(map) ? `${map.problem}; ${map.remedy}` : null
  }

  const header = (line: string, ...texts: string[]) => {
    const map = said(...texts)
    if (isProblem(map)) throw new Error(map.problem)
    return headerOf(line, { map })
  }

  test('are read as said', () => {
    expect(said('Betrag=AMOUNT', 'Summe=', 'Sum=ignore')).toEqual([
      { column: 'Betrag', field: 'amount' },
      { column: 'Summe', field: null },
      { column: 'Sum', field: null },
    ])
  })

  test('to a field that is none are refused, with the nearest and all there are', () => {
    expect(problemOf('Betrag=ammount')).toMatch(/"ammount" is not a field; is amount meant\?.*customer_vault_id/)
    expect(problemOf('Betrag=Betrag')).toContain('is amount meant?')
    expect(problemOf('x=y')).toContain('fields are reference, transaction_type, amount')
  })

  test('to or from card data or results are refused', () => {
    expect(problemOf('x=pmt_numb')).toContain('card data')
    expect(problemOf('Card number=customer_vault_id')).toContain('card data')
    expect(problemOf('result_amount=amount')).toContain('column of results')
  })

  test('twice, or two to one field, are refused', () => {
    expect(problemOf('a=amount', 'b=amount')).toContain('both mapped to amount')
    expect(problemOf('Betrag=amount', ' betrag =reference')).toContain('mapped twice')
    expect(header('type;Order ID', 'Order ID=amount', 'order_id=reference')).toMatchObject({
      problem: '--map names the column "Order ID" twice',
    })
  })

  test('go before synonyms, which are then carried through', () => {
    const found = header('type;sum;Betrag;order_id', 'Betrag=amount')
    if ('kind' in found) throw new Error(found.problem)
    expect(found.fields).toEqual({ transaction_type: 0, amount: 2, request_ref_po_id: 3 })
    expect(found.unknown).toEqual(['sum'])
    expect(understoodColumns(found)).toEqual([
      { written: 'type', field: 'transaction_type' },
      { written: 'Betrag', field: 'amount' },
      { written: 'order_id', field: 'request_ref_po_id' },
    ])
  })

  test('and a column of the gateway’s own name refuse the file, unless that one is ignored', () => {
    expect(header('type;amount;Betrag', 'Betrag=amount')).toMatchObject({
      problem: expect.stringContaining('both mean'),
    })
    expect(header('type;amount;Betrag', 'Betrag=amount', 'amount=ignore')).toMatchObject({ fields: { amount: 2 } })
  })

  test('are found by their exact name before one that only looks like it', () => {
    const map = ['order id=reference', 'Order-ID=ignore', 'type=transaction_type']
    expect(header('type;Order-ID;order id', ...map)).toMatchObject({ fields: { transaction_type: 0, reference: 2 } })
    expect(header('type;Order-ID;order id', 'orderid=reference')).toMatchObject({
      problem: '--map "orderid" could mean "Order-ID" or "order id"',
    })
  })
})
