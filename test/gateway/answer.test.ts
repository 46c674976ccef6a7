import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseAnswer } from '../../src/gateway/answer.ts'
import { codePoint } from '../fixtures/code-points.ts'

/** A JSON number as someone else might write it, far beyond what a double holds. */
const digits = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,30}$/)),
    decimals: fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,12}$/)),
    exponent: fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/)),
  })
  .map(({ sign, whole, decimals, exponent }) => sign + whole + decimals + exponent)

describe('fields', () => {
  test('any number comes back as the digits received', () => {
    fc.assert(
      fc.property(digits, (number) => {
        expect(parseAnswer(`{"TRANS_REQUEST_ID": ${number} }`)).toEqual({ TRANS_REQUEST_ID: number })
      }),
    )
  })

  test('any text comes back as the text received, under any name', () => {
    const name = fc.oneof(fc.string({ unit: codePoint }), fc.constantFrom('__proto__', 'constructor', 'toString', ''))
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, fc.string({ unit: codePoint })), { selector: ([key]) => key }),
        (pairs) => {
          const sent = Object.fromEntries(pairs)
          const answer = parseAnswer(JSON.stringify(sent))
          expect(Object.entries(answer as object)).toEqual(Object.entries(sent))
        },
      ),
    )
  })

  test('null, objects and arrays are left out; true and false are words', () => {
    expect(
      parseAnswer('{"a":null,"b":{"TRANS_STATUS_NAME":"APPROVED","n":1},"c":[1,{"d":2}],"e":true,"f":""}'),
    ).toEqual({
      e: 'true',
      f: '',
    })
  })

  test('a byte order mark in front is no harm', () => {
    expect(parseAnswer('\uFEFF{"a":1}')).toEqual({ a: '1' })
  })
})

describe('what is not an answer', () => {
  test.each(['', 'null', '[]', '"APPROVED"', '12', 'true', '<html>', '{"a":1', '{"a":1}{"b":2}', '['.repeat(200_000)])(
    'is null: %.20s',
    (body) => {
      expect(parseAnswer(body)).toBeNull()
    },
  )

  test('every answer that is cut short anywhere is null', () => {
    const whole = '{"REQUEST_ACTION":"REFUND","TRANS_STATUS_NAME":"APPROVED","TRANS_ORDER_ID":12,"x":{"y":[1]}}'
    for (let length = 0; length < whole.length; length++) expect(parseAnswer(whole.slice(0, length))).toBeNull()
  })

  test('an object that names a field twice says two things at once', () => {
    expect(parseAnswer('{"TRANS_STATUS_NAME":"DECLINED","TRANS_STATUS_NAME":"APPROVED"}')).toBeNull()
    expect(parseAnswer('{"TRANS_STATUS_NAME":"DECLINED","\\u0054RANS_STATUS_NAME":"APPROVED"}')).toBeNull()
  })

  test('so does one that names it in two letter cases', () => {
    expect(parseAnswer('{"TRANS_STATUS_NAME":"DECLINED","Trans_Status_Name":"APPROVED"}')).toBeNull()
  })

  test('the same name inside a nested object or inside text is not a second one', () => {
    const body =
      '{"TRANS_STATUS_NAME":"APPROVED","x":{"TRANS_STATUS_NAME":"DECLINED"},"y":"\\",\\"TRANS_STATUS_NAME\\":\\\\"}'
    expect(parseAnswer(body)).toMatchObject({ TRANS_STATUS_NAME: 'APPROVED' })
  })

  test('any JSON value is an answer exactly where it is an object', () => {
    fc.assert(
      fc.property(fc.json(), (body) => {
        const value: unknown = JSON.parse(body)
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
        expect(parseAnswer(body) !== null).toBe(isObject)
      }),
    )
  })
})
