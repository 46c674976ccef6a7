// Answers as no contract has them. Each is played twice: by a gateway that executed and says APPROVED in this way, and by
// one that did not and says DECLINED.

import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Execution } from '../fixtures/entries.ts'
import { httpAnswer, type Line } from './gateway.ts'

export type Status = 'APPROVED' | 'DECLINED' | 'FAILED' | 'IN_DOUBT' | 'PENDING'

export interface Told {
  /** The answer that the contract promises: APPROVED where it was executed, else DECLINED. */
  readonly json: string
  /** What the gateway remembers of it; null: nothing. */
  readonly entry: { -readonly [Field in keyof Execution]: Execution[Field] } | null
  readonly line: Line
}

type Play = (told: Told) => void | Promise<void>

export interface Answer extends Expected {
  readonly title: string
  readonly play: Play
  /** The deadline is short for it. */
  readonly slow: boolean
  /** It stops what comes behind it. */
  readonly alone: boolean
  /** It says that nothing was looked at: the gateway remembers nothing. */
  readonly refuses: boolean
}

/** What a row may be reported as, executed and not; none: such a gateway would break its contract. */
interface Expected {
  readonly executed: readonly Status[]
  readonly not: readonly Status[]
}

const BELIEVED: Expected = { executed: ['APPROVED'], not: ['DECLINED'] }
const DOUBT: Expected = { executed: ['IN_DOUBT'], not: ['IN_DOUBT'] }
/** HTTP leaves it to the reader: believed or not, never turned round. */
const EITHER: Expected = { executed: ['APPROVED', 'IN_DOUBT'], not: ['DECLINED', 'IN_DOUBT'] }
/** A refusal cannot say that it executed. */
const A_DECLINE: Expected = { executed: ['IN_DOUBT'], not: ['DECLINED'] }
/** The contract's own words for "not executed": the row goes again, and is executed then. */
const GOES_AGAIN: Expected = { executed: [], not: ['APPROVED'] }
const FAILS: Expected = { executed: [], not: ['FAILED'] }

function all(expected: Expected, plays: Readonly<Record<string, Play>>, over: Partial<Answer> = {}): Answer[] {
  return Object.entries(plays).map(([title, play]) => ({
    ...{ title, play, slow: false, alone: false, refuses: false },
    ...expected,
    ...over,
  }))
}

// ───────────────────────────────────────────────────────────── How bytes are said

type Bytes = (told: Told) => string | Buffer
type Headers = Readonly<Record<string, string>>

const body =
  (of: Bytes, status = 200, headers: Headers = {}): Play =>
  (told) =>
    told.line.write(httpAnswer(status, of(told), headers))
const raw =
  (of: Bytes): Play =>
  (told) =>
    told.line.write(of(told))
const rawThenEnd =
  (of: Bytes): Play =>
  (told) =>
    told.line.end(of(told))
const rawThenReset =
  (of: Bytes): Play =>
  (told) =>
    void told.line.socket.write(of(told), () => told.line.reset())

const head = (status: string, ...lines: readonly string[]) => [`HTTP/1.1 ${status}`, ...lines, '', ''].join('\r\n')
const lengthOf = (json: string, more = 0) => `content-length: ${json.length + more}`
const whole = ({ json }: Told) => head('200 OK', lengthOf(json)) + json
const half = (text: string) => text.slice(0, Math.floor(text.length / 2))
const chunk = (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`
const CHUNKED = 'transfer-encoding: chunked'
const GZIP = { 'content-encoding': 'gzip' }

/** The same with members in front of its own. */
const behind = (members: string): Bytes => {
  return ({ json }) => `{${members},${json.slice(1)}`
}
const statusTwice: Bytes = (told) => behind(`"TRANS_STATUS_NAME":"${told.entry?.status}"`)(told)
const deeper: Bytes = ({ json }) => `{"data":${json}}`
const listed: Bytes = ({ json }) => `[${json}]`
const twoOfIt: Bytes = ({ json }) => json + json
const smallNames: Bytes = ({ json }) => json.replace(/"[A-Z_]+":/g, (name) => name.toLowerCase())
const zipped: Bytes = ({ json }) => gzipSync(json)
const cut: Bytes = ({ json }) => half(json)

// ───────────────────────────────────────────────────────────── What is said

const TWO_THINGS = [
  ...all(DOUBT, {
    'the status twice': body(statusTwice),
    'the status twice, once as DECLINED': body(behind('"TRANS_STATUS_NAME":"DECLINED"')),
    'the status twice, once as APPROVED': body(behind('"TRANS_STATUS_NAME":"APPROVED"')),
    'the status under a plain and an escaped name': body(behind('"TRANS\\u005fSTATUS_NAME":"DECLINED"')),
    'the order id twice': body(behind('"TRANS_ORDER_ID":1')),
    'all of it in __proto__': body(({ json }) => `{"__proto__":${json}}`),
    'two objects': body(twoOfIt),
    'a list of it': body(listed),
    'all of it one level deeper': body(deeper),
    'all of it as a text': body(({ json }) => JSON.stringify(json)),
    'names in small letters': body(smallNames),
  }),
  ...all(BELIEVED, {
    'the status under an escaped name': body(({ json }) => json.replace('TRANS_S', 'TRANS\\u005fS')),
    'another status in __proto__': body(behind('"__proto__":{"TRANS_STATUS_NAME":"DECLINED"}')),
    'another status in a nested object': body(behind('"OTHER":{"TRANS_STATUS_NAME":"DECLINED"}')),
    'members named as those of every object': body(behind('"constructor":"x","toString":null,"hasOwnProperty":1')),
  }),
]

const NO_UTF_8 = Buffer.from([0xff, 0xfe])

const ENCODINGS = [
  ...all(BELIEVED, {
    'a byte order mark': body(({ json }) => `\uFEFF${json}`),
    'blank lines around it': body(({ json }) => `\r\n\t ${json}\r\n\r\n`),
    'bytes that are no UTF-8': body(({ json }) =>
      Buffer.concat([bytesOf('{"A":"'), NO_UTF_8, bytesOf(`",${json.slice(1)}`)]),
    ),
  }),
  ...all(DOUBT, {
    'UTF-16': body(({ json }) => Buffer.from(`\uFEFF${json}`, 'utf16le')),
    gzip: body(zipped, 200, GZIP),
    'gzip that does not say so': body(zipped),
    'a NUL behind it': body(({ json }) => `${json}\0`),
    'a comment behind it': body(({ json }) => `${json}<!-- cached -->`),
    'a comma too many': body(({ json }) => json.replace(/\}$/, ',}')),
    'a callback around it': body(({ json }) => `done(${json})`),
    'half of it, at its whole length': body(cut),
  }),
  ...all(EITHER, { 'plain text that says it is gzip': body(({ json }) => json, 200, GZIP) }),
]

function bytesOf(text: string): Buffer {
  return Buffer.from(text)
}

const statusAs = (write: (status: string) => unknown): Play =>
  body(({ json }) => json.replace(/"(APPROVED|DECLINED)"/, (_, status: string) => JSON.stringify(write(status))))

const STATUSES = all(DOUBT, {
  'a letter of another alphabet': statusAs((status) => status.replace('E', '\u0415')),
  'a zero width space': statusAs((status) => `${status}\u200b`),
  'small letters': statusAs((status) => status.toLowerCase()),
  'a NUL': statusAs((status) => `${status}\0`),
  'a blank': statusAs((status) => ` ${status}`),
  'a word more': statusAs((status) => `${status} PENDING`),
  'a number': statusAs(() => 1),
  true: statusAs(() => true),
  null: statusAs(() => null),
  'a list': statusAs((status) => [status]),
})

/** What is no id of the contract is kept in brackets, and cut: as that the row has it, and no other row may. */
const oddTransaction = (write: (id: string) => string): Play =>
  body(({ json, entry }) =>
    json.replace(/(?<=_REQUEST_ID":)\d+/, (id) => {
      const odd = write(id)
      if (entry !== null) entry.transactionId = `[${odd.slice(0, 57)}${odd.length > 57 ? '…' : ''}]`
      return odd
    }),
  )
const orderAs = (write: (id: string) => string): Play => body(({ json }) => json.replace(/(?<=S_ORDER_ID":)\d+/, write))
/** The money moved all right; the books know that the answer told another amount. */
const valueAs = (write: (value: string) => string): Play =>
  body(({ json, entry }) => {
    if (entry !== null) entry.fault = 'other-amount'
    return json.replace(/(?<=_VALUE":")[\d.]+/, write)
  })

const NUMBERS = [
  ...all(BELIEVED, {
    'a transaction id of 300 digits': oddTransaction((id) => id + '9'.repeat(281)),
    'a transaction id with a point': oddTransaction((id) => `${id}.5`),
    'a transaction id with an exponent': oddTransaction((id) => `${id}e2`),
  }),
  ...all(DOUBT, {
    'an order id with a point': orderAs((id) => `${id}.0`),
    'an order id with an exponent': orderAs((id) => `${id}e0`),
    'a negative order id': orderAs((id) => `-${id}`),
    'an order id beyond every number': orderAs((id) => id + '0'.repeat(400)),
    'another operation': body(({ json }) => json.replace('"REFUND"', '"CAPTURE"')),
  }),
  ...all(BELIEVED, { 'a negative amount': valueAs((value) => `-${value}`) }, { alone: true }),
]

const DEEP = 50_000
const many = (count: number): Headers => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, 'y']))

const SIZES = [
  ...all(BELIEVED, { '63 KB of digits': body(behind(`"NUMBER":${'7'.repeat(63_000)}`)) }),
  ...all(DOUBT, {
    'objects 50,000 deep': body(behind(`"DEEP":${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`)),
    'lists 50,000 deep': body(behind(`"DEEP":${'['.repeat(DEEP)}${']'.repeat(DEEP)}`)),
    '300 KB': body(({ json }) => json + ' '.repeat(300_000)),
    '300 KB in chunks': raw(
      ({ json }) => `${head('200 OK', CHUNKED)}${chunk(json)}${chunk(' '.repeat(300_000))}0\r\n\r\n`,
    ),
    'a header of 1 MB': body(({ json }) => json, 200, { 'x-long': 'x'.repeat(1_000_000) }),
    '5,000 headers': body(({ json }) => json, 200, many(5_000)),
  }),
]

const FRAMES = [
  ...all(BELIEVED, {
    'chunks and a trailer': raw(
      ({ json }) =>
        `${head('200 OK', CHUNKED, 'trailer: x')}${chunk(half(json))}${chunk(json.slice(half(json).length))}0\r\nx: y\r\n\r\n`,
    ),
    'HTTP/1.0 until the connection ends': rawThenEnd(({ json }) => `HTTP/1.0 200 OK\r\n\r\n${json}`),
  }),
  ...all(DOUBT, {
    'a chunk that is cut': rawThenEnd(({ json }) => head('200 OK', CHUNKED) + chunk(json).slice(0, -20)),
    'chunks without an end': rawThenEnd(({ json }) => head('200 OK', CHUNKED) + chunk(json)),
    'a chunk of no size': rawThenEnd(({ json }) => `${head('200 OK', CHUNKED)}zz\r\n${json}\r\n0\r\n\r\n`),
    'a status line of HTTP/2': rawThenEnd((told) => whole(told).replace('HTTP/1.1', 'HTTP/2')),
    'no status line': rawThenEnd(({ json }) => json),
    'a length beyond the end': rawThenEnd(({ json }) => head('200 OK', lengthOf(json, 9)) + json),
    'a length before the end': rawThenEnd(({ json }) => head('200 OK', lengthOf(json, -9)) + json),
    'two lengths that differ': rawThenEnd(({ json }) => head('200 OK', lengthOf(json), 'content-length: 2') + json),
    'a negative length': rawThenEnd(({ json }) => head('200 OK', 'content-length: -1') + json),
    'a header line without a colon': rawThenEnd((told) => whole(told).replace('\r\n', '\r\nhello there\r\n')),
  }),
  ...all(EITHER, {
    'two lengths that agree': rawThenEnd(({ json }) => head('200 OK', lengthOf(json), lengthOf(json)) + json),
    'a length and chunks': rawThenEnd(
      ({ json }) => `${head('200 OK', lengthOf(json), CHUNKED)}${chunk(json)}0\r\n\r\n`,
    ),
    'line ends without a carriage return': rawThenEnd((told) => whole(told).replaceAll('\r\n', '\n')),
  }),
]

const interim = (line: string, times = 1): Play => raw((told) => `HTTP/1.1 ${line}\r\n\r\n`.repeat(times) + whole(told))
const perCode = (codes: readonly number[], play: (code: number) => Play) =>
  Object.fromEntries(codes.map((code) => [`HTTP ${code}`, play(code)]))
const saying = (code: number) => body(({ json }) => json, code)
const silently = (code: number) => body(() => '', code)
const SELF = { location: '/api/transaction/api' }

const CODES = [
  ...all(BELIEVED, {
    '102 before it': interim('102 Processing'),
    '103 before it, 500 times': interim('103 Early Hints', 500),
    ...perCode([201, 202, 206, 299], saying),
  }),
  ...all(EITHER, { '100 before it': interim('100 Continue'), '199 before it': interim('199 Odd') }),
  ...all(DOUBT, {
    '101 before it': interim('101 Switching Protocols'),
    '204': raw(() => head('204 No Content')),
    '205': raw(() => head('205 Reset', 'content-length: 0')),
    '304': raw(() => head('304 Not Modified')),
    ...perCode([301, 302, 303, 307, 308], (code) => body(({ json }) => json, code, SELF)),
    ...perCode([500, 502, 503, 504, 599, 600, 999], saying),
  }),
  ...all(A_DECLINE, perCode([400, 404, 408, 409, 413, 421, 425, 429, 451], saying)),
]

const WITHOUT_A_WORD = [
  ...all(DOUBT, perCode([408, 409, 421, 425, 451, 499, 500, 503], silently)),
  ...all(FAILS, perCode([400, 413, 422], silently), { refuses: true }),
  ...all(GOES_AGAIN, perCode([429], silently), { refuses: true }),
]

/** What cannot be read proves nothing, and what was not executed may be called anything but executed. */
const UNREADABLE: Expected = { executed: ['IN_DOUBT'], not: ['IN_DOUBT', 'DECLINED', 'FAILED'] }

const UNREADABLE_REFUSALS = all(UNREADABLE, {
  '429, the status twice': body(statusTwice, 429),
  '429, gzip': body(zipped, 429, GZIP),
  '429, cut': body(cut, 429),
  '429, a list of it': body(listed, 429),
  '400, cut': body(cut, 400),
  '400, a list of it': body(listed, 400),
  '400, one level deeper': body(deeper, 400),
  '400, names in small letters': body(smallNames, 400),
  '400, two objects': body(twoOfIt, 400),
  '422, gzip': body(zipped, 422, GZIP),
  '422, the status twice': body(statusTwice, 422),
  '401, gzip': body(zipped, 401, GZIP),
  '403, gzip': body(zipped, 403, GZIP),
})

const ENDS = [
  ...all(BELIEVED, { 'drop by drop': (told) => drip(told, whole(told), 1) }),
  ...all(EITHER, { 'a reset behind the whole of it': rawThenReset(whole) }),
  ...all(DOUBT, {
    'a reset': ({ line }) => line.reset(),
    'a reset behind the header': rawThenReset(({ json }) => head('200 OK', lengthOf(json))),
    'a reset in the middle': rawThenReset((told) => half(whole(told))),
    'an end without a word': ({ line }) => line.end(),
    'an end in the header': rawThenEnd(() => 'HTTP/1.1 200 OK\r\ncontent-'),
    'an end behind the header': rawThenEnd(({ json }) => head('200 OK', lengthOf(json))),
    'an end behind a header without a length': rawThenEnd(() => head('200 OK')),
    'half of it without a length': rawThenEnd(({ json }) => head('200 OK') + half(json)),
  }),
]

const DEADLINES = all(
  DOUBT,
  {
    silence: () => {},
    'a header and silence': raw(({ json }) => head('200 OK', lengthOf(json))),
    'no end behind a body without a length': raw(({ json }) => head('200 OK') + json),
    'a byte now and then': (told) => drip(told, whole(told), 100),
  },
  { slow: true },
)

async function drip({ line }: Told, bytes: string, everyMs: number): Promise<void> {
  for (const byte of bytes) {
    if (line.socket.destroyed) return
    line.write(byte)
    await sleep(everyMs)
  }
}

export const FAMILIES: Readonly<Record<string, readonly Answer[]>> = {
  'an answer that says two things': TWO_THINGS,
  'an odd encoding': ENCODINGS,
  'a status that is none': STATUSES,
  'an odd number': NUMBERS,
  'far too much': SIZES,
  'an odd frame': FRAMES,
  'a status with any code': CODES,
  'a code without a word': WITHOUT_A_WORD,
  'a refusal that cannot be read': UNREADABLE_REFUSALS,
  'a connection that ends': ENDS,
  'no answer in time': DEADLINES,
}
