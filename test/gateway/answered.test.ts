import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import type { Currency } from '../../src/domain/money.ts'
import type { Answer, Body } from '../../src/domain/outcome.ts'
import { type Judging, verdictOn } from '../../src/domain/verdict.ts'
import { readAnswer, type Sent } from '../../src/gateway/answered.ts'
import { parseBody } from '../../src/gateway/body.ts'
import { createScrub, REPEATED } from '../../src/gateway/scrub.ts'
import { EXACT_ONES, ODD_ONES } from '../fixtures/answer-fields.ts'
import { codePoint } from '../fixtures/code-points.ts'
import { tries } from '../fixtures/tries.ts'
import { canariesIn, escapesIn, jsonIn, KINDS, PASSWORD, USERNAME, WRITINGS } from '../hostile/canaries.ts'

const scrub = createScrub({ username: USERNAME, secrets: [PASSWORD] })
const SENT: Sent = {
  operation: 'REFUND' as const,
  orderId: '0777',
  xtlOrderId: 'INV7',
  money: { amountMinor: 1230n, currency: 'EUR' as Currency },
}

function fieldsOf(json: string, sent = SENT): Answer {
  const { body } = readAnswer(Buffer.from(json), undefined, scrub, sent)
  return body.kind === 'answer' ? body.fields : {}
}

/** Of a DECLINED with that field: what is kept of it. */
const kept = (name: string, value: string, sent = SENT) =>
  fieldsOf(JSON.stringify({ TRANS_STATUS_NAME: 'DECLINED', [name]: value }), sent)[name]

describe('a field of the contract', () => {
  test.each(Object.entries(EXACT_ONES))('%s in its form is kept exactly', (name, values) => {
    for (const value of values) expect(kept(name, value)).toBe(value)
  })

  test.each(Object.entries(ODD_ONES))('%s out of its form is kept in brackets, visible and short', (name, values) => {
    for (const value of values) {
      const odd = kept(name, value) as string
      expect(odd).toMatch(/^\[.*\]$/)
      expect([...odd].length).toBeLessThanOrEqual(60)
      expect(canariesIn(odd)).toEqual([])
      expect(escapesIn(odd)).toEqual([])
    }
  })

  test('but the status has blanks around it that are none of it', () => {
    expect(kept('REQUEST_ACTION', ' REFUND\n')).toBe('REFUND')
    expect(kept('TRANS_STATUS_NAME', ' APPROVED')).toBe(' APPROVED')
    expect(kept('TRANS_STATUS_NAME', 'APPROVED\n')).toBe('[APPROVED]')
  })

  test('that we sent ourselves is kept, whatever it looks like', () => {
    expect(kept('XTL_ORDER_ID', '4111111111111111', { ...SENT, xtlOrderId: '4111111111111111' })).toBe(
      '4111111111111111',
    )
    const named = createScrub({ username: '', secrets: ['INV7'] })
    const json = '{"TRANS_STATUS_NAME":"APPROVED","XTL_ORDER_ID":"INV7","TRANS_REQUEST_ID":5}'
    expect(readAnswer(Buffer.from(json), undefined, named, SENT).body).toMatchObject({
      fields: { XTL_ORDER_ID: 'INV7' },
    })
  })

  test('that is the password is withheld', () => {
    const letters = createScrub({ username: '', secrets: ['SESAME'] })
    for (const name of ['XTL_ORDER_ID', 'REQUEST_ACTION', 'TRANS_STATUS_NAME']) {
      const json = JSON.stringify({ TRANS_STATUS_NAME: 'DECLINED', [name]: 'SESAME' })
      expect(readAnswer(Buffer.from(json), undefined, letters, SENT).body).toMatchObject({
        fields: { [name]: '[withheld]' },
      })
    }
  })

  test('that the contract does not have is in the text alone', () => {
    const json = '{"TRANS_STATUS_NAME":"APPROVED","CARD":"x","__proto__":{"a":1},"API_ADVICE":"well"}'
    expect(fieldsOf(json)).toEqual({ TRANS_STATUS_NAME: 'APPROVED', API_ADVICE: 'well' })
    expect(readAnswer(Buffer.from(json), undefined, scrub, SENT).text).toContain('"CARD":"x"')
  })
})

describe('no verdict changes by what is kept', () => {
  const FIELDS = Object.keys(EXACT_ONES)
  const known = fc.constantFrom(...Object.values(EXACT_ONES).flat(), ...Object.values(ODD_ONES).flat())
  const near = fc.tuple(
    fc.constantFrom('', ' ', '\t', '0', '\u200b', '\ufeff'),
    known,
    fc.constantFrom('', ' ', '\n', '.0'),
  )
  const value = fc.oneof(
    known,
    near.map((parts) => parts.join('')),
    fc.string({ unit: codePoint, maxLength: 40 }),
  )
  const answer = fc
    .tuple(
      fc.constantFrom('APPROVED', 'DECLINED'),
      fc.uniqueArray(fc.tuple(fc.constantFrom(...FIELDS), value), { selector: ([name]) => name }),
    )
    .map(([status, fields]) => ({ TRANS_STATUS_NAME: status, ...Object.fromEntries(fields) }))

  test('whatever stands in its fields, on any connection, after any attempt', () => {
    const judging: Omit<Judging, 'everInDoubt'> = {
      instruction: { vaultId: null, card: null, saveCardOnFile: false, details: {}, ...SENT },
      notExecutedStatus: [],
      deleteAnswer: 'status' as const,
    }
    const operation = fc.constantFrom('REFUND' as const, 'CAPTURE' as const)
    const way = fc.record({
      operation,
      connection: fc.constantFrom('fresh' as const, 'warm' as const),
      everInDoubt: fc.boolean(),
    })
    fc.assert(
      fc.property(
        answer,
        fc.constantFrom(200, 409, 500),
        way,
        (fields, httpStatus, { operation, connection, everInDoubt }) => {
          const bytes = Buffer.from(JSON.stringify(fields))
          const verdictOf = (body: Body) => {
            const verdict = verdictOn(
              {
                kind: 'answered',
                sentAtMs: 1,
                answeredAtMs: 2,
                httpStatus,
                retryAfterMs: null,
                body,
                text: '',
                connection,
              },
              { ...judging, everInDoubt, instruction: { ...judging.instruction, operation } },
            )
            const warnings = 'warnings' in verdict ? verdict.warnings.filter(({ aboutMoney }) => aboutMoney).length : 0
            return { kind: verdict.kind, warnings }
          }
          expect(verdictOf(readAnswer(bytes, undefined, scrub, SENT).body)).toEqual(
            verdictOf(parseBody(bytes, undefined)),
          )
        },
      ),
      { numRuns: tries(3_000) },
    )
  })
})

describe('the text', () => {
  test('is the body on one line, its strings in their plainest form', () => {
    const json = '{"a":\r\n"\\u0034111 1111 1111\\t1111","b":{"c\\/d":[12345678901234567890]},"e":1,"e":2}'
    expect(readAnswer(Buffer.from(json), undefined, scrub, SENT).text).toBe(
      '{"a": "4111110000001111","b":{"c/d":[12345678901234567890]},"e":1,"e":2}',
    )
  })

  test('of an answer with our password is the fields of the contract, and says so', () => {
    const json = JSON.stringify({
      TRANS_STATUS_NAME: 'DECLINED',
      TRANS_ORDER_ID: 777,
      API_ADVICE: 'no',
      echo: { pw: PASSWORD },
    })
    expect(readAnswer(Buffer.from(json), undefined, scrub, SENT)).toEqual({
      body: {
        kind: 'answer',
        status: 'DECLINED',
        fields: { TRANS_STATUS_NAME: 'DECLINED', TRANS_ORDER_ID: '777', ERROR_MESSAGE: REPEATED },
      },
      text: `${REPEATED}, but for {"TRANS_STATUS_NAME":"DECLINED","TRANS_ORDER_ID":"777"}`,
      repeatsCredentials: true,
    })
  })
})

test('of quotation marks without end one is looked for from the first of them alone, and not beyond what may be kept', () => {
  const front = '{"TRANS_STATUS_NAME":"DECLINED","API_ADVICE":'
  const json = `${front}${JSON.stringify('"a",'.repeat(40_000))}}`
  const parse = vi.spyOn(JSON, 'parse')
  readAnswer(Buffer.from(json), undefined, scrub, SENT)
  const strings = parse.mock.calls.map(([text]) => text).filter((text) => text.startsWith('"'))
  parse.mockRestore()
  expect(strings).toEqual([json.slice(front.length, 16_384)])
})

test.each(WRITINGS)(
  'nothing of what is repeated is kept, in any field, name, depth or body, as %s writes it',
  (writing) => {
    for (const kind of KINDS) {
      const said = jsonIn(writing, kind)
      const fields = [...Object.keys(EXACT_ONES).slice(1), 'API_ADVICE', 'ERROR_MESSAGE', 'other']
      const members = fields.map((name) => `"${name}":${said}`)
      const bodies = [
        `{"TRANS_STATUS_NAME":${said}}`,
        ...members.map((member) => `{"TRANS_STATUS_NAME":"APPROVED",${member}}`),
        `{"TRANS_STATUS_NAME":"DECLINED",${members.join()},"deep":[{${said}:[${said},{${said}:1}]}]}`,
        `{"ERROR_MESSAGE":${said}}`,
        `[${said}]`,
        said,
        `{"half":${said}`,
        `<html><body title=${said}>${said}</body></html>`,
      ]
      for (const body of bodies) {
        const outcome = JSON.stringify(readAnswer(Buffer.from(body), undefined, scrub, SENT))
        expect({ body, found: [...canariesIn(outcome), ...escapesIn(JSON.parse(outcome).text)] }).toEqual({
          body,
          found: [],
        })
      }
    }
  },
)
