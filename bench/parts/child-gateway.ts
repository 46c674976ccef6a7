// The bare gateway: answers every refund at once, or after a latency, with the least that is right, and counts. It parses just
// enough HTTP for the clients of this bench, so that it costs little beside what is measured. Speaks with its parent by IPC.

import { type AddressInfo, createServer, type Socket } from 'node:net'
import { FIRST_ORDER } from './files.ts'
import { approvalOf, type Counted, type FromGateway, type ToGateway, type ToSend } from './gateway.ts'
import { momentMs } from './moment.ts'

/** Of the sending that is on. */
let latencyMs = 0
let expected = 0
let window = 0
let answered = 0
let seen = new Uint8Array(0)
let counted = noneCounted()
/** Moments of all requests, and the first of them that is less than a second ago. */
let arrivals: number[] = []
let firstOfSecond = 0
let cpuBefore = process.cpuUsage()
/** Over all of them: a transaction id is never given twice. */
let transaction = 0

function noneCounted(): Counted {
  return {
    requests: 0,
    distinct: 0,
    strange: 0,
    connections: 0,
    firstMs: 0,
    lastMs: 0,
    fullMs: 0,
    answeredBefore: 0,
    heldMs: 0,
    busiest: 0,
    cpuMs: 0,
  }
}

function begin({ rows, latencyMs: latency, window: open }: ToSend): void {
  expected = rows
  window = open
  answered = 0
  latencyMs = latency
  seen = new Uint8Array(rows)
  counted = noneCounted()
  cpuBefore = process.cpuUsage()
  arrivals = []
  firstOfSecond = 0
  // Their clients are gone.
  waiting = []
  clearTimeout(timer)
}

function onRequest(socket: Socket, body: string, closes: boolean): void {
  const atMs = momentMs()
  if (counted.requests === 0) {
    counted.firstMs = atMs
    tell({ event: 'first' })
  }
  counted.requests += 1
  if (counted.fullMs === 0 && counted.requests - answered === window) {
    counted.fullMs = atMs
    counted.answeredBefore = answered
  }
  arrivals.push(atMs)
  while (atMs - (arrivals[firstOfSecond] as number) >= 1_000) firstOfSecond += 1
  counted.busiest = Math.max(counted.busiest, arrivals.length - firstOfSecond)
  const text = answerTo(body)
  if (latencyMs === 0) say(socket, text, closes, atMs)
  else later({ socket, text, closes, atMs })
}

function answerTo(body: string): string {
  const form = new URLSearchParams(body)
  const order = form.get('request_ref_po_id') ?? ''
  const amount = form.get('amount') ?? ''
  const row = Number(order) - FIRST_ORDER
  const isOurs = form.get('transaction_type') === 'REFUND' && /^\d+\.\d\d$/.test(amount) && row in seen
  if (!isOurs) counted.strange += 1
  else if (seen[row] === 0) {
    seen[row] = 1
    counted.distinct += 1
  }
  transaction += 1
  return approvalOf(transaction, order, amount)
}

function say(socket: Socket, body: string, closes: boolean, askedAtMs: number): void {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n`
  const bytes = `${head}${closes ? 'connection: close\r\n' : ''}\r\n${body}`
  if (closes) socket.end(bytes, 'latin1')
  else socket.write(bytes, 'latin1')
  counted.lastMs = momentMs()
  answered += 1
  counted.heldMs += counted.lastMs - askedAtMs
  if (counted.requests === expected && waiting.length === 0) tell({ event: 'last' })
}

interface Waiting {
  readonly socket: Socket
  readonly text: string
  readonly closes: boolean
  readonly atMs: number
}

/** All wait equally long, so the first one in is the first one out, and one timer is enough. */
let waiting: Waiting[] = []
let timer: NodeJS.Timeout | undefined

function later(one: Waiting): void {
  waiting.push(one)
  if (waiting.length === 1) timer = setTimeout(sayDue, latencyMs)
}

function sayDue(): void {
  // Timers count whole milliseconds: half of one early and half of one late are the same on average.
  const dueUntilMs = momentMs() - latencyMs + 0.5
  const notYet = waiting.findIndex(({ atMs }) => atMs > dueUntilMs)
  const due = notYet === -1 ? waiting : waiting.slice(0, notYet)
  waiting = notYet === -1 ? [] : waiting.slice(notYet)
  for (const { socket, text, closes, atMs } of due) say(socket, text, closes, atMs)
  const [next] = waiting
  if (next !== undefined) timer = setTimeout(sayDue, Math.max(1, Math.floor(next.atMs + latencyMs - momentMs())))
}

function serve(socket: Socket): void {
  let rest = ''
  counted.connections += 1
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: Buffer) => {
    rest += chunk.toString('latin1')
    for (;;) {
      const headEnd = rest.indexOf('\r\n\r\n')
      if (headEnd === -1) return
      const head = rest.slice(0, headEnd)
      const end = headEnd + 4 + Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0)
      if (rest.length < end) return
      const body = rest.slice(headEnd + 4, end)
      rest = rest.slice(end)
      onRequest(socket, body, /connection: *close/i.test(head))
    }
  })
}

function tell(message: FromGateway): void {
  process.send?.(message)
}

function answer(message: ToGateway): void {
  if (message.ask === 'begin') begin(message)
  const { user, system } = process.cpuUsage(cpuBefore)
  counted.cpuMs = (user + system) / 1000
  tell({ event: message.ask, counted })
}

process.on('message', answer)
// With its parent it ends.
process.on('disconnect', () => process.exit())

const server = createServer(serve)
server.listen(0, '127.0.0.1', 1024, () => {
  tell({ event: 'listening', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
