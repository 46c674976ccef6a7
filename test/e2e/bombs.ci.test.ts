// Uploads that are meant to wear the server out, on a server of its own: it stays as large as it was, answers everybody else, and keeps
// nothing.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { type HttpOffice, newKey, serveOffice } from '../fixtures/http-office.ts'
import { partsOf, zip } from '../ingest/sheets.ts'
import { tell } from '../nemesis/figures.ts'

const MIB = 1024 * 1024
const UPLOAD_MIB = 16

let office: Office
let http: HttpOffice
let sockets: Socket[]
beforeAll(async () => {
  office = await openOffice({ env: { TRANCHE_UPLOAD_MIB: String(UPLOAD_MIB) } })
  http = await serveOffice(office)
  sockets = []
})
afterEach(async () => {
  if (sockets.length === 0) return
  for (const socket of sockets.splice(0)) socket.destroy()
  await until('nothing of it is left', () => spooled().length === 0)
})
afterAll(() => office.close())

/** Checks keep what they found. */
const spooled = () => readdirSync(join(office.dataDir, 'spool')).filter((name) => !name.startsWith('check-'))

/** From now on the most that it holds is counted anew. */
function residentFromNow(): number {
  writeFileSync(`/proc/${http.server.pid}/clear_refs`, '5')
  return residentMiB()
}

/** The most it has held. */
function residentMiB(): number {
  const status = readFileSync(`/proc/${http.server.pid}/status`, 'utf8')
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024)
}

/**
 * What the server has answered to uploads so far, by its log: a client that is still writing when the server closes may
 * lose the answer.
 */
function answered(): readonly number[] {
  const lines = http.server.saidAside().filter((line) => line.startsWith('{'))
  const told = lines.map((line) => JSON.parse(line) as { msg: string; method?: string; status: number })
  return told.flatMap(({ msg, method, status }) => (msg === 'request' && method === 'POST' ? [status] : []))
}

interface Sending {
  readonly socket: Socket
  /** What it was answered with; 0: nothing. */
  status(): number
  /** Resolves when it is over, to how many bytes were sent. */
  all(parts: Iterable<string | Buffer>): Promise<number>
}

function send(headers: readonly string[], key = http.key): Sending {
  const socket = connect(Number(new URL(http.url).port), '127.0.0.1')
  sockets.push(socket)
  let said = ''
  socket
    .on('error', () => {})
    .on('data', (part: Buffer) => {
      said += part.toString('latin1')
    })
  const head = ['POST /v1/files HTTP/1.1', 'Host: 127.0.0.1', `Authorization: Bearer ${key}`, ...headers]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  return {
    socket,
    status: () => Number(/^HTTP\/1\.1 (\d+)/.exec(said)?.[1] ?? 0),
    async all(parts) {
      let bytes = 0
      for (const part of parts) {
        if (socket.destroyed || said !== '') break
        bytes += part.length
        if (!socket.write(part))
          await new Promise((resolve) => void socket.once('drain', resolve).once('close', resolve))
      }
      socket.end()
      if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve))
      return bytes
    },
  }
}

function* repeated(part: string | Buffer, times: number): Iterable<string | Buffer> {
  for (let n = 0; n < times; n += 1) yield part
}

const FORM = 'Content-Type: multipart/form-data; boundary=b'
const CSV = 'Content-Type: text/csv'

test('three gigabytes are refused where they are announced, and cut off where they are not', async () => {
  const before = residentFromNow()
  const earlier = answered().length
  const announced = send([CSV, `Content-Length: ${3 * 1024 * MIB}`])
  await until('it is refused', () => announced.status() === 413)
  const written = send([CSV, `Content-Length: ${3 * 1024 * MIB}`])
  expect(await written.all(repeated(Buffer.alloc(MIB, 'a'), 3_072))).toBeLessThan(UPLOAD_MIB * MIB)
  const chunk = Buffer.concat([Buffer.from(`${MIB.toString(16)}\r\n`), Buffer.alloc(MIB, 'a'), Buffer.from('\r\n')])
  const chunked = send([CSV, 'Transfer-Encoding: chunked'])
  expect(await chunked.all(repeated(chunk, 3_072))).toBeLessThan(4 * UPLOAD_MIB * MIB)
  const form = send([FORM, `Content-Length: ${3 * 1024 * MIB}`])
  const file = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
  const bytes = await form.all([file, ...repeated(Buffer.alloc(MIB, 'a'), 3_072)])
  expect(bytes).toBeLessThan(4 * UPLOAD_MIB * MIB)
  await until('each has its answer', () => answered().length >= earlier + 4)
  expect(answered().slice(earlier)).toEqual([413, 413, 413, 413])
  tell(`three gigabytes, four times: +${residentMiB() - before} MiB`)
  expect(residentMiB() - before).toBeLessThan(100)
  expect((await http.get('/v1/batches')).status).toBe(200)
})

test('a million parts are refused at the first few, and headers without an end at the first few thousand bytes', async () => {
  const before = residentFromNow()
  const part = '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\n1\r\n'
  const parts = send([FORM, `Content-Length: ${part.length * 1_000_000}`])
  await parts.all(repeated(part.repeat(1_000), 1_000))
  expect(parts.status()).toBe(400)
  const inPart = send([FORM, 'Content-Length: 1000000000'])
  await inPart.all(['--b\r\n', ...repeated('X-Y: z\r\n'.repeat(1_000), 10_000)])
  expect(inPart.status()).toBe(400)
  const ofRequest = send(['X-Y: z', 'X-Y: z', ...Array.from({ length: 100_000 }, () => 'X-Y: z')])
  await ofRequest.all([])
  expect(ofRequest.status()).toBe(431)
  tell(`a million parts: +${residentMiB() - before} MiB`)
  expect(residentMiB() - before).toBeLessThan(100)
})

test('five hundred who send a byte a second are held to sixteen, and leave the rest to others', async () => {
  const before = residentFromNow()
  const keys = [http.key, ...(await Promise.all(Array.from({ length: 4 }, () => newKey(office))))]
  const all = Array.from({ length: 500 }, (_, n) => send([CSV, 'Content-Length: 1000'], keys[n % keys.length]))
  const drip = setInterval(() => {
    for (const { socket } of all) if (socket.writable) socket.write('a')
  }, 1_000)
  try {
    await until('each is held or refused', () => all.filter((one) => one.status() !== 0).length === 484)
    expect(new Set(all.map((one) => one.status()))).toEqual(new Set([0, 429]))
    expect(spooled()).toHaveLength(16)
    for (let n = 0; n < 20; n += 1) expect((await http.get('/v1/batches')).status).toBe(200)
    expect(await (await fetch(`${http.url}/livez`)).status).toBe(200)
  } finally {
    clearInterval(drip)
  }
  tell(`500 slow senders: +${residentMiB() - before} MiB`)
  expect(residentMiB() - before).toBeLessThan(100)
})

/** Each holds the one before, sixteen times. */
function nestedZip(depth: number): Buffer {
  let inner: Buffer = Buffer.alloc(10 * MIB)
  for (let level = 0; level < depth; level += 1)
    inner = zip(Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`${n}.zip`, inner])))
  return inner
}

test.each<[string, () => Buffer]>([
  ['an archive of archives', () => nestedZip(3)],
  [
    'a workbook whose sheet is archives',
    () => zip({ ...partsOf({ Sheet1: '' }), 'xl/worksheets/sheet1.xml': nestedZip(3) }),
  ],
  [
    'a workbook whose XML goes down a million levels',
    () => zip({ ...partsOf({ Sheet1: '' }), 'xl/worksheets/sheet1.xml': Buffer.from('<a>'.repeat(1_000_000)) }),
  ],
  [
    'a workbook whose entities multiply',
    () => {
      const entities = Array.from({ length: 20 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join('')
      const xml = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "lol">${entities}]><worksheet>&e20;</worksheet>`
      return zip({ ...partsOf({ Sheet1: '' }), 'xl/worksheets/sheet1.xml': Buffer.from(xml) })
    },
  ],
  ['a table of a hundred thousand columns', () => Buffer.from(`${'a,'.repeat(100_000)}b\n${'1,'.repeat(100_000)}2\n`)],
])(
  '%s is refused, and the server stays as it was',
  async (name, bomb) => {
    const before = residentFromNow()
    const file = await http.upload(bomb(), name.includes('table') ? 'bomb.csv' : 'bomb.xlsx')
    const checked = await http.check(file)
    expect(checked.state).toBe('refused')
    tell(`${name}: ${checked.refused?.code}, +${residentMiB() - before} MiB`)
    expect(residentMiB() - before).toBeLessThan(100)
    expect((await http.get('/v1/batches')).status).toBe(200)
    // What came whole is kept for its day; nothing that came out of it is.
    for (const name of spooled().filter((one) => one.startsWith(file))) rmSync(join(office.dataDir, 'spool', name))
    expect(spooled()).toEqual([])
  },
  120_000,
)
