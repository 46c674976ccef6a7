// Files on their way in, over real sockets: whole or not kept, whatever a sender does.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Listening, listen } from '../../src/server/server.ts'
import { served, useServed } from '../fixtures/served.ts'
import { soon } from '../fixtures/soon.ts'

useServed({}, { TRANCHE_UPLOAD_MIB: '1' })

const MIB = 1024 * 1024
let listening: Listening
let key: string
let sockets: Socket[]
beforeEach(async () => {
  sockets = []
  listening = await listen(served.server, { host: '127.0.0.1', port: 0 })
  key = (await served.key({ scopes: ['files:write'] })).key
})
afterEach(() => {
  for (const socket of sockets) socket.destroy()
})

const spooled = () => readdirSync(join(served.app.config.dataDir, 'spool'))
const hashOf = (bytes: string) => createHash('sha256').update(bytes).digest('hex')

function post(body: string | FormData, headers: Record<string, string> = {}, query = '') {
  return fetch(`${listening.url}/v1/files${query}`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${key}`, ...headers },
  })
}

/** As it goes over the wire; the connection stays open. */
function open(body: string, headers: readonly string[], as = key): Socket {
  const { port } = new URL(listening.url)
  const socket = connect(Number(port), '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  const head = ['POST /v1/files HTTP/1.1', 'Host: 127.0.0.1', `Authorization: Bearer ${as}`, ...headers]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  return socket
}

const form = (name: string, bytes: string, end = '\r\n--b--\r\n') =>
  `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/csv\r\n\r\n${bytes}${end}`
const FORM = 'Content-Type: multipart/form-data; boundary=b'

describe('a file', () => {
  test('is kept as it came, for its owner alone, under a name of ours', async () => {
    const body = new FormData()
    body.set('file', new File(['reference\nR-1\n'], 'refunds.csv'))
    const answer = await post(body)
    const said = (await answer.json()) as { id: string; sha256: string; bytes: number; name: string }
    expect([answer.status, said.name, said.bytes, said.sha256]).toEqual([
      ...[201, 'refunds.csv', 14],
      hashOf('reference\nR-1\n'),
    ])
    expect(spooled().toSorted()).toEqual([said.id, `${said.id}.json`].toSorted())
    const path = join(served.app.config.dataDir, 'spool', said.id)
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777, statSync(join(path, '..')).mode & 0o777]).toEqual([
      ...['reference\nR-1\n', 0o600, 0o700],
    ])
  })

  test('may be the body itself', async () => {
    const answer = await post('a\nb\n', { 'content-type': 'text/csv' }, `?name=x.csv&sha256=${hashOf('a\nb\n')}`)
    expect([answer.status, await answer.json()]).toMatchObject([201, { name: 'x.csv', bytes: 4 }])
  })

  test.each([
    [MIB, 201],
    [MIB + 1, 413],
  ])('of %i bytes is answered with %i, as a form and as the body itself', async (bytes, status) => {
    const body = new FormData()
    body.set('file', new File(['x'.repeat(bytes)], 'a.csv'))
    expect((await post(body)).status).toBe(status)
    expect((await post('x'.repeat(bytes), { 'content-type': 'text/csv' })).status).toBe(status)
    expect(spooled()).toHaveLength(status === 201 ? 4 : 0)
  })

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\\\x\\\\y.csv', 'y.csv'],
    ['a\u0000b.csv', /^ab\.csv$|^a/],
    [`${'n'.repeat(4_000)}.csv`, 'n'.repeat(200)],
    ['4111111111111111.csv', /^(?!.*4111111111111111)/],
    ['\u202ecod.csv', /^<U\+202E>|^cod|^\?/],
  ])('called %j goes nowhere else', async (name, shown) => {
    const socket = open(form(name, 'a\n'), [
      FORM,
      `Content-Length: ${Buffer.byteLength(form(name, 'a\n'))}`,
      'Connection: close',
    ])
    const answer = await text(socket)
    const body = JSON.parse(/\{.*\}/s.exec(answer)?.[0] ?? '{}') as { name?: string; code?: string }
    if (typeof shown === 'string') expect(body.name).toBe(shown)
    else if (body.code === undefined) expect(body.name).toMatch(shown)
    expect(spooled().filter((one) => !/^[0-9a-f]{32}(\.json)?$/.test(one))).toEqual([])
  })

  test('is there for the key that uploaded it, and for no other', async () => {
    const { id } = (await (await post('a', { 'content-type': 'text/csv' })).json()) as { id: string }
    const other = (await served.key()).key
    const asked = { body: { file: id, merchant: 'shop' } }
    expect((await served.ask('POST', '/v1/checks', { key: other, ...asked })).statusCode).toBe(404)
    expect((await served.ask('POST', '/v1/checks', { key, ...asked })).statusCode).toBe(202)
  })

  test('is kept for a day, and is then not there', async () => {
    const { id } = (await (await post('a', { 'content-type': 'text/csv' })).json()) as { id: string }
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_001 })
    try {
      expect(await served.spool.upload(id)).toBeNull()
      await served.spool.sweep()
      expect(spooled()).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('a file that did not come whole is not kept', () => {
  /** Behind it the form is whole: its last line may end as it likes. */
  const WHOLE_WITH = '--b--'

  test('wherever it is cut, as a form', async () => {
    const whole = form('a.csv', 'reference\nR-1\nR-2\n')
    for (let length = 1; length < whole.lastIndexOf(WHOLE_WITH) + WHOLE_WITH.length; length += 1) {
      const cut = whole.slice(0, length)
      const socket = open(cut, [FORM, `Content-Length: ${cut.length}`, 'Connection: close'])
      expect([length, (await text(socket)).slice(0, 13)]).toEqual([length, 'HTTP/1.1 400 '])
      expect([length, spooled()]).toEqual([length, []])
    }
  })

  const CHUNKED = 'Transfer-Encoding: chunked'
  const chunks = (body: string) =>
    `${body.replaceAll(/.{1,9}/gs, (part) => `${part.length.toString(16)}\r\n${part}\r\n`)}0\r\n\r\n`

  test.each([
    ['as a form', form('a.csv', 'reference\nR-1\nR-2\n'), [FORM], true],
    ['as the body itself', 'reference\nR-1\nR-2\n', ['Content-Type: text/csv'], true],
    ['as a form in chunks', chunks(form('a.csv', 'reference\nR-1\nR-2\n')), [FORM, CHUNKED], false],
    ['as the body itself, in chunks', chunks('reference\nR-1\nR-2\n'), ['Content-Type: text/csv', CHUNKED], false],
  ])('wherever its sender breaks off, %s', async (_, whole, headers, isAnnounced) => {
    const announced = isAnnounced ? [`Content-Length: ${whole.length}`] : []
    for (let length = 0; length < whole.length; length += 1) {
      const socket = open(whole.slice(0, length), [...headers, ...announced])
      await soon(() => expect(spooled()).toHaveLength(1), 2)
      // Half closed: whatever was sent is there, and no more comes.
      socket.end()
      await soon(() => expect([length, spooled()]).toEqual([length, []]), 2)
      socket.destroy()
    }
  })

  test('whose sender left before anything of it was read', async () => {
    const { spool } = served
    const receive = spool.receive
    const left = new Promise((resolve) =>
      served.server.server.once('connection', (socket) => socket.once('close', resolve)),
    )
    const spied = vi.spyOn(spool, 'receive').mockImplementation(async (...asked) => {
      const incoming = await receive(...asked)
      socket.destroy()
      await left
      return incoming
    })
    const socket = open(form('a.csv', 'reference\n').slice(0, 22), [FORM, 'Content-Length: 1000'])
    await soon(() => expect(spied.mock.settledResults[0]?.type).toBe('fulfilled'))
    await soon(() => expect(spooled()).toEqual([]))
  })

  test('where it is not the one of its sha256, or empty', async () => {
    const cut = await post('reference\nR-1', { 'content-type': 'text/csv' }, `?sha256=${hashOf('reference\nR-1\n')}`)
    const empty = await post('', { 'content-type': 'text/csv' })
    expect([cut.status, empty.status, spooled()]).toEqual([400, 400, []])
  })
})

describe('bombs', () => {
  test.each([
    [
      'two files',
      (body: FormData) => {
        for (const name of ['1', '2']) body.append('file', new File(['a'], name))
      },
    ],
    [
      'many fields',
      (body: FormData) => {
        for (let i = 0; i < 30; i += 1) body.append('name', String(i))
        body.append('file', new File(['a'], 'a.csv'))
      },
    ],
    [
      'a field that is not known',
      (body: FormData) => {
        body.append('evil', '1')
        body.append('file', new File(['a'], 'a.csv'))
      },
    ],
    ['no file', (body: FormData) => body.append('name', 'a')],
  ])('%s are refused, and nothing is left', async (_, fill) => {
    const body = new FormData()
    fill(body)
    const answer = await post(body)
    expect([answer.status, spooled()]).toEqual([400, []])
  })

  test('headers of a part that do not end are refused', async () => {
    const part = `--b\r\n${'X-Y: z\r\n'.repeat(20_000)}\r\na\r\n--b--\r\n`
    const socket = open(part, [FORM, `Content-Length: ${part.length}`, 'Connection: close'])
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(spooled()).toEqual([])
  })

  test('JSON is no file', async () => {
    expect((await post('{}', { 'content-type': 'application/json' })).status).toBe(415)
  })

  test('slow senders of one key keep nobody else out, and leave nothing', async () => {
    for (let i = 0; i < 4; i += 1) open('a', ['Content-Type: text/csv', 'Content-Length: 1000'])
    await soon(() => expect(spooled()).toHaveLength(4))
    const fifth = await post('a', { 'content-type': 'text/csv' })
    expect([fifth.status, fifth.headers.get('retry-after')]).toEqual([429, '5'])
    key = (await served.key({ scopes: ['files:write'] })).key
    expect((await post('a', { 'content-type': 'text/csv' })).status).toBe(201)
    for (const socket of sockets) socket.destroy()
    await soon(() => expect(spooled()).toHaveLength(2))
  })
})
