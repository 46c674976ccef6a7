// Opens connections to the gateway, plain or TLS: one time limit over name, TCP and handshake, failures in plain words.

import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, TLSSocket } from 'node:tls'
import type { buildConnector } from 'undici'
import { TLS, type TlsSeen, type Trust } from '../domain/tls.ts'

/** The authorities of Node, and no certificate of ours. */
const NODES_OWN: Trust = { ca: null, client: null }

export interface Connector {
  /** `host:port`, for people. */
  readonly address: string
  /** In the form undici asks for. It always goes to the one address. */
  readonly connect: buildConnector.connector
  /** Ends what is still being opened. */
  close(): void
}

export function createConnector(origin: URL, limitMs: number, trust: Trust = NODES_OWN): Connector {
  const isTls = origin.protocol === 'https:'
  const host = origin.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = origin.port === '' ? (isTls ? 443 : 80) : Number(origin.port)
  const address = `${origin.hostname}:${port}`
  const opening = new Set<Socket>()
  const openSocket = isTls ? tlsOpener(host, port, trust) : () => connectTcp({ host, port })

  const connect: buildConnector.connector = (_options, callback) => {
    const socket = openSocket()
    opening.add(socket)
    socket.setNoDelay(true).setKeepAlive(true, 60_000)
    let hasTcp = false
    socket.once('connect', () => {
      hasTcp = true
    })
    const timer = setTimeout(() => afterPoll(() => fail(noConnectionWithin(address, limitMs))), limitMs)
    const ends = (): boolean => {
      clearTimeout(timer)
      return opening.delete(socket)
    }
    const fail = (words: string, cause?: Error) => {
      if (!ends()) return
      socket.destroy()
      callback(new Error(words, { cause }), null)
    }
    // These stay for the life of the socket and say nothing once it stands; from then on undici listens.
    socket.on('error', (error) => fail(connectWords(error, { host, address, hasTcp, isTls }), error))
    socket.on('close', () => fail(`${address} closed the connection while it was being opened`))
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      if (ends()) callback(null, socket)
    })
  }

  return {
    address,
    connect,
    close() {
      for (const socket of opening) socket.destroy()
    },
  }
}

/**
 * Opens TLS sockets that resume with the newest ticket, which halves the cost of a fresh connection. undici's own cache
 * holds tickets weakly and loses them at every garbage collection.
 */
function tlsOpener(host: string, port: number, { ca, client }: Trust): () => TLSSocket {
  let ticket: Buffer | undefined
  // One that the server chokes on must not spoil every connection to come.
  const forget = () => {
    ticket = undefined
  }
  return () => {
    const socket = connectTls({
      host,
      port,
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      ...TLS,
      ...(ca === null ? {} : { ca }),
      ...client,
      ...(ticket === undefined ? {} : { session: ticket }),
    })
    // Node tells of a ticket only once the certificate behind it has been verified; a resumed one is not verified again.
    socket.on('session', (newest) => {
      ticket = newest
    })
    socket.once('error', forget)
    socket.once('secureConnect', () => socket.off('error', forget))
    return socket
  }
}

/** Of a connection that stands and did not resume another. null: it is plain. */
export function seenOf(socket: Socket): TlsSeen | null {
  if (!(socket instanceof TLSSocket)) return null
  const { issuer, valid_to: until } = socket.getPeerCertificate()
  return {
    protocol: socket.getProtocol() ?? 'unknown',
    cipher: socket.getCipher().standardName,
    issuer: [issuer.CN ?? issuer.O ?? 'unknown'].flat().join(', '),
    expiresAtMs: Date.parse(until),
  }
}

/**
 * Runs `then` after what already lies in the sockets has been read: behind a blocked event loop timers are late before
 * anything was. Two turns, because the end of a connection is read one turn after the last bytes before it.
 */
export function afterPoll(then: () => void): void {
  setImmediate(() => setImmediate(then))
}

export function noConnectionWithin(address: string, limitMs: number): string {
  return `no connection to ${address} within ${limitMs / 1000} s`
}

interface Opening {
  readonly host: string
  readonly address: string
  readonly hasTcp: boolean
  readonly isTls: boolean
}

const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
])

/** Node's own advice is for the whole process; ours is for this gateway. */
function tlsWords(error: NodeJS.ErrnoException & { reason?: string }): string {
  const words = (error.reason ?? error.message).replace(/; if the root CA is installed locally.*$/, '')
  return UNKNOWN_AUTHORITY.has(error.code ?? '')
    ? `${words} (where its authority is known to be right: TRANCHE_GATEWAY_CA_FILE, or ca_file in TRANCHE_CONFIG)`
    : words
}

function connectWords(error: NodeJS.ErrnoException & { reason?: string }, opening: Opening): string {
  const { host, address } = opening
  if (opening.isTls && opening.hasTcp) return `TLS failed with ${address}: ${tlsWords(error)}`
  switch (error.code) {
    case 'ECONNREFUSED':
      return `connection refused by ${address}`
    case 'ENOTFOUND':
      return `the name ${host} does not resolve`
    case 'EAI_AGAIN':
      return `the name ${host} cannot be looked up now: no name server answers`
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `no route to ${address}`
    case 'ETIMEDOUT':
      return `no connection to ${address}: nothing answers there`
    case 'ECONNRESET':
      return `${address} closed the connection while it was being opened`
    case 'EMFILE':
    case 'ENFILE':
      return 'this machine has no file descriptor left for a connection'
    default:
      return `no connection to ${address}: ${error.message || error.code || 'unknown error'}`
  }
}
