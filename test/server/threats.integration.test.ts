// What an attacker tries at the door: names, forms, addresses, keys, paths, and what is left behind in logs.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { readCheck } from '../../src/app/checks.ts'
import { createLog } from '../../src/log.ts'
import { assertMayListen, hostsOf } from '../../src/server/hosts.ts'
import { buildServer, listen } from '../../src/server/server.ts'
import { CERTIFICATE, KEY } from '../fixtures/certificate.ts'
import { putCheck } from '../fixtures/checks.ts'
import { CLERK, claimNamed, listOf, refund, settle, submit, work } from '../fixtures/ledgers.ts'
import { openServed, served, useServed } from '../fixtures/served.ts'

useServed()

const INSTRUCTION = {
  ...{ schema_version: 1, merchant: 'shop', reference: 'N', transaction_type: 'REFUND', amount: '1.50' },
  ...{ request_currency: 'EUR', request_ref_po_id: '77' },
}

/** What is answered to bytes as they are; the first line of it. */
async function raw(url: string, head: string): Promise<string> {
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(`${head}\r\nConnection: close\r\n\r\n`)
  return (await text(socket)).split('\r\n')[0] ?? ''
}

test.each([
  ['another name', 'GET /livez HTTP/1.1\r\nHost: evil.example', 421],
  ['a name that ends like ours', 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1.evil.example', 421],
  ['none', 'GET /livez HTTP/1.1\r\nHost:', 421],
  ['no line for one', 'GET /livez HTTP/1.1', 421],
  ['two', 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example', 421],
  ['one with a user', 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1@evil.example', 421],
  ['one in the request line', 'GET http://evil.example/livez HTTP/1.1\r\nHost: 127.0.0.1', 421],
  ['one of a proxy that nobody trusts', 'GET /livez HTTP/1.1\r\nHost: x\r\nX-Forwarded-Host: 127.0.0.1', 421],
  ['ours', 'GET /livez HTTP/1.1\r\nHost: LOCALHOST:7800', 200],
])('it answers only to its own name: %s', async (_, head, status) => {
  const { url } = await listen(served.server, { host: '127.0.0.1', port: 0 })
  expect(await raw(url, head)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
})

test('behind a proxy it answers to the public name as well, and to no other', () => {
  const isHost = hostsOf({
    host: '10.0.0.5',
    certificate: null,
    publicUrl: 'https://Pay.example',
    trustedProxies: ['10.0.0.0/8'],
  })
  expect(['pay.example', '10.0.0.5', 'localhost'].map(isHost)).toEqual([true, true, true])
  expect(['evil.example', '10.0.0.6', '0.0.0.0'].map(isHost)).toEqual([false, false, false])
})

test('under which name it was asked only Host says, whatever a proxy of ours adds', async () => {
  const proxied = await openServed({ trustedProxies: ['10.0.0.0/8'] })
  const ask = (host: string, said: string) =>
    proxied.ask('GET', '/livez', { from: '10.0.0.1', headers: { host, 'x-forwarded-host': said } })
  expect((await ask('evil.example', 'localhost')).statusCode).toBe(421)
  const answer = await ask('localhost', 'evil.example')
  expect([answer.statusCode, JSON.stringify([answer.headers, answer.body])]).toEqual([
    200,
    expect.not.stringContaining('evil'),
  ])
  await proxied.close()
})

test.each([
  ['127.0.0.1', null, [], true],
  ['::1', null, [], true],
  ['0.0.0.0', null, [], false],
  ['10.0.0.5', null, ['10.0.0.0/8'], false],
  ['10.0.0.5', 'https://pay.example', [], false],
  ['10.0.0.5', 'https://pay.example', ['10.0.0.0/8'], true],
])('on %s with %s behind %j it may listen: %s', (host, publicUrl, trustedProxies, may) => {
  const listening = () => assertMayListen({ host, certificate: null, publicUrl, trustedProxies })
  if (may) listening()
  else expect(listening).toThrow(/plain text\. Nothing was started/)
})

test.each([
  'text/plain',
  'application/json\ta',
  'application/json garbage',
  'application/json; charset=utf-7',
  'application/json; charset=utf-8; x=y',
  'application/jsonp',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=application/json',
  '',
])('a body of type "%s" is not read', async (type) => {
  const { key } = await served.key()
  const answer = await served.ask('POST', '/v1/instructions', {
    ...{ key, body: '{}', headers: { 'content-type': type, 'idempotency-key': 'x' } },
  })
  expect([answer.statusCode, answer.said.code]).toEqual([415, 'media_type_unsupported'])
})

test('a key that was revoked is refused from the next request on, by whichever process it was revoked', async () => {
  const { id, key } = await served.key()
  expect((await served.ask('GET', '/v1/batches', { key })).statusCode).toBe(200)
  await served.ledger.revokeKey(id, 'lost', CLERK, Date.now())
  expect((await served.ask('GET', '/v1/batches', { key })).said.code).toBe('key_revoked')
})

test('a key with one letter changed anywhere is none, and none is told from one that was revoked', async () => {
  const { id, key } = await served.key()
  await served.ledger.revokeKey(id, 'lost', CLERK, Date.now())
  for (const at of key.split('').keys()) {
    const letter = key[at] === 'a' ? 'b' : 'a'
    const wrong = `${key.slice(0, at)}${letter}${key.slice(at + 1)}`
    expect((await served.ask('GET', '/v1/batches', { key: wrong })).said.code).toBe('key_unknown')
  }
  for (const authorization of [key, `Basic ${key}`, `Bearer  ${key}`, 'Bearer', `Bearer ${key} x`])
    expect((await served.ask('GET', '/v1/batches', { headers: { authorization } })).statusCode).toBe(401)
})

test('another secret under the id of a key is none, however right its checksum is', async () => {
  const { id, key } = await served.key()
  const forged = signed(`trk_${id}_${'A'.repeat(43)}`)
  expect(signed(key.slice(0, -6))).toBe(key)
  expect((await served.ask('GET', '/v1/batches', { key: forged })).said.code).toBe('key_unknown')
})

/** With the checksum that anybody can make. */
function signed(text: string): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let rest = crc32(text)
  let checksum = ''
  for (; checksum.length < 6; rest = Math.floor(rest / 62)) checksum = `${digits[rest % 62]}${checksum}`
  return text + checksum
}

test('it speaks TLS with its certificate, answers to the names of that, and says so', async () => {
  const parts = { host: '0.0.0.0', certificate: CERTIFICATE, publicUrl: null, trustedProxies: [] }
  assertMayListen(parts)
  const server = await buildServer({ ...served.door, isHost: hostsOf(parts) }, { cert: CERTIFICATE, key: KEY })
  const { url } = await listen(server, { host: '127.0.0.1', port: 0 })
  expect(url).toMatch(/^https:/)
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = request({ host: 'localhost', port: new URL(url).port, path: '/livez', ca: CERTIFICATE, family: 4 })
    asked.once('response', resolve).once('error', reject).end()
  })
  expect([answer.statusCode, answer.headers['strict-transport-security']]).toEqual([
    200,
    expect.stringMatching(/max-age/),
  ])
  answer.resume()
  await server.close()
})

test('without TLS of its own it answers its proxies and this machine alone, whoever they ask for', async () => {
  const proxied = await openServed({ trustedProxies: ['10.0.0.0/8'] })
  const { key } = await proxied.key()
  const status = async (from: string, path = '/v1/batches') =>
    (await proxied.ask('GET', path, { key, from, headers: { 'x-forwarded-for': '10.0.0.1' } })).statusCode
  for (const from of ['10.0.0.1', '::ffff:10.0.0.1', '127.0.0.1', '::1']) expect(await status(from), from).toBe(200)
  for (const from of ['192.0.2.7', '::ffff:192.0.2.7', '2001:db8::1']) expect(await status(from), from).toBe(421)
  expect(await status('192.0.2.7', '/nowhere')).toBe(421)
  const encrypted = await buildServer(proxied.door, { cert: CERTIFICATE, key: KEY })
  const asked = { url: '/livez', headers: { host: 'localhost' }, remoteAddress: '192.0.2.7' }
  expect((await encrypted.inject(asked)).statusCode).toBe(200)
  await encrypted.close()
  await proxied.close()
})

test('where it comes from is what its socket says, unless a proxy of ours says otherwise', async () => {
  const proxied = await openServed({ trustedProxies: ['10.0.0.0/8'] })
  const { key: bound } = await proxied.key({ networks: ['192.0.2.0/24', '2001:db8::/32'] })
  const { key: plain } = await served.key({ networks: ['192.0.2.0/24'] })
  const status = async (by: typeof served, key: string, from: string, said?: string) =>
    (
      await by.ask('GET', '/v1/batches', {
        ...{ key, from },
        headers: said === undefined ? {} : { 'x-forwarded-for': said, 'x-real-ip': said, forwarded: `for=${said}` },
      })
    ).statusCode
  expect(await status(served, plain, '192.0.2.7')).toBe(200)
  expect(await status(served, plain, '::ffff:192.0.2.7')).toBe(200)
  expect(await status(served, plain, '198.51.100.1', '192.0.2.7')).toBe(403)
  expect(await status(proxied, bound, '198.51.100.1', '192.0.2.7')).toBe(421)
  expect(await status(proxied, bound, '10.0.0.1', '192.0.2.7')).toBe(200)
  expect(await status(proxied, bound, '10.0.0.1', '2001:db8::1')).toBe(200)
  expect(await status(proxied, bound, '10.0.0.1', '192.0.2.7, 198.51.100.1')).toBe(403)
  expect(await status(proxied, bound, '10.0.0.1', '198.51.100.1, 192.0.2.7')).toBe(200)
  expect(await status(proxied, bound, '10.0.0.1', 'nonsense')).toBe(403)
  await proxied.close()
})

test.each([
  '..%2f..%2fledger.db',
  '%00',
  '%2e%2e',
  'a%0d%0aX-Evil:%201',
  'x'.repeat(301),
  '%u2028',
  '%E2%80%A8',
  '*',
  "'--",
])('an id such as %s finds nothing, and adds no header', async (id) => {
  const { key } = await served.key()
  for (const path of [`/v1/batches/${id}`, `/v1/batches/${id}/results.csv`, `/v1/instructions/${id}/history`]) {
    const answer = await served.ask('GET', path, { key })
    expect([400, 404]).toContain(answer.statusCode)
    expect(answer.headers['x-evil']).toBeUndefined()
  }
})

/** Line ends, what terminals obey, and what turns a line round. */
const BREAKS = [
  '\r\nX-Evil: 1',
  '\nX-Evil: 1',
  '\u2028X-Evil: 1',
  '\u0085x',
  '\x1b[31mred',
  '\x9b2K',
  '\u202eback',
  '\0',
]
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const BREAKING = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

test.each(BREAKS)('%j in whatever is sent makes one line of the log, and no header', async (bad) => {
  const lines: string[] = []
  const log = createLog({ level: 'trace', destination: { write: (line) => void lines.push(line) } })
  Object.assign(served.app, { log })
  const batch = await submit(served.ledger, served.accounts.shop, [refund('A')], {
    ...{ nowMs: Date.now(), fileSha256: 'dd'.repeat(32), fileName: `refunds${bad}.csv` },
  })
  const { key } = await served.key()
  const own = encodeURIComponent(bad)
  const latin = Buffer.from(bad).toString('latin1')
  const named = { 'idempotency-key': 'k1' }
  const answers = [
    await served.ask('GET', `/v1/batches/${own}`, { key }),
    await served.ask('GET', `/v1/instructions?reference=${own}`, { key }),
    await served.ask('GET', `/v1/batches?cursor=${own}`, { key }),
    await served.ask('GET', `/${own}`, { key }),
    await served.ask('GET', `/v1/batches/${batch}/results.csv`, { key }),
    await served.ask('GET', `/v1/batches/${batch}/results.xlsx`, { key }),
    await served.ask('GET', '/v1/batches', { key, headers: { 'user-agent': latin, referer: latin, cookie: latin } }),
    await served.ask('GET', '/v1/batches', { headers: { authorization: `Bearer ${latin}` } }),
    await served.ask('POST', `/v1/batches/${batch}/pause`, { key, body: { reason: bad }, headers: named }),
    await served.ask('POST', '/v1/instructions', {
      ...{ key, body: { ...INSTRUCTION, reference: `r${bad}` }, headers: { 'idempotency-key': latin } },
    }),
    await served.ask('POST', `/v1/files?name=${own}`, { key, body: 'a', headers: { 'content-type': 'text/csv' } }),
  ]
  for (const { headers } of answers) {
    expect(headers['x-evil']).toBeUndefined()
    expect(Object.values(headers).join('')).not.toMatch(BREAKING)
  }
  const requests = lines.filter((line) => JSON.parse(line).msg === 'request')
  expect(requests).toHaveLength(answers.length)
  for (const line of lines) expect(line.replace(/\n$/, '')).not.toMatch(BREAKING)
})

test('a beginning of an id is no id', async () => {
  const batch = await submit(served.ledger, served.accounts.shop, [refund('A')])
  const { key } = await served.key()
  expect((await served.ask('GET', `/v1/batches/${batch.slice(0, 6)}`, { key })).statusCode).toBe(404)
})

test('no key and nothing that was searched for is in the log or in the ledger', async () => {
  const lines: string[] = []
  const told = (details: object, message: string) => void lines.push(JSON.stringify({ ...details, message }))
  const log = { debug: told, info: told, warn: told, error: told }
  Object.assign(served.app, { log: Object.assign(Object.create(served.app.log), log) })
  const { key } = await served.key()
  const asked = { key, headers: { 'user-agent': 'a\u2028b', 'x-request-id': 'mine' } }
  await served.ask('GET', '/v1/instructions?reference=HIDDEN-REFERENCE', asked)
  await served.ask('GET', '/v1/batches/HIDDEN-REFERENCE', asked)
  await served.ask('POST', '/v1/instructions', { ...asked, body: INSTRUCTION })
  await served.ask('POST', '/v1/instructions', {
    ...{ key, body: INSTRUCTION, headers: { 'idempotency-key': 'HIDDEN-4111111111111111' } },
  })
  expect(lines.length).toBeGreaterThan(2)
  const all = lines.join('\n')
  const { dataDir } = served.app.config
  const there = readdirSync(dataDir, { withFileTypes: true }).filter((entry) => entry.isFile())
  const bytes = there.map(({ name }) => readFileSync(join(dataDir, name)).toString('latin1'))
  const secret = key.slice(13)
  expect(all).not.toMatch(/HIDDEN|mine|\u2028|trk_/)
  const isTold = (one: string) => one.includes(secret) || one.includes(secret.slice(0, 20)) || one.includes('HIDDEN')
  expect([all, ...bytes].filter(isTold)).toEqual([])
})

test('of a text that is too long nothing else is told, as nothing else was looked at', async () => {
  const batch = await submit(served.ledger, served.accounts.shop, [refund('A')])
  const { key } = await served.key()
  const { statusCode, said } = await served.ask('POST', `/v1/batches/${batch}/pause`, {
    ...{ key, headers: { 'idempotency-key': 'long' }, body: { reason: '%B4111111111111111^\n'.repeat(100) } },
  })
  expect([statusCode, said.errors.map((one: { pointer: string }) => one.pointer)]).toEqual([400, ['/reason']])
})

test('a body nested without end is refused, and nothing fails of it', async () => {
  const { key } = await served.key()
  const { statusCode, said } = await served.ask('POST', '/v1/instructions', {
    ...{ key, headers: { 'idempotency-key': 'deep' }, body: '['.repeat(100_000) + ']'.repeat(100_000) },
  })
  expect([statusCode, said.code, said.detail]).toEqual([400, 'json_invalid', expect.stringContaining('32 levels')])
})

test('a repeated request has its effect once, in whichever spelling of its path it comes again', async () => {
  const batch = await submit(served.ledger, served.accounts.shop, [refund('A')])
  const { key } = await served.key()
  const pause = (path: string, reason: string) =>
    served.ask('POST', `/v1/batches/${path}/pause`, { key, headers: { 'idempotency-key': 'p' }, body: { reason } })
  expect((await pause(batch, 'look')).statusCode).toBe(200)
  const spelled = `%3${batch[0]}${batch.slice(1)}`
  expect((await pause(spelled, 'look')).headers['idempotent-replayed']).toBe('true')
  expect((await pause(spelled, 'another')).said.code).toBe('idempotency_key_reused')
})

describe('a key that is refused', () => {
  const HIS = '192.0.2.7'
  const refusals = async () =>
    (await listOf(served.ledger.log(null)))
      .filter(({ what }) => what === 'key-refused')
      .map(({ by, details }) => [by, details])
  const ask = (key: string, from = HIS, path = '/v1/batches') => served.ask('GET', path, { key, from })

  test('leaves an act with its id and address, whatever it is refused for', async () => {
    const near = await served.key({ name: 'near', networks: ['10.0.0.0/8'], scopes: ['batches:read'] })
    const gone = await served.key({ name: 'gone' })
    await served.ledger.revokeKey(gone.id, 'lost', CLERK, Date.now())
    await ask(near.key)
    await ask(near.key, '10.0.0.1', '/v1/audit')
    await ask(gone.key)
    await ask(signed(`trk_${near.id}_${'A'.repeat(43)}`))
    await ask('trk_made-up')
    await served.ask('GET', '/v1/batches', { from: HIS })
    expect(await refusals()).toEqual([
      [`key near (${near.id}) from ${HIS}`, { why: 'network_refused', key: near.id, address: HIS, times: 1 }],
      [
        `key near (${near.id}) from 10.0.0.1`,
        { why: 'scope_missing', key: near.id, scope: 'audit:read', address: '10.0.0.1', times: 1 },
      ],
      [`key gone (${gone.id}) from ${HIS}`, { why: 'key_revoked', key: gone.id, address: HIS, times: 1 }],
      ['worker', { why: 'key_unknown', key: near.id, address: HIS, times: 1 }],
      ['worker', { why: 'key_unknown', key: null, address: HIS, times: 1 }],
    ])
  })

  test('leaves few acts, however often it comes and from however many addresses', async () => {
    for (let i = 0; i < 60; i += 1) await ask('trk_made-up')
    for (let i = 0; i < 160; i += 1) await ask('trk_made-up', `2001:db8::${i.toString(16)}`)
    const acts = (await refusals()).map(([, details]) => details)
    expect(acts.slice(0, 3)).toMatchObject([{ times: 1 }, { times: 5 }, { times: 50 }])
    expect(acts.slice(3, 102)).toMatchObject(Array.from({ length: 99 }, () => ({ times: 1 })))
    expect(acts.slice(102)).toMatchObject([
      { times_of_all_others: 1 },
      { times_of_all_others: 5 },
      { times_of_all_others: 50 },
    ])
    const { id, key } = await served.key({ scopes: ['batches:read'] })
    await ask(key, HIS, '/v1/audit')
    expect((await refusals()).at(-1)).toMatchObject([expect.any(String), { key: id, times: 1 }])
  })

  test.each([
    ['a header of no form', 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nbad header: x', 400],
    ['no HTTP', 'tea', 400],
    ['two lengths', 'POST /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2', 400],
    ['headers too long', `GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(17_000)}`, 431],
    ['an expectation', 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: tea', 417],
  ])('what never becomes a request is a line of the log as well: %s', async (_, head, status) => {
    const lines = logged()
    const { url } = await listen(served.server, { host: '127.0.0.1', port: 0 })
    expect(await raw(url, head)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(lines).toMatchObject([{ message: 'request', address: '127.0.0.1', key: null, status }])
  })

  /** The lines of the log from now on. */
  function logged(): readonly object[] {
    const lines: object[] = []
    const told = (details: object, message: string) => void lines.push({ ...details, message })
    Object.assign(served.app, { log: Object.assign(Object.create(served.app.log), { info: told }) })
    return lines
  }

  test('and every other answer from 400 on is a line of the log with its address and the id of its key', async () => {
    const lines = logged()
    const { id, key } = await served.key({ scopes: ['batches:read'] })
    await ask(key)
    await ask(key, HIS, '/v1/batches/none')
    await ask(key, HIS, '/v1/audit')
    await ask(key, HIS, '/nowhere')
    await ask(key, HIS, '/%')
    await ask('trk_made-up')
    const of = { message: 'request', address: HIS }
    expect(lines).toMatchObject([
      { ...of, status: 404, key: id },
      { ...of, status: 403, key: id },
      { ...of, status: 404, key: null },
      { ...of, status: 404, key: null },
      { ...of, status: 401, key: null },
    ])
  })
})

const CAUSE = { rows: 1, problem: 'no amount', remedy: 'write one', value: 'a name' }
const FOUND = {
  ...{ ok: false, rows: 1, accepted: 0, duplicate: 0, invalid: 1, lookalikes: 0, above_limit: 0, held_by_doubt: 0 },
  ...{
    declined_cards: 0,
    late_captures: 0,
    old_refunds: 0,
    faults_total: 1,
    totals: [],
    totals_read: [],
    refusals: [],
  },
}

test('names that a service reads leave an act, as in the console, unless it handed them in', async () => {
  const { ledger, accounts, spool } = served
  const [own, other] = [await served.key(), await served.key({ name: 'other' })]
  const batch = await submit(ledger, accounts.shop, [refund('A')])
  await settle(ledger, await claimNamed(ledger, batch, 'A', Date.now()), 'IN_DOUBT', { atMs: Date.now() })
  const file = { id: 'f'.repeat(32), name: 'refunds.csv', sha256: 'd'.repeat(64), bytes: 10 }
  const check = await putCheck(spool, file, { by: `key:${own.id}`, result: { ...FOUND, causes: [CAUSE] } })
  const { path } = (await readCheck(spool, check, Date.now()))!
  for (const what of ['rows', 'faults']) writeFileSync(join(path, 'details', `${what}.jsonl`), '{"row":1,"line":2}\n')
  const read = async ({ key }: { key: string }, ...paths: string[]) => {
    for (const one of paths) expect((await served.ask('GET', one, { key })).statusCode).toBe(200)
  }
  const at = `/v1/checks/${check}`
  await read(own, at, `${at}/rows`, `${at}/rejects.csv`)
  await read(other, at, `${at}/rows`, `${at}/faults`, `${at}/lookalikes`, `${at}/rejects.csv`, '/v1/batches')
  await read(other, ...Array.from({ length: 6 }, () => '/v1/doubts'), '/v1/doubts?merchant=club')
  const acts = (await listOf(ledger.log(null))).filter(({ what }) => what === 'export')
  expect(acts.map(({ by, details }) => [by, details])).toEqual(
    [
      { kind: 'check', file: `${check.slice(0, 8)}.check`, rows: 1, sha256: file.sha256, times: 1 },
      { kind: 'rows', file: `${check.slice(0, 8)}.rows`, rows: 1, sha256: file.sha256, times: 1 },
      { kind: 'faults', file: `${check.slice(0, 8)}.faults`, rows: 1, sha256: file.sha256, times: 1 },
      { kind: 'rejects', file: `${check.slice(0, 8)}.rejects`, rows: 1, sha256: file.sha256, times: 1 },
      { kind: 'worklist', file: 'doubts', rows: 1, times: 1 },
      { kind: 'worklist', file: 'doubts', rows: 4, times: 5 },
    ].map((details) => [expect.stringContaining(`key other (${other.id})`), details]),
  )
})

test('a key that first reads few names leaves an act of the many that it reads next', async () => {
  const { ledger, accounts } = served
  const names = Array.from({ length: 9 }, (_, i) => `D${i}`)
  const orders = names.map((name, i) => refund(name, { orderId: String(50 + i) }))
  const batch = await submit(ledger, accounts.shop, orders)
  for (const name of names) await work(ledger, batch, name, 'IN_DOUBT')
  const { key } = await served.key()
  for (const limit of [1, 2, 9, 9]) {
    const { said } = await served.ask('GET', `/v1/doubts?limit=${limit}`, { key })
    expect(said.data).toHaveLength(limit)
  }
  const acts = (await listOf(ledger.log(null))).filter(({ what }) => what === 'export')
  expect(acts.map(({ details }) => details)).toMatchObject([
    { rows: 1, times: 1 },
    { rows: 11, times: 3 },
  ])
})

test('one address cannot take all connections', async () => {
  const other = await openServed({ connectionsOfOne: 20 })
  const { url, close } = await listen(other.server, { host: '127.0.0.1', port: 0 })
  const sockets = Array.from({ length: 23 }, () => connect(Number(new URL(url).port), '127.0.0.1'))
  const closed = sockets.map((socket, i) => new Promise<number>((resolve) => socket.once('close', () => resolve(i))))
  for (const socket of sockets) socket.on('error', () => {}).resume()
  await vi.waitFor(() => expect(sockets.filter(({ closed }) => closed)).toHaveLength(3))
  for (const socket of sockets) socket.destroy()
  await Promise.all(closed)
  // Whoever has left counts no more.
  const next = connect(Number(new URL(url).port), '127.0.0.1')
  next.write('GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n')
  expect(String((await next.toArray()).join(''))).toContain('200 OK')
  await close()
  await other.close()
})

test('an address that is refused over and over is refused before its key is looked up, and no other is', async () => {
  const other = await openServed()
  const { key } = await other.key()
  let looks = 0
  const look = other.ledger.key
  Object.assign(other.ledger, {
    key: (id: string) => {
      looks += 1
      return look(id)
    },
  })
  const wrong = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`
  const ask = (given: string, from: string) => other.ask('GET', '/v1/batches', { key: given, from })
  for (let i = 0; i < 600; i++) expect((await ask(wrong, '192.0.2.7')).statusCode).toBe(401)
  let before = looks
  const { key: second } = await other.key()
  expect((await ask(second, '192.0.2.8')).statusCode).toBe(200)
  expect((await ask(second, '192.0.2.7')).statusCode).toBe(200) // let in a moment ago, beside whoever is refused
  expect((await other.ask('GET', '/livez', { from: '192.0.2.7' })).statusCode).toBe(200)
  before = looks
  const refused = await ask(key, '192.0.2.7')
  expect([refused.statusCode, refused.said.code, looks - before]).toEqual([429, 'rate_limited', 0])
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect((await ask(key, '192.0.2.8')).statusCode).toBe(200)
  await other.close()
})

test('the limit of one key is not that of another, and cannot be passed by another address', async () => {
  const limited = await openServed({ requestsPerMinute: 3 })
  const [{ key: one }, { key: other }] = [await limited.key(), await limited.key()]
  const codes = []
  for (const n of [1, 2, 3, 4])
    codes.push((await limited.ask('GET', '/v1/batches', { key: one, from: `192.0.2.${n}` })).statusCode)
  expect(codes).toEqual([200, 200, 200, 429])
  expect((await limited.ask('GET', '/v1/batches', { key: other })).statusCode).toBe(200)
  await limited.close()
})
