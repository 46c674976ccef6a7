// The three tokenization endpoints over a real socket, as their document shows them, and what stored cards can then do.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSandbox, type Sandbox } from '../../src/sandbox/server.ts'
import {
  admin,
  CARD_DETAILS,
  CUSTOMER_DETAILS,
  call,
  FORM_TYPE,
  linesOf,
  PASSWORD,
  RECORD,
  send,
  sendToVault,
  USERNAME,
  VAULT_PATHS,
} from './caller.ts'

const NOW_MS = Date.UTC(2026, 10, 20, 12)
const TS = '2026-11-20T12:00:00.000Z'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await openSandbox({ username: USERNAME, password: PASSWORD, clock: () => NOW_MS })
})
afterEach(() => sandbox.close())

type What = keyof typeof VAULT_PATHS

async function answer(what: What, body: Record<string, unknown> | string): Promise<Record<string, unknown>> {
  const { httpStatus, headers, text } = await sendToVault(sandbox, what, body)
  expect([httpStatus, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  return JSON.parse(text)
}

async function created(): Promise<number> {
  const { data } = await answer('create', RECORD)
  return (data as { customer_vault_id: number }).customer_vault_id
}

async function sale(vaultId: unknown, operation = 'CAPTURE'): Promise<unknown> {
  const { text } = await send(sandbox, {
    transaction_type: operation,
    amount: '1.12',
    request_currency: 'EUR',
    customer_vault_id: String(vaultId),
  })
  return JSON.parse(text).TRANS_STATUS_NAME
}

const failed = (errorMessage: string) => ({ status: 'Failed', ts: TS, errorMessage })

describe('answers as documented', () => {
  it('a create: the whole record, ids as whole numbers, in the order of the document', async () => {
    const answered = await answer('create', RECORD)
    expect(answered).toEqual({
      status: 'Success',
      ts: TS,
      data: {
        customer_vault_id: expect.any(Number),
        first_name: 'Ada',
        last_name: 'Byron',
        cc_bin: '411111',
        cc_last_4_digit: '1111',
        customer_id: expect.any(Number),
        cc_expiry_mm: '12',
        cc_expiry_yy: '27',
      },
    })
    expect(Object.keys(answered)).toEqual(['status', 'ts', 'data'])
    const { customer_vault_id: vaultId, customer_id: customerId } = answered.data as Record<string, unknown>
    expect([vaultId, customerId].every(Number.isSafeInteger)).toBe(true)
    expect(vaultId).not.toBe(customerId)
  })

  it('an update answers the record as it is now, under the same ids', async () => {
    const { data: before } = await answer('create', RECORD)
    const { customer_vault_id, customer_id } = before as Record<string, unknown>
    const body = {
      customer_vault_id,
      customer_details: { ...CUSTOMER_DETAILS, first_name: 'Zoë "Z"', last_name: 'Łoś' },
      card_details: { card_number: '5555555555554444', card_exp_mm: '01', card_exp_yy: '30', card_cvv: '1234' },
    }
    const { data } = await answer('update', body)
    expect(data).toEqual({
      customer_vault_id,
      first_name: 'Zoë "Z"',
      last_name: 'Łoś',
      cc_bin: '555555',
      cc_last_4_digit: '4444',
      customer_id,
      cc_expiry_mm: '01',
      cc_expiry_yy: '30',
    })
  })

  it('a delete answers the id that is gone; then it is not known', async () => {
    const customer_vault_id = await created()
    expect(await answer('delete', { customer_vault_id })).toEqual({
      status: 'Success',
      ts: TS,
      data: { customer_vault_id },
    })
    expect(await answer('delete', { customer_vault_id })).toEqual(failed('customer_vault_id is not known'))
    expect(await answer('update', { ...RECORD, customer_vault_id })).toEqual(failed('customer_vault_id is not known'))
  })

  it('an id that never existed is not known', async () => {
    expect(await answer('delete', { customer_vault_id: 5 })).toEqual(failed('customer_vault_id is not known'))
  })

  it('a vault id is taken with all its digits, as a number and as text', async () => {
    sandbox.prepare({ vault: [{ vaultId: '98765432109876543210' }] })
    const credentials = `"req_username":"${USERNAME}","req_password":"${PASSWORD}"`
    const wire = (id: string) => `{${credentials},"customer_vault_id":${id}}`
    for (const id of ['98765432109876543211', '9.8765432109876543210e19']) {
      expect(await answer('delete', wire(id))).toMatchObject({ status: 'Failed' })
    }
    const { text } = await sendToVault(sandbox, 'delete', wire('98765432109876543210'))
    expect(text).toBe(`{"status":"Success","ts":"${TS}","data":{"customer_vault_id":98765432109876543210}}`)
    sandbox.prepare({ vault: [{ vaultId: '98765432109876543210' }] })
    expect(await answer('delete', wire('"0098765432109876543210"'))).toMatchObject({ status: 'Failed' })
    expect(await answer('delete', wire('"98765432109876543210"'))).toMatchObject({ status: 'Success' })
  })

  it('ts is the moment of the answer by the clock that was moved', async () => {
    await admin(sandbox, 'POST', '/_sandbox/clock', { advanceMs: 86_400_000 })
    expect(await answer('create', RECORD)).toMatchObject({ ts: '2026-11-21T12:00:00.000Z' })
  })
})

describe('what a stored card can do', () => {
  it('it pays for sales and authorizations at once, and when it is deleted no more', async () => {
    const customer_vault_id = await created()
    expect([await sale(customer_vault_id), await sale(customer_vault_id, 'AUTH')]).toEqual(['APPROVED', 'APPROVED'])
    await answer('update', { ...RECORD, customer_vault_id })
    expect(await sale(customer_vault_id)).toBe('APPROVED')
    await answer('delete', { customer_vault_id })
    expect([await sale(customer_vault_id), await sale(customer_vault_id, 'AUTH')]).toEqual(['DECLINED', 'DECLINED'])
  })

  it('a card that a sale saved is a record like any other', async () => {
    const card = { pmt_numb: '4111111111111111', pmt_key: '987', pmt_expiry: '12/2027' }
    const fields = { transaction_type: 'CAPTURE', amount: '1.12', request_currency: 'EUR', save_card_on_file: 'Y' }
    const { text } = await send(sandbox, { ...fields, ...card, cust_fname: 'Ada', cust_lname: 'Byron' })
    const { CUSTOMER_VAULT_ID: customer_vault_id } = JSON.parse(text)
    expect(Number.isSafeInteger(customer_vault_id)).toBe(true)
    expect(await answer('update', { ...RECORD, customer_vault_id })).toMatchObject({ data: { customer_vault_id } })
    expect(await answer('delete', { customer_vault_id })).toMatchObject({ status: 'Success' })
  })

  it('a prepared one can be updated and deleted, as any other', async () => {
    sandbox.prepare({ vault: [{ vaultId: '55' }, { vaultId: '56' }] })
    const { data } = await answer('update', { ...RECORD, customer_vault_id: 55 })
    expect(data).toMatchObject({ customer_vault_id: 55, cc_last_4_digit: '1111', customer_id: expect.any(Number) })
    const again = await answer('update', { ...RECORD, customer_vault_id: '55' })
    expect(again.data).toEqual(data)
    expect(await answer('delete', { customer_vault_id: 56 })).toMatchObject({ data: { customer_vault_id: 56 } })
  })
})

describe('failures', () => {
  const withCard = (card: Record<string, unknown>) => ({ ...RECORD, card_details: { ...CARD_DETAILS, ...card } })
  const withCustomer = (details: Record<string, unknown>) => ({
    ...RECORD,
    customer_details: { ...CUSTOMER_DETAILS, ...details },
  })
  const PAST = 'the card is expired: card_exp_mm and card_exp_yy are past'

  it.each<[string, Record<string, unknown>, string]>([
    ['a wrong username', { ...RECORD, req_username: 'x' }, 'Merchant not found'],
    ['a wrong password', { ...RECORD, req_password: 'x' }, 'Merchant not found'],
    ['a password that is a number', { ...RECORD, req_password: 1 }, 'req_password is missing'],
    ['no username', { ...RECORD, req_username: '' }, 'req_username is missing'],
    ['no check digit', withCard({ card_number: '4111111111111112' }), 'card_number must be a card number'],
    ['eleven digits', withCard({ card_number: '41111111111' }), 'card_number must be a card number'],
    ['twenty digits', withCard({ card_number: '4'.repeat(20) }), 'card_number must be a card number'],
    ['a number in groups', withCard({ card_number: '4111 1111 1111 1111' }), 'card_number must be a card number'],
    ['no number', withCard({ card_number: '' }), 'card_number must be a card number'],
    ['a past month', withCard({ card_exp_mm: '10', card_exp_yy: '26' }), PAST],
    ['a month of one digit', withCard({ card_exp_mm: '1' }), 'card_exp_mm must be 01 to 12'],
    ['a thirteenth month', withCard({ card_exp_mm: '13' }), 'card_exp_mm must be 01 to 12'],
    ['a whole year', withCard({ card_exp_yy: '2027' }), 'card_exp_yy must be two digits'],
    ['a code of two digits', withCard({ card_cvv: '12' }), 'card_cvv must be 3 or 4 digits'],
    ['a code of five digits', withCard({ card_cvv: '12345' }), 'card_cvv must be 3 or 4 digits'],
    ['a code that is a number', withCard({ card_cvv: 123 }), 'card_cvv must be a string'],
    ['an empty first name', withCustomer({ first_name: '' }), 'first_name must not be empty'],
    ['an empty last name', withCustomer({ last_name: ' ' }), 'last_name must not be empty'],
    ['a zip that is a number', withCustomer({ zip: 12345 }), 'zip must be a string'],
    ['a city of no type', withCustomer({ city: null }), 'city must be a string'],
    ['a long name', withCustomer({ email: 'x'.repeat(256) }), 'email is longer than 255 characters'],
    ['a field that is not documented', withCustomer({ nick: 'A' }), 'nick is not a field of customer_details'],
    ['no customer', { card_details: CARD_DETAILS }, 'customer_details is missing'],
    ['a customer that is a list', { ...RECORD, customer_details: [] }, 'customer_details must be an object'],
    ['no card', { customer_details: CUSTOMER_DETAILS }, 'card_details is missing'],
    ['an id to create', { ...RECORD, customer_vault_id: 5 }, 'customer_vault_id is not a field of VAULT_CREATE'],
    [
      'several faults',
      { customer_details: { ...CUSTOMER_DETAILS, first_name: '' }, card_details: { ...CARD_DETAILS, card_cvv: '' } },
      'first_name must not be empty; card_cvv must be 3 or 4 digits',
    ],
  ])('%s', async (_what, body, message) => {
    expect(await answer('create', body)).toEqual(failed(message))
  })

  it.each([...Object.keys(CUSTOMER_DETAILS), ...Object.keys(CARD_DETAILS)])('%s missing', async (name) => {
    const without = (details: Record<string, string>) => ({ ...details, [name]: undefined })
    const body = { customer_details: without(CUSTOMER_DETAILS), card_details: without(CARD_DETAILS) }
    expect(await answer('create', body)).toEqual(failed(`${name} is missing`))
  })

  it.each(['email', 'phone', 'address_1', 'address_2', 'city', 'state', 'zip', 'country'])(
    '%s may be empty',
    async (name) => {
      expect(await answer('create', withCustomer({ [name]: '' }))).toMatchObject({ status: 'Success' })
    },
  )

  it.each([
    [undefined, 'customer_vault_id is missing'],
    ['', 'customer_vault_id must be 1 to 20 digits'],
    ['V1', 'customer_vault_id must be 1 to 20 digits'],
    [-5, 'customer_vault_id must be 1 to 20 digits'],
    [5.5, 'customer_vault_id must be 1 to 20 digits'],
    [true, 'customer_vault_id must be 1 to 20 digits'],
  ])('a vault id that is %s', async (customer_vault_id, message) => {
    expect(await answer('delete', { customer_vault_id })).toEqual(failed(message))
    expect(await answer('update', { ...RECORD, customer_vault_id })).toEqual(failed(message))
  })

  it('a card is good to the end of its month, UTC', async () => {
    const november = withCard({ card_exp_mm: '11', card_exp_yy: '26' })
    const leftMs = Date.UTC(2026, 11) - NOW_MS
    await admin(sandbox, 'POST', '/_sandbox/clock', { advanceMs: leftMs - 1 })
    expect(await answer('create', november)).toMatchObject({ status: 'Success' })
    await admin(sandbox, 'POST', '/_sandbox/clock', { advanceMs: 1 })
    expect(await answer('create', november)).toMatchObject({ status: 'Failed', errorMessage: PAST })
  })

  it('an error names no value, whatever stands in the wrong place', async () => {
    const number = CARD_DETAILS.card_number
    const texts = [
      await answer('create', { ...RECORD, [number]: 'x', card_details: { ...CARD_DETAILS, [number]: number } }),
      await answer('create', withCard({ card_cvv: number, card_exp_mm: number, card_exp_yy: number })),
      await answer('delete', { customer_vault_id: '4111-1111' }),
    ]
    expect(JSON.stringify(texts)).not.toMatch(/4111/)
  })
})

describe.each(['create', 'update', 'delete'] as const)('what is no request to %s', (what) => {
  afterEach(() => {
    expect(sandbox.log()).toEqual([])
    expect(sandbox.received()).toBe(1)
  })

  it.each(['', '{', '[]', '"x"', 'null', '7'])('the body %s is answered 400', async (body) => {
    const { httpStatus, text } = await sendToVault(sandbox, what, body)
    expect([httpStatus, JSON.parse(text)]).toEqual([400, { errorMessage: 'The body is not a JSON object' }])
  })

  it('a form is answered 415, another method 405, too long a body 413', async () => {
    const contentType = FORM_TYPE
    expect((await sendToVault(sandbox, what, '{}', { contentType })).httpStatus).toBe(415)
    await sandbox.close()
    sandbox = await openSandbox({ username: USERNAME, password: PASSWORD, clock: () => NOW_MS })
    const put = await call(sandbox, { method: 'PUT', path: VAULT_PATHS[what], body: '{}' })
    expect([put.httpStatus, put.headers.allow]).toEqual([405, 'POST'])
    await sandbox.close()
    sandbox = await openSandbox({ username: USERNAME, password: PASSWORD, clock: () => NOW_MS })
    expect((await sendToVault(sandbox, what, { ...RECORD, more: 'x'.repeat(70_000) })).httpStatus).toBe(413)
  })

  it('a merchant that is not known leaves nothing in the log', async () => {
    expect(await answer(what, { req_username: 'x' })).toEqual(failed('Merchant not found'))
  })
})

describe('the log', () => {
  it('holds what succeeded and what failed, by vault id and card mask', async () => {
    const vaultId = String(await created())
    await answer('update', { ...RECORD, customer_vault_id: vaultId })
    await answer('delete', { customer_vault_id: vaultId })
    await answer('delete', { customer_vault_id: vaultId })
    await answer('create', { ...RECORD, card_details: { ...CARD_DETAILS, card_number: '4111111111111112' } })
    const none = {
      orderId: null,
      amountMinor: null,
      currency: null,
      xtlOrderId: null,
      transactionId: null,
      fault: null,
    }
    const entry = (seq: number, operation: string, status: string, more: object) => ({
      ...none,
      ...{ seq, requestSeq: seq, atMs: NOW_MS, operation, status, answered: true },
      ...more,
    })
    const card = '411111-1111-12/2027'
    expect(linesOf(await admin(sandbox, 'GET', '/_sandbox/log'))).toEqual([
      entry(1, 'VAULT_CREATE', 'APPROVED', { vaultId, card }),
      entry(2, 'VAULT_UPDATE', 'APPROVED', { vaultId, card }),
      entry(3, 'VAULT_DELETE', 'APPROVED', { vaultId, card: null }),
      entry(4, 'VAULT_DELETE', 'DECLINED', { vaultId, card: null }),
      entry(5, 'VAULT_CREATE', 'DECLINED', { vaultId: null, card: '411111-1112-12/2027' }),
    ])
  })

  it('and all that can be read back hold no card number and no security code', async () => {
    await created()
    await answer('create', { ...RECORD, card_details: { ...CARD_DETAILS, card_cvv: '98765' } })
    const seen = await Promise.all(
      ['log', 'orders', 'counts'].map((path) => admin(sandbox, 'GET', `/_sandbox/${path}`)),
    )
    const all = seen.map(({ text }) => text).join()
    expect(all).toContain('411111-1111-12/2027')
    expect(all).not.toContain(CARD_DETAILS.card_number)
    expect(all).not.toMatch(/987/)
  })
})
