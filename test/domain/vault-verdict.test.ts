import { describe, expect, test } from 'vitest'
import type { VaultOperation } from '../../src/domain/instruction.ts'
import type { Answer, Outcome } from '../../src/domain/outcome.ts'
import { type Judging, type Verdict, verdictOn } from '../../src/domain/verdict.ts'

const CARD = { bin: '411111', lastFour: '1111', expiry: { month: '02', year: '2029' } }

function sent(operation: VaultOperation, over: Partial<Judging> = {}): Judging {
  const vaultId = operation === 'VAULT_CREATE' ? null : '0900'
  const card = operation === 'VAULT_DELETE' ? null : CARD
  return {
    instruction: {
      ...{ operation, vaultId, card, money: null, orderId: null, saveCardOnFile: false, xtlOrderId: null },
      details: operation === 'VAULT_DELETE' ? {} : { first_name: 'Zoë', last_name: 'Smith-Jones' },
    },
    everInDoubt: false,
    notExecutedStatus: [],
    deleteAnswer: 'status',
    ...over,
  }
}

const RECORD: Answer = {
  status: 'Success',
  customer_vault_id: '900',
  first_name: 'ZOE',
  last_name: 'SMITH JONES',
  cc_bin: '411111',
  cc_last_4_digit: '1111',
  customer_id: '31',
  cc_expiry_mm: '2',
  cc_expiry_yy: '29',
}

type Answered = Extract<Outcome, { kind: 'answered' }>

function answered(fields: Answer, over: Partial<Answered> = {}): Outcome {
  const body = { kind: 'answer', status: String(fields.status), fields } as const
  return { ...SEEN, body, ...over }
}

const SEEN: Answered = {
  ...{ kind: 'answered', sentAtMs: 1, answeredAtMs: 2, httpStatus: 200, retryAfterMs: null, text: '' },
  body: { kind: 'none', message: null },
  connection: 'fresh',
}

const reasonOf = (verdict: Verdict) => ('reason' in verdict ? verdict.reason : '')

describe('Success', () => {
  test.each(['VAULT_CREATE', 'VAULT_UPDATE'] as const)('of %s with the card that was sent is done', (operation) => {
    expect(verdictOn(answered(RECORD), sent(operation))).toEqual({
      kind: 'approved',
      facts: {
        ...{ transactionId: null, orderId: null, recordId: null, amount: null, currency: null, xtlOrderId: null },
        ...{ vaultId: '900', customerId: '31', card: CARD },
      },
      warnings: [],
    })
  })

  test.each([
    ['cc_bin', '411112'],
    ['cc_last_4_digit', '1112'],
    ['cc_expiry_mm', '03'],
    ['cc_expiry_yy', '28'],
    ['first_name', 'Zora'],
    ['last_name', 'Smith'],
    ['customer_vault_id', '901'],
  ])('with another %s is in doubt, and the value is in no reason', (name, value) => {
    const verdict = verdictOn(answered({ ...RECORD, [name]: value }), sent('VAULT_UPDATE'))
    expect(verdict.kind).toBe('in-doubt')
    expect(reasonOf(verdict)).toContain(`${name} is another`)
    expect(reasonOf(verdict)).not.toContain(value)
  })

  test('of a create without a vault id is in doubt, and says that the card may be stored', () => {
    const { customer_vault_id: _id, ...without } = RECORD
    const verdict = verdictOn(answered(without), sent('VAULT_CREATE'))
    expect([verdict.kind, reasonOf(verdict)]).toEqual(['in-doubt', expect.stringContaining('the card may be stored')])
  })

  test('that repeats no card is done over a fresh connection, with a warning, and in doubt over a kept-alive one', () => {
    const bare = { status: 'Success', customer_vault_id: '900' }
    expect(verdictOn(answered(bare), sent('VAULT_UPDATE'))).toMatchObject({
      kind: 'approved',
      warnings: [{ aboutMoney: false }],
    })
    expect(verdictOn(answered(bare, { connection: 'warm' }), sent('VAULT_UPDATE')).kind).toBe('in-doubt')
    expect(verdictOn(answered(RECORD, { connection: 'warm' }), sent('VAULT_UPDATE')).kind).toBe('approved')
  })

  test.each(['0', '000', 'n/a', '-1'])('with the vault id "%s" is in doubt', (customer_vault_id) => {
    expect(verdictOn(answered({ ...RECORD, customer_vault_id }), sent('VAULT_CREATE')).kind).toBe('in-doubt')
  })

  test('with an error beside it is in doubt', () => {
    const verdict = verdictOn(answered({ ...RECORD, errorMessage: 'card was not stored' }), sent('VAULT_CREATE'))
    expect([verdict.kind, reasonOf(verdict)]).toEqual(['in-doubt', expect.stringContaining('card was not stored')])
  })

  test('of an update without its vault id is in doubt over a kept-alive connection', () => {
    const { customer_vault_id: _id, ...without } = RECORD
    expect(verdictOn(answered(without, { connection: 'warm' }), sent('VAULT_UPDATE')).kind).toBe('in-doubt')
  })

  test.each([199, 302, 400, 500, 503])('with HTTP %i is in doubt', (httpStatus) => {
    expect(verdictOn(answered(RECORD, { httpStatus }), sent('VAULT_CREATE')).kind).toBe('in-doubt')
  })
})

describe('Failed', () => {
  const FAILED = { status: 'Failed', errorMessage: 'Card is expired' }

  test.each([200, 400, 422])('with HTTP %i is refused with its text', (httpStatus) => {
    expect(verdictOn(answered(FAILED, { httpStatus }), sent('VAULT_CREATE'))).toMatchObject({
      kind: 'declined',
      reason: 'Card is expired',
    })
  })

  test('after a doubt, over a kept-alive connection or with a code of the server is in doubt', () => {
    expect(verdictOn(answered(FAILED), sent('VAULT_DELETE', { everInDoubt: true })).kind).toBe('in-doubt')
    expect(verdictOn(answered(FAILED, { connection: 'warm' }), sent('VAULT_DELETE')).kind).toBe('in-doubt')
    expect(verdictOn(answered(FAILED, { httpStatus: 500 }), sent('VAULT_DELETE')).kind).toBe('in-doubt')
  })

  test.each(['Merchant not found', 'The merchant with this key was not found', 'Merchant not found; card not stored'])(
    '"%s" stops the account',
    (text) => {
      expect(verdictOn(answered({ status: 'Failed', errorMessage: text }), sent('VAULT_CREATE')).kind).toBe(
        'stop-account',
      )
    },
  )
})

test.each([
  'The customer vault record of this merchant was not found',
  'Merchant: vault id not found',
  'merchant token was not found',
])('"%s" refuses one record and stops nothing', (errorMessage) => {
  expect(verdictOn(answered({ status: 'Failed', errorMessage }), sent('VAULT_DELETE')).kind).toBe('declined')
})

test('a 404 that names the record fails the row; any other is a wrong address', () => {
  const with404 = (message: string | null): Outcome => ({ ...SEEN, httpStatus: 404, body: { kind: 'none', message } })
  expect(verdictOn(with404('customer vault id not found'), sent('VAULT_DELETE')).kind).toBe('failed')
  expect(verdictOn(with404('customer vault id not found'), sent('VAULT_CREATE')).kind).toBe('stop-account')
  expect(verdictOn(with404('no such page'), sent('VAULT_DELETE')).kind).toBe('stop-account')
  expect(verdictOn(with404('vault id not found'), sent('VAULT_DELETE', { everInDoubt: true })).kind).toBe('in-doubt')
})

test('an unknown status is in doubt', () => {
  expect(verdictOn(answered({ ...RECORD, status: 'Pending' }), sent('VAULT_CREATE')).kind).toBe('in-doubt')
})

test('a create without an answer is in doubt, and says that the card may be stored', () => {
  const lost: Outcome = { kind: 'lost', sentAtMs: 1, httpStatus: null, detail: 'no complete answer within 60 s' }
  expect(reasonOf(verdictOn(lost, sent('VAULT_CREATE')))).toContain('the card may be stored')
  expect(reasonOf(verdictOn(lost, sent('VAULT_DELETE')))).not.toContain('stored')
})

describe('the answer to a deletion', () => {
  const OTHER: Answered['body'][] = [{ kind: 'none', message: null }, { kind: 'unclear' }]

  test('is done with Success alone', () => {
    expect(verdictOn(answered({ status: 'Success' }), sent('VAULT_DELETE'))).toMatchObject({
      kind: 'approved',
      warnings: [],
    })
  })

  test.each(OTHER)('that is another 2xx is in doubt, unless the operator has said that it is done: %o', (body) => {
    const seen = { ...SEEN, httpStatus: 204, body }
    expect(verdictOn(seen, sent('VAULT_DELETE')).kind).toBe('in-doubt')
    const trusting = sent('VAULT_DELETE', { deleteAnswer: 'any-2xx' })
    expect(verdictOn(seen, trusting).kind).toBe('approved')
    expect(verdictOn({ ...seen, connection: 'warm' }, trusting).kind).toBe('in-doubt')
    expect(verdictOn({ ...seen, httpStatus: 500 }, trusting).kind).toBe('in-doubt')
    expect(verdictOn(answered({ status: 'Failed' }), trusting).kind).toBe('declined')
    for (const text of ['Failed: no such id', '{"success":false}', '<html>Login</html>', 'not found']) {
      expect(verdictOn({ ...seen, text }, trusting).kind).toBe('in-doubt')
    }
    expect(verdictOn({ ...seen, text: '{"deleted":true}' }, trusting)).toMatchObject({
      kind: 'approved',
      warnings: [{ text: expect.stringContaining('deleted') }],
    })
    expect(verdictOn(seen, sent('VAULT_UPDATE', { deleteAnswer: 'any-2xx' })).kind).toBe('in-doubt')
  })
})
