// The sandbox over a real socket: the documented answers, refusals before execution, admin routes, opening and closing.

import { Agent } from 'node:http'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/server.ts'
import { admin, call, FORM_TYPE, linesOf, PASSWORD, send, USERNAME } from './caller.ts'

const NOW_MS = Date.UTC(2026, 10, 20)
const CARD = { pmt_numb: '4111111111111111', pmt_key: '987', pmt_expiry: '12/2027' }
const SALE = { transaction_type: 'CAPTURE', amount: '12.3', request_currency: 'EUR', ...CARD }

let sandbox: Sandbox

function open(more: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  return openSandbox({ username: USERNAME, password: PASSWORD, clock: () => NOW_MS, ...more })
}

beforeEach(async () => {
  sandbox = await open()
})
afterEach(() => sandbox.close())

async function answer(fields: Record<string, string>): Promise<Record<string, unknown>> {
  const { httpStatus, text } = await send(sandbox, fields)
  expect(httpStatus).toBe(200)
  return JSON.parse(text)
}

const refund = (orderId: unknown, amount: string) => ({
  transaction_type: 'REFUND',
  amount,
  request_ref_po_id: String(orderId),
})
const ADVICE = ['API_ADVICE', 'SERVICE_ADVICE', 'PROCESSOR_ADVICE', 'ERROR_MESSAGE']
const MONEY = [
  'REQUEST_ACTION',
  'TRANS_STATUS_NAME',
  'TRANS_VALUE',
  'TRANS_REQUEST_ID',
  'TRANS_RECORD_ID',
  'TRANS_ORDER_ID',
]

describe('answers as documented', () => {
  it('a sale: four decimals, whole-number ids, the XTL_ORDER_ID that was sent', async () => {
    const approved = await answer({ ...SALE, xtl_order_id: 'INV-7' })
    expect(Object.keys(approved)).toEqual([...MONEY, 'XTL_ORDER_ID', 'TRANS_CUR'])
    expect(approved).toMatchObject({
      REQUEST_ACTION: 'CAPTURE',
      TRANS_STATUS_NAME: 'APPROVED',
      TRANS_VALUE: '12.3000',
      XTL_ORDER_ID: 'INV-7',
      TRANS_CUR: 'EUR',
    })
    for (const name of MONEY.slice(3)) expect(Number.isSafeInteger(approved[name])).toBe(true)
  })

  it('a sale that saves the card answers its vault id, which then pays for an authorization', async () => {
    const { CUSTOMER_VAULT_ID } = await answer({ ...SALE, save_card_on_file: 'Y' })
    expect(Number.isSafeInteger(CUSTOMER_VAULT_ID)).toBe(true)
    const fields = {
      transaction_type: 'AUTH',
      amount: '5',
      request_currency: 'JPY',
      customer_vault_id: `${CUSTOMER_VAULT_ID}`,
    }
    expect(await answer(fields)).toMatchObject({
      REQUEST_ACTION: 'AUTH',
      TRANS_STATUS_NAME: 'APPROVED',
      TRANS_VALUE: '5.0000',
    })
  })

  it('a capture of an authorization answers CAPTURE and keeps the order id', async () => {
    const { TRANS_ORDER_ID } = await answer({ ...SALE, transaction_type: 'AUTH' })
    const fields = {
      transaction_type: 'CAUTH',
      amount: '12.30',
      request_currency: 'EUR',
      request_ref_po_id: `${TRANS_ORDER_ID}`,
    }
    expect(await answer(fields)).toMatchObject({
      REQUEST_ACTION: 'CAPTURE',
      TRANS_STATUS_NAME: 'APPROVED',
      TRANS_ORDER_ID,
    })
    expect(await answer(fields)).toMatchObject({ REQUEST_ACTION: 'CAPTURE', TRANS_STATUS_NAME: 'DECLINED' })
  })

  it('a refund and a cancellation answer the order id that was sent', async () => {
    const { TRANS_ORDER_ID } = await answer(SALE)
    const refunded = await answer({
      request_action: 'CCCREDIT',
      amount: '2.30',
      request_ref_po_id: `${TRANS_ORDER_ID}`,
    })
    expect(Object.keys(refunded)).toEqual([...MONEY, 'TRANS_CUR'])
    expect(refunded).toMatchObject({
      REQUEST_ACTION: 'REFUND',
      TRANS_ORDER_ID,
      TRANS_VALUE: '2.3000',
      TRANS_CUR: 'EUR',
    })
    const cancelled = await answer({ transaction_type: 'CANCEL', request_ref_po_id: `${TRANS_ORDER_ID}` })
    expect(cancelled).toMatchObject({ REQUEST_ACTION: 'CANCEL', TRANS_ORDER_ID, TRANS_VALUE: '10.0000' })
  })

  it('a declined refund omits TRANS_RECORD_ID and says the same in four fields', async () => {
    const { TRANS_ORDER_ID } = await answer(SALE)
    const declined = await answer(refund(TRANS_ORDER_ID, '12.31'))
    expect(Object.keys(declined)).toEqual([
      ...MONEY.filter((name) => name !== 'TRANS_RECORD_ID'),
      'TRANS_CUR',
      ...ADVICE,
    ])
    expect(new Set(ADVICE.map((name) => declined[name])).size).toBe(1)
    expect(declined.API_ADVICE).toContain('Order balance: 12.30 EUR, requested amount: 12.31 EUR')
  })

  it('an order settles when the clock has been moved by a day, and is then past voiding', async () => {
    const { TRANS_ORDER_ID } = await answer(SALE)
    await admin(sandbox, 'POST', '/_sandbox/clock', { advanceMs: 86_400_000 })
    const declined = await answer({ transaction_type: 'CANCEL', request_ref_po_id: `${TRANS_ORDER_ID}` })
    expect(declined.ERROR_MESSAGE).toBe(
      `Only transactions pending settlement can be voided. Ref id ${declined.TRANS_REQUEST_ID}`,
    )
  })

  it('5.02 is declined without any option', async () => {
    expect(await answer({ ...SALE, amount: '5.02' })).toMatchObject({
      TRANS_STATUS_NAME: 'DECLINED',
      TRANS_VALUE: '5.0200',
    })
  })
})

describe('what is refused is not executed', () => {
  afterEach(() => {
    expect(sandbox.log()).toEqual([])
    expect(sandbox.received()).toBe(1)
  })

  it.each([
    ['a wrong username', { req_username: 'other' }],
    ['a wrong password', { req_password: 'other' }],
    ['no password', { req_password: '' }],
  ])('%s is answered 401', async (_what, credentials) => {
    const { httpStatus, text } = await send(sandbox, { ...SALE, ...credentials })
    expect(httpStatus).toBe(401)
    expect(JSON.parse(text)).toEqual({ ERROR_MESSAGE: 'The username or the password is wrong' })
  })

  it('a bad form is answered 400, naming every field at fault', async () => {
    const { httpStatus, text } = await send(sandbox, { transaction_type: 'REFUND', amount: 'x' })
    expect(httpStatus).toBe(400)
    expect(JSON.parse(text).ERROR_MESSAGE).toMatch(/amount .*; request_ref_po_id is missing/)
  })

  it('another content type is answered 415', async () => {
    expect((await send(sandbox, SALE, { contentType: 'application/json' })).httpStatus).toBe(415)
  })

  it('another method is answered 405, naming the right one', async () => {
    const { httpStatus, headers } = await call(sandbox, { method: 'PUT', path: '/api/transaction/api', body: 'x' })
    expect([httpStatus, headers.allow]).toEqual([405, 'POST'])
  })

  it('a body of more than 64 KiB is answered 413', async () => {
    const call413 = await send(sandbox, { ...SALE, cust_fname: 'x'.repeat(70_000) })
    expect(call413.httpStatus).toBe(413)
  })
})

describe('the log', () => {
  it('holds every execution, approved or declined, and counts what was not executed', async () => {
    const sold = await answer({ ...SALE, xtl_order_id: 'A' })
    await send(sandbox, { transaction_type: 'REFUND' })
    await answer(refund(sold.TRANS_ORDER_ID, '99.00'))
    const log = linesOf(await admin(sandbox, 'GET', '/_sandbox/log'))
    const orderId = `${sold.TRANS_ORDER_ID}`
    expect(log).toEqual([
      {
        seq: 1,
        atMs: NOW_MS,
        requestSeq: 1,
        operation: 'CAPTURE',
        orderId,
        amountMinor: '1230',
        currency: 'EUR',
        vaultId: null,
        card: '411111-1111-12/2027',
        xtlOrderId: 'A',
        transactionId: `${sold.TRANS_REQUEST_ID}`,
        status: 'APPROVED',
        fault: null,
        answered: true,
      },
      expect.objectContaining({ seq: 2, requestSeq: 3, operation: 'REFUND', orderId, status: 'DECLINED' }),
    ])
    expect(linesOf(await admin(sandbox, 'GET', '/_sandbox/counts'))).toEqual([{ received: 3, executed: 2 }])
  })

  it('holds no card number and no security code, nor does anything else that can be read back', async () => {
    await answer({ ...SALE, save_card_on_file: 'Y', xtl_order_id: 'A' })
    const seen = await Promise.all(
      ['log', 'orders', 'counts'].map((route) => admin(sandbox, 'GET', `/_sandbox/${route}`)),
    )
    const all = seen.map(({ text }) => text).join()
    expect(all).toContain('"xtlOrderId":"A"')
    expect(all).not.toContain(CARD.pmt_numb)
    expect(all).not.toContain(`"${CARD.pmt_key}"`)
  })
})

describe('admin routes', () => {
  it('prepare makes orders and cards that exist, and preparing again gives no money back', async () => {
    const order = { orderId: '0077', state: 'settled', amount: '10.00', currency: 'EUR' }
    const prepared = await admin(sandbox, 'POST', '/_sandbox/prepare', { orders: [order], vault: [{ vaultId: '55' }] })
    expect(linesOf(prepared)).toEqual([{ orders: 1, vault: 1 }])
    expect(await answer(refund(77, '10.00'))).toMatchObject({ TRANS_STATUS_NAME: 'APPROVED' })
    expect(linesOf(await admin(sandbox, 'POST', '/_sandbox/prepare', { orders: [order] }))).toEqual([
      { orders: 0, vault: 0 },
    ])
    expect(await answer(refund(77, '0.01'))).toMatchObject({ TRANS_STATUS_NAME: 'DECLINED' })
    const [line] = linesOf(await admin(sandbox, 'GET', '/_sandbox/orders'))
    expect(line).toMatchObject({ orderId: '77', state: 'settled', taken: '10.00', refunded: '10.00', balance: '0.00' })
  })

  it.each<[string, string, unknown, RegExp]>([
    ['a fault without a kind', 'faults', { match: { any: true } }, /kind: /],
    ['a fault of an unknown kind', 'faults', { kind: 'flood', match: { any: true } }, /kind: .*reset-before/],
    ['a fault that matches nothing', 'faults', { kind: 'html', match: {} }, /must match something/],
    ['a misspelt matcher', 'faults', { kind: 'html', match: { order: '1' } }, /match: .*order/],
    ['a refusal without an end', 'faults', { kind: 'refuse', match: { any: true } }, /times: must be given/],
    [
      'an amount that is a number',
      'prepare',
      { orders: [{ orderId: '1', state: 'settled', amount: 1, currency: 'EUR' }] },
      /orders\.0\.amount/,
    ],
    [
      'an unknown currency',
      'prepare',
      { orders: [{ orderId: '1', state: 'settled', amount: '1', currency: 'XXQ' }] },
      /currency is not known/,
    ],
    ['a clock that runs backwards', 'clock', { advanceMs: -1 }, /advanceMs/],
  ])('%s is answered 400 with what is wrong', async (_what, route, body, wrong) => {
    const heard = await admin(sandbox, 'POST', `/_sandbox/${route}`, body)
    expect(heard.httpStatus).toBe(400)
    expect(linesOf(heard)[0]?.error).toMatch(wrong)
  })

  it('what is not JSON is answered 400', async () => {
    const heard = await call(sandbox, { path: '/_sandbox/clock', body: '{' })
    expect([heard.httpStatus, heard.text]).toEqual([400, '{"error":"The body is not JSON."}\n'])
  })

  it('unknown paths are 404 and wrong methods 405', async () => {
    expect((await admin(sandbox, 'GET', '/_sandbox/nothing')).httpStatus).toBe(404)
    expect((await call(sandbox, { path: '/api/transaction' })).httpStatus).toBe(404)
    const heard = await admin(sandbox, 'DELETE', '/_sandbox/clock')
    expect([heard.httpStatus, heard.headers.allow]).toEqual([405, 'GET, POST'])
  })
})

describe('connections', () => {
  it('one connection serves many requests, and is closed when the sender says so', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let n = 0; n < 3; n++) await send(sandbox, SALE, { agent })
    expect(Object.values(agent.freeSockets).flat()).toHaveLength(1)
    agent.destroy()
    expect((await send(sandbox, SALE)).headers.connection).toBe('close')
  })

  it('a port in use is one sentence that names the port', async () => {
    const second = open({ port: sandbox.port })
    await expect(second).rejects.toMatchObject({ code: 'usage' })
    await expect(second).rejects.toThrow(`port ${sandbox.port} on 127.0.0.1 is in use`)
  })

  it('closing ends connections that say nothing, in mid-request, and twice', async () => {
    const mute = connect(sandbox.port, '127.0.0.1')
    const half = connect(sandbox.port, '127.0.0.1')
    const ended = [mute, half].map(
      (socket) => new Promise((resolve) => socket.on('error', () => {}).on('close', resolve)),
    )
    await Promise.all([mute, half].map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
    half.write(
      `POST /api/transaction/api HTTP/1.1\r\nhost: x\r\ncontent-type: ${FORM_TYPE}\r\ncontent-length: 500\r\n\r\nreq_`,
    )
    await Promise.all([sandbox.close(), sandbox.close()])
    await Promise.all(ended)
    expect(sandbox.log()).toEqual([])
  })
})
