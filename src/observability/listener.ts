// Where figures and health are asked for: /metrics, /livez and /readyz, on an address of their own. It answers and changes nothing.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Fault } from '../domain/fault.ts'
import { type Check, isHealthy } from '../domain/health.ts'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export interface ListenerParts {
  readonly address: ListenAddress
  readonly metricsType: string
  readonly metrics: () => Promise<string>
  readonly checks: () => Promise<readonly Check[]>
  readonly onError: (error: unknown) => void
}

export interface Listener {
  readonly url: string
  close(): Promise<void>
}

interface Answer {
  readonly code: number
  readonly type: string
  readonly body: string
}

const LONGEST_REQUEST_MS = 5_000
const CONNECTIONS_MOST = 32
const JSON_TYPE = 'application/json; charset=utf-8'

export async function openListener(parts: ListenerParts): Promise<Listener> {
  const server = createServer({ requestTimeout: LONGEST_REQUEST_MS, headersTimeout: LONGEST_REQUEST_MS })
  server.maxConnections = CONNECTIONS_MOST
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    request.resume()
    void answerTo(request, parts).then(({ code, type, body }) => {
      const length = Buffer.byteLength(body)
      response.writeHead(code, { 'content-type': type, 'content-length': length, 'cache-control': 'no-store' })
      response.end(request.method === 'HEAD' ? undefined : body)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(parts.address, error)))
    server.listen(parts.address.port, parts.address.host, resolve)
  })
  server.on('error', parts.onError)
  server.unref() // nobody's work waits for it
  const { address, port, family } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function cannotListen({ host, port }: ListenAddress, error: NodeJS.ErrnoException): Fault {
  const why = error.code === 'EADDRINUSE' ? 'another process has it' : error.message
  return new Fault(
    'config',
    `TRANCHE_METRICS: nothing can listen on ${host} port ${port} (${why}). Nothing was started. Give each worker of this machine a port of its own, or take the setting away.`,
  )
}

async function answerTo({ method, url }: IncomingMessage, parts: ListenerParts): Promise<Answer> {
  const plain = (code: number, body: string): Answer => ({ code, type: 'text/plain; charset=utf-8', body })
  if (method !== 'GET' && method !== 'HEAD') return plain(405, 'only GET\n')
  try {
    switch (url?.split('?')[0]) {
      case '/metrics':
        return { code: 200, type: parts.metricsType, body: await parts.metrics() }
      case '/livez':
        return plain(200, 'ok\n') // it answers: the event loop turns
      case '/readyz':
        return readiness(await parts.checks())
      default:
        return plain(404, 'only /metrics, /livez and /readyz\n')
    }
  } catch (error) {
    parts.onError(error)
    return plain(500, 'this could not be looked up: the log says why\n')
  }
}

function readiness(checks: readonly Check[]): Answer {
  const ready = isHealthy(checks)
  const said = Object.fromEntries(checks.map(({ name, ok, says }) => [name, { ok, says }]))
  return { code: ready ? 200 : 503, type: JSON_TYPE, body: `${JSON.stringify({ ready, checks: said })}\n` }
}
