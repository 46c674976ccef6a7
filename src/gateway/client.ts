// The port `Gateway` over undici's pool. One request is one attempt: it is never sent again, followed or retried here.

import { Client, type Dispatcher, Pool } from 'undici'
import type { CardDetails } from '../domain/card.ts'
import { Fault } from '../domain/fault.ts'
import { type Instruction, isVaultOperation } from '../domain/instruction.ts'
import type { Trust } from '../domain/tls.ts'
import type { Clock } from '../ports/clock.ts'
import type { Gateway, Reached } from '../ports/gateway.ts'
import { Attempt, type AttemptContext, type Line } from './attempt.ts'
import { afterPoll, createConnector, seenOf } from './connect.ts'
import { Deadlines } from './deadlines.ts'
import { createForm, type RefundParameter } from './form.ts'
import { createScrub, type Scrub } from './scrub.ts'
import { toVaultRecord, VAULT_PATHS } from './vault-record.ts'

export interface GatewayOptions {
  /** The base address; may have a path in front of the gateway's own. */
  readonly url: string
  readonly username: string
  readonly password: string
  /** One deadline over headers and body, from the moment the request has been written. */
  readonly timeoutMs: number
  readonly connections: 'fresh' | 'warm'
  /** The most requests that are ever open at once; as many connections are kept at most. */
  readonly inFlightMax: number
  readonly refundParameter: RefundParameter
  /** What a form is declared to be written in, which is UTF-8; null: nothing is declared. */
  readonly charset: string | null
  /** Awaited before a request is started, on a fresh connection once it stands: when the rate lets the next one leave. */
  readonly departure?: () => Promise<void>
  readonly clock: Clock
  /** Default: the authorities of Node. */
  readonly trust?: Trust
  /** Once, when an answer has our password in it. */
  readonly onRepeated?: () => void
}

/** Shorter than any send-by of a claim, so that a claim does not pass its time while it waits for a connection. */
const CONNECT_LIMIT_MS = 5_000
/** An answer has some hundred bytes, the error page of a web server some thousand. */
const ANSWER_LIMIT_BYTES = 64 * 1024

const FORM_TYPE = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'
const TRANSACTION_PATH = '/api/transaction/api'

export function openGateway(options: GatewayOptions): Gateway {
  const base = parseBase(options.url)
  const root = base.pathname.replace(/\/+$/, '')
  const connector = createConnector(base, CONNECT_LIMIT_MS, options.trust)
  const isFresh = options.connections === 'fresh'
  const departure = options.departure ?? (async () => {})
  const connect = unspoken(isFresh ? atDeparture(connector.connect, departure) : connector.connect)
  const pool = openPool(base.origin, connect, isFresh, options.inFlightMax)
  const context: AttemptContext = {
    clock: options.clock,
    timeoutMs: options.timeoutMs,
    connectLimitMs: CONNECT_LIMIT_MS,
    address: connector.address,
    onRepeated: once(options.onRepeated ?? (() => {})),
    // Beyond the connector's own limit this also ends attempts whose connections die as soon as they stand. Twice: a connection
    // that was there in time is handed over only after it has been read from.
    waiting: new Deadlines(
      CONNECT_LIMIT_MS,
      (then) => afterPoll(() => afterPoll(then)),
      (attempt) => attempt.onNoConnection(),
    ),
    // One poll reads the longest answer whole.
    started: new Deadlines(options.timeoutMs, afterPoll, (attempt) => attempt.onSilence()),
  }
  const { waiting, started } = context
  const toRequest = createRequests(root, options)

  const hidden = { username: options.username, secrets: [options.password] }
  const withoutCard = createScrub(hidden)
  let isClosing = false
  const heeded = new WeakSet<AbortSignal>()

  /** One listener for all attempts that a signal may end, for as long as the signal lives. */
  function heed(abandon: AbortSignal): void {
    if (heeded.has(abandon)) return
    heeded.add(abandon)
    abandon.addEventListener('abort', () => {
      for (const attempt of waiting.all()) if (attempt.isUnwanted) attempt.abandon()
    })
  }

  return {
    send(instruction, fence, abandon, card = null) {
      const attempt = new Attempt(
        context,
        { sent: instruction, scrub: card === null ? withoutCard : createScrub({ ...hidden, card }) },
        fence,
        abandon,
      )
      heed(abandon)
      if (isClosing || abandon.aborted) attempt.abandon()
      const dispatch = () => {
        if (!attempt.isWaiting) return
        try {
          pool.dispatch(toRequest(instruction, card), attempt)
        } catch (error) {
          attempt.onResponseError(null, error as Error)
        }
      }
      if (isFresh) dispatch()
      else void departure().then(dispatch)
      return attempt.outcome
    },
    reach() {
      return reach(base, connector.connect, withoutCard)
    },
    /** What has not started is given up, what has started is awaited. */
    async close() {
      isClosing = true
      for (const attempt of waiting.all()) attempt.abandon()
      await Promise.all(started.all().map((attempt) => attempt.outcome))
      connector.close()
      await pool.destroy()
    },
  }
}

function openPool(origin: string, connect: Connect, isFresh: boolean, connections: number): Pool {
  return new Pool(origin, {
    connect,
    factory: openLine,
    connections,
    // 0 closes the connection behind every answer; 1 keeps it and still sends one request at a time.
    pipelining: isFresh ? 0 : 1,
    // undici sends POSTs again over HTTP/2.
    allowH2: false,
    // Our own deadline rules: undici's time-outs may fire early, and know nothing of a blocked event loop.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: ANSWER_LIMIT_BYTES,
  })
}

/** One of the pool's clients, which holds one connection at a time: each attempt learns what its connection carried. */
function openLine(origin: URL, options: object): Dispatcher {
  const { connect, ...rest } = options as Client.Options & { readonly connect: Connect }
  const line: Line = { socket: null, carried: 0 }
  const client = new Client(origin, {
    ...rest,
    connect: (how, callback) =>
      connect(how, (error, socket) => {
        if (error !== null) return callback(error, null)
        line.socket = socket
        line.carried = 0
        callback(null, socket)
      }),
  })
  const dispatch = client.dispatch.bind(client)
  client.dispatch = (request, handler) => {
    if (handler instanceof Attempt) handler.ride(line)
    return dispatch(request, handler)
  }
  return client
}

function once(tell: () => void): () => void {
  let told = false
  return () => {
    if (told) return
    told = true
    tell()
  }
}

/** What the requests of transactions have in common is made once. */
function createRequests(
  root: string,
  options: GatewayOptions,
): (instruction: Instruction, card: CardDetails | null) => Dispatcher.DispatchOptions {
  const formType = options.charset === null ? FORM_TYPE : `${FORM_TYPE}; charset=${options.charset}`
  const toForm = createForm(options, options.refundParameter)
  const requestOf = (path: string, type: string) => ({
    method: 'POST' as const,
    path: root + path,
    headers: ['content-type', type, 'cache-control', 'no-cache', 'user-agent', 'tranche'],
  })
  const form = requestOf(TRANSACTION_PATH, formType)
  return (instruction, card) => {
    const { operation } = instruction
    return isVaultOperation(operation)
      ? { ...requestOf(VAULT_PATHS[operation], JSON_TYPE), body: toVaultRecord(operation, instruction, card, options) }
      : { ...form, body: toForm(instruction, card) }
  }
}

function parseBase(url: string): URL {
  const base = URL.parse(url)
  if (base === null || !/^https?:$/.test(base.protocol)) {
    throw new Fault('config', 'the gateway address is not an http or https address; nothing was sent')
  }
  return base
}

type Connect = ReturnType<typeof createConnector>['connect']

/**
 * Hands a connection over at a moment of the rate. Opening one takes now longer, now shorter: were the moment before it,
 * first bytes would leave unevenly, and some be held back because their second is full.
 */
function atDeparture(connect: Connect, departure: () => Promise<void>): Connect {
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (error !== null) return callback(error, null)
      void departure().then(() => callback(null, socket))
    })
  }
}

/**
 * Hands a connection over only where the gateway has kept silent on it: an answer that was there before the request speaks of
 * no request. Whatever has come is read in one turn of the event loop; the first byte leaves in the same turn.
 */
function unspoken(connect: Connect): Connect {
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (error !== null) return callback(error, null)
      afterPoll(() => {
        const spoke = socket.readableLength > 0
        if (!spoke && !socket.destroyed) return callback(null, socket)
        socket.destroy()
        const did = spoke ? 'answered before it was asked' : 'closed the connection before the request was sent'
        callback(new Error(`the gateway ${did}`), null)
      })
    })
  }
}

function reach(base: URL, connect: Connect, scrub: Scrub): Promise<Reached> {
  return new Promise((resolve) => {
    connect({ hostname: base.hostname, protocol: base.protocol, port: base.port }, (error, socket) => {
      if (socket === null) {
        // What the system says of a socket has no word of the other side; of a certificate it has.
        const isOwn = error.cause instanceof Error && 'syscall' in error.cause
        return resolve({ kind: 'not-reached', why: isOwn ? error.message : scrub.line(error.message) })
      }
      const tls = seenOf(socket)
      // The other side may still reset it, which no longer matters.
      socket.on('error', () => {}).destroy()
      resolve({ kind: 'reached', tls: tls === null ? null : { ...tls, issuer: scrub.line(tls.issuer) } })
    })
  })
}
