// The short way and the careful way, held against each other: where the short one says anything, it says the same.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { approvalOf } from '../../bench/parts/gateway.ts'
import type { TransactionType } from '../../src/domain/instruction.ts'
import { ISSUER_RANGES } from '../../src/domain/issuer-ranges.ts'
import type { Currency } from '../../src/domain/money.ts'
import { readPlainAnswer, readWithCare, type Sent } from '../../src/gateway/answered.ts'
import { createScrub, type Hidden, type Scrub } from '../../src/gateway/scrub.ts'
import { toJson } from '../../src/sandbox/answer.ts'
import { createOrderBook } from '../../src/sandbox/book.ts'
import { execute, type TransactionRequest } from '../../src/sandbox/orders.ts'
import { EXACT_ONES, ODD_ONES } from '../fixtures/answer-fields.ts'
import { hidingPlaces, PLAIN_BODIES } from '../fixtures/bodies.ts'
import { tries } from '../fixtures/tries.ts'
import { FAMILIES, type Told } from '../hostile/answers.ts'
import { jsonIn, KINDS, PASSWORD, USERNAME, WRITINGS } from '../hostile/canaries.ts'

const HIDDEN: Hidden = { username: USERNAME, secrets: [PASSWORD] }
const scrub = createScrub(HIDDEN)
const SENT: Sent = {
  operation: 'CAPTURE',
  orderId: null,
  xtlOrderId: 'Inv20240017',
  money: { amountMinor: 1230n, currency: 'EUR' as Currency },
}

/** As the contract writes them: name and JSON. */
const MEMBERS: ReadonlyArray<readonly [string, string]> = [
  ['REQUEST_ACTION', '"REFUND"'],
  ['TRANS_STATUS_NAME', '"APPROVED"'],
  ['TRANS_VALUE', '"12.3000"'],
  ['TRANS_REQUEST_ID', '4711'],
  ['TRANS_RECORD_ID', '10000001'],
  ['TRANS_ORDER_ID', '717796000000007'],
  ['XTL_ORDER_ID', '"Inv20240017"'],
  ['TRANS_CUR', '"EUR"'],
]

function written(members: ReadonlyArray<readonly [string, string]>): string {
  return `{${members.map(([name, value]) => `"${name}":${value}`).join()}}`
}

/** The approval with other values under these names. */
function approvalWith(values: Readonly<Record<string, string>>): string {
  return written(MEMBERS.map(([name, value]) => [name, values[name] ?? value]))
}

const APPROVAL = approvalWith({})

/** Whatever the header says of an encoding. */
function expectAgreement(body: string | Buffer, its: Scrub = scrub, sent = SENT): void {
  const bytes = Buffer.from(body)
  const short = readPlainAnswer(bytes, its, sent)
  if (short === null) return
  for (const encoding of [undefined, 'gzip'])
    expect([body, short]).toEqual([body, readWithCare(bytes, encoding, its, sent)])
}

test('plain approvals of the sandbox and of the bench take the short way', () => {
  const book = createOrderBook(0, Date.UTC(2026, 1, 3, 4, 5, 6))
  book.vault.set('5', null)
  const ask = (operation: TransactionType, orderId: string | null, xtlOrderId = SENT.xtlOrderId) => {
    const source = { kind: 'vault', vaultId: '5' }
    const asked = { operation, orderId, xtlOrderId, amount: '12.30', money: SENT.money, source, saveFor: null }
    return execute(book, asked as TransactionRequest, 0)
  }
  const [sale, held, other] = [ask('CAPTURE', null), ask('AUTH', null), ask('AUTH', null)]
  const later = [ask('CAUTH', held.orderId), ask('REFUND', sale.orderId, null), ask('CANCEL', other.orderId, null)]
  const answers = [sale, held, ...later]
  for (const body of [...answers.map(({ answer }) => toJson(answer)), approvalOf(20_000, '10000001', '12.30')])
    expect([body, readPlainAnswer(Buffer.from(body), scrub, SENT) !== null]).toEqual([body, true])
})

// ───────────────────────────────────────────────────────────── Where each of its conditions is needed

/** A number of twelve digits that may be a card's, in three groups; and what their digits are in hexadecimal and base64. */
const MAESTRO = '630412345609'
const IN_HEX = ['36333034', '31323334', '35363039'] as const
const TWO_GROUPS_IN_BASE64 = 'MTIzNAo1NjA5'
/** Masking changes nothing in it. */
const MASKED = '4111110000001110'

const ODD_BODIES: Readonly<Record<string, string>> = {
  'a name twice': APPROVAL.replace('{', '{"TRANS_ORDER_ID":5,'),
  'the status twice': APPROVAL.replace('{', '{"TRANS_STATUS_NAME":"APPROVED",'),
  'no status': written(MEMBERS.filter(([name]) => name !== 'TRANS_STATUS_NAME')),
  'a status in small letters': approvalWith({ TRANS_STATUS_NAME: '"approved"' }),
  'an operation of another kind': approvalWith({ REQUEST_ACTION: '"=1+1"' }),
  'a currency of other letters': approvalWith({ TRANS_CUR: '"€"' }),
  'a name that the contract does not have': APPROVAL.replace('TRANS_CUR', 'CURRENCY'),
  'a name in small letters': APPROVAL.replace('TRANS_CUR', 'trans_cur'),
  'zeros in front of an id': approvalWith({ TRANS_RECORD_ID: '007' }),
  'zeros in front of an amount that is a number': approvalWith({ TRANS_VALUE: '01.0000' }),
  'an id with a sign': approvalWith({ TRANS_RECORD_ID: '-1' }),
  'an id with an exponent': approvalWith({ TRANS_RECORD_ID: '1e2' }),
  'a comma for the brace at the end': APPROVAL.replace('}', ','),
  'a comma before the brace at the end': APPROVAL.replace('}', ',}'),
  'no comma between two members': APPROVAL.replace(',', ''),
  'two braces at the end': `${APPROVAL}}`,
  'it twice': APPROVAL + APPROVAL,
  'a line end behind it': `${APPROVAL}\n`,
  'a sign before it': `;${APPROVAL}`,
  'a byte order mark': `\uFEFF${APPROVAL}`,
  'an escape': APPROVAL.replace('"Inv', '"\\u0049nv'),
  'an id that is a card number': approvalWith({ TRANS_RECORD_ID: '4111111111111111' }),
  'an id of twelve digits that may be a card number': approvalWith({ TRANS_RECORD_ID: MAESTRO }),
  'an id that JavaScript cannot count to': approvalWith({ TRANS_RECORD_ID: '79999999999999999' }),
  'ids that hide a card number': approvalWith({
    TRANS_REQUEST_ID: IN_HEX[0],
    TRANS_RECORD_ID: IN_HEX[1],
    TRANS_ORDER_ID: IN_HEX[2],
  }),
  'an amount that is a card number': approvalWith({ TRANS_VALUE: `"${MAESTRO}.0000"` }),
}

test.each(Object.entries(ODD_BODIES))('both ways say the same of %s', (_title, body) => {
  expectAgreement(body)
})

test.each([
  ['holds a code', 'CVV737', {}],
  ['is a card number', '4111111111111111', {}],
  ['is the password', 'PassWord1', {}],
  ['holds the name of the user', 'INVmerchantone', {}],
  ['is longer than what is kept of a text', 'A'.repeat(1_900), {}],
  ['hides a card number together with the amount', TWO_GROUPS_IN_BASE64, { TRANS_VALUE: `"${IN_HEX[0]}.0000"` }],
])('both ways say the same of an order id of the merchant that %s', (_title, xtlOrderId, values) => {
  const its = createScrub({ username: 'merchantone', secrets: ['password1'] })
  expectAgreement(approvalWith({ ...values, XTL_ORDER_ID: `"${xtlOrderId}"` }), its, { ...SENT, xtlOrderId })
})

test('both ways say the same of an order id that is not the one that was sent', () => {
  expectAgreement(approvalWith({ XTL_ORDER_ID: `"${MASKED}"` }))
  expectAgreement(approvalWith({ XTL_ORDER_ID: '"INV-7"' }))
})

/** What is hidden, and a member in which it stands. */
const HIDDEN_IN: ReadonlyArray<readonly [string, Partial<Hidden>, Readonly<Record<string, string>>]> = [
  ['a password of digits', { secrets: ['4711'] }, { TRANS_REQUEST_ID: '4711' }],
  ['a password that reads as an amount', { secrets: ['12.30'] }, {}],
  ['a password of three letters', { secrets: ['jpy'] }, { TRANS_CUR: '"JPY"' }],
  ['a password of a word', { secrets: ['Approved'] }, {}],
  ['a password of a part of a name', { secrets: ['id'] }, {}],
  ['a password of a longer part of a name', { secrets: ['trans_order'] }, {}],
  ['a password of more than a value', { secrets: ['"EUR"}'] }, {}],
  ['a password that escapes make of words', { secrets: ['%52EFUND'] }, {}],
  ['a second password', { secrets: [PASSWORD, 'REFUND'] }, {}],
  ['a password whose base64 is a part of a name', { secrets: ['AA\u0012L'] }, {}],
  ['a password whose base64 is one with a slash', { secrets: ['?I0\u0013'] }, {}],
  ['a password whose hexadecimal is an id', { secrets: ['acid'] }, { TRANS_RECORD_ID: '61636964' }],
  ['a password of a backslash alone', { secrets: ['\\'] }, {}],
  ['a name of digits', { username: '10000001' }, {}],
  ['a name of a word', { username: 'refund' }, {}],
  ['a code', { card: { number: '4111111111111111', code: '4711' } }, { TRANS_REQUEST_ID: '4711' }],
]

test.each(HIDDEN_IN)('both ways say the same where what is hidden is %s', (_title, hidden, values) => {
  expectAgreement(approvalWith(values), createScrub({ ...HIDDEN, ...hidden }))
})

test('both ways say the same of an approval that is the answer to a change in the vault', () => {
  expectAgreement(APPROVAL, scrub, { ...SENT, operation: 'VAULT_DELETE' })
})

test('no card number begins with 7', () => {
  expect(ISSUER_RANGES.filter(([from, to]) => from < 800_000 && to >= 700_000)).toEqual([])
})

// ───────────────────────────────────────────────────────────── Whatever comes

/** What a gateway of the hostile suite writes at once, as the body of its answer. */
function saidBy(play: (told: Told) => unknown): Buffer {
  const said: Buffer[] = []
  const write = (bytes: string | Buffer = '') => void said.push(Buffer.from(bytes as string))
  const entry = {
    ...({ transactionId: '4711', status: 'APPROVED', operation: 'REFUND', orderId: '5', xtlOrderId: null } as const),
    ...{ amountMinor: '1230', currency: 'EUR', fault: null },
  }
  const line = { socket: { destroyed: true, write }, execute: () => entry, write, end: write, reset() {} }
  void play({ json: APPROVAL, entry, line: line as unknown as Told['line'] })
  const bytes = Buffer.concat(said)
  const head = bytes.lastIndexOf('\r\n\r\n{')
  return bytes.subarray(head === -1 ? 0 : head + 4)
}

const MOST_CUT = 4_000

test('both ways say the same of every known body, and of each cut behind every byte', () => {
  const said = WRITINGS.flatMap((writing) => KINDS.map((kind) => jsonIn(writing, kind)))
  const bodies = [
    ...[APPROVAL, approvalOf(20_000, '10000001', '12.30'), ...Object.values(ODD_BODIES)].map((body) =>
      Buffer.from(body),
    ),
    ...Object.values(FAMILIES).flatMap((answers) => answers.map(({ play }) => saidBy(play))),
    ...[...hidingPlaces(APPROVAL), ...PLAIN_BODIES].map(({ bytes }) => bytes),
    ...said.flatMap((word) => ['XTL_ORDER_ID', 'TRANS_CUR'].map((name) => Buffer.from(approvalWith({ [name]: word })))),
    ...said.map((word) => Buffer.from(APPROVAL.replace('}', `,"API_ADVICE":${word}}`))),
  ]
  for (const body of bodies) {
    expectAgreement(body)
    for (let end = 0; end < Math.min(body.length, MOST_CUT); end++) expectAgreement(body.subarray(0, end))
  }
})

const id = fc.oneof(
  { arbitrary: fc.nat().map(String), weight: 9 },
  fc.stringMatching(/^7\d{11,16}$/),
  fc.stringMatching(/^(?:3\d){3,6}$/),
  fc.stringMatching(/^\d{1,17}$/),
)
const xtl = fc.oneof(
  { arbitrary: fc.stringMatching(/^[A-Za-z0-9]{1,32}$/), weight: 3 },
  fc.stringMatching(/^(?:CVV|cid|pin|INV)[0-9]{3,5}$/),
  fc.constantFrom('4111111111111111', MASKED, TWO_GROUPS_IN_BASE64, SENT.xtlOrderId as string),
)
const quoted = (text: fc.Arbitrary<string>) => text.map((inner) => JSON.stringify(inner))
const EXACT: Readonly<Record<string, fc.Arbitrary<string>>> = {
  REQUEST_ACTION: quoted(fc.constantFrom('CAPTURE', 'AUTH', 'REFUND', 'CANCEL')),
  TRANS_STATUS_NAME: fc.constant('"APPROVED"'),
  TRANS_VALUE: quoted(fc.stringMatching(/^\d{1,9}\.\d{4}$/)),
  TRANS_REQUEST_ID: id,
  TRANS_RECORD_ID: id,
  TRANS_ORDER_ID: id,
  XTL_ORDER_ID: quoted(xtl),
  TRANS_CUR: quoted(fc.constantFrom('EUR', 'USD', 'CVV')),
}
const oddValue = fc
  .constantFrom(...Object.values(EXACT_ONES).flat(), ...Object.values(ODD_ONES).flat())
  .chain((value) => fc.constantFrom(value, JSON.stringify(value)))

const members = fc
  .shuffledSubarray(
    MEMBERS.map(([name]) => name),
    { minLength: 5 },
  )
  .chain((names) => fc.tuple(...names.map((name) => fc.tuple(fc.constant(name), EXACT[name] as fc.Arbitrary<string>))))

type Change = (body: string, at: number, sign: string) => string
/** Mostly none. `at` is a place in the body, `sign` a sign or an odd value. */
const CHANGES: readonly Change[] = [
  ...Array.from({ length: 8 }, (): Change => (body) => body),
  (body, at) => body.slice(0, at),
  (body, at) => body.slice(0, at) + body.slice(at + 1),
  (body, at, sign) => body.slice(0, at) + sign + body.slice(at),
  (body, at, sign) => body.slice(0, at) + sign + body.slice(at + 1),
  (body, at) => body.slice(0, at) + body.charAt(at).toLowerCase() + body.slice(at + 1),
  (body, at) => body + body.slice(at),
  (body, _at, sign) => body.replace('}', `,"TRANS_CUR":${sign}}`),
  (body, _at, sign) => body.replace(/(?<=ID":)\d+/, sign),
]
const sign = fc.oneof(fc.constantFrom('\\', '"', ',', '}', '0', '\uFEFF', '\0', ' ', '\n', '7', 'é'), oddValue)

/** Mostly not in the body; or credentials that stand in it somewhere, or whose base64 or hexadecimal does. */
const WRITTEN_AS: ReadonlyArray<(part: string) => string> = [
  ...Array.from({ length: 8 }, () => () => PASSWORD),
  (part) => part,
  (part) => part.toLowerCase(),
  (part) => Buffer.from(part, 'base64').toString('latin1'),
  (part) => Buffer.from(part, 'hex').toString('latin1'),
]
const part = fc.record({
  from: fc.nat(300),
  length: fc.integer({ min: 1, max: 12 }),
  as: fc.constantFrom(...WRITTEN_AS),
})

test('both ways say the same of every answer, whatever is hidden', () => {
  const change = fc.constantFrom(...CHANGES)
  let short = 0
  fc.assert(
    fc.property(
      fc.record({ members, change, at: fc.nat(300), sign, secret: part, username: part, another: fc.nat(5) }),
      ({ members: said, change: changed, at, sign: put, secret, username, another }) => {
        const body = changed(written(said), at, put)
        const hide = ({ from, length, as }: typeof secret) => as(written(said).slice(from, from + length))
        const its = createScrub({ username: hide(username), secrets: [hide(secret)] })
        const own = another === 0 ? null : (new Map(said).get('XTL_ORDER_ID')?.slice(1, -1) ?? null)
        expectAgreement(body, its, { ...SENT, xtlOrderId: own })
        if (readPlainAnswer(Buffer.from(body), its, { ...SENT, xtlOrderId: own }) !== null) short++
      },
    ),
    { numRuns: tries(10_000) },
  )
  // Else this would say nothing of the short way.
  expect(short).toBeGreaterThan(100)
})
