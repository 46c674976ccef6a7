import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CardDetails } from '../../src/domain/card.ts'
import type { Answer } from '../../src/domain/outcome.ts'
import { readAnswer } from '../../src/gateway/answered.ts'
import { createScrub } from '../../src/gateway/scrub.ts'
import { toVaultRecord } from '../../src/gateway/vault-record.ts'

const CREDENTIALS = { username: 'u', password: 'p' }
const CARD: CardDetails = { number: '4111111111111111', code: '737', expiry: { month: '02', year: '2029' } }
const CUSTOMER = { first_name: 'Ada', last_name: 'Byron' }
const ALL_CUSTOMER = {
  ...{ first_name: 'Ada', last_name: 'Byron', email: '', phone: '', address_1: '', address_2: '' },
  ...{ city: '', state: '', zip: '', country: '' },
}
const CARD_SENT = { card_number: '4111111111111111', card_exp_mm: '02', card_exp_yy: '29', card_cvv: '737' }

describe('the request of the vault has exactly its own fields', () => {
  const sent = (...args: Parameters<typeof toVaultRecord>) => JSON.parse(toVaultRecord(...args)) as unknown

  test('create', () => {
    expect(sent('VAULT_CREATE', { vaultId: null, details: CUSTOMER }, CARD, CREDENTIALS)).toEqual({
      ...{ req_username: 'u', req_password: 'p', customer_details: ALL_CUSTOMER, card_details: CARD_SENT },
    })
  })

  test('update has the vault id as a number beside them', () => {
    expect(sent('VAULT_UPDATE', { vaultId: '00900', details: CUSTOMER }, CARD, CREDENTIALS)).toEqual({
      ...{ req_username: 'u', req_password: 'p', customer_details: ALL_CUSTOMER, card_details: CARD_SENT },
      customer_vault_id: 900,
    })
  })

  test('delete has the vault id alone, with every digit', () => {
    const body = toVaultRecord('VAULT_DELETE', { vaultId: '9007199254740993', details: {} }, null, CREDENTIALS)
    expect(body).toBe('{"req_username":"u","req_password":"p","customer_vault_id":9007199254740993}')
  })

  test.each([
    ['VAULT_CREATE', '900', CARD],
    ['VAULT_CREATE', null, null],
    ['VAULT_UPDATE', null, CARD],
    ['VAULT_UPDATE', '900', null],
    ['VAULT_DELETE', '900', CARD],
    ['VAULT_DELETE', null, null],
    ['VAULT_DELETE', '9 or 1', null],
  ] as const)('%s with vault id %s and card %o is a bug, not a request', (operation, vaultId, card) => {
    expect(() => toVaultRecord(operation, { vaultId, details: {} }, card, CREDENTIALS)).toThrow('bug: ')
  })

  test('whatever text the customer fields hold, a JSON parser reads it back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const record = { vaultId: '1', details: { ...CUSTOMER, city: text } }
        const read = sent('VAULT_UPDATE', record, CARD, CREDENTIALS) as { customer_details: { city: string } }
        expect(read.customer_details.city).toBe(text)
      }),
    )
  })
})

describe('the answer of the vault', () => {
  const SENT = { operation: 'VAULT_CREATE', orderId: null, xtlOrderId: null, money: null } as const
  const scrub = createScrub({ username: 'merchant-one', secrets: ['sesame-and-open'] })
  const read = (text: string) => readAnswer(Buffer.from(text), undefined, scrub, SENT)
  const DATA = {
    ...{ customer_vault_id: 900, first_name: 'Ada', last_name: 'Byron', cc_bin: '411111' },
    ...{ cc_last_4_digit: '1111', customer_id: 31, cc_expiry_mm: '02', cc_expiry_yy: '29' },
  }
  const success = (data: object = DATA) => JSON.stringify({ status: 'Success', ts: '2026-12-01T10:00:00Z', data })
  const fieldsOf = (text: string): Answer => {
    const { body } = read(text)
    return body.kind === 'answer' ? body.fields : {}
  }

  test('of success has its status and the fields of its record, ids with every digit', () => {
    const long = success().replace('"customer_vault_id":900', '"customer_vault_id":9007199254740993')
    expect(read(long).body).toEqual({
      kind: 'answer',
      status: 'Success',
      fields: {
        ...{ status: 'Success', customer_vault_id: '9007199254740993', first_name: 'Ada', last_name: 'Byron' },
        ...{ cc_bin: '411111', cc_last_4_digit: '1111', customer_id: '31', cc_expiry_mm: '02', cc_expiry_yy: '29' },
      },
    })
  })

  test('of failure has its text', () => {
    const failed = JSON.stringify({ status: 'Failed', ts: '2026-12-01T10:00:00Z', errorMessage: 'Card is expired' })
    expect(read(failed).body).toMatchObject({ status: 'Failed', fields: { errorMessage: 'Card is expired' } })
  })

  test.each([
    ['names the status twice', '{"status":"Failed","status":"Success"}'],
    ['names an id twice in its record', '{"status":"Success","data":{"customer_vault_id":1,"customer_vault_id":2}}'],
    ['spells a name otherwise', '{"Status":"Success","status":"Failed"}'],
    ['hides the answer in a text', JSON.stringify({ message: success() })],
    ['hides the answer in base64', JSON.stringify({ message: Buffer.from(success()).toString('base64') })],
    ['is cut', success().slice(0, 80)],
    ['says success in words', 'The request was a success'],
  ])('that %s cannot be understood', (_what, text) => {
    expect(read(text).body.kind).toBe('unclear')
  })

  test.each(['', 'Not found', '{"error":"customer_vault_id is required"}', '<html><h1>400 Bad Request</h1></html>'])(
    'is plainly none: %s',
    (text) => expect(read(text).body.kind).toBe('none'),
  )

  test('keeps no card number, no code and no password that it repeats', () => {
    const told = 'card 4111111111111111, cvv 737, key sesame-and-open'
    const texts = [
      JSON.stringify({ status: 'Failed', errorMessage: 'card 4111111111111111 with cvv 737 is expired' }),
      success({ ...DATA, first_name: '4111111111111111', cc_bin: '4111111111111111' }),
      JSON.stringify({ status: 'Failed', errorMessage: told }),
    ]
    for (const text of texts) {
      const kept = JSON.stringify(read(text))
      expect(kept).not.toMatch(/4111111111111111|737|sesame/)
    }
    expect(read(texts[2] as string).repeatsCredentials).toBe(true)
    expect(fieldsOf(texts[2] as string).status).toBe('Failed')
  })

  describe('of the very card that was sent', () => {
    const AMEX = { number: '378282246310005', code: '9173' }
    const own = createScrub({ username: 'merchant-one', secrets: [], card: AMEX })
    const kept = (text: string) => JSON.stringify(readAnswer(Buffer.from(text), undefined, own, SENT))

    test.each([
      '9173 is not the security code of this card',
      JSON.stringify({ request: ['378282246310005', '12', '30', '9173'] }),
      '37828224631000512309173',
      'a:2:{s:6:"number";s:15:"378282246310005";s:3:"cvv";s:4:"9173";}',
      '<tr><td>378282246310005</td><td>9173</td></tr>',
      "INSERT INTO t VALUES ('000000378282246310005', 9173)",
      '378282246310005|12|30|9173',
      '3782-822463-10005',
      Buffer.from('378282246310005').toString('base64'),
      JSON.stringify({ status: 'Failed', errorMessage: 'no such code: 9173' }),
      success({ ...DATA, customer_vault_id: '378282246310005' }),
      success({ ...DATA, customer_id: 10_000, first_name: '9173', last_name: '378282246310005' }),
      success({ ...DATA, customer_id: '00378282246310005' }),
    ])('nothing is kept: %s', (text) => {
      expect(kept(text)).not.toMatch(/378282246310005|3782-822463|9173|Mzc4MjgyMjQ2MzEwMDA1/)
    })

    test('a name that was sent stays, though the code be in it', () => {
      const sent = { ...SENT, details: { first_name: 'Ada', last_name: 'Byron 9173' } }
      const answer = Buffer.from(success({ ...DATA, last_name: 'Byron 9173' }))
      const { body } = readAnswer(answer, undefined, own, sent)
      expect(body).toMatchObject({ fields: { first_name: 'Ada', last_name: 'Byron 9173' } })
      const written = Buffer.from(success({ ...DATA, first_name: 'ADA', last_name: 'BYRON-9173' }))
      const hidden = createScrub({ username: 'ada', secrets: [], card: AMEX })
      expect(readAnswer(written, undefined, hidden, sent).body).toMatchObject({
        fields: { first_name: 'Ada', last_name: 'Byron 9173' },
      })
      const other = readAnswer(answer, undefined, own, { ...sent, details: { last_name: 'Smith' } })
      expect(JSON.stringify(other)).not.toContain('9173')
    })

    test('a number that is another stays', () => {
      expect(kept(success({ ...DATA, customer_vault_id: '700000000000001' }))).toContain('700000000000001')
    })
  })
})
