// Pages that are watched by many who never read: what they cost the server, and those who do read.

import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { type Console, cookieName, openConsole } from '../fixtures/console.ts'
import { headerOf, refund, submit } from '../fixtures/ledgers.ts'
import { soon } from '../fixtures/soon.ts'
import { tell } from '../nemesis/figures.ts'

let desk: Console
let batch: string
/** What they send as their cookie. */
let olga: string
beforeEach(async () => {
  desk = await openConsole()
  batch = await submit(desk.ledger, desk.accounts.shop, [refund('A'), refund('B')], headerOf(desk.accounts.shop))
  await desk.person('olga', ['operator'])
  olga = await cookieOf('olga')
})
afterEach(() => desk.close())

async function cookieOf(name: string): Promise<string> {
  return `${cookieName(false)}=${await desk.session(name)}`
}

/** Each part of the stream as it comes. */
async function* watching(cookie: string): AsyncGenerator<string> {
  const answer = await fetch(`${desk.url}/live?batch=${batch}`, { headers: { cookie } })
  expect(answer.status).toBe(200)
  for await (const part of answer.body ?? []) yield new TextDecoder().decode(part)
}

/** Never reads. */
function ask(cookie: string): Socket {
  const socket = connect(Number(new URL(desk.url).port), '127.0.0.1')
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  socket.pause().write(`GET /live?batch=${batch} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: ${cookie}\r\n\r\n`)
  return socket
}

/** Of the server's side. */
function connections(): Set<Socket> {
  const open = new Set<Socket>()
  desk.pages.server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  return open
}

test('who does not read is dismissed, and who reads goes on', async () => {
  // Each look is a repetition, and they follow one another at once; nobody has watched for long.
  let nowMs = 1e12
  Object.assign(desk.app.clock, {
    monotonicMs: () => nowMs,
    async sleep() {
      nowMs += 4_001
      await new Promise(setImmediate)
    },
  })
  const open = connections()
  ask(olga)
  await soon(() => expect([...open].some((socket) => socket.bytesWritten > 0)).toBe(true))
  const [ofSlow] = [...open].filter((socket) => socket.bytesWritten > 0) as [Socket]
  const reader = watching(olga)
  await reader.next()
  nowMs = 0
  // Whoever comes is told at once, and so are all.
  const third = watching(olga)
  await third.next()
  await third.return(undefined)
  let most = 0
  while (!ofSlow.destroyed) {
    await reader.next()
    most = Math.max(most, ofSlow.writableLength)
    expect(most).toBeLessThan(300 * 1024)
  }
  expect(most).toBeGreaterThan(0)
  for (let n = 0; n < 5; n += 1) await reader.next()
  await reader.return(undefined)
})

const PERSONS = 25
const SESSIONS = 4
const PAGES = 5

test('five hundred who never read take little memory, and who reads is told as before', async () => {
  const cookies: string[] = []
  for (let person = 0; person < PERSONS; person += 1) {
    await desk.person(`p${person}`, ['viewer'])
    for (let session = 0; session < SESSIONS; session += 1) cookies.push(await cookieOf(`p${person}`))
  }
  const open = connections()
  const reader = watching(olga)
  await reader.next()
  const before = process.memoryUsage.rss()
  for (const cookie of cookies) for (let page = 0; page < PAGES; page += 1) ask(cookie)
  await vi.waitFor(
    () => expect([...open].filter((socket) => socket.bytesWritten > 500)).toHaveLength(PERSONS * SESSIONS * PAGES + 1),
    { timeout: 60_000 },
  )
  // Each person has one page more than they may.
  const refused = await fetch(`${desk.url}/live?batch=${batch}`, { headers: { cookie: cookies[0] as string } })
  expect(refused.status).toBe(503)
  const connected = process.memoryUsage.rss()
  // It tells anew every four seconds what has not changed.
  for (let told = 0; told < 5; told += 1) await reader.next()
  const told = process.memoryUsage.rss()
  const growth = [connected - before, told - connected].map((bytes) => Math.round(bytes / 1024 / 1024))
  tell(`500 who never read: +${growth[0]} MiB with both ends, +${growth[1]} MiB while they are told`)
  expect(growth[0]).toBeLessThan(150)
  expect(growth[1]).toBeLessThan(30)
  const page = await fetch(`${desk.url}/batches/${batch}`, { headers: { cookie: olga } })
  expect(page.status).toBe(200)
  await reader.return(undefined)
})
