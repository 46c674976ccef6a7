import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Currency } from '../../src/domain/money.ts'
import type { Outcome } from '../../src/domain/outcome.ts'
import { type Judging, type Verdict, verdictOn } from '../../src/domain/verdict.ts'
import { parseBody, textOf } from '../../src/gateway/body.ts'
import { hidingPlaces, type KnownBody, PLAIN_BODIES } from '../fixtures/bodies.ts'
import { codePoint } from '../fixtures/code-points.ts'
import { tries } from '../fixtures/tries.ts'

const kindOf = (body: string | Buffer) => parseBody(Buffer.from(body), undefined).kind
const kindOfKnown = ({ bytes, headers = {} }: KnownBody) => parseBody(bytes, headers['content-encoding']).kind

const APPROVED = {
  ...{ REQUEST_ACTION: 'REFUND', TRANS_STATUS_NAME: 'APPROVED', TRANS_VALUE: '12.3000', TRANS_REQUEST_ID: 55 },
  ...{ TRANS_RECORD_ID: 777, TRANS_ORDER_ID: 777, TRANS_CUR: 'EUR' },
}
const DECLINED = { ...APPROVED, TRANS_STATUS_NAME: 'DECLINED', ERROR_MESSAGE: 'balance 1.00' }

test.each(PLAIN_BODIES)('plainly no answer: $title', (body) => {
  expect(kindOfKnown(body)).toBe('none')
})

test.each(hidingPlaces(JSON.stringify(APPROVED)))('may hide an answer: $title', (body) => {
  expect(kindOfKnown(body)).toBe('unclear')
})

/** As brotli in base64 it has no forty signs without a slash. */
const PARTED_BY_SLASHES = {
  ...{ TRANS_STATUS_NAME: 'APPROVED', TRANS_VALUE: '3034500.0000', TRANS_REQUEST_ID: '813' },
  ...{ XTL_ORDER_ID: '', API_ADVICE: '' },
}

// Packed, every answer is another run of signs: where its slashes and line ends fall must not decide what is believed.
test('whatever it says, an answer hides in none of the places', () => {
  const digits = (length: number) => fc.stringMatching(new RegExp(`^[1-9][0-9]{0,${length}}$`))
  const answers = fc.record(
    {
      TRANS_STATUS_NAME: fc.constantFrom<string>('APPROVED', 'DECLINED'),
      TRANS_VALUE: digits(6).map((whole) => `${whole}.0000`),
      TRANS_REQUEST_ID: digits(12),
      TRANS_ORDER_ID: digits(12),
      XTL_ORDER_ID: fc.string({ maxLength: 40 }),
      API_ADVICE: fc.string({ maxLength: 80 }),
    },
    { requiredKeys: ['TRANS_STATUS_NAME', 'TRANS_VALUE', 'TRANS_REQUEST_ID'] },
  )
  fc.assert(
    fc.property(answers, (answer) => {
      const believed = hidingPlaces(JSON.stringify(answer)).filter((place) => kindOfKnown(place) === 'none')
      expect(believed.map(({ title }) => title)).toEqual([])
    }),
    { numRuns: tries(200), examples: [[PARTED_BY_SLASHES]] },
  )
})

test('the promised object with a status is the answer, whatever the header says of its encoding', () => {
  const bytes = Buffer.from(JSON.stringify(DECLINED))
  for (const encoding of [undefined, 'identity', 'gzip', ['gzip', 'br']]) {
    expect(parseBody(bytes, encoding)).toMatchObject({
      kind: 'answer',
      fields: { TRANS_STATUS_NAME: 'DECLINED', TRANS_REQUEST_ID: '55' },
    })
  }
})

test('nothing, and what is said not to be encoded, is no answer; ERROR_MESSAGE is what it says', () => {
  expect(parseBody(Buffer.alloc(0), 'gzip')).toEqual({ kind: 'none', message: null })
  expect(parseBody(Buffer.from('busy'), 'identity')).toEqual({ kind: 'none', message: null })
  expect(parseBody(Buffer.from('{"ERROR_MESSAGE":"amount 4111"}'), undefined)).toEqual({
    kind: 'none',
    message: 'amount 4111',
  })
})

test('a person is shown text as it came, and of anything else how much it was', () => {
  expect(textOf(Buffer.from('zu viele\tAnfragen – später\n'))).toBe('zu viele\tAnfragen – später\n')
  expect(textOf(Buffer.from([0x1f, 0x8b, 8, 0]))).toBe('4 bytes that are no text')
})

describe('in every body', () => {
  const field = fc.constantFrom(...Object.keys(APPROVED))
  const answer = fc
    .record({
      REQUEST_ACTION: fc.constantFrom('REFUND', 'CAPTURE'),
      TRANS_STATUS_NAME: fc.constantFrom<string>('APPROVED', 'DECLINED'),
      TRANS_REQUEST_ID: fc.bigInt({ min: 0n, max: 10n ** 20n }).map(String),
      API_ADVICE: fc.string(),
    })
    .chain((fields) => fc.constantFrom('', ' ', '\r\n', '\uFEFF').map((front) => front + JSON.stringify(fields)))

  test('a cut answer is never plainly none, wherever it is cut, unless nothing of it is left', () => {
    fc.assert(
      fc.property(answer, (body) => {
        const bytes = Buffer.from(body)
        for (let length = 0; length < bytes.length; length++) {
          const part = bytes.subarray(0, length)
          const isBlank = part.toString().trim() === ''
          expect([length, kindOf(part)]).toEqual([length, isBlank ? 'none' : 'unclear'])
        }
        expect(kindOf(bytes)).toBe('answer')
      }),
      { numRuns: 50 },
    )
  })

  test('a cut answer in XML is never plainly none, wherever it is cut', () => {
    const cuttable =
      '<?xml version="1.0"?>\n<!-- <a></a> --><a x="1"><id>5</id><b/><br><c><![CDATA[x]]></c>&#x54;RANS_VALUE</a>'
    for (let length = 1; length <= cuttable.length; length++)
      expect([length, kindOf(cuttable.slice(0, length))]).toEqual([length, 'unclear'])
  })

  test('an answer in base64 or hexadecimal is never plainly none, in whatever it stands', () => {
    const coded = fc
      .tuple(answer, fc.constantFrom('base64', 'base64url', 'hex'), fc.constantFrom('', 'x', 'id_', 'data:'))
      .map(([body, coding, front]) => front + Buffer.from(body).toString(coding as BufferEncoding))
    const wrap = fc.constantFrom<(run: string) => string>(
      (run) => JSON.stringify({ error: 'busy', id: run }),
      (run) => `<a><b>${run}</b></a>`,
      (run) => `The answer is "${run}".`,
      (run) => JSON.stringify([Buffer.from(run).toString('base64')]),
    )
    fc.assert(
      fc.property(coded, wrap, (run, wrapping) => {
        expect(kindOf(wrapping(run))).toBe('unclear')
      }),
    )
  })

  test('an answer with anything around it is never plainly none', () => {
    const around = fc.oneof(
      fc.string(),
      fc.string({ unit: codePoint }),
      fc.json(),
      fc.constantFrom('<html>', 'x=', '['),
    )
    fc.assert(
      fc.property(around, answer, around, (before, body, behind) => {
        expect(kindOf(before + body + behind)).not.toBe('none')
      }),
    )
  })

  test('JSON with a field of an answer is never plainly none, however deep or spelled', () => {
    const spelling = fc.constantFrom<(name: string) => string>(
      (name) => name.toLowerCase(),
      (name) => name.replaceAll('_', ''),
      (name) => name.replaceAll('_', '-'),
      (name) => name[0] + name.slice(1).toLowerCase(),
    )
    const escaped = fc.constantFrom<(json: string) => string>(
      (json) => JSON.stringify(json),
      (json) => json.replace(/[a-z_]/gi, (char) => `\\u00${char.charCodeAt(0).toString(16)}`),
      encodeURIComponent,
    )
    const named = fc.tuple(
      field.filter((name) => name !== 'TRANS_CUR'),
      spelling,
      fc.jsonValue(),
    )
    const tree = fc.letrec((tie) => ({
      node: fc.oneof(
        named.map(([name, spell, value]) => ({ [spell(name)]: value })),
        fc.tuple(fc.string(), tie('node')).map(([name, node]) => ({ first: 1, [name]: node })),
        fc.tuple(fc.jsonValue(), tie('node')),
        tie('node').map((node) => JSON.stringify(node)),
      ),
    })).node
    fc.assert(
      fc.property(tree, escaped, (value, escaping) => {
        expect(kindOf(escaping(JSON.stringify(value)))).not.toBe('none')
      }),
      { numRuns: tries(500) },
    )
  })

  test('words and errors that speak of no transaction are plainly none', () => {
    const words = fc
      .stringMatching(/^[b-z .,:;()'0-9-]{0,30}$/)
      .filter((text) => !/\S{40}|approved|declined/.test(text))
    fc.assert(
      fc.property(words, words, (one, other) => {
        expect(kindOf(one)).toBe('none')
        expect(kindOf(JSON.stringify({ error: one, details: [other, null, 5] }))).toBe('none')
        expect(kindOf(`<html>${one}<br>${other}`)).toBe('none')
      }),
    )
  })

  test('bytes that are no UTF-8 are never plainly none', () => {
    const noText = fc.uint8Array().filter((bytes) => !isUtf8(bytes))
    fc.assert(
      fc.property(noText, (bytes) => {
        expect(kindOf(Buffer.from(bytes))).toBe('unclear')
      }),
    )
  })

  const WORDS = ['\\', '%25', '%', '&#x00000', '&#0', ' ', '\\u005c', '\uFEFF']
  const OTHERS = [
    ...['<?xml ', '<!--', '<a>', '<a ', '</a>', '<![CDATA[', '<', '"a" ', 'a".', '{"', '[', '"'],
    ...['ZXlK', '61', 'trans_', 'a', 'Mz', `${'A'.repeat(40)} `],
  ]

  // Patterns tell nothing of their steps, so only the time-out limits them: less than a second for each part where they grow as the
  // text does, minutes where they grow with its square.
  test.each([...WORDS.map((part) => ({ part, kind: 'none' })), ...OTHERS.map((part) => ({ part, kind: 'unclear' }))])(
    'a megabyte of $part is $kind',
    ({ part, kind }) => {
      const kindBehind = (front: string) => kindOf((front + part.repeat(1_048_576)).slice(0, 1_048_576))
      expect(['', 'a '].map(kindBehind)).toEqual([kind, kind])
      expect(['{"x":"', '<a>', '<html>'].map(kindBehind)).toEqual(['unclear', 'unclear', 'none'])
    },
  )
})

test('a body with more to decode than is worth the time is unclear, and a stack of calls is not', () => {
  const call = 'at Layer.handle (/app/node_modules/express/lib/router/layer.js:95:5)'
  expect(kindOf(JSON.stringify({ error: Array.from({ length: 30 }, () => call).join('\n') }))).toBe('none')
  expect(kindOf('Mz'.repeat(65_536))).toBe('unclear')
  expect(kindOf(JSON.stringify({ error: Array.from({ length: 101 }, () => 'a-'.repeat(30)) }))).toBe('unclear')
})

describe('every code with every body', () => {
  const REFUND: Judging['instruction'] = {
    operation: 'REFUND',
    money: { amountMinor: 1230n, currency: 'EUR' as Currency },
    orderId: '777',
    vaultId: null,
    card: null,
    saveCardOnFile: false,
    xtlOrderId: null,
    details: {},
  }
  const CODES = Array.from({ length: 400 }, (_, i) => 200 + i)
  const VOUCHED = 503
  const WAYS = (['fresh', 'warm'] as const).flatMap((connection) =>
    [false, true].map((everInDoubt) => ({ connection, everInDoubt })),
  )
  type Way = (typeof WAYS)[number]

  /** One line for all bodies of a kind: `code: verdict`, for each code and way. */
  function verdictsOn({ bytes, headers = {} }: KnownBody, { connection, everInDoubt }: Way): string[] {
    const body = parseBody(bytes, headers['content-encoding'])
    return CODES.map((httpStatus) => {
      const seen = { kind: 'answered', sentAtMs: 1, answeredAtMs: 2, httpStatus, retryAfterMs: null } as const
      const outcome: Outcome = { ...seen, body, text: '', connection }
      const judging = {
        instruction: REFUND,
        everInDoubt,
        notExecutedStatus: [VOUCHED],
        deleteAnswer: 'status' as const,
      }
      return `${httpStatus}: ${verdictOn(outcome, judging).kind}`
    })
  }

  function expected(of: (httpStatus: number) => Verdict['kind']): string[] {
    return CODES.map((code) => `${code}: ${of(code)}`)
  }

  const is2xx = (code: number) => code < 300
  const is4xx = (code: number) => code >= 400 && code < 500

  test('an answer that may hide is in doubt', () => {
    const allInDoubt = expected(() => 'in-doubt')
    for (const place of hidingPlaces(JSON.stringify(APPROVED)))
      for (const way of WAYS) expect([place.title, ...verdictsOn(place, way)]).toEqual([place.title, ...allInDoubt])
  })

  test('an approval is one with 2xx alone', () => {
    const bytes = Buffer.from(JSON.stringify(APPROVED))
    for (const way of WAYS)
      expect(verdictsOn({ title: '', bytes }, way)).toEqual(expected((code) => (is2xx(code) ? 'approved' : 'in-doubt')))
  })

  test('a decline is one with 2xx and 4xx, where the row was never in doubt', () => {
    const bytes = Buffer.from(JSON.stringify(DECLINED))
    for (const way of WAYS) {
      const stands = (code: number) => (is2xx(code) || is4xx(code)) && !way.everInDoubt
      expect(verdictsOn({ title: '', bytes }, way)).toEqual(
        expected((code) => (stands(code) ? 'declined' : 'in-doubt')),
      )
    }
  })

  test('beside a plain non-answer over a fresh connection the code decides', () => {
    for (const body of PLAIN_BODIES) {
      for (const way of WAYS) {
        const byCode = expected((code) => {
          if (way.connection === 'warm') return 'in-doubt'
          if (code === 429 || code === VOUCHED) return 'unsent'
          if ([401, 404, 405].includes(code)) return 'stop-account'
          if (code === 403) return 'forbidden'
          return [400, 411, 413, 414, 415, 422, 431].includes(code) && !way.everInDoubt ? 'failed' : 'in-doubt'
        })
        expect([body.title, ...verdictsOn(body, way)]).toEqual([body.title, ...byCode])
      }
    }
  })
})
