// The formats that come with the program, each over the first line of a real export. A shop keeps the gateway's order id
// where it likes, so that a person says which column it is.

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseOperation } from '../../src/domain/instruction.ts'
import { formatAmount, parseCurrency } from '../../src/domain/money.ts'
import { isProblem } from '../../src/domain/problem.ts'
import { parseColumnMap } from '../../src/ingest/columns.ts'
import { readFormat, shippedFormats } from '../../src/ingest/format.ts'
import { wordsOf } from '../../src/ingest/statements/names.ts'
import { BEGIN_NAMES, DUE_NAMES, END_NAMES, ENDED_NAMES, METHOD_NAMES } from '../../src/ingest/statements/words.ts'
import { read } from './table.ts'

interface Export {
  readonly header: string
  /** Where the shop keeps the gateway's order id. */
  readonly orderId: string
  /** By column; the others are empty. */
  readonly rows: readonly Readonly<Record<string, string>>[]
  readonly currency?: string
  /** What each row asks for; null: nothing. */
  readonly asks: readonly (string | null)[]
  /** A row of money that came in: the file is refused with it. */
  readonly cameIn?: Readonly<Record<string, string>>
}

const EXPORTS: Readonly<Record<string, Export>> = {
  'paypal-activity': {
    header:
      '"Date","Time","TimeZone","Name","Type","Status","Currency","Gross","Fee","Net","From Email Address","To Email Address","Transaction ID","Shipping Address","Address Status","Item Title","Item ID","Shipping and Handling Amount","Insurance Amount","Sales Tax","Option 1 Name","Option 1 Value","Option 2 Name","Option 2 Value","Reference Txn ID","Invoice Number","Custom Number","Quantity","Receipt ID","Balance","Address Line 1","Address Line 2/District/Neighborhood","Town/City","State/Province/Region/County/Territory/Prefecture/Republic","Zip/Postal Code","Country","Contact Phone Number","Subject","Note","Country Code","Balance Impact"',
    orderId: 'Invoice Number',
    rows: [
      {
        Type: 'Payment Refund',
        Status: 'Completed',
        'Address Status': 'Confirmed',
        Currency: 'USD',
        Gross: '-1,500.00',
        Fee: '0.00',
        Net: '-1,500.00',
        'Invoice Number': '700000001',
        Country: 'Germany',
        'Country Code': 'DE',
        'Balance Impact': 'Debit',
      },
      {
        Type: 'Payment Refund',
        Status: 'Completed',
        Currency: 'USD',
        Gross: '-20.00',
        Fee: '0.59',
        Net: '-19.41',
        'Invoice Number': '700000002',
        'Balance Impact': 'Debit',
      },
    ],
    asks: ['700000001 1500.00 USD', '700000002 20.00 USD'],
    cameIn: {
      Type: 'Express Checkout Payment',
      Currency: 'USD',
      Gross: '1,250.00',
      'Invoice Number': '700000003',
      'Balance Impact': 'Credit',
    },
  },
  'paypal-activity-de': {
    header:
      '"Datum","Uhrzeit","Zeitzone","Beschreibung","Währung","Brutto","Entgelt","Netto","Guthaben","Transaktionscode","Absender E-Mail-Adresse","Name","Name der Bank","Bankkonto","Versand- und Bearbeitungsgebühr","Umsatzsteuer","Rechnungsnummer","Zugehöriger Transaktionscode"',
    orderId: 'Rechnungsnummer',
    rows: [
      {
        Beschreibung: 'Rückzahlung',
        Währung: 'EUR',
        Brutto: '-1.024,90',
        Entgelt: '0,00',
        Netto: '-1.024,90',
        Rechnungsnummer: '700000001',
      },
      { Beschreibung: 'Rückzahlung', Währung: 'EUR', Brutto: '-64,18', Netto: '-64,18', Rechnungsnummer: '700000002' },
    ],
    asks: ['700000001 1024.90 EUR', '700000002 64.18 EUR'],
    cameIn: { Währung: 'EUR', Brutto: '12,00', Rechnungsnummer: '700000003' },
  },
  'stripe-balance': {
    header:
      'id,Type,Source,Amount,Fee,Net,Currency,Created (UTC),Available On (UTC),Description,Customer Facing Amount,Customer Facing Currency,Transfer,Transfer Date (UTC)',
    orderId: 'Description',
    rows: [
      {
        id: 'txn_1',
        Type: 'refund',
        Amount: '-249.00',
        Fee: '-7.52',
        Net: '-241.48',
        Currency: 'usd',
        Description: '700000001',
        'Customer Facing Amount': '-249.00',
        'Customer Facing Currency': 'usd',
      },
    ],
    asks: ['700000001 249.00 USD'],
    cameIn: { Type: 'charge', Amount: '97.00', Currency: 'usd', Description: '700000003' },
  },
  'stripe-payments': {
    header:
      'id,Description,Seller Message,Created (UTC),Amount,Amount Refunded,Currency,Converted Amount,Converted Amount Refunded,Fee,Tax,Converted Currency,Mode,Status,Statement Descriptor,Customer ID,Customer Description,Customer Email,Captured,Card ID,Card Last4,Card Brand,Card Funding,Card Exp Month,Card Exp Year,Card Name,Card Address Line1,Card Address Line2,Card Address City,Card Address State,Card Address Country,Card Address Zip,Card Issue Country,Card Fingerprint,Card CVC Status,Card AVS Zip Status,Card AVS Line1 Status,Card Tokenization Method,Disputed Amount,Dispute Status,Dispute Reason,Dispute Date (UTC),Dispute Evidence Due (UTC),Invoice ID,Payment Source Type,Destination,Transfer,Interchange Costs,Merchant Service Charge,Transfer Group,PaymentIntent ID',
    orderId: 'Invoice ID',
    rows: [
      {
        id: 'ch_1',
        Amount: '49.00',
        'Amount Refunded': '9.00',
        Currency: 'eur',
        'Converted Amount': '49.00',
        'Invoice ID': '700000001',
        'Card Last4': '4242',
        Status: 'Refunded',
        Captured: 'true',
        'Card Brand': 'Visa',
      },
    ],
    asks: ['700000001 9.00 EUR'],
  },
  'shopify-transactions': {
    header:
      'Transaction Date,Type,Order,Card Brand,Card Source,Payout Status,Payout Date,Payout ID,Available On,Amount,Fee,Net,Checkout,Payment Method Name,Presentment Amount,Presentment Currency,Currency,VAT',
    orderId: 'Checkout',
    rows: [
      {
        Type: 'refund',
        Order: '#1001',
        'Card Brand': 'visa',
        Amount: '-5.00',
        Fee: '0.00',
        Net: '-5.00',
        Checkout: '700000001',
        'Presentment Amount': '-5.00',
        'Presentment Currency': 'USD',
        Currency: 'EUR',
      },
    ],
    asks: ['700000001 5.00 EUR'],
    cameIn: { Type: 'charge', Order: '#1002', Amount: '1234.50', Checkout: '700000003', Currency: 'EUR' },
  },
  'shopify-orders': {
    header:
      'Name,Email,Financial Status,Paid at,Fulfillment Status,Fulfilled at,Accepts Marketing,Currency,Subtotal,Shipping,Taxes,Total,Discount Code,Discount Amount,Shipping Method,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem compare at price,Lineitem sku,Lineitem requires shipping,Lineitem taxable,Lineitem fulfillment status,Billing Name,Billing Street,Billing Address1,Billing Address2,Billing Company,Billing City,Billing Zip,Billing Province,Billing Country,Billing Phone,Shipping Name,Shipping Street,Shipping Address1,Shipping Address2,Shipping Company,Shipping City,Shipping Zip,Shipping Province,Shipping Country,Shipping Phone,Notes,Note Attributes,Cancelled at,Payment Method,Payment Reference,Refunded Amount,Vendor,Id,Tags,Risk Level,Source,Lineitem discount,Tax 1 Name,Tax 1 Value,Tax 2 Name,Tax 2 Value,Tax 3 Name,Tax 3 Value,Tax 4 Name,Tax 4 Value,Tax 5 Name,Tax 5 Value',
    orderId: 'Payment Reference',
    rows: [
      {
        Name: '#1001',
        Email: 'a@example.com',
        Currency: 'USD',
        Total: '20.00',
        'Refunded Amount': '4.00',
        'Financial Status': 'partially_refunded',
        'Paid at': '2026-11-01',
        'Payment Reference': '700000001',
        'Lineitem name': 'a',
        Phone: '',
      },
      { Name: '#1001', Email: 'a@example.com', 'Lineitem name': 'b' },
    ],
    asks: ['700000001 4.00 USD', null],
  },
  'woocommerce-orders': {
    header:
      '"Order Number","Order Status","Order Date","Customer Note","First Name (Billing)","Last Name (Billing)","Company (Billing)","Address 1&2 (Billing)","City (Billing)","State Code (Billing)","Postcode (Billing)","Country Code (Billing)","Email (Billing)","Phone (Billing)","First Name (Shipping)","Last Name (Shipping)","Address 1&2 (Shipping)","City (Shipping)","State Code (Shipping)","Postcode (Shipping)","Country Code (Shipping)","Item #",SKU,Name,"Product Variation",Quantity,"Quantity (- Refund)","Item Cost","Order Line (w/o tax)","Order Line Tax","Order Line Total","Order Line Total Refunded","Order Line Total (- Refund)","Image URL","Coupon Code","Discount Amount","Discount Amount Tax","Payment Method Title","Coupons Used","Cart Discount Amount","Order Subtotal Amount","Order Tax Amount","Order Shipping Amount","Order Refund Amount","Order Total Amount","Order Total Tax Amount","Total items","Total products"',
    orderId: 'Customer Note',
    currency: 'EUR',
    rows: [
      {
        'Order Number': '1001',
        'Order Status': 'refunded',
        'Customer Note': '700000001',
        'Order Refund Amount': '5.00',
        'Order Total Amount': '9.50',
      },
    ],
    asks: ['700000001 5.00 EUR'],
  },
  square: {
    header:
      'Date,Time,Time Zone,Gross Sales,Discounts,Service Charges,Net Sales,Gift Card Sales,Tax,Tip,Partial Refunds,Total Collected,Source,Card,Card Entry Methods,Cash,Square Gift Card,Other Tender,Other Tender Type,Other Tender Note,Fees,Net Total,Transaction ID,Payment ID,Card Brand,PAN Suffix,Device Name,Staff Name,Staff ID,Details,Description,Event Type,Location,Dining Option,Customer ID,Customer Name,Customer Reference ID',
    orderId: 'Customer Reference ID',
    currency: 'USD',
    rows: [
      {
        'Gross Sales': '-$30.00',
        'Net Sales': '-$27.00',
        'Total Collected': '-$31.16',
        Card: '-$31.16',
        'Card Brand': 'Visa',
        'PAN Suffix': '0000',
        'Event Type': 'Refund',
        'Customer Reference ID': '700000001',
      },
      { 'Total Collected': '($12.96)', Card: '-$12.96', 'Event Type': 'Refund', 'Customer Reference ID': '700000002' },
    ],
    asks: ['700000001 31.16 USD', '700000002 12.96 USD'],
    cameIn: { 'Total Collected': '$12.00', 'Event Type': 'Payment', 'Customer Reference ID': '700000003' },
  },
  quickbooks: {
    header: 'Date,Transaction Type,Num,Name,Memo,Account,Class,Amount',
    orderId: 'Memo',
    currency: 'USD',
    rows: [
      {
        Date: '2026-01-03',
        'Transaction Type': 'Refund',
        Num: '1001',
        Name: 'Dana',
        Memo: '700000001',
        Amount: '-1,045.20',
      },
    ],
    asks: ['700000001 1045.20 USD'],
    cameIn: { 'Transaction Type': 'Refund', Num: '1002', Memo: '700000003', Amount: '12.00' },
  },
  'sparkasse-camt': {
    header:
      '"Auftragskonto";"Buchungstag";"Valutadatum";"Buchungstext";"Verwendungszweck";"Glaeubiger ID";"Mandatsreferenz";"Kundenreferenz (End-to-End)";"Sammlerreferenz";"Lastschrift Ursprungsbetrag";"Auslagenersatz Ruecklastschrift";"Beguenstigter/Zahlungspflichtiger";"Kontonummer/IBAN";"BIC (SWIFT-Code)";"Betrag";"Waehrung";"Info"',
    orderId: 'Kundenreferenz (End-to-End)',
    rows: [
      {
        Auftragskonto: 'DE00',
        Buchungstext: 'UEBERWEISUNG',
        'Kundenreferenz (End-to-End)': '700000001',
        Betrag: '-53,94',
        Waehrung: 'EUR',
        Info: 'Umsatz gebucht',
      },
    ],
    asks: ['700000001 53.94 EUR'],
    cameIn: { 'Kundenreferenz (End-to-End)': '700000003', Betrag: '3.500,00', Waehrung: 'EUR' },
  },
}

async function readAs(name: string, { header, orderId, currency }: Export, rows: Export['rows']) {
  const format = await readFormat('/nowhere', 'default', name)
  const said = [`${orderId}=request_ref_po_id`, ...(format.map ?? [])].map((text) => {
    const at = text.lastIndexOf('=')
    return { column: text.slice(0, at), field: text.slice(at + 1) }
  })
  const map = parseColumnMap(said)
  if (isProblem(map)) throw new Error(map.problem)
  const delimiter = header.includes(';') ? ';' : ','
  const columns = header.split(delimiter).map((column) => column.replaceAll('"', ''))
  const lines = rows.map((row) => columns.map((column) => `"${row[column] ?? ''}"`).join(delimiter))
  return read([header, ...lines, ''].join('\r\n'), {
    map,
    operation: parseOperation(format.operation ?? ''),
    currency: parseCurrency(`${currency}`),
    decimal: format.decimal as '.' | ',' | undefined,
    sign: format.sign as 'minus' | undefined,
    nowMs: Date.parse('2026-11-28T12:00:00Z'),
  })
}

describe.each(Object.entries(EXPORTS))('the format %s', (name, file) => {
  test('reads the export as refunds', async () => {
    const found = await readAs(name, file, file.rows)
    if ('kind' in found) throw new Error(`${found.problem}: ${found.remedy}`)
    expect(
      found.rows.map(({ instruction, faults }) =>
        instruction?.money == null
          ? faults.length === 1 && faults[0]?.problem.includes('further line')
            ? null
            : faults.map(({ column, problem }) => `${column} ${problem}`).join()
          : `${instruction.orderId} ${formatAmount(instruction.money)} ${instruction.money.currency}`,
      ),
    ).toEqual(file.asks)
    expect(found.rows[0]?.instruction?.operation).toBe('REFUND')
  })

  test('asks nothing about ways of payment and days that its export has beside', async () => {
    const columns = file.header.split(/[,;]/).map((column) => column.replaceAll('"', ''))
    const namesIn = (...names: readonly RegExp[]) =>
      columns.filter((column) => names.some((name) => name.test(wordsOf(column).join(' '))))
    const said = { 'Accepts Marketing': ['yes', 'no'], 'Lineitem taxable': ['true', 'false'] }
    const filled = [
      ...namesIn(METHOD_NAMES).map((column) => [column, 'Alpha', 'Beta'] as const),
      ...namesIn(DUE_NAMES, BEGIN_NAMES, ENDED_NAMES, END_NAMES).map((column) => [column, '2099-01-01', ''] as const),
      ...Object.entries(said).map(([column, [one, other]]) => [column, one, other] as const),
    ]
    const [row = {}] = file.rows
    const rows = [1, 2].map((i) => ({ ...row, ...Object.fromEntries(filled.map((values) => [values[0], values[i]])) }))
    const found = await readAs(name, file, rows as Export['rows'])
    expect('kind' in found ? found.problem : found.rows.length).toBe(2)
  })

  const { cameIn } = file
  if (cameIn === undefined) return
  test('refuses it where money came in as well', async () => {
    const found = await readAs(name, file, [...file.rows, cameIn])
    expect('kind' in found && found.problem).toMatch(/are mixed with amounts without|says which way the money/)
  })
})

test('every format that is shipped is tried here and told in the documents', () => {
  expect(new Set(shippedFormats())).toEqual(new Set(Object.keys(EXPORTS)))
  const told = readFileSync(new URL('../../docs/INPUT.md', import.meta.url), 'utf8')
  expect(shippedFormats().filter((name) => !told.includes(`\`${name}\``))).toEqual([])
  const { files } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    files: string[]
  }
  expect(files).toContain('formats')
})
