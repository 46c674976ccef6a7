import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { declineReasonOf } from '../../src/domain/answer-text.ts'
import { TRANSACTION_TYPES, type TransactionType } from '../../src/domain/instruction.ts'
import type { Currency } from '../../src/domain/money.ts'
import type { Answer, Body, Connection, Outcome } from '../../src/domain/outcome.ts'
import { echoOf, factsOf, type Judging, signalOf, type Verdict, verdictOn } from '../../src/domain/verdict.ts'
import { bodyOf } from '../fixtures/bodies.ts'
import { codePoint } from '../fixtures/code-points.ts'

const EUR = 'EUR' as Currency
const REFUND: Judging = {
  instruction: {
    operation: 'REFUND',
    money: { amountMinor: 1230n, currency: EUR },
    orderId: '000777',
    vaultId: null,
    card: null,
    saveCardOnFile: false,
    xtlOrderId: null,
    details: {},
  },
  everInDoubt: false,
  notExecutedStatus: [],
  deleteAnswer: 'status',
}
const SALE: Judging = {
  ...REFUND,
  instruction: { ...REFUND.instruction, operation: 'CAPTURE', orderId: null, xtlOrderId: 'x1' },
}

const APPROVED: Answer = {
  REQUEST_ACTION: 'REFUND',
  TRANS_STATUS_NAME: 'APPROVED',
  TRANS_VALUE: '12.3000',
  TRANS_REQUEST_ID: '55',
  TRANS_RECORD_ID: '777',
  TRANS_ORDER_ID: '777',
  TRANS_CUR: 'EUR',
}
const DECLINED: Answer = { ...APPROVED, TRANS_STATUS_NAME: 'DECLINED', API_ADVICE: 'balance 1.00, requested 12.30' }
const SALE_APPROVED: Answer = { ...APPROVED, REQUEST_ACTION: 'CAPTURE', XTL_ORDER_ID: 'x1', TRANS_ORDER_ID: '900' }

function answered(
  httpStatus: number,
  answer: Answer | null,
  changes: { connection?: Connection; retryAfterMs?: number; text?: string; body?: Body } = {},
): Outcome {
  const rest = { retryAfterMs: null, text: '', connection: 'fresh', body: bodyOf(answer), ...changes } as const
  return { kind: 'answered', sentAtMs: 1, answeredAtMs: 2, httpStatus, ...rest }
}

function without(answer: Answer, ...names: string[]): Answer {
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !names.includes(name)))
}

function statuses(from: number, to: number, ...except: number[]): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((status) => !except.includes(status))
}

describe('what was never started goes again', () => {
  test.each([
    ['connect', 'failure'],
    ['fence', 'none'],
    ['pace', 'none'],
    ['abandoned', 'none'],
  ] as const)('%s', (why, signal) => {
    expect(verdictOn({ kind: 'unsent', why, detail: 'refused' }, REFUND)).toEqual({
      kind: 'unsent',
      reason: 'refused',
      signal,
      retryAfterMs: null,
    })
  })
})

describe('a complete answer with a true echo', () => {
  test.each(statuses(200, 299))('APPROVED with HTTP %i is approved', (status) => {
    const facts = factsOf(APPROVED)
    expect(verdictOn(answered(status, APPROVED), REFUND)).toEqual({ kind: 'approved', facts, warnings: [] })
  })

  test.each([...statuses(200, 299), ...statuses(400, 499)])('DECLINED with HTTP %i is declined', (status) => {
    expect(verdictOn(answered(status, DECLINED), REFUND)).toEqual({
      kind: 'declined',
      facts: factsOf(DECLINED),
      reason: 'balance 1.00, requested 12.30',
      warnings: [],
    })
  })

  test.each([...statuses(300, 599)])('APPROVED with HTTP %i is in doubt', (status) => {
    expect(verdictOn(answered(status, APPROVED), REFUND)).toMatchObject({ kind: 'in-doubt' })
  })

  test.each([...statuses(300, 399), ...statuses(500, 599)])('DECLINED with HTTP %i is in doubt', (status) => {
    expect(verdictOn(answered(status, DECLINED), REFUND).kind).toBe('in-doubt')
  })

  test.each(['PENDING', 'approved', 'APPROVED ', '', 'REVIEW'])('the unknown status "%s" is in doubt', (status) => {
    const answer = { ...APPROVED, TRANS_STATUS_NAME: status }
    expect(verdictOn(answered(200, answer), REFUND)).toMatchObject({
      kind: 'in-doubt',
      reason: `the gateway answered with the unknown status "${status}"`,
    })
  })

  test('a decline says all that its four advices say, in their order, and nothing twice', () => {
    const said = (api: string, service: string, processor: string, error: string) =>
      declineReasonOf({ API_ADVICE: api, SERVICE_ADVICE: service, PROCESSOR_ADVICE: processor, ERROR_MESSAGE: error })
    const same = 'Order balance: 1.00, requested: 12.30'
    expect(said(same, same, same, same)).toBe(same)
    expect(said('Declined', 'DECLINED by the issuer', 'Do not  honor', 'do not honor.')).toBe(
      'DECLINED by the issuer / do not honor.',
    )
    expect(said('b', 'a', '', 'b')).toBe('b / a')
    expect(said(' ', '', 'void\n  only\0while pending', '')).toBe('void only while pending')
    expect(declineReasonOf({})).toBe('declined without a reason')
    const mute = without(DECLINED, 'API_ADVICE')
    expect(verdictOn(answered(200, mute), REFUND)).toMatchObject({ reason: 'declined without a reason' })
  })

  test('whatever the advices, each is in the reason once, on one line of bounded length', () => {
    const names = ['API_ADVICE', 'SERVICE_ADVICE', 'PROCESSOR_ADVICE', 'ERROR_MESSAGE'] as const
    const advice = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'B', 'b', ' ', '\n', '.', '😀'), maxLength: 8 }),
      fc.string({ unit: codePoint, maxLength: 400 }).map((text) => text.replaceAll('/', '')),
    )
    const key = (text: string) => text.replace(/[\s\p{Cc}]+/gu, '').toLowerCase()
    fc.assert(
      fc.property(fc.array(advice, { minLength: 4, maxLength: 4 }), (texts) => {
        const reason = declineReasonOf(Object.fromEntries(names.map((name, i) => [name, texts[i] as string])))
        const parts = reason.split(' / ').map(key)
        for (const text of texts.filter((one) => key(one) !== '' && [...one].length < 300)) {
          expect(parts.filter((part) => part.includes(key(text)))).not.toEqual([])
        }
        expect(parts.some((part, i) => parts.some((other, at) => at !== i && other.includes(part)))).toBe(false)
        expect(reason).not.toMatch(/[\r\n\p{Cc}]/u)
        expect([...reason].length).toBeLessThanOrEqual(4 * 300 + 9)
      }),
    )
  })

  test('a decline after an earlier doubt is in doubt: it may echo the first attempt', () => {
    expect(verdictOn(answered(200, DECLINED), { ...REFUND, everInDoubt: true })).toMatchObject({
      kind: 'in-doubt',
      reason: expect.stringContaining('balance 1.00'),
    })
  })

  test('an approval after an earlier doubt is an approval', () => {
    expect(verdictOn(answered(200, APPROVED), { ...REFUND, everInDoubt: true }).kind).toBe('approved')
  })
})

describe('a complete answer without a status', () => {
  test.each([
    [429, null, null],
    [429, 7_000, 7_000],
  ])('HTTP %i waits for what Retry-After says (%s)', (status, retryAfterMs, expected) => {
    const outcome = answered(status, null, retryAfterMs === null ? {} : { retryAfterMs })
    expect(verdictOn(outcome, REFUND)).toMatchObject({ kind: 'unsent', signal: 'throttled', retryAfterMs: expected })
  })

  test('a code that the operator put in writing as not executed waits too', () => {
    const judging = { ...REFUND, notExecutedStatus: [503] }
    expect(verdictOn(answered(503, null, { retryAfterMs: 5 }), judging)).toMatchObject({
      kind: 'unsent',
      signal: 'throttled',
      retryAfterMs: 5,
    })
    expect(verdictOn(answered(502, null), judging).kind).toBe('in-doubt')
  })

  test.each(statuses(200, 599))('HTTP %i over a connection that carried another request is in doubt', (status) => {
    const judging = { ...REFUND, notExecutedStatus: [503] }
    expect(verdictOn(answered(status, null, { connection: 'warm', retryAfterMs: 5 }), judging).kind).toBe('in-doubt')
  })

  test.each([401, 404, 405])('HTTP %i stops the account', (status) => {
    expect(verdictOn(answered(status, null), REFUND).kind).toBe('stop-account')
  })

  test('HTTP 403 is forbidden: this row waits', () => {
    expect(verdictOn(answered(403, null), REFUND).kind).toBe('forbidden')
  })

  test.each([400, 411, 413, 414, 415, 422, 431])('HTTP %i is failed, with the text', (status) => {
    expect(verdictOn(answered(status, null, { text: 'amount missing' }), REFUND)).toEqual({
      kind: 'failed',
      reason: `refused as wrong (HTTP ${status}: amount missing)`,
    })
  })

  const certain = [400, 401, 403, 404, 405, 411, 413, 414, 415, 422, 429, 431]
  test.each(statuses(200, 599, ...certain))('HTTP %i is in doubt', (status) => {
    for (const answer of [null, {}]) {
      expect(verdictOn(answered(status, answer, { retryAfterMs: 1 }), REFUND)).toMatchObject({ kind: 'in-doubt' })
    }
  })
})

test('an unclear answer is in doubt, whatever its code', () => {
  for (const httpStatus of statuses(200, 599)) {
    for (const connection of ['fresh', 'warm'] as const) {
      for (const everInDoubt of [false, true]) {
        const outcome = answered(httpStatus, null, {
          connection,
          body: { kind: 'unclear' },
          text: '{',
          retryAfterMs: 5,
        })
        expect(verdictOn(outcome, { ...REFUND, everInDoubt, notExecutedStatus: [429, 503] })).toEqual({
          kind: 'in-doubt',
          reason: `an answer that cannot be understood (HTTP ${httpStatus}: {); it may have been executed`,
        })
      }
    }
  }
})

test('what was started and not answered is in doubt, whatever code had begun', () => {
  for (const httpStatus of [null, 200, 400, 429, 503]) {
    expect(verdictOn({ kind: 'lost', sentAtMs: 1, httpStatus, detail: 'reset' }, REFUND)).toEqual({
      kind: 'in-doubt',
      reason: 'reset; it may have been executed',
    })
  }
})

describe('the echo', () => {
  const ACTIONS: readonly (readonly [TransactionType, string])[] = [
    ['CAPTURE', 'CAPTURE'],
    ['AUTH', 'AUTH'],
    ['CAUTH', 'CAPTURE'],
    ['REFUND', 'REFUND'],
    ['REFUND', 'CCCREDIT'],
    ['CANCEL', 'CANCEL'],
  ]
  const sentAs = (operation: TransactionType) => ({ operation, orderId: '777', xtlOrderId: 'x1' })

  test.each(ACTIONS)('%s is answered by %s', (operation, action) => {
    const answer = { REQUEST_ACTION: action, TRANS_ORDER_ID: '777', XTL_ORDER_ID: 'x1' }
    expect(echoOf(answer, sentAs(operation))).toMatchObject({ kind: 'true' })
  })

  test('every other pair of operation and action is wrong', () => {
    for (const operation of ['CAPTURE', 'AUTH', 'CAUTH', 'REFUND', 'CANCEL'] as const) {
      for (const action of ['CAPTURE', 'AUTH', 'CAUTH', 'REFUND', 'CCCREDIT', 'CANCEL', 'SALE']) {
        if (ACTIONS.some(([sent, answer]) => sent === operation && answer === action)) continue
        const answer = { REQUEST_ACTION: action, TRANS_ORDER_ID: '777', XTL_ORDER_ID: 'x1' }
        expect(echoOf(answer, sentAs(operation)).kind).toBe('wrong')
      }
    }
  })

  test.each(['REFUND', 'CANCEL'] as const)('%s is tied by either order id, without leading zeros', (operation) => {
    const of = (ids: Answer) =>
      echoOf({ REQUEST_ACTION: operation, ...ids }, { ...sentAs(operation), orderId: '000777' })
    expect(of({ TRANS_ORDER_ID: '777' }).kind).toBe('true')
    expect(of({ TRANS_RECORD_ID: '0777' }).kind).toBe('true')
    expect(of({ TRANS_ORDER_ID: '5', TRANS_RECORD_ID: '777' }).kind).toBe('true')
    expect(of({ TRANS_ORDER_ID: '5', TRANS_RECORD_ID: '6' }).kind).toBe('wrong')
    expect(of({ TRANS_ORDER_ID: '5' }).kind).toBe('wrong')
    expect(of({ TRANS_ORDER_ID: '', XTL_ORDER_ID: 'other' }).kind).toBe('absent')
    expect(of({}).kind).toBe('absent')
  })

  test.each(['CAPTURE', 'AUTH', 'CAUTH'] as const)('%s is tied by XTL_ORDER_ID alone', (operation) => {
    const action = operation === 'AUTH' ? 'AUTH' : 'CAPTURE'
    const of = (ids: Answer) => echoOf({ REQUEST_ACTION: action, ...ids }, sentAs(operation))
    expect(of({ XTL_ORDER_ID: 'x1', TRANS_ORDER_ID: '1' }).kind).toBe('true')
    expect(of({ XTL_ORDER_ID: 'x2', TRANS_ORDER_ID: '777' }).kind).toBe('wrong')
    expect(of({ TRANS_ORDER_ID: '777' }).kind).toBe('absent')
  })

  test('that is wrong leaves an approval and a decline in doubt', () => {
    for (const answer of [APPROVED, DECLINED]) {
      const other = { ...answer, TRANS_ORDER_ID: '778', TRANS_RECORD_ID: '779' }
      expect(verdictOn(answered(200, other), REFUND)).toMatchObject({
        kind: 'in-doubt',
        reason: expect.stringMatching(/^the answer belongs to another request: .*778\/779, 000777 was sent$/),
      })
      expect(verdictOn(answered(200, { ...answer, REQUEST_ACTION: 'CANCEL' }), REFUND).kind).toBe('in-doubt')
    }
    expect(verdictOn(answered(200, { ...SALE_APPROVED, XTL_ORDER_ID: 'x2' }), SALE).kind).toBe('in-doubt')
  })

  test('that is absent lets the status stand over a fresh connection, with a plain warning', () => {
    const bare = without(APPROVED, 'TRANS_ORDER_ID', 'TRANS_RECORD_ID')
    expect(verdictOn(answered(200, bare), REFUND)).toMatchObject({
      kind: 'approved',
      warnings: [{ text: 'the answer does not repeat the order id', aboutMoney: false }],
    })
    expect(verdictOn(answered(200, without(SALE_APPROVED, 'XTL_ORDER_ID')), SALE)).toMatchObject({
      kind: 'approved',
      warnings: [{ text: 'the answer does not repeat XTL_ORDER_ID', aboutMoney: false }],
    })
  })

  test('that is absent leaves an approval over a kept connection in doubt', () => {
    const bare = without(APPROVED, 'TRANS_ORDER_ID', 'TRANS_RECORD_ID')
    expect(verdictOn(answered(200, bare, { connection: 'warm' }), REFUND).kind).toBe('in-doubt')
    expect(verdictOn(answered(200, APPROVED, { connection: 'warm' }), REFUND).kind).toBe('approved')
  })
})

describe('an answer over a kept connection without a transaction id', () => {
  const warm = { connection: 'warm' as const }

  test.each([without(APPROVED, 'TRANS_REQUEST_ID'), { ...APPROVED, TRANS_REQUEST_ID: '0' }])(
    'leaves a refund in doubt: it may be the late answer to another refund of the order (%#)',
    (answer) => {
      expect(verdictOn(answered(200, answer, warm), REFUND).kind).toBe('in-doubt')
      expect(verdictOn(answered(200, { ...answer, TRANS_STATUS_NAME: 'DECLINED' }, warm), REFUND).kind).toBe('in-doubt')
      expect(verdictOn(answered(200, answer), REFUND).kind).toBe('approved')
    },
  )

  test('settles a sale: our own id is that of the very request', () => {
    expect(verdictOn(answered(200, without(SALE_APPROVED, 'TRANS_REQUEST_ID'), warm), SALE).kind).toBe('approved')
  })
})

describe('a transaction id that is none', () => {
  const odd = { ...APPROVED, TRANS_REQUEST_ID: "[=cmd|'/C calc'!A0]" }

  test('leaves what happened as it is, and is told: status and echo say what happened', () => {
    for (const connection of ['fresh', 'warm'] as const)
      expect(verdictOn(answered(200, odd, { connection }), REFUND)).toMatchObject({
        kind: 'approved',
        warnings: [
          { text: "the transaction id of the answer is not a number: [=cmd|'/C calc'!A0]", aboutMoney: false },
        ],
      })
  })

  test('that was withheld ties an answer to nothing', () => {
    const withheld = { ...APPROVED, TRANS_REQUEST_ID: '[withheld]' }
    expect(factsOf(withheld).transactionId).toBeNull()
    expect(verdictOn(answered(200, withheld), REFUND).kind).toBe('approved')
    expect(verdictOn(answered(200, withheld, { connection: 'warm' }), REFUND).kind).toBe('in-doubt')
  })
})

describe('an approval of other money than asked', () => {
  test.each([
    [{ TRANS_VALUE: '12.3001' }, 'the gateway answered the amount 12.3001 where 12.30 was asked'],
    [{ TRANS_VALUE: '-12.3000' }, 'the gateway answered the amount -12.3000 where 12.30 was asked'],
    [{ TRANS_CUR: 'USD' }, 'the gateway answered the currency USD where EUR was asked'],
  ])('%o warns about money', (changes, text) => {
    expect(verdictOn(answered(200, { ...APPROVED, ...changes }), REFUND)).toMatchObject({
      kind: 'approved',
      warnings: [{ text, aboutMoney: true }],
    })
  })

  test('warns of a currency that only Unicode takes for the one asked', () => {
    const money = { amountMinor: 1230n, currency: 'USD' as Currency }
    const asked = { ...REFUND, instruction: { ...REFUND.instruction, money } }
    const warningsFor = (currency: string) => {
      const verdict = verdictOn(answered(200, { ...APPROVED, TRANS_CUR: currency }), asked)
      return verdict.kind === 'approved' ? verdict.warnings.map(({ text }) => text) : null
    }
    expect(['USD', 'usd', 'u\u017fd'].map(warningsFor)).toEqual([[], [], [expect.stringContaining('u\u017fd')]])
  })

  test.each([{ TRANS_VALUE: '12.3' }, { TRANS_VALUE: '0012.300000' }, { TRANS_VALUE: '' }, { TRANS_CUR: 'eur' }])(
    '%o is the same money, or says nothing',
    (changes) => {
      expect(verdictOn(answered(200, { ...APPROVED, ...changes }), REFUND)).toMatchObject({ warnings: [] })
    },
  )

  describe('from another card than asked', () => {
    const vaulted = (saveCardOnFile: boolean): Judging => ({
      ...SALE,
      instruction: { ...SALE.instruction, vaultId: '040001', saveCardOnFile },
    })
    const warningsFor = (vaultId: string, judging: Judging) =>
      verdictOn(answered(200, { ...SALE_APPROVED, CUSTOMER_VAULT_ID: vaultId }), judging)

    test('warns about money where no card was to be saved', () => {
      const text = 'the gateway answered the vault id 99999 where 040001 was asked: another card may have been charged'
      expect(warningsFor('99999', vaulted(false))).toMatchObject({
        kind: 'approved',
        warnings: [{ text, aboutMoney: true }],
      })
    })

    test('warns without stopping where a card was to be saved: that may give an id of its own', () => {
      const text =
        'the gateway answered the vault id 99999 where 040001 was charged: the card may have been saved once more'
      expect(warningsFor('99999', vaulted(true))).toMatchObject({
        kind: 'approved',
        warnings: [{ text, aboutMoney: false }],
      })
    })

    test('is not said of the same id, of an answer without one, or where none was asked for', () => {
      for (const id of ['40001', '00040001', ''])
        expect(warningsFor(id, vaulted(false))).toMatchObject({ warnings: [] })
      expect(warningsFor('99999', SALE)).toMatchObject({ warnings: [] })
    })
  })

  test('a CANCEL without an amount has asked for none', () => {
    const cancel: Judging = { ...REFUND, instruction: { ...REFUND.instruction, operation: 'CANCEL', money: null } }
    const answer = { ...APPROVED, REQUEST_ACTION: 'CANCEL', TRANS_VALUE: '99.0000' }
    expect(verdictOn(answered(200, answer), cancel)).toMatchObject({ kind: 'approved', warnings: [] })
  })
})

test('every verdict has its signal for the window', () => {
  const signals: Record<Verdict['kind'], string> = {
    approved: signalOf(verdictOn(answered(200, APPROVED), REFUND)),
    declined: signalOf(verdictOn(answered(200, DECLINED), REFUND)),
    failed: signalOf(verdictOn(answered(400, null), REFUND)),
    forbidden: signalOf(verdictOn(answered(403, null), REFUND)),
    'stop-account': signalOf(verdictOn(answered(401, null), REFUND)),
    'in-doubt': signalOf(verdictOn(answered(503, null), REFUND)),
    unsent: signalOf(verdictOn(answered(429, null), REFUND)),
  }
  expect(signals).toEqual({
    approved: 'true-answer',
    declined: 'true-answer',
    failed: 'true-answer',
    forbidden: 'true-answer',
    'stop-account': 'true-answer',
    'in-doubt': 'failure',
    unsent: 'throttled',
  })
})

describe('whatever outcome is fed', () => {
  const id = fc.constantFrom('777', '000777', '778', 'x1', 'x2', '', ' ')
  const answer = fc.oneof(
    fc.constant(null),
    fc.record(
      {
        REQUEST_ACTION: fc.constantFrom('REFUND', 'CCCREDIT', 'CAPTURE', 'AUTH', 'CANCEL', '', 'OTHER'),
        TRANS_STATUS_NAME: fc.constantFrom('APPROVED', 'DECLINED', 'PENDING', 'approved', ''),
        TRANS_VALUE: fc.constantFrom('12.3000', '1', 'x'),
        TRANS_ORDER_ID: id,
        TRANS_RECORD_ID: id,
        XTL_ORDER_ID: id,
        TRANS_CUR: fc.constantFrom('EUR', 'USD'),
        API_ADVICE: fc.string(),
      },
      { requiredKeys: [] },
    ),
  )
  const body: fc.Arbitrary<Body> = fc.oneof(answer.map(bodyOf), fc.constant({ kind: 'unclear' as const }))
  const httpStatus = fc.oneof(
    fc.constantFrom(200, 201, 400, 401, 403, 404, 408, 409, 422, 429, 500, 503),
    fc.integer({ min: 200, max: 599 }),
  )
  const outcome: fc.Arbitrary<Outcome> = fc.oneof(
    fc.record({
      kind: fc.constant('unsent' as const),
      why: fc.constantFrom('fence' as const, 'pace' as const, 'connect' as const, 'abandoned' as const),
      detail: fc.string(),
    }),
    fc.record({
      kind: fc.constant('lost' as const),
      sentAtMs: fc.nat(),
      httpStatus: fc.option(httpStatus),
      detail: fc.string(),
    }),
    fc.record({
      kind: fc.constant('answered' as const),
      sentAtMs: fc.nat(),
      answeredAtMs: fc.nat(),
      httpStatus,
      retryAfterMs: fc.option(fc.nat()),
      body,
      text: fc.string(),
      connection: fc.constantFrom('fresh' as const, 'warm' as const),
    }),
  )
  const judging = fc.record({
    instruction: fc.record({
      operation: fc.constantFrom(...TRANSACTION_TYPES),
      money: fc.constantFrom(null, { amountMinor: 1230n, currency: EUR }),
      orderId: fc.constantFrom(null, '777', '000777'),
      xtlOrderId: fc.constantFrom(null, 'x1'),
      vaultId: fc.constantFrom(null, '40001'),
      card: fc.constant(null),
      saveCardOnFile: fc.boolean(),
      details: fc.constant({}),
    }),
    everInDoubt: fc.boolean(),
    notExecutedStatus: fc.constantFrom([], [503], [409, 503]),
    deleteAnswer: fc.constantFrom('status', 'any-2xx'),
  })

  const fieldsOf = ({ body: seen }: { readonly body: Body }): Answer => (seen.kind === 'answer' ? seen.fields : {})

  /** Codes that prove that nothing was executed, in the words of the design and not of the code. */
  const PROVES_UNEXECUTED = [400, 401, 403, 404, 405, 411, 413, 414, 415, 422, 429, 431]

  test('APPROVED comes only out of a whole 2xx answer that says so and belongs to the request', () => {
    fc.assert(
      fc.property(outcome, judging, (seen, asked) => {
        const verdict = verdictOn(seen, asked)
        if (verdict.kind !== 'approved') return
        expect(seen.kind).toBe('answered')
        if (seen.kind !== 'answered') return
        expect(seen.httpStatus).toBeGreaterThanOrEqual(200)
        expect(seen.httpStatus).toBeLessThan(300)
        const fields = fieldsOf(seen)
        expect(fields.TRANS_STATUS_NAME).toBe('APPROVED')
        const echo = echoOf(fields, asked.instruction)
        expect(echo.kind).not.toBe('wrong')
        if (seen.connection === 'warm') expect(echo.kind).toBe('true')
      }),
      { numRuns: 5_000 },
    )
  })

  test('what is neither proven unsent, nor proven refused, nor a true answer is in doubt', () => {
    fc.assert(
      fc.property(outcome, judging, (seen, asked) => {
        const { kind } = verdictOn(seen, asked)
        if (seen.kind === 'unsent') expect(kind).toBe('unsent')
        if (seen.kind === 'lost') expect(kind).toBe('in-doubt')
        if (seen.kind !== 'answered') return
        const isRefusal = [...PROVES_UNEXECUTED, ...asked.notExecutedStatus].includes(seen.httpStatus)
        const isProof = isRefusal && seen.body.kind === 'none' && seen.connection === 'fresh'
        const status = fieldsOf(seen).TRANS_STATUS_NAME
        const saysSo = (status === 'APPROVED' || status === 'DECLINED') && seen.httpStatus < 500
        if (!isProof && !saysSo) expect(kind).toBe('in-doubt')
      }),
      { numRuns: 5_000 },
    )
  })

  test('nothing that may have been executed is ever ready to go again', () => {
    fc.assert(
      fc.property(outcome, judging, (seen, asked) => {
        const { kind } = verdictOn(seen, asked)
        if (kind !== 'unsent' && kind !== 'forbidden' && kind !== 'stop-account') return
        if (seen.kind === 'answered') {
          expect([401, 403, 404, 405, 429, ...asked.notExecutedStatus]).toContain(seen.httpStatus)
          expect(seen.body.kind).toBe('none')
        } else expect(seen.kind).toBe('unsent')
      }),
      { numRuns: 5_000 },
    )
  })
})

describe('what would be sent again or reported wrongly', () => {
  const sent = { ...SALE.instruction, money: null, xtlOrderId: 'X1' }
  const answered = (
    httpStatus: number,
    answer: Record<string, string> | null,
    connection: 'fresh' | 'warm',
  ): Outcome => ({
    kind: 'answered',
    sentAtMs: 1,
    answeredAtMs: 2,
    httpStatus,
    retryAfterMs: null,
    body: bodyOf(answer),
    text: '',
    connection,
  })

  test.each(['APPROVED', 'DECLINED'])('%s without an echo over a kept-alive connection is in doubt', (status) => {
    const outcome = answered(200, { TRANS_STATUS_NAME: status, REQUEST_ACTION: 'CAPTURE' }, 'warm')
    expect(
      verdictOn(outcome, { instruction: sent, everInDoubt: false, notExecutedStatus: [], deleteAnswer: 'status' }).kind,
    ).toBe('in-doubt')
  })

  test('APPROVED over a warm connection with our id and no REQUEST_ACTION stands, with a warning', () => {
    const outcome = answered(200, { TRANS_STATUS_NAME: 'APPROVED', XTL_ORDER_ID: 'X1' }, 'warm')
    expect(
      verdictOn(outcome, { instruction: sent, everInDoubt: false, notExecutedStatus: [], deleteAnswer: 'status' }),
    ).toMatchObject({
      kind: 'approved',
      warnings: [{ aboutMoney: false }],
    })
  })

  test('a refusal as wrong after an earlier doubt is in doubt: it judges the later attempt only', () => {
    const judging = { instruction: sent, notExecutedStatus: [], deleteAnswer: 'status' as const }
    expect(verdictOn(answered(400, null, 'fresh'), { ...judging, everInDoubt: false }).kind).toBe('failed')
    expect(verdictOn(answered(400, null, 'fresh'), { ...judging, everInDoubt: true }).kind).toBe('in-doubt')
  })
})
