// Which names mean card data, in whatever writing, and which only may.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isProblem } from '../../../src/domain/problem.ts'
import { cardMeaningOf } from '../../../src/ingest/cards/columns.ts'
import { fieldOf, isCardColumn, parseColumnMap } from '../../../src/ingest/columns.ts'
import { readWhole, refusalOf } from '../table.ts'

const CODES = [
  ...[
    'cvv',
    'CVV2',
    'CVV2/CVC2',
    'CVV code',
    'cvv_code',
    'cvv number',
    'CVV Nr.',
    'cvv*',
    'cvv (3)',
    'card_cvv',
    'cardCVV',
  ],
  ...[
    'CVVCode',
    'C.V.V.',
    'ｃｖｖ',
    'cvc',
    'cvc2',
    'cvn',
    'cvd',
    'cav2',
    'csc',
    'CVV2 value',
    'card cvc2',
    'cc_cvv',
    'cccvv',
  ],
  ...[
    'código cvv',
    'code CVC',
    'security code',
    'Security-Code',
    'security_number',
    'card security code',
    'cardSecurityCode',
  ],
  ...[
    'card verification value',
    'card verification code',
    'verification value',
    'card validation code',
    'card identification number',
  ],
  ...[
    'Sicherheitscode',
    'Kartensicherheitscode',
    'Prüfnummer',
    'Prüf-Nr.',
    'Pruefziffer',
    'Kartenprüfnummer',
    'Karten-Prüfziffer',
  ],
  ...[
    'cryptogramme',
    'Cryptogramme visuel',
    'code de sécurité',
    'código de seguridad',
    'codice di sicurezza',
    'código de segurança',
  ],
]
/** Each is a name of a security code wherever it stands: a column, a key of a message, a text, an answer. */
const CODES_EVERYWHERE = [
  ...['CCV', 'ccv1', 'ccv2', 'SecCode', 'sec code', 'sec_code', 'cvv2cvc2', '3-digit code', '3 digits on back'],
  ...['4 digits on the back', 'Prüfz.', 'sikkerhedskode', 'sikkerhetskode', 'säkerhetskod', 'turvakoodi'],
  ...['kod bezpieczeństwa', 'код безопасности', '安全码', '安全碼', 'セキュリティコード', 'カードセキュリティコード'],
  ...['güvenlik kodu', 'GÜVENLİK KODU', 'bezpečnostní kod', 'veiligheidscode', 'Código de Segurança'],
]
const PINS_AND_TRACKS = [
  ...['pin_block', 'PINBlock', 'encrypted PIN block', 'card PIN', 'Karten-PIN', 'atm pin', 'Geheimzahl', 'PIN of card'],
  ...[
    'track1',
    'Track 2',
    'TRACK_3',
    'track1_data',
    'track data',
    'trackData',
    'Track-2 Data',
    'magstripe',
    'mag stripe',
  ],
  ...['magnetic stripe data', 'Magnetstreifen', 'swipe_data', 'banda magnetica', 'piste 2'],
]
const NUMBERS = [
  ...[
    'card_number',
    'Card No.',
    'card nr',
    'card num',
    'card_numero',
    'CardNumber',
    'CARDNUMBER',
    'card#',
    'Card #',
    'cc number',
  ],
  ...[
    'cc no',
    'ccnum',
    'CcNo',
    'cc_numb',
    'credit card',
    'credit card no',
    'creditCardNumber',
    'Debit card number',
    'debitcardno',
  ],
  ...[
    'bank card number',
    'payment card number',
    'visa card number',
    'customer card number',
    'card number (full)',
    'card number*',
  ],
  ...[
    'card_details.card_number',
    'payment.card.number',
    'PAN',
    'PAN number',
    'pan_no',
    'full_pan',
    'card.pan',
    'P.A.N.',
  ],
  ...[
    'primary account number',
    'Primary-Account-No',
    'Kartennummer',
    'Kartennr.',
    'Karten-Nr.',
    'Kreditkarten-Nr',
    'Kreditkartennummer',
  ],
  ...[
    'Kreditkartennr',
    'KK-Kartennummer',
    'EC-Karten-Nr.',
    'Nummer der Kreditkarte',
    'numéro de carte',
    'n° de carte',
    'Nº tarjeta',
  ],
  ...[
    'N° carte bancaire',
    'numéro de la carte bancaire',
    'número de tarjeta de crédito',
    'numero della carta',
    'numero carta di credito',
  ],
]
const EXPIRIES = [
  ...[
    'card expiry',
    'card_exp',
    'card_exp_mm',
    'card exp. year',
    'cardExpiryDate',
    'cc_exp',
    'ccexpmonth',
    'pmt_expiry',
    'Card valid thru',
  ],
  ...['Karte gültig bis', 'Kartenablaufdatum', 'credit card expiration', 'Scadenza carta', 'vencimiento de la tarjeta'],
  ...["date d'expiration de la carte", 'Kreditkarte gültig bis'],
]
/** No name but one that is certain may go by its words alone. */
const OTHERS = [
  ...[
    'PIN',
    'pin code',
    'Pin-Code',
    'cid',
    'card',
    'cc',
    'vencimiento',
    'scadenza',
    'expiry',
    'exp_date',
    'valid until',
    'valid thru',
  ],
  ...[
    'gültig bis',
    'Ablaufdatum',
    'mm/yy',
    'exp_month',
    'Fälligkeit',
    'due date',
    'verification code',
    'CVV result',
    'cvv_match',
  ],
  ...[
    'Pinterest',
    'spinach',
    'shipping',
    'tracking number',
    'Track & trace',
    'track_id',
    'tracking_no',
    'soundtrack',
    'card type',
  ],
  ...[
    'card_type',
    'card brand',
    'card scheme',
    'cardholder name',
    'cardholder_name',
    'Card holder',
    'Karteninhaber',
    'card_last4',
  ],
  ...[
    'card last four',
    'last 4 of card number',
    'card number last 4',
    'masked card number',
    'card_number_masked',
    'truncated PAN',
  ],
  ...[
    'card_bin',
    'BIN',
    'card token',
    'card number token',
    'pan_token',
    'gift card id',
    'gift card number',
    'Gift Card No.',
  ],
  ...[
    'loyalty card number',
    'membership card no',
    'Kundenkartennummer',
    'Kunden-Karten-Nr.',
    'Fahrkartennummer',
    'SIM card number',
  ],
  ...[
    'ID card number',
    "numero carta d'identità",
    'carte de fidélité numéro',
    'Bonuskarte Nr',
    'social security number',
    'security deposit',
  ],
  ...[
    'Company',
    'panel',
    'Japan',
    'japan number',
    'Pan-European',
    'companion',
    'pancake no',
    'account number',
    'order number',
    'IBAN',
  ],
  ...[
    'discount',
    'discover',
    'description',
    'customer note',
    'score card',
    'cardiology number',
    'cartage no',
    'cart number',
    'cart_no',
  ],
  ...[
    'card',
    'Postkarten',
    'carton no',
    'Karton Nr.',
    'tarifa',
    'carta',
    'expert',
    'exported at',
    'export no',
    'experience',
  ],
  ...[
    'save_card_on_file',
    'customer_vault_id',
    'card_vault_id',
    'Karte speichern',
    'verification',
    'prüfung',
    'Prüfer',
    'cvs',
    'csv',
  ],
]

describe.each([
  ['a security code', [...CODES, ...CODES_EVERYWHERE]],
  ['a PIN or a magnetic track', PINS_AND_TRACKS],
  ['a card number', NUMBERS],
  ['the expiry of a card', EXPIRIES],
])('a name of %s is one', (_, names) => {
  test.each(names)('%s', (name) => {
    expect(isCardColumn(name)).toBe(true)
    expect(fieldOf(name)).toBeUndefined()
    expect(isProblem(parseColumnMap([{ column: 'x', field: name }]))).toBe(true)
    expect(isProblem(parseColumnMap([{ column: name, field: 'amount' }]))).toBe(true)
  })
})

test.each(OTHERS)('%s is no certain name of card data', (name) => {
  expect(isCardColumn(name)).toBe(false)
})

test('whatever stands between the words, before them and behind them, and in whichever case', () => {
  const between = fc.constantFrom(' ', '_', '-', '.', ' / ', ': ', ' - ', '\u00a0', '\u200b ')
  const name = fc.constantFrom(
    ...[['cvv'], ['card', 'number'], ['security', 'code'], ['track', '2'], ['pin', 'block'], ['kreditkarten', 'nr']],
  )
  const around = fc.constantFrom('', '*', '(', ')', '"', ' ', '?', ':', '!', '[3]', 'the ', 'customer ', 'payment.')
  const cased = (text: string, how: number) =>
    how === 0 ? text : how === 1 ? text.toUpperCase() : text.charAt(0).toUpperCase() + text.slice(1)
  fc.assert(
    fc.property(name, between, around, around, fc.nat(2), (words, gap, before, behind, how) => {
      const written = words.map((word) => cased(word, how)).join(gap)
      expect(isCardColumn(`${before} ${written} ${behind}`)).toBe(true)
    }),
    { numRuns: 1000 },
  )
})

describe('a name that may mean card data is judged by what stands below it', () => {
  const file = (name: string, values: readonly string[], other = 'note') =>
    `reference,transaction_type,amount,request_currency,request_ref_po_id,"${name}",${other}\n${values
      .map((value, i) => `R-${i},REFUND,1.00,EUR,${1000 + i},"${value}",x`)
      .join('\n')}\n`

  test.each<[name: string, values: string[], other?: string]>([
    ['PIN', ['1234', '9876']],
    ['Pin-Code', ['123', '', '456']],
    ['cid', ['123']],
    ['card', ['4111 1111 1111 1112']],
    ['cc', ['123', '9876']],
    ['Card security', ['123']],
    ['verification code', ['123', 'n/a', '456']],
    ['CVV result', ['123']],
    ['Tarjeta', ['4111-1111-1111-1112']],
    ['valid thru', ['12/28'], 'card_type'],
    ['Gültig bis', ['1228', '0129'], 'Karteninhaber'],
    ['vencimiento', ['12/2028'], 'tarjeta'],
    ['exp_month', ['12', '1'], 'card_last4'],
    ['exp_year', ['2028', '29'], 'card_last4'],
    ['mm/yy', ['12 / 28'], 'cardholder_name'],
  ])('%s with %j beside %s refuses the file without repeating a value', async (name, values, other) => {
    const fault = await refusalOf(file(name, values, other))
    expect(fault).toMatchObject({ code: 'card-data', column: name, line: 2, rowNo: 1 })
    for (const value of values.filter((text) => text.length > 2)) expect(JSON.stringify(fault)).not.toContain(value)
  })

  test.each<[name: string, values: string[], other?: string]>([
    ['PIN', ['110001', '400 076']],
    ['PIN', ['pinned', '', 'no']],
    ['PIN', ['1234', '110001']],
    ['cid', ['C-123', '12345']],
    ['cc', ['ann@example.com', 'DE']],
    ['card', ['visa', '**** 1234']],
    ['card', ['411111******1111']],
    ['CVV result', ['M', 'N']],
    ['card_last4', ['1234', '9876']],
    ['card_bin', ['411111', '51000000']],
    ['card type', ['001', '002']],
    ['gift card id', ['1234']],
    ['security deposit', ['500']],
    ['cardholder name', ['Ann']],
    ['tracking number', ['1234']],
    ['vencimiento', ['12/28']],
    ['valid until', ['12/2028'], 'voucher'],
    ['valid until', ['2028-12-31'], 'card_type'],
    ['expiry', ['never'], 'card_type'],
  ])('%s with %j beside %s is carried', async (name, values, other) => {
    const { rows } = await readWhole(file(name, values, other))
    expect(rows.map(({ cells }) => cells[5])).toEqual(values)
  })

  test('a column that a person says is none is carried, unless its name is certain', async () => {
    const notCards = ['cid']
    expect((await readWhole(file('cid', ['123']), { notCards })).rows[0]?.cells[5]).toBe('123')
    expect((await refusalOf(file('CVV code', ['123']), { notCards: ['CVV code'] })).problem).toContain('--not-a-card')
  })

  test.each(['PINs', 'código de verificación', 'code de vérification'])('so is %s', async (name) => {
    expect(await refusalOf(file(name, ['737']))).toMatchObject({ code: 'card-data', column: name })
    expect((await readWhole(file(name, ['73']))).rows).toHaveLength(1)
  })

  test('a column that a person said is a field is one, whatever it is called', async () => {
    const map = [{ column: 'PIN', field: 'bill_addr_zip' as const }]
    expect((await readWhole(file('PIN', ['1010', '8001']), { map })).rows).toHaveLength(2)
  })
})

describe('a name that is certain refuses the file for a value that can be what it says', () => {
  const file = (name: string, value: string) =>
    `reference,request_ref_po_id,"${name}",n\nR-1,1000001,"${value}",x\nR-2,1000002,"",x\n`

  test.each([
    ...[
      ['PAN', 'ABCPE1234F'],
      ['pan_number', 'ABCPE1234F'],
      ['PAN', ''],
    ],
    ...[
      ['card_number', '************1111'],
      ['Credit card', 'XXXX-XXXX-XXXX-1111'],
      ['card number', '4111 11** **** 1111'],
    ],
    ...[
      ['card_number', '***1111'],
      ['Kartennummer', '41111111XXXX1111'],
      ['card no', 'n/a'],
      ['card no', 'Visa …1111'],
    ],
    ...[
      ['Prüfziffer', '7'],
      ['Prüfnummer', '73712'],
      ['Security number', '737123'],
      ['Sicherheitsnummer', '737123'],
    ],
    ...[
      ['security code', 'AB12'],
      ['AVS/CVV', 'Y/M'],
      ['CVV', '***'],
      ['CVV', 'n/a'],
    ],
    ...[
      ['Track 1', 'The first song'],
      ['Track3', 'B-side, 3:45'],
      ['track 2', '7'],
      ['Pokemon card number', '25/102'],
    ],
  ])('%s with "%s" is carried', async (name, value) => {
    const { rows } = await readWhole(file(name, value), { operation: 'CANCEL' })
    expect(rows[0]?.cells[2]).toBe(value)
  })

  test.each([
    ...[
      ['PAN', '4111111111111112'],
      ['PAN', '4111 1111'],
      ['card_number', '4111'],
      ['card_number', 'card 411111111112'],
    ],
    ...[
      ['card_number', 'NDExMTExMTExMTExMTExMg=='],
      ['card_number', '411111111111XXXX'],
      ['card number', '４１１１１１１１１１１１'],
    ],
    ...[
      ['Prüfziffer', '737'],
      ['Prüfnummer', '7371'],
      ['Security number', '7 3 7'],
      ['Sicherheitsnummer', '737.0'],
    ],
    ...[
      ['security code', 'AB 737'],
      ['CVV', '12'],
      ['CVV', '7'],
      ['AVS/CVV', 'Y/737'],
      ['card security code', '737123'],
    ],
    ...[
      ['Karten-Prüfziffer', '12'],
      ['PIN block', 'AB'],
      ['card expiry', 'AB'],
      ['Card number, expiry', 'n/a'],
    ],
    ...[
      ['Track 1', '%B41^A'],
      ['track data', '41=12'],
      ['Track 2', '411111111111'],
      ['magstripe', 'JUI0MTExMTExMTExMTEx'],
    ],
  ])('%s with "%s" is refused', async (name, value) => {
    const fault = await refusalOf(file(name, value), { operation: 'CANCEL' })
    expect(fault).toMatchObject({ code: 'card-data', line: 2, column: name })
  })
})

test('a security code or a track in any cell refuses the file and is not repeated', async () => {
  for (const note of [
    'card of Ann, cvv: 123',
    'Prüfziffer 123',
    ';4111111111111112=28121010000?',
    '%B4111111111111112^A/B^2812',
  ]) {
    const fault = await refusalOf(`reference,request_ref_po_id,note\nR-1,1000001,"${note}"\n`, { operation: 'CANCEL' })
    expect(fault).toMatchObject({ code: 'card-data', line: 2, column: 'note' })
    expect(JSON.stringify(fault)).not.toMatch(/123|4111/)
  }
})

test.each(CODES_EVERYWHERE)('%s in front of a security code in a text refuses the file', async (name) => {
  const fault = await refusalOf(`reference,request_ref_po_id,note\nR-1,1000001,"ok; ${name} 737"\n`, {
    operation: 'CANCEL',
  })
  expect(fault).toMatchObject({ code: 'card-data', line: 2, column: 'note' })
})

test('any name is looked at in a time that grows with its length only', () => {
  const part = fc.constantFrom(
    'card ',
    'c',
    'v',
    ' ',
    'no',
    'numero ',
    'de ',
    'la ',
    'pan ',
    'track',
    '1',
    'exp',
    ' of',
    'C',
    '.',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 400 }), (parts) => {
      expect([null, 'certain', 'code', 'card', 'expiry']).toContain(cardMeaningOf(parts.join('')))
    }),
    { numRuns: 500 },
  )
})
