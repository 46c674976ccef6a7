// The sandbox as an HTTP server: the four endpoints of the gateway, and the sandbox's own routes beside them.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { Fault } from '../domain/fault.ts'
import type { VaultOperation } from '../domain/instruction.ts'
import type { Currency } from '../domain/money.ts'
import { type AdminReply, answerAdmin, wrong } from './admin.ts'
import { addRule, clearRules, type FaultRule, refuses } from './faults.ts'
import type { Executed } from './log.ts'
import { addPrepared, type Preparation, type Prepared } from './prepare.ts'
import type { Refuse, Reply } from './reply.ts'
import { receive, refuse } from './request-handler.ts'
import { createState, nowMsOf, type SandboxState } from './state.ts'
import { openStateFile } from './state-file.ts'
import { receiveInVault, refuseInVault } from './vault-handler.ts'

export interface SandboxOptions {
  /** 0, the default: any free port. */
  readonly port?: number
  /** Default 127.0.0.1. */
  readonly host?: string
  readonly username: string
  readonly password: string
  /** Epoch milliseconds. */
  readonly clock: () => number
  /** When a captured order is no longer pending settlement; default 24 hours. */
  readonly settleAfterMs?: number
  /** How long an answer takes; the request itself is executed at once. Default 0. */
  readonly latencyMs?: number
  /** Whether `TRIGGER_AMOUNTS` make trouble; default no. */
  readonly triggers?: boolean
  /** Orders and cards exist when they are first named, orders in this currency; default: only what was prepared exists. */
  readonly acceptsUnknownIn?: Currency | null
  /** A file that keeps orders, stored cards and counts over restarts, written at most once a second; null: none. */
  readonly statePath?: string | null
  /** Is told when that file cannot be written; default: not at all, but closing fails. */
  readonly warn?: (sentence: string) => void
}

export interface Sandbox {
  /** The base address, without a slash at the end. */
  readonly url: string
  readonly port: number
  /** What was really executed since it was opened, in order. Grows while it is read. */
  log(): readonly Executed[]
  /** Requests that reached an endpoint of the gateway, executed or not. */
  received(): number
  /** How many were made. */
  prepare(preparation: Preparation): Prepared
  addFault(rule: FaultRule): void
  clearFaults(): void
  /** Moves the clock that settlement and card expiry go by. */
  advance(ms: number): void
  /** Ends hanging connections as well, and writes the state; requests that still wait in `slow` are not executed any more. */
  close(): Promise<void>
}

interface Endpoint {
  readonly mediaType: string
  readonly receive: (state: SandboxState, requestSeq: number, body: string) => Reply
  readonly refuse: Refuse
}

function vaultEndpoint(operation: VaultOperation): Endpoint {
  return {
    mediaType: 'application/json',
    receive: (state, requestSeq, body) => receiveInVault(operation, state, requestSeq, body),
    refuse: refuseInVault,
  }
}

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  '/api/transaction/api': { mediaType: 'application/x-www-form-urlencoded', receive, refuse },
  '/api/integration/customer/card-tokenization': vaultEndpoint('VAULT_CREATE'),
  '/api/integration/customer/card-tokenization/update': vaultEndpoint('VAULT_UPDATE'),
  '/api/integration/customer/card-tokenization/delete': vaultEndpoint('VAULT_DELETE'),
}
const ADMIN_PREFIX = '/_sandbox/'
const DAY_MS = 86_400_000
const BODY_MAX_BYTES = 64 * 1024
const ADMIN_MAX_BYTES = 256 * 1024 * 1024
/** Longer than clients keep theirs: a connection that both ends drop at once looks like trouble that was not ordered. */
const KEEP_ALIVE_MS = 60_000

/** What serving needs besides the state. */
interface Front {
  readonly state: SandboxState
  readonly latencyMs: number
  readonly timers: Set<NodeJS.Timeout>
  readonly sockets: Set<Socket>
  /** Connections that had a request already: `refuse` has spared them once and is asked again. */
  readonly served: WeakSet<Socket>
}

export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { port = 0, host = '127.0.0.1', username, password, clock } = options
  const {
    settleAfterMs = DAY_MS,
    latencyMs = 0,
    triggers = false,
    acceptsUnknownIn = null,
    statePath = null,
    warn = () => {},
  } = options
  const state = createState({ username, password, clock, settleAfterMs, triggers, acceptsUnknownIn })
  const front: Front = { state, latencyMs, timers: new Set(), sockets: new Set(), served: new WeakSet() }
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    serve(front, request, response)
  })
  server.on('connection', (socket) => accept(front, socket))
  const stateFile = statePath === null ? null : await openStateFile(statePath, state, warn)
  try {
    await listen(server, port, host)
  } catch (error) {
    await stateFile?.close()
    throw error
  }
  const bound = (server.address() as AddressInfo).port
  let closing: Promise<void> | undefined
  return {
    url: `http://${nameInUrl(host)}:${bound}`,
    port: bound,
    log: () => state.log.entries,
    received: () => state.received,
    prepare: (preparation) => addPrepared(state.book, preparation, nowMsOf(state)),
    addFault: (rule) => addRule(state.faults, rule),
    clearFaults: () => clearRules(state.faults),
    advance: (ms) => {
      state.advancedMs += ms
    },
    close: () => {
      closing ??= shut(server, front).then(() => stateFile?.close())
      return closing
    },
  }
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const inUse = cause.code === 'EADDRINUSE'
      const why = inUse
        ? `port ${port} on ${host} is in use; stop what listens there or name another port`
        : `port ${port} on ${host} cannot be opened (${cause.code}); name another port or host`
      reject(new Fault('usage', `The sandbox cannot start: ${why}.`, { cause }))
    })
    server.listen({ port, host, backlog: 1024 }, resolve)
  })
}

/** A server that listens on every address is reached over the loopback one. */
function nameInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

function shut(server: Server, front: Front): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    for (const timer of front.timers) clearTimeout(timer)
    for (const socket of front.sockets) socket.destroy()
  })
}

function accept(front: Front, socket: Socket): void {
  front.sockets.add(socket)
  socket.once('close', () => front.sockets.delete(socket))
  if (refuses(front.state.faults)) socket.destroy()
}

// ───────────────────────────────────────────────────────────── Requests

function serve(front: Front, request: IncomingMessage, response: ServerResponse): void {
  const path = (request.url ?? '').split('?', 1)[0] as string
  const endpoint = Object.hasOwn(ENDPOINTS, path) ? ENDPOINTS[path] : undefined
  if (endpoint !== undefined) serveGateway(front, endpoint, request, response)
  else if (path.startsWith(ADMIN_PREFIX)) serveAdmin(front.state, path, request, response)
  else
    deliver(front, refuse(404, `There is nothing here; requests go to ${Object.keys(ENDPOINTS).join(', ')}`), response)
}

function serveGateway(front: Front, endpoint: Endpoint, request: IncomingMessage, response: ServerResponse): void {
  const { state, served } = front
  state.received += 1
  const requestSeq = state.received
  if (served.has(request.socket) && refuses(state.faults)) {
    request.socket.destroy()
    return
  }
  served.add(request.socket)
  const unreadable = refusalOfHead(endpoint, request, response)
  if (unreadable !== null) {
    deliver(front, unreadable, response)
    return
  }
  readBody(request, BODY_MAX_BYTES, (body) => {
    const reply =
      body === null
        ? endpoint.refuse(413, `The body is longer than ${BODY_MAX_BYTES} bytes`)
        : endpoint.receive(state, requestSeq, body.toString('utf8'))
    if (front.latencyMs === 0) deliver(front, reply, response)
    else after(front, front.latencyMs, () => deliver(front, reply, response))
  })
}

function refusalOfHead(
  { mediaType, refuse }: Endpoint,
  request: IncomingMessage,
  response: ServerResponse,
): Reply | null {
  if (request.method !== 'POST') {
    response.setHeader('allow', 'POST')
    return refuse(405, 'Only POST is taken here')
  }
  const given = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  return given === mediaType ? null : refuse(415, `The content type must be ${mediaType}`)
}

/** Calls back once the whole body is there, with null if it was too long; never for a request that was broken off. */
function readBody(request: IncomingMessage, maxBytes: number, done: (body: Buffer | null) => void): void {
  let chunks: Buffer[] = []
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    // The rest is read and dropped: closing on a sender in mid-body would lose it the answer.
    if (bytes > maxBytes) chunks = []
    else chunks.push(chunk)
  })
  request.on('end', () => done(bytes > maxBytes ? null : Buffer.concat(chunks)))
}

function after(front: Front, delayMs: number, act: () => void): void {
  const timer = setTimeout(() => {
    front.timers.delete(timer)
    act()
  }, delayMs)
  front.timers.add(timer)
}

function deliver(front: Front, reply: Reply, response: ServerResponse): void {
  switch (reply.kind) {
    case 'later':
      after(front, reply.delayMs, () => deliver(front, reply.then(), response))
      break
    case 'answer':
      if (isOpen(response)) sendAnswer(reply, response)
      break
    case 'cut':
      // By hand: without a content length, and not chunked, nothing but the JSON itself tells that half is missing.
      response.socket?.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n${reply.body}`,
      )
      response.socket?.destroySoon()
      break
    case 'reset':
      response.socket?.resetAndDestroy()
      break
    case 'hang':
      break
  }
}

/** False when the sender has gone; whatever was executed stays executed. */
function isOpen(response: ServerResponse): boolean {
  return response.socket !== null && !response.socket.destroyed
}

function sendAnswer(reply: Extract<Reply, { kind: 'answer' }>, response: ServerResponse): void {
  const { entry } = reply
  if (reply.retryAfterS !== null) response.setHeader('retry-after', reply.retryAfterS)
  response.writeHead(reply.httpStatus, {
    'content-type': reply.contentType,
    'content-length': Buffer.byteLength(reply.body),
  })
  response.end(reply.body, () => {
    if (entry !== null) entry.answered = true
  })
}

function serveAdmin(state: SandboxState, path: string, request: IncomingMessage, response: ServerResponse): void {
  readBody(request, ADMIN_MAX_BYTES, (body) => {
    const reply =
      body === null
        ? wrong(413, `The body is longer than ${ADMIN_MAX_BYTES} bytes`)
        : answerAdmin(state, request.method ?? '', path, body.toString('utf8'))
    deliverAdmin(reply, response)
  })
}

function deliverAdmin(reply: AdminReply, response: ServerResponse): void {
  if (reply.allow !== null) response.setHeader('allow', reply.allow)
  response.writeHead(reply.httpStatus, { 'content-type': 'application/x-ndjson; charset=utf-8' })
  const lines = Readable.from(reply.lines)
  response.on('close', () => lines.destroy())
  lines.pipe(response)
}
