import { describe, expect, test } from 'vitest'
import type { Addressees } from '../../src/domain/message.ts'
import { partsOfReason } from '../../src/domain/wrong-field.ts'
import { parseBatch } from '../../src/ingest/batch-message.ts'
import { parseMessage } from '../../src/ingest/message.ts'

const CAPTURE = {
  schema_version: 1,
  reference: 'order-77',
  transaction_type: 'CAUTH',
  amount: '12.30',
  request_currency: 'EUR',
  request_ref_po_id: '123',
}

/** Of an installation with one merchant. */
const ONE: Addressees = {
  ...{ names: ['default'], areSeveral: false, keyEnvironment: null },
  accountOf: (merchant) =>
    merchant === 'unknown'
      ? null
      : { accountKey: `key of ${merchant}`, environment: merchant === 'live' ? 'live' : null },
}

const parse = (value: unknown, over: Partial<Addressees> = {}) => parseMessage(value, { ...ONE, ...over })

function reasonsOf(value: unknown, over: Partial<Addressees> = {}): readonly string[] {
  const read = parse(value, over)
  return read.kind === 'refused' ? read.reasons : []
}

describe('a message', () => {
  test('is an instruction for the merchant that it names, else for the default one', () => {
    expect(parse(CAPTURE)).toMatchObject({
      kind: 'message',
      merchant: 'default',
      runKey: null,
      allowLookalikeOf: null,
      accept: [],
      cells: { schema_version: '1', reference: 'order-77', amount: '12.30' },
      instruction: { reference: 'order-77', operation: 'CAUTH', money: { amountMinor: 1230n }, orderId: '123' },
    })
    expect(parse({ ...CAPTURE, merchant: 'shop' })).toMatchObject({ merchant: 'shop' })
  })

  test('keeps what it says of its order and does not send', () => {
    const saying = { ...CAPTURE, transaction_type: 'REFUND', customer_vault_id: '007', xtl_order_id: 'INV1' }
    const details = { cust_email: 'ann@a.example' }
    const beside = { vaultId: '7', card: null, xtlOrderId: 'INV1', details }
    expect(parse({ ...saying, ...details })).toMatchObject({
      instruction: { vaultId: null, xtlOrderId: null, details: {}, beside },
    })
  })

  test('has its run key before its reference', () => {
    expect(parse({ ...CAPTURE, run_key: '2026-12' })).toMatchObject({
      runKey: '2026-12',
      instruction: { reference: '2026-12/order-77' },
    })
  })

  test('derives the order id from the account of its merchant', () => {
    const xtl = (merchant: string) => {
      const read = parse({ ...CAPTURE, merchant })
      return read.kind === 'message' ? read.instruction.xtlOrderId : null
    }
    expect(xtl('a')).toMatch(/^T[A-Z2-7]{19}$/)
    expect(xtl('a')).not.toBe(xtl('b'))
  })
})

describe('a message is refused', () => {
  test.each<[string, unknown, RegExp]>([
    ['that is no object', 'refund it', /object/],
    ['that is null', null, /object/],
    ['of another version', { ...CAPTURE, schema_version: 2 }, /^schema_version/],
    ['without a reference', { ...CAPTURE, reference: undefined }, /^reference/],
    ['with an empty reference', { ...CAPTURE, reference: '  ' }, /^reference: is empty/],
    ['with an empty reference and a run key', { ...CAPTURE, reference: '  ', run_key: 'k' }, /^reference: is empty/],
    ['with half a character in its reference', { ...CAPTURE, reference: 'a\ud800b' }, /^reference/],
    ['with an unseen character in its reference', { ...CAPTURE, reference: 'a\u200bb' }, /^reference/],
    ['with a wrong run key', { ...CAPTURE, run_key: ' ' }, /^run_key: is empty/],
    ['with a slash in its run key', { ...CAPTURE, run_key: 'a/b' }, /^run_key/],
    ['with a word that only files may use', { ...CAPTURE, transaction_type: 'capture' }, /^transaction_type/],
    ['with an amount as a number', { ...CAPTURE, amount: 12.3 }, /^amount/],
    ['with thousands parted', { ...CAPTURE, amount: '1,234.50' }, /^amount/],
    ['with an amount of zero', { ...CAPTURE, amount: '0.00' }, /^amount: is zero/],
    ['with an amount without a currency', { ...CAPTURE, request_currency: undefined }, /^request_currency/],
    ['with an order as a number', { ...CAPTURE, request_ref_po_id: 123 }, /^request_ref_po_id/],
    ['without its order', { ...CAPTURE, request_ref_po_id: undefined }, /^request_ref_po_id: is empty/],
    ['with a field that is not known', { ...CAPTURE, amonut: '1' }, /amonut/],
    ['for a merchant that is not configured', { ...CAPTURE, merchant: 'unknown' }, /^merchant/],
  ])('%s', (_, value, reason) => {
    expect(reasonsOf(value).join('\n')).toMatch(reason)
  })

  test.each<[string, Record<string, string>, string | null]>([
    ['"12.30" of EUR', {}, null],
    ['"1230" of JPY', { amount: '1230', request_currency: 'JPY' }, null],
    ['"1.230" of KWD', { amount: '1.230', request_currency: 'KWD' }, null],
    ['"1230" of EUR', { amount: '1230' }, 'write "1230.00", or "12.30" if it is in minor units'],
    ['"12.3" of EUR', { amount: '12.3' }, 'write "12.30"'],
    ['"0012.30" of EUR', { amount: '0012.30' }, 'write "12.30"'],
    ['"0100" of JPY', { amount: '0100', request_currency: 'JPY' }, 'write "100"'],
  ])('unless its amount is written with exactly the decimals of its currency: %s', (_, over, remedy) => {
    const amount = over.amount ?? CAPTURE.amount
    const currency = over.request_currency ?? CAPTURE.request_currency
    const refusal = `amount_decimals: ${amount} is not written as ${currency} is; ${remedy}`
    expect(reasonsOf({ ...CAPTURE, ...over })).toEqual(remedy === null ? [] : [refusal])
    const { schema_version, ...instruction } = { ...CAPTURE, ...over }
    const batch = parseBatch({ schema_version, batch: 'b', instructions: [instruction] }, ONE)
    expect(batch.kind === 'refused' ? batch.reasons : []).toEqual(remedy === null ? [] : [`instructions.0.${refusal}`])
  })

  test.each([
    ['12.300', 'EUR'],
    ['12.30', 'JPY'],
    ['12.3', 'EUR'],
  ])(
    'by one code for whatever is wrong with its decimals, in a batch with its place: "%s" of %s',
    (amount, request_currency) => {
      const { schema_version, ...instruction } = { ...CAPTURE, amount, request_currency }
      const [alone = ''] = reasonsOf({ ...CAPTURE, amount, request_currency })
      expect(partsOfReason(alone)).toMatchObject({ field: 'amount', code: 'amount_decimals' })
      const batch = parseBatch({ schema_version, batch: 'b', instructions: [instruction] }, ONE)
      const [together = ''] = batch.kind === 'refused' ? batch.reasons : []
      expect(partsOfReason(together)).toMatchObject({ field: 'instructions.0.amount', code: 'amount_decimals' })
    },
  )

  test('without its merchant where there are several, and where the only one has a name', () => {
    const missing = [expect.stringMatching(/^merchant_missing: .*: shop, club$/)]
    expect(reasonsOf(CAPTURE, { names: ['shop', 'club'], areSeveral: true })).toEqual(missing)
    expect(reasonsOf(CAPTURE, { names: ['shop', 'club'], accountOf: () => null })).toEqual(missing)
    expect(reasonsOf({ ...CAPTURE, merchant: 'club' }, { names: ['shop', 'club'], areSeveral: true })).toEqual([])
  })

  const LIVE = { ...CAPTURE, merchant: 'live' }
  test.each<[string, object, Addressees['keyEnvironment'], RegExp | null]>([
    ['names none', LIVE, null, /^environment_missing: merchant live has an environment here; .*live or test$/],
    ['names the other one', { ...LIVE, environment: 'test' }, null, /^other_environment: is meant for test/],
    ['comes by a key of the other one', LIVE, 'test', /^other_environment: is meant for test/],
    ['contradicts its key', { ...LIVE, environment: 'live' }, 'test', /^other_environment: says live, and the API key/],
    ['names one where nobody has said', { ...CAPTURE, environment: 'test' }, null, /^other_environment: .*TRANCHE_ENV/],
    ['names it', { ...LIVE, environment: 'live' }, null, null],
    ['comes by a key of it', LIVE, 'live', null],
  ])('by the environment of its merchant where it %s', (_, message, keyEnvironment, reason) => {
    expect(reasonsOf(message, { keyEnvironment })).toEqual(reason === null ? [] : [expect.stringMatching(reason)])
  })

  test('without a word of options: a message has none', () => {
    const unclear = { ...CAPTURE, request_currency: undefined, execute_at: '2026-12-01T09:00:00' }
    expect(reasonsOf(unclear)).toEqual([
      'request_currency: is empty, and an amount needs a currency; write the currency, for example EUR',
      'execute_at: has no UTC offset, so it would mean another moment on another machine; add Z or the offset, for example 2026-12-01T09:00:00+01:00',
    ])
  })

  test('in plain words, whichever way the check of its schema says it', () => {
    const reasonsOf = (over: object) => (parse({ ...CAPTURE, ...over }) as { reasons: readonly string[] }).reasons
    expect(reasonsOf({ reference: 5, amount: 12.5 })).toEqual(['reference: is not text', 'amount: is not text'])
    expect(reasonsOf({ reference: '' })).toEqual(['reference: is empty'])
    expect(reasonsOf({ reference: 'x'.repeat(201) })).toEqual(['reference: has more than 200 characters'])
    expect(reasonsOf({ accept: 'execute_at' })).toContain('accept: is not a list')
  })

  test('with all its reasons', () => {
    expect(
      reasonsOf({ ...CAPTURE, amount: '1.234', request_ref_po_id: '1234567890123400', run_key: '=' }),
    ).toHaveLength(3)
  })

  test('with all its reasons, whichever look finds them', () => {
    const { transaction_type: _, ...untyped } = CAPTURE
    const message = { ...untyped, amount: 12, request_currency: 'XXQ', execute_at: 'soon', amonut: '1' }
    const several = { names: ['shop', 'club'], areSeveral: true }
    expect(reasonsOf(message, several).map((reason) => reason.split(':')[0])).toEqual([
      ...['merchant_missing', 'transaction_type', 'amount', 'amonut', 'request_currency', 'execute_at'],
    ])
    // Each once, by the first look that judges it.
    expect(reasonsOf({ ...message, merchant: 7, run_key: '=' }, several).map((reason) => reason.split(':')[0])).toEqual(
      [...['run_key', 'merchant', 'transaction_type', 'amount', 'amonut', 'request_currency', 'execute_at']],
    )
  })

  test('and so is a batch: with what is wrong with it and with each of its instructions', () => {
    const { schema_version, transaction_type: _, ...own } = CAPTURE
    const instructions = [
      { ...own, amount: 12 },
      { ...own, reference: undefined, request_currency: 'XXQ' },
      { ...own, transaction_type: 'CAUTH', extra: '1' },
    ]
    const read = parseBatch({ schema_version, batch: 'a b', transaction_type: 'capture', instructions }, ONE)
    expect(read.kind === 'refused' ? read.reasons.map((reason) => reason.split(':')[0]) : []).toEqual([
      ...['batch', 'transaction_type', 'instructions.0.amount', 'instructions.1.reference', 'instructions.2.extra'],
      'instructions.1.request_currency',
    ])
    const many = parseBatch({ schema_version, batch: 'b', instructions: Array(1_000).fill({ ...own, amount: 1 }) }, ONE)
    expect(many.kind === 'refused' ? [many.reasons.length, many.reasons.at(-1)] : []).toEqual([101, 'and 1900 more'])
  })

  test.each<[string, Record<string, unknown>]>([
    ['in a field', { cust_fname: 'card 4111 1111 1111 1111' }],
    ['as a number', { request_ref_po_id: 4111111111111111 }],
    ['deep inside', { extra: [{ deep: '4111111111111111' }] }],
    ['as a name', { '4111111111111111': '' }],
    ['as a security code', { pmt_key: '123' }],
    ['as a security code in a text', { cust_fname: 'Ann, cvv 123' }],
    ['as a magnetic track', { note: [';4111111111111112=28121010000?'] }],
    ['as a security code inside another object', { card: { cvv: 123 } }],
    ['as a card number by the names of two levels', { card: { number: '9111' } }],
    ['as any value under a card number by the names of two levels', { card: { number: 'Ann' } }],
    ['as a PIN by the names of two levels', { card: [{ pin: 9111 }] }],
    ['as a security code under any writing of its name', { 'CVV2/CVC2 code': 123 }],
    ['as a security code in another language', { 'kod bezpieczeństwa': 123 }],
    ['as a security code whose name is mistyped', { payment: { ccv: '123' } }],
    ['under a name that may mean a PIN', { pin: 1234 }],
    ['under a name that may mean a card', { card: 4111111111111112 }],
    ['in a list of its groups', { x: [4111, 1111, 1111, 1111] }],
    ['in a list of its digits', { x: [7, ...'4111111111111111'] }],
    ['in two neighbours', { a: '41111111', b: '11111111' }],
    ['as the expiry beside the rest of a card', { payment: { valid_thru: '12/28', card_brand: 'x' } }],
  ])('when card data is in it %s; it says so and repeats nothing of it', (_, part) => {
    const read = parse({ ...CAPTURE, ...part })
    expect(read).toMatchObject({ kind: 'refused', withheld: 'it held card data' })
    expect(JSON.stringify(read)).not.toMatch(/1111|123/)
  })

  test('with card details, which are sent from a file, and with an operation of the vault', () => {
    const { reasons } = parse({ ...CAPTURE, pmt_numb: 'x' }) as { reasons: readonly string[] }
    expect(reasons[0]).toMatch(/^holds card data.*write the rows into a file and run it in the foreground$/)
    expect(parse({ ...CAPTURE, transaction_type: 'VAULT_DELETE' }).kind).toBe('refused')
  })

  test('an id in odd groups is an id, and anything else in odd groups may be a card number', () => {
    const odd = '41111111 11111111'
    expect(parse({ ...CAPTURE, reference: odd }).kind).toBe('message')
    expect(parse({ ...CAPTURE, cust_fname: odd })).toMatchObject({ withheld: 'it held card data' })
    expect(parse({ ...CAPTURE, cust_phone: '4915112345679' }).kind).toBe('message')
  })

  test.each<[string, Record<string, unknown>]>([
    ['a postal code of six digits', { pin: 110001 }],
    ['the end of an invoice', { invoice: { valid_until: '12/28' } }],
    ['the last four digits', { card: { last4: '1234', type: 'visa' } }],
    ['lists of small numbers', { rows: [1, 2, 3], sizes: ['1000', '2000', '3000', '4000'] }],
    ['no value', { cvv: '', card_number: null }],
    ['the fields of an instruction', { save_card_on_file: 'Y', cust_phone: '123' }],
  ])('without saying that card data is in it where there is %s', (_, part) => {
    const read = parse({ ...CAPTURE, ...part })
    expect(read.kind === 'message' || read.withheld === null).toBe(true)
  })

  test('without saying that card data is in it where there is none', () => {
    expect(parse({ ...CAPTURE, amount: '0' })).toMatchObject({ kind: 'refused', withheld: null })
  })

  const nested = (levels: number, inner: string): unknown =>
    JSON.parse(`${'{"a":'.repeat(levels)}${inner}${'}'.repeat(levels)}`)
  const UNSEARCHED = { kind: 'refused', withheld: 'it could not be looked through for card data' }

  test.each([33, 3_000, 100_000])(
    'and withheld where it nests %i levels deep: what lies so deep is not looked through',
    (levels) => {
      for (const inner of ['"4111111111111111"', '1', '[]']) {
        const read = parse({ ...CAPTURE, extra: nested(levels - 1, inner) })
        expect(read).toMatchObject(UNSEARCHED)
        expect(JSON.stringify(read)).toMatch(/is nested deeper than 32 levels/)
        expect(JSON.stringify(read)).not.toContain('4111')
      }
    },
  )

  test('as usual where it nests no deeper than that', () => {
    expect(parse({ ...CAPTURE, extra: nested(31, '1') })).toMatchObject({ kind: 'refused', withheld: null })
    expect(parse({ ...CAPTURE, extra: nested(31, '"4111111111111111"') })).toMatchObject({
      withheld: 'it held card data',
    })
  })

  const texts: ReadonlyArray<readonly [string, (characters: number) => object]> = [
    ['in one text', (characters) => ({ cust_fname: 'x'.repeat(characters) })],
    ['in one name', (characters) => ({ ['x'.repeat(characters)]: 1 })],
    [
      'in many names',
      (characters) => Object.fromEntries(Array.from({ length: characters / 4 }, (_, i) => [`n${i}`, 1])),
    ],
    ['in a list', (characters) => ({ list: Array.from({ length: characters }, () => 1) })],
    ['in a list of empty lists', (characters) => ({ list: Array.from({ length: characters }, () => []) })],
  ]
  test.each(texts)('and withheld where it is too large %s: more is not looked through', (_, fill) => {
    const read = parse({ ...CAPTURE, ...fill(70_000) })
    expect(read).toMatchObject(UNSEARCHED)
    expect(JSON.stringify(read)).toMatch(/has more than 65,536 characters/)
    const card = '4111111111111111'
    for (const over of [
      { first: card, ...fill(70_000) },
      { ...fill(70_000), last: card },
    ]) {
      const withCard = parse(over)
      expect(withCard).toMatchObject({ kind: 'refused', withheld: expect.stringMatching(/^it /) })
      expect(JSON.stringify(withCard)).not.toContain('4111')
    }
  })

  test.each<[string, (count: number) => object]>([
    ['keys', (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, 1]))],
    ['members in a list', (count) => Array.from({ length: count }, () => 1)],
  ])('and withheld where one object has more than 200 %s', (_, fill) => {
    expect(parse({ ...CAPTURE, extra: fill(200) })).toMatchObject({ kind: 'refused', withheld: null })
    const read = parse({ ...CAPTURE, extra: fill(201) })
    expect(read).toMatchObject(UNSEARCHED)
    expect(JSON.stringify(read)).toContain('more than 200 members')
  })

  test.each(['12/28', 'never'])(
    'with work that is the same for each key, where the keys mean an expiry: %s',
    (value) => {
      const listingsOf = (keys: number) => {
        let listings = 0
        const extra = Object.fromEntries(Array.from({ length: keys }, (_, i) => [`exp q${i}`, value]))
        const ownKeys = (target: object) => {
          listings += 1
          return Reflect.ownKeys(target)
        }
        parse({ ...CAPTURE, extra: new Proxy(extra, { ownKeys }) })
        return listings
      }
      expect(listingsOf(150)).toBe(listingsOf(1))
    },
  )

  test('as usual where it is as large as it may be', () => {
    const many = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`extra_${i}`, 'x'.repeat(500)]))
    const read = parse({ ...CAPTURE, ...many })
    const reasons = [...Array.from({ length: 100 }, (_, i) => `extra_${i}: is not a field here`), 'and 20 more']
    expect(read).toEqual({ kind: 'refused', reasons, withheld: null })
  })

  test('at its first text that is longer than a field may be, of which nothing is looked at', () => {
    for (const field of Object.keys(CAPTURE)) {
      const read = parse({ ...CAPTURE, [field]: '4111111111111111'.repeat(33) })
      expect(read, field).toMatchObject({
        kind: 'refused',
        reasons: [expect.stringMatching(new RegExp(`^${field}: has a name or text of more than 512 characters`))],
        withheld: 'it could not be looked through for card data',
      })
    }
    expect(parse({ ...CAPTURE, ['x'.repeat(513)]: 1 })).toMatchObject({ withheld: expect.any(String) })
  })
})
