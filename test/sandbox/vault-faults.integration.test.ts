// Every fault at the tokenization endpoints: what the sender sees, and whether the vault did it.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FaultKind } from '../../src/sandbox/fault-kinds.ts'
import { openSandbox, type Sandbox } from '../../src/sandbox/server.ts'
import { DECLINED_ENDING, TRIGGER_ENDINGS } from '../../src/sandbox/triggers.ts'
import {
  admin,
  CARD_DETAILS,
  cardEnding,
  type Heard,
  PASSWORD,
  RECORD,
  send,
  sendToVault,
  USERNAME,
  type VAULT_PATHS,
} from './caller.ts'

let sandbox: Sandbox
beforeEach(async () => {
  const clock = () => Date.UTC(2026, 10, 20)
  sandbox = await openSandbox({ username: USERNAME, password: PASSWORD, clock, triggers: true })
  sandbox.prepare({ vault: [{ vaultId: '55' }] })
})
afterEach(() => sandbox.close())

type What = keyof typeof VAULT_PATHS
const BODIES = { create: RECORD, update: { ...RECORD, customer_vault_id: 55 }, delete: { customer_vault_id: 55 } }
const EVERY = ['create', 'update', 'delete'] as const

async function seen(what: What, body: Record<string, unknown> = BODIES[what]): Promise<Heard | 'broken'> {
  // What hangs is given up after a while.
  return sendToVault(sandbox, what, body, { signal: AbortSignal.timeout(400) }).catch(() => 'broken' as const)
}

async function heard(what: What, body: Record<string, unknown> = BODIES[what]): Promise<Heard> {
  const found = await seen(what, body)
  if (found === 'broken') throw new Error('the connection broke')
  return found
}

const withCard = (lastFour: string) => ({ ...CARD_DETAILS, card_number: cardEnding(lastFour) })

/** Said here once more, on purpose: a table that proved itself would prove nothing. */
const KINDS: ReadonlyArray<readonly [FaultKind, executed: 0 | 1, seen: number | 'broken']> = [
  ['reset-before', 0, 'broken'],
  ['reset-after', 1, 'broken'],
  ['hang-before', 0, 'broken'],
  ['hang-after', 1, 'broken'],
  ['400', 0, 400],
  ['401', 0, 401],
  ['403', 0, 403],
  ['429', 0, 429],
  ['503-before', 0, 503],
  ['503-after', 1, 503],
  ['html', 1, 200],
  ['cut-body', 1, 200],
  ['wrong-echo', 1, 200],
  ['slow', 1, 200],
]

describe.each(EVERY)('faults of %s', (what) => {
  it.each(KINDS)('%s', async (kind, executed, status) => {
    const operation = `VAULT_${what.toUpperCase()}` as 'VAULT_CREATE'
    sandbox.addFault({ kind, match: { operation }, retryAfterS: 7, latencyMs: 50 })
    const found = await seen(what)
    expect(found === 'broken' ? found : found.httpStatus).toBe(status)
    const isAnswer = kind === 'wrong-echo' || kind === 'slow'
    expect(sandbox.log()).toMatchObject(
      Array(executed).fill({ operation, status: 'APPROVED', fault: kind, answered: isAnswer }),
    )
    if (found === 'broken' || status === 200) return
    expect(JSON.parse(found.text)).toEqual({ errorMessage: expect.stringContaining('fault on order') })
    expect(found.headers['retry-after']).toBe(kind === '429' || kind === '503-after' ? '7' : undefined)
  })

  it('half an answer is no JSON', async () => {
    sandbox.addFault({ kind: 'cut-body', match: { any: true } })
    const { text } = await heard(what)
    expect(text).toMatch(/^\{"status":"Success"/)
    expect(() => JSON.parse(text)).toThrow()
  })

  it('a fault that changes money passes it by, and is not used up', async () => {
    sandbox.addFault({ kind: 'other-amount', match: { any: true }, times: 1 })
    expect(JSON.parse((await heard(what)).text)).toMatchObject({ status: 'Success' })
    expect(sandbox.log()).toMatchObject([{ fault: null }])
  })
})

describe('a wrong echo', () => {
  it('tells another card and another id', async () => {
    sandbox.addFault({ kind: 'wrong-echo', match: { any: true } })
    const { data } = JSON.parse((await heard('create')).text)
    const [entry] = sandbox.log()
    expect(data).toMatchObject({ cc_bin: '411111', cc_last_4_digit: '1112' })
    expect(String(data.customer_vault_id)).not.toBe(entry?.vaultId)
    expect(JSON.parse((await heard('update')).text).data).toMatchObject({
      customer_vault_id: 56,
      cc_last_4_digit: '1112',
    })
    expect(JSON.parse((await heard('delete')).text).data).toEqual({ customer_vault_id: 56 })
  })

  it('of a refusal is the refusal: it repeats nothing', async () => {
    sandbox.addFault({ kind: 'wrong-echo', match: { any: true } })
    const { text } = await heard('delete', { customer_vault_id: 5 })
    expect(JSON.parse(text)).toMatchObject({ status: 'Failed' })
  })
})

describe('which requests a rule strikes', () => {
  it('by vault id, by the last four digits of the card, and not what is not well-formed', async () => {
    const rule = async (match: object) => {
      await admin(sandbox, 'DELETE', '/_sandbox/faults')
      expect((await admin(sandbox, 'POST', '/_sandbox/faults', { kind: '403', match })).httpStatus).toBe(200)
      const statuses: number[] = []
      for (const what of EVERY) statuses.push((await heard(what)).httpStatus)
      sandbox.prepare({ vault: [{ vaultId: '55' }] })
      return statuses
    }
    expect(await rule({ vaultId: '0055' })).toEqual([200, 403, 403])
    expect(await rule({ lastFour: '1111' })).toEqual([403, 403, 200])
    expect(await rule({ lastFour: '1112' })).toEqual([200, 200, 200])
    expect(await rule({ operation: 'VAULT_UPDATE', vaultId: '55', lastFour: '1111' })).toEqual([200, 403, 200])
    expect((await heard('update', { customer_vault_id: 55 })).httpStatus).toBe(200)
  })

  it('a card sale is matched by its last four digits too', async () => {
    sandbox.addFault({ kind: '403', match: { lastFour: '1111' } })
    const card = { pmt_numb: '4111111111111111', pmt_key: '987', pmt_expiry: '12/2027' }
    const sale = { transaction_type: 'CAPTURE', amount: '9.00', request_currency: 'EUR' }
    expect((await send(sandbox, { ...sale, ...card })).httpStatus).toBe(403)
    expect((await send(sandbox, { ...sale, customer_vault_id: '55' })).httpStatus).toBe(200)
  })

  it('four digits are asked for, and a fault of money needs an operation that moves some', async () => {
    const wrong = async (rule: object) => (await admin(sandbox, 'POST', '/_sandbox/faults', rule)).text
    expect(await wrong({ kind: 'html', match: { lastFour: 1111 } })).toContain('match.lastFour')
    expect(await wrong({ kind: 'html', match: { lastFour: '111' } })).toContain('4 digits')
    expect(await wrong({ kind: 'other-amount', match: { operation: 'VAULT_DELETE' } })).toContain('moves none')
  })
})

describe('trigger endings', () => {
  const struck = () => sandbox.log().map(({ fault }) => fault)

  it.each(Object.entries(TRIGGER_ENDINGS))('%s: every way in does what it says', async (ending, { kind, says }) => {
    if (kind === 'hang-after' || kind === 'slow') return
    const vaultId = `9900${ending}`
    sandbox.prepare({ vault: [{ vaultId }] })
    const sale = { transaction_type: 'AUTH', amount: '9.00', request_currency: 'EUR' }
    const card = { pmt_numb: cardEnding(ending), pmt_key: '987', pmt_expiry: '12/2027' }
    const body = { ...RECORD, card_details: withCard(ending) }
    const found = [
      await seen('create', body),
      await seen('update', { ...body, customer_vault_id: 55 }),
      await send(sandbox, { ...sale, ...card }).catch(() => 'broken' as const),
      await seen('delete', { customer_vault_id: vaultId }),
    ].map((one) => (one === 'broken' ? one : one.httpStatus))
    const status = KINDS.find(([known]) => known === kind)?.[2]
    expect(found).toEqual([status, status, status, status])
    expect(struck()).toEqual(says.startsWith('executed') ? [kind, kind, kind, kind] : [])
  })

  it('0505 strikes once: the same request sent again passes', async () => {
    const body = { ...RECORD, card_details: withCard('0505') }
    expect([(await heard('create', body)).httpStatus, (await heard('create', body)).httpStatus]).toEqual([429, 200])
  })

  it(`${DECLINED_ENDING} is refused by the vault, executed as a decline`, async () => {
    sandbox.prepare({ vault: [{ vaultId: '77000502' }] })
    const { text } = await heard('create', { ...RECORD, card_details: withCard(DECLINED_ENDING) })
    expect(JSON.parse(text)).toMatchObject({ status: 'Failed', errorMessage: 'Declined by the processor' })
    expect(JSON.parse((await heard('delete', { customer_vault_id: '77000502' })).text)).toMatchObject({
      status: 'Failed',
    })
    expect(sandbox.log()).toMatchObject([{ status: 'DECLINED' }, { status: 'DECLINED', vaultId: '77000502' }])
  })

  it('four digits at the end of a vault id alone mean nothing', async () => {
    sandbox.prepare({ vault: [{ vaultId: '770503' }] })
    expect((await heard('delete', { customer_vault_id: 770503 })).httpStatus).toBe(200)
  })

  it('mean nothing unless they are switched on', async () => {
    await sandbox.close()
    sandbox = await openSandbox({ username: USERNAME, password: PASSWORD, clock: () => Date.UTC(2026, 10, 20) })
    for (const ending of ['0510', DECLINED_ENDING]) {
      const { text } = await heard('create', { ...RECORD, card_details: withCard(ending) })
      expect(JSON.parse(text)).toMatchObject({ status: 'Success', data: { cc_last_4_digit: ending } })
    }
  })
})
