// What must never get past the finished line of the log, and that the line stays JSON.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Fault } from '../src/domain/fault.ts'
import { createLog, type Log } from '../src/log.ts'
import { codePoint } from './fixtures/code-points.ts'

const PAN = '4111111111111111'

/** A log, and the lines that it has written. */
function openTestLog(secrets: readonly string[] = []): { log: Log; lines: string[] } {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  return { log: createLog({ level: 'trace', hidden: { secrets, usernames: [] }, destination }), lines }
}

/** The one line that `write` makes, as text and as what it says. */
function lineOf(write: (log: Log) => void, secrets: readonly string[] = []) {
  const { log, lines } = openTestLog(secrets)
  write(log)
  expect(lines).toHaveLength(1)
  const text = lines[0] as string
  expect(text).toMatch(/^[^\n]*\n$/)
  return { text, fields: JSON.parse(text) }
}

describe('a card number never gets past the line', () => {
  test.each<[where: string, write: (log: Log) => void]>([
    ['the message', (log) => log.info(`card ${PAN} was sent`)],
    ['the message, in groups', (log) => log.info('card 4111 1111 1111 1111')],
    ['the message, after a control character', (log) => log.info(`\0${PAN}`)],
    ['the message, after quotes and backslashes', (log) => log.info(`"\\${PAN}\\"`)],
    ['a filled-in message', (log) => log.info('card %s', PAN)],
    ['an error', (log) => log.error(new Error(`bad card ${PAN}`))],
    ['the cause of an error', (log) => log.error(new Error('bad', { cause: new Error(PAN) }))],
    ['an error under another key', (log) => log.error({ reason: new Error(PAN) }, 'bad')],
    ['a nested array', (log) => log.info({ rows: [{ cells: ['x', [PAN]] }] })],
    ['an unquoted number', (log) => log.info({ card: Number(PAN), list: [Number(PAN)] })],
    ['a bigint', (log) => log.info({ card: BigInt(PAN) })],
    ['a key', (log) => log.info({ [PAN]: 1, deep: { [`"${PAN}`]: 2 } })],
    ['the fields of a child', (log) => log.child({ card: PAN }).info('hello')],
  ])('in %s', (_, write) => {
    const { text } = lineOf(write)
    expect(text.replace(/[ -]/g, '')).not.toContain(PAN)
    expect(text).toContain('411111')
  })

  test('whatever stands around it', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), fc.jsonValue(), (around, value) => {
        // A longer run of digits, in any script, or a decimal, is another number.
        fc.pre(!/[\p{Nd}.]$/u.test(around.normalize('NFKC')))
        const { text, fields } = lineOf((log) => log.info({ value, text: `${around}${PAN}` }, `${around}${PAN}`))
        expect(text).not.toContain(PAN)
        expect(fields.msg).toBe(fields.text)
      }),
    )
  })
})

test.each<[where: string, write: (log: Log) => void]>([
  ['the message', (log) => log.info('answered: cvv=123 is wrong')],
  ['an error', (log) => log.error(new Error('security code 123'))],
  ['a nested text', (log) => log.info({ echo: [{ body: '{"card_cvv":"123"}' }] })],
])('a security code never gets past the line in %s', (_, write) => {
  const { text } = lineOf(write)
  expect(text).not.toMatch(/(?:cvv|code)\W{1,8}123/)
  expect(text).toContain('000')
})

test('a terminal that shows the line obeys nothing in it', () => {
  const { text, fields } = lineOf((log) => log.info({ 'k\u202e': 'a\u009b2Kb' }, 'c\u2028d'))
  expect(text.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u)
  expect(fields).toMatchObject({ 'k\u202e': 'a\u009b2Kb', msg: 'c\u2028d' })
})

describe('a secret never gets past the line', () => {
  test.each(['open sesame', 'pa"ss\\word', 'line\nbreak', 'ümlaut & more=1', '$& $1', '12345678'])('%j', (secret) => {
    const { text, fields } = lineOf(
      (log) => log.error({ body: `p=${encodeURIComponent(secret)}`, secret, [secret]: 1 }, `sent ${secret}!`),
      [secret],
    )
    expect(text).not.toContain(JSON.stringify(secret).slice(1, -1))
    expect(text).not.toContain(encodeURIComponent(secret))
    expect(fields).toMatchObject({ msg: 'sent [secret]!', secret: '[secret]', body: 'p=[secret]' })
  })

  test('as a form writes it', () => {
    const secret = 'open sesame!'
    const body = new URLSearchParams({ req_password: secret }).toString()
    expect(lineOf((log) => log.info(body), [secret]).fields.msg).toBe('req_password=[secret]')
  })

  test('as a number', () => {
    expect(lineOf((log) => log.info({ n: [12345678, 5] }), ['12345678']).fields.n).toEqual(['[secret]', 5])
  })

  test('nor a longer one that holds a shorter one', () => {
    expect(lineOf((log) => log.info('sesame street'), ['sesame', 'sesame street']).fields.msg).toBe('[secret]')
  })

  test('even one that the line itself is made of leaves JSON', () => {
    for (const secret of ['"msg', '":"', 'level', '"},{"']) lineOf((log) => log.info({ a: 'b' }, 'hello'), [secret])
  })
})

test('of a username no more than its beginning gets past the line', () => {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const hidden = { secrets: ['api-key-4711-and-more'], usernames: ['api-key-4711', '47114711'] }
  const log = createLog({ level: 'trace', hidden, destination })
  log.info({ user: 'api-key-4711', n: 47114711 }, 'api-key-4711 and api-key-4711-and-more')
  expect(JSON.parse(lines[0] as string)).toMatchObject({ user: 'api-…11', n: '47…', msg: 'api-…11 and [secret]' })
})

describe('errors', () => {
  test('are written with code, message, stack and every cause', () => {
    const root = Object.assign(new Error('no route'), { code: 'EHOSTUNREACH' })
    const fault = new Fault('unavailable', 'The gateway cannot be reached.', { cause: root })
    const { fields } = lineOf((log) => log.error(fault))
    expect(fields.err).toMatchObject({
      type: 'Fault',
      code: 'unavailable',
      message: 'The gateway cannot be reached.',
      stack: expect.stringContaining('log.test.ts'),
      cause: { type: 'Error', code: 'EHOSTUNREACH', message: 'no route', stack: expect.any(String) },
    })
    expect(fields.msg).toBe('The gateway cannot be reached.')
  })

  test('whose causes go round in a circle come to an end', () => {
    const error = new Error('round')
    error.cause = error
    expect(lineOf((log) => log.error(error)).fields.err.cause.cause.message).toBe('round')
  })
})

test('a plain line is not touched', () => {
  const { fields } = lineOf((log) => log.info({ batch: 'b1', orderId: '000123', atMs: 1_763_634_551_234 }, 'hello'))
  expect(fields).toMatchObject({
    level: 'info',
    pid: process.pid,
    batch: 'b1',
    orderId: '000123',
    atMs: 1_763_634_551_234,
  })
  expect(fields.time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
})

test('nothing is written below the level', () => {
  const lines: string[] = []
  const log = createLog({ level: 'warn', destination: { write: (line) => void lines.push(line) } })
  log.info('quiet')
  log.warn('loud')
  expect(lines).toHaveLength(1)
})
