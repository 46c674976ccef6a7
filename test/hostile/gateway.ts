// A gateway of these tests' own, on raw sockets: it shares no code with the program or its sandbox, answers with whatever
// bytes a script says, and keeps its own truth about what was executed.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { type Execution, plainOrder } from '../fixtures/entries.ts'

/** A request that arrived whole. */
export interface Asked {
  readonly form: URLSearchParams
  /** The order of a refund or cancellation, else the `xtl_order_id`: what names it at the gateway. */
  readonly target: string
  /** Which request for this target it is, from 1. */
  readonly nth: number
  /** Between which moments its first byte arrived, by the monotonic clock: this process may have stood still meanwhile. */
  readonly arrivedMs: { readonly from: number; readonly to: number }
  /** The client lets the connection stand behind the answer. */
  readonly keepsAlive: boolean
}

/** What a script does to one request. */
export interface Line {
  readonly socket: Socket
  /** From here on the money has moved, or, if declined, certainly not. */
  execute(status?: 'APPROVED' | 'DECLINED'): Execution
  write(bytes: string | Buffer): void
  /** Closes in order (FIN), behind what was written. */
  end(bytes?: string | Buffer): void
  /** RST. */
  reset(): void
}

export type Script = (asked: Asked, line: Line) => void | Promise<void>

export interface RawGateway extends AsyncDisposable {
  readonly url: string
  /** How requests are treated from now on. */
  play(script: Script): void
  /** What was executed or declined, in order. */
  log(): readonly Execution[]
  received(): readonly Asked[]
  /** Executions that moved money, by target. */
  executed(): ReadonlyMap<string, number>
  /** Whatever was on the wire when this was called has been read, and executed or not. */
  settled(): Promise<void>
}

export async function openRawGateway(): Promise<RawGateway> {
  const log: Execution[] = []
  const received: Asked[] = []
  const sockets = new Set<Socket>()
  let script: Script = honest
  // What arrives was not there yet two turns of the event loop before.
  const turns = { before: performance.now(), last: performance.now() }
  const turning = setInterval(() => {
    turns.before = turns.last
    turns.last = performance.now()
  }, 5)

  function execute({ form, target }: Asked, status: 'APPROVED' | 'DECLINED'): Execution {
    const operation = operationOf(form)
    const sells = operation === 'CAPTURE' || operation === 'AUTH'
    const currency = form.get('request_currency') ?? 'EUR'
    const amount = form.get('amount')
    const entry: Execution = {
      transactionId: String(7_000_000_000_000_000_000n + BigInt(log.length)),
      status,
      operation,
      orderId: sells ? String(500_000_000 + log.length) : (orderIn(form) ?? target),
      xtlOrderId: form.get('xtl_order_id'),
      amountMinor: amount === null ? null : minorOf(amount, currency),
      currency,
      fault: null,
    }
    log.push(entry)
    return entry
  }

  function take(socket: Socket, { head, body }: Whole, arrivedMs: Asked['arrivedMs']): void {
    const form = new URLSearchParams(body)
    const target = orderIn(form) ?? form.get('xtl_order_id') ?? ''
    const nth = received.filter((one) => one.target === target).length + 1
    const asked = { form, target, nth, arrivedMs, keepsAlive: !/^connection: *close/im.test(head) }
    received.push(asked)
    void script(asked, {
      socket,
      execute: (status = 'APPROVED') => execute(asked, status),
      write: (bytes) => void socket.write(bytes),
      end: (bytes = '') => void socket.end(bytes),
      reset: () => void socket.resetAndDestroy(),
    })
  }

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket)
    let unread = ''
    let arrivedMs = { from: 0, to: 0 }
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('end', () => void socket.end())
    // A body is form-encoded, so bytes and characters are the same.
    socket.on('data', (chunk) => {
      if (unread === '') arrivedMs = { from: turns.before, to: performance.now() }
      unread += chunk.toString('latin1')
      for (let whole = takeWhole(unread); whole !== null; whole = takeWhole(unread)) {
        unread = whole.rest
        take(socket, whole, arrivedMs)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 }, resolve))
  const { port } = server.address() as AddressInfo

  /** Connections are taken in as they came: behind this one, all before it are known, and then what they said is read. */
  async function settled(): Promise<void> {
    const knock = connect({ port, host: '127.0.0.1' })
    await once(knock, 'connect')
    while (![...sockets].some(({ remotePort }) => remotePort === knock.localPort)) await turn()
    for (let nth = 0; nth < 10; nth += 1) await turn()
    knock.destroy()
  }

  return {
    url: `http://127.0.0.1:${port}`,
    play(next) {
      script = next
    },
    log: () => log,
    received: () => received,
    executed: () => countExecuted(log),
    settled,
    async [Symbol.asyncDispose]() {
      clearInterval(turning)
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Executes, and says so as the contract has it. */
export const honest: Script = (asked, line) => answerTruly(asked, line, line.execute())

export function answerTruly(asked: Asked, line: Line, entry: Execution): void {
  const answer = httpAnswer(200, toJson(entry), asked.keepsAlive ? {} : { connection: 'close' })
  if (asked.keepsAlive) line.write(answer)
  else line.end(answer)
}

/** Ids are JSON numbers with more digits than a JavaScript number keeps. */
export function toJson({ operation, status, amountMinor, currency, transactionId, orderId, xtlOrderId }: Execution) {
  const value = amountMinor === null ? null : decimalOf(amountMinor, currency ?? 'EUR')
  return `{"REQUEST_ACTION":"${operation === 'CAUTH' ? 'CAPTURE' : operation}","TRANS_STATUS_NAME":"${status}",${
    value === null ? '' : `"TRANS_VALUE":"${value}","TRANS_CUR":"${currency}",`
  }"TRANS_REQUEST_ID":${transactionId},"TRANS_ORDER_ID":${orderId},"XTL_ORDER_ID":${JSON.stringify(xtlOrderId)}${
    status === 'DECLINED' ? ',"API_ADVICE":"Do not honour"' : ''
  }}`
}

/** A whole HTTP answer with its length. */
export function httpAnswer(status: number, body: string | Buffer, headers: Readonly<Record<string, string>> = {}) {
  const lines = Object.entries({ 'content-length': String(Buffer.byteLength(body)), ...headers })
  const head = `HTTP/1.1 ${status} X\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body as string)])
}

interface Whole {
  readonly head: string
  readonly body: string
  readonly rest: string
}

function takeWhole(text: string): Whole | null {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return null
  const head = text.slice(0, end)
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  const body = text.slice(end + 4, end + 4 + length)
  return body.length < length ? null : { head, body, rest: text.slice(end + 4 + length) }
}

function orderIn(form: URLSearchParams): string | null {
  const id = form.get('request_ref_po_id')
  return id === null ? null : plainOrder(id)
}

function operationOf(form: URLSearchParams): Execution['operation'] {
  return (form.get('transaction_type') ?? 'REFUND') as Execution['operation']
}

function countExecuted(log: readonly Execution[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { status, operation, orderId, xtlOrderId } of log) {
    if (status !== 'APPROVED') continue
    const target = operation === 'REFUND' || operation === 'CANCEL' ? orderId : (xtlOrderId ?? orderId)
    if (target === null) continue // of the vault, which this gateway has not
    counts.set(target, (counts.get(target) ?? 0) + 1)
  }
  return counts
}

const DECIMALS: Readonly<Record<string, number>> = { JPY: 0, KWD: 3 }

/** By moving the point. */
function minorOf(amount: string, currency: string): string {
  const [whole = '', decimals = ''] = amount.split('.')
  return `${whole}${decimals.padEnd(DECIMALS[currency] ?? 2, '0')}`.replace(/^0+(?=\d)/, '')
}

function decimalOf(minor: string, currency: string): string {
  const places = DECIMALS[currency] ?? 2
  const digits = minor.padStart(places + 1, '0')
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
}
