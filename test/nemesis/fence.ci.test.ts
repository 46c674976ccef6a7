// The fence, from outside: a worker that stood still between its claim and its first byte sends nothing when it wakes.

import { type AddressInfo, connect, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import { test } from 'vitest'
import { booksOf, compareBooks, countsIn, query, recordedIn } from '../fixtures/books.ts'
import { CERTIFICATE, KEY } from '../fixtures/certificate.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { openProxy } from '../fixtures/proxy.ts'

/** SEND_WITHIN_MS of src/throttle/send-deadline.ts, and a little. */
const SEND_BY_IS_OVER_MS = 15_500
const HELD_BACK = 'held back before the first byte: its time to send had passed'

/** Says when the second claim is about to go to the thread of the ledger, and holds it up until there is such a file. */
function withGate(gate: string): string {
  const source = `
    import { existsSync } from 'node:fs'
    import { MessagePort } from 'node:worker_threads'
    const post = MessagePort.prototype.postMessage
    let claims = 0
    MessagePort.prototype.postMessage = function (calls, ...more) {
      const isSecond = Array.isArray(calls) && calls.some((call) => call?.[1] === 'claim') && ++claims === 2
      if (isSecond) process.stderr.write('claims\\n')
      while (isSecond && !existsSync(${JSON.stringify(gate)})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
      post.call(this, calls, ...more)
    }`
  return `--import data:text/javascript,${encodeURIComponent(source)}`
}

async function prepared(office: Office, count: number): Promise<{ input: string; out: string }> {
  const rows = refunds(count)
  office.sandbox.prepare(preparationFor(rows))
  return { input: await office.put('in.csv', toCsv(rows)), out: office.path('out.csv') }
}

async function sendByIsOver(): Promise<void> {
  const frozenMs = Date.now()
  await until('the send-by has passed', () => Date.now() > frozenMs + SEND_BY_IS_OVER_MS)
}

// The waits for the send-by cannot be shortened from outside, but they can be waited for together.
test.concurrent('frozen while it connects and woken after its send-by, it sends no request', async ({
  expect,
  onTestFinished,
}) => {
  const office = await openOffice({ apart: true, env: { TRANCHE_IN_FLIGHT: '1' } })
  onTestFinished(() => office.close())
  await using front = await openTlsFront(office.sandbox.port)
  await using proxy = await openProxy({ port: front.port, host: '127.0.0.1' })
  const { input, out } = await prepared(office, 3)
  const env = {
    TRANCHE_GATEWAY_URL: `https://localhost:${proxy.port}`,
    NODE_EXTRA_CA_CERTS: await office.put('ca.pem', CERTIFICATE),
  }

  proxy.treat('hold') // the handshake
  const running = office.startWith(env, 'run', input, '--out', out)
  const claimed = () => proxy.held === 1 && recordedIn(office).some(({ state }) => state === 'SENDING')
  await until('a row is claimed and its handshake has begun', claimed, running)
  await running.freeze()
  await sendByIsOver()
  proxy.treat('pass')
  proxy.treatStanding('pass')
  // The worker finds the end of its handshake, and its connect limit over, in the same instant: the handshake is read first.
  await until('the answer to its handshake lies before the worker', () => proxy.repliedBytes > 0)
  running.kill('SIGCONT')

  const ran = await running.ended
  expect(ran.code, ran.stderr).toBe(0)
  expect(office.sandbox.received()).toBe(3) // four attempts
  expect(movesOf(office, 1)).toEqual([
    ['claim', null],
    ['unsent', HELD_BACK],
    ['claim', null],
    ['answer', null],
  ])
  expect(countsIn(out)).toEqual({ APPROVED: 3 })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test.concurrent('frozen while its claim is on its way to the ledger and woken after its send-by, it does not send', async ({
  expect,
  onTestFinished,
}) => {
  const office = await openOffice({ apart: true, env: { TRANCHE_IN_FLIGHT: '1' } })
  onTestFinished(() => office.close())
  const { input, out } = await prepared(office, 2)
  const gate = office.path('gate')
  const running = office.startWith({ NODE_OPTIONS: withGate(gate) }, 'run', input, '--out', out)
  await until('it is about to claim the second row', () => running.saidAside().includes('claims'), running)
  await running.freeze()
  expect(recordedIn(office)[1]).toMatchObject({ state: 'READY', attempt: 0 })
  await sendByIsOver()
  await office.put('gate', '')
  running.kill('SIGCONT')

  const ran = await running.ended
  expect(ran.code, ran.stderr).toBe(0)
  expect(office.sandbox.received()).toBe(2) // three attempts
  expect(movesOf(office, 2)).toEqual([
    ['claim', null],
    ['unsent', HELD_BACK],
    ['claim', null],
    ['answer', null],
  ])
  expect(countsIn(out)).toEqual({ APPROVED: 2 })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

function movesOf(office: Office, rowNo: number): [string, string | null][] {
  const moves = query<{ cause: string; reason: string | null }>(
    office,
    `SELECT cause, m.reason FROM move m JOIN instruction i ON i.id = m.row_id WHERE row_no = ${rowNo} ORDER BY m.id`,
  )
  return moves.map(({ cause, reason }) => [cause, reason])
}

/** The sandbox behind TLS. */
async function openTlsFront(gatewayPort: number): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>()
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (socket) => {
    const inner = connect({ host: '127.0.0.1', port: gatewayPort })
    for (const one of [socket, inner]) {
      sockets.add(one)
      one.on('error', () => {})
    }
    socket.pipe(inner).pipe(socket)
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
