// Every fault at a real socket: what the sender sees, and whether the request was executed.

import { Agent } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FaultKind } from '../../src/sandbox/fault-kinds.ts'
import { openSandbox, type Sandbox } from '../../src/sandbox/server.ts'
import { admin, type Heard, linesOf, PASSWORD, send, USERNAME } from './caller.ts'

const REFUND = { transaction_type: 'REFUND', amount: '2.50', request_ref_po_id: '77' }
const SALE = {
  transaction_type: 'CAPTURE',
  amount: '2.50',
  request_currency: 'EUR',
  customer_vault_id: '55',
  xtl_order_id: 'X1',
}

/** Said here once more, on purpose: a table that proved itself would prove nothing. */
const EXECUTED: ReadonlySet<FaultKind> = new Set(['reset-after', 'hang-after', '503-after', 'html'])

let sandbox: Sandbox

beforeEach(async () => {
  sandbox = await openSandbox({ username: USERNAME, password: PASSWORD, clock: Date.now, triggers: true })
  sandbox.prepare({
    orders: [{ orderId: '77', state: 'settled', amount: '100.00', currency: 'EUR' }],
    vault: [{ vaultId: '55' }],
  })
})
afterEach(() => sandbox.close())

/** What the sender gets to see of one refund. */
async function seen(fields: Record<string, string> = REFUND): Promise<Heard | 'broken'> {
  return send(sandbox, fields).catch(() => 'broken' as const)
}

async function heard(fields: Record<string, string> = REFUND): Promise<Heard> {
  const what = await seen(fields)
  if (what === 'broken') throw new Error('the connection broke')
  return what
}

const bodyOf = ({ text }: Heard): Record<string, unknown> => JSON.parse(text)

/** The money that really left order 77. */
async function refunded(): Promise<unknown> {
  const lines = linesOf(await admin(sandbox, 'GET', '/_sandbox/orders'))
  return lines.find(({ orderId }) => orderId === '77')?.refunded
}

/** How often the only rule has struck. */
async function faultReply(): Promise<unknown> {
  const [rule] = linesOf(await admin(sandbox, 'GET', '/_sandbox/faults'))
  return rule?.struck
}

describe('a decline on order', () => {
  it('moves no money, and gives its reason in the answer', async () => {
    sandbox.addFault({ kind: 'decline', match: { vaultId: '55' }, reason: 'Insufficient funds', times: 1 })
    expect(bodyOf(await heard(SALE))).toMatchObject({
      TRANS_STATUS_NAME: 'DECLINED',
      PROCESSOR_ADVICE: 'Insufficient funds',
    })
    expect(bodyOf(await heard(SALE))).toMatchObject({ TRANS_STATUS_NAME: 'APPROVED' })
  })

  it('of a refund leaves its order as it is', async () => {
    sandbox.addFault({ kind: 'decline', match: { operation: 'REFUND' }, times: 1 })
    expect(JSON.stringify(bodyOf(await heard()))).toContain('Declined by the processor')
    expect(await refunded()).toBe('0.00')
  })
})

describe('kinds that break the connection', () => {
  it.each(['refuse', 'reset-before', 'reset-after'] as const)('%s', async (kind) => {
    sandbox.addFault({ kind, match: { any: true }, times: 1 })
    expect(await seen()).toBe('broken')
    const executed = EXECUTED.has(kind)
    expect(sandbox.log()).toHaveLength(executed ? 1 : 0)
    if (executed) expect(sandbox.log()[0]).toMatchObject({ status: 'APPROVED', fault: kind, answered: false })
    expect(await refunded()).toBe(executed ? '2.50' : '0.00')
  })

  it('refuse closes the next request of a kept connection as well', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    await send(sandbox, REFUND, { agent })
    sandbox.addFault({ kind: 'refuse', match: { any: true }, times: 1 })
    await expect(send(sandbox, REFUND, { agent })).rejects.toThrow()
    agent.destroy()
    expect(sandbox.log()).toHaveLength(1)
  })

  it.each(['hang-before', 'hang-after'] as const)(
    '%s answers nothing, and closing the sandbox ends it',
    async (kind) => {
      sandbox.addFault({ kind, match: { orderId: '77' } })
      const hanging = seen()
      while ((await faultReply()) === 0);
      const log = [...sandbox.log()]
      await sandbox.close()
      expect(await hanging).toBe('broken')
      expect(log.map(({ answered }) => answered)).toEqual(EXECUTED.has(kind) ? [false] : [])
    },
  )

  it('cut-body sends half an object under a plain 200 that names no length', async () => {
    sandbox.addFault({ kind: 'cut-body', match: { any: true } })
    const { httpStatus, headers, text } = await heard()
    expect([httpStatus, headers['content-length'], headers['transfer-encoding']]).toEqual([200, undefined, undefined])
    expect(text).toMatch(/^\{"REQUEST_ACTION"/)
    expect(() => JSON.parse(text)).toThrow()
    expect(sandbox.log()).toMatchObject([{ status: 'APPROVED', answered: false }])
  })
})

describe('kinds that answer something else', () => {
  const table: ReadonlyArray<readonly [FaultKind, number, string | undefined]> = [
    ['400', 400, undefined],
    ['401', 401, undefined],
    ['403', 403, undefined],
    ['429', 429, '7'],
    ['503-before', 503, undefined],
    ['503-after', 503, '7'],
    ['html', 200, undefined],
  ]
  it.each(table)('%s', async (kind, httpStatus, retryAfter) => {
    sandbox.addFault({ kind, match: { operation: 'REFUND' }, retryAfterS: 7 })
    const answer = await heard()
    expect([answer.httpStatus, answer.headers['retry-after']]).toEqual([httpStatus, retryAfter])
    if (kind === 'html') expect(answer.text).toMatch(/^<!doctype html>/)
    else expect(bodyOf(answer).ERROR_MESSAGE).toContain('fault on order')
    expect(sandbox.log().map(({ answered }) => answered)).toEqual(EXECUTED.has(kind) ? [false] : [])
    expect(await refunded()).toBe(EXECUTED.has(kind) ? '2.50' : '0.00')
  })
})

describe('kinds that answer untruly', () => {
  it('wrong-echo names another order; for a sale another XTL_ORDER_ID', async () => {
    sandbox.addFault({ kind: 'wrong-echo', match: { any: true } })
    expect(bodyOf(await heard())).toMatchObject({
      TRANS_STATUS_NAME: 'APPROVED',
      TRANS_ORDER_ID: 78,
      TRANS_RECORD_ID: 78,
    })
    expect(bodyOf(await heard(SALE)).XTL_ORDER_ID).toBe('OTHERX1')
    expect(sandbox.log()).toMatchObject([{ orderId: '77' }, { xtlOrderId: 'X1' }])
  })

  it('other-amount executes what was asked', async () => {
    sandbox.addFault({ kind: 'other-amount', match: { any: true } })
    expect(bodyOf(await heard())).toMatchObject({ TRANS_VALUE: '3.5000', TRANS_ORDER_ID: 77 })
    expect(await refunded()).toBe('2.50')
  })

  it('other-currency executes in the currency of the order', async () => {
    sandbox.addFault({ kind: 'other-currency', match: { any: true } })
    expect(bodyOf(await heard())).toMatchObject({ TRANS_CUR: 'USD' })
    expect(sandbox.log()).toMatchObject([{ currency: 'EUR' }])
  })

  it('slow executes later, even when the sender has left', async () => {
    sandbox.addFault({ kind: 'slow', match: { orderId: '77' }, latencyMs: 300 })
    const impatience = new AbortController()
    const left = send(sandbox, REFUND, { signal: impatience.signal }).catch(() => 'broken')
    while ((await faultReply()) === 0);
    impatience.abort()
    expect(await left).toBe('broken')
    while (sandbox.log().length === 0) await admin(sandbox, 'GET', '/_sandbox/counts')
    expect(sandbox.log()).toMatchObject([{ operation: 'REFUND', status: 'APPROVED', fault: 'slow' }])
  })
})

describe('faults by admin route', () => {
  it('are added, listed with how often they struck, and cleared', async () => {
    const rule = { id: 'r1', kind: '403', match: { orderId: '00077' }, every: 2 }
    expect((await admin(sandbox, 'POST', '/_sandbox/faults', rule)).httpStatus).toBe(200)
    expect([(await heard()).httpStatus, (await heard()).httpStatus, (await heard()).httpStatus]).toEqual([
      200, 403, 200,
    ])
    const listed = linesOf(await admin(sandbox, 'GET', '/_sandbox/faults'))
    expect(listed).toEqual([{ ...rule, match: { orderId: '77' }, matched: 3, struck: 1 }])
    await admin(sandbox, 'DELETE', '/_sandbox/faults')
    expect((await heard()).httpStatus).toBe(200)
  })

  it('a request that is not well-formed uses no fault up', async () => {
    sandbox.addFault({ kind: '429', match: { any: true }, times: 1 })
    expect((await heard({ transaction_type: 'REFUND' })).httpStatus).toBe(400)
    expect((await heard()).httpStatus).toBe(429)
  })
})

describe('trigger amounts at the socket', () => {
  it('5.05 is throttled once and then approved', async () => {
    const fields = { ...REFUND, amount: '5.05' }
    expect([(await heard(fields)).httpStatus, (await heard(fields)).httpStatus]).toEqual([429, 200])
    expect(sandbox.log()).toHaveLength(1)
  })

  it('5.03 is executed without an answer, 5.10 is not executed', async () => {
    expect([await seen({ ...REFUND, amount: '5.03' }), await seen({ ...REFUND, amount: '5.10' })]).toEqual([
      'broken',
      'broken',
    ])
    expect(await refunded()).toBe('5.03')
  })
})
