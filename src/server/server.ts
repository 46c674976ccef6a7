// The HTTP server: what holds for every request, and all routes.

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastify from 'fastify'
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import type * as z from 'zod'
import { isNestedDeeper, membersIn, membersWritten } from '../domain/json-members.ts'
import { TLS } from '../domain/tls.ts'
import { wrongFieldsIn } from '../domain/wrong-field.ts'
import { isWithin, networkList } from '../files/networks.ts'
import { guardAccess, refuseBesideProxies } from './access.ts'
import { createAllowance } from './allowance.ts'
import type { Door, Server } from './door.ts'
import { problemOf } from './faults.ts'
import { describeApi } from './openapi.ts'
import { invalidRequest, ProblemError, problemBody } from './problems.ts'
import { addAudit } from './routes/audit.ts'
import { addBatches } from './routes/batches.ts'
import { addChecks } from './routes/checks.ts'
import { addDoubts } from './routes/doubts.ts'
import { addEndpoints } from './routes/endpoints.ts'
import { addEvents } from './routes/events.ts'
import { addFiles } from './routes/files.ts'
import { addHealth } from './routes/health.ts'
import { addInstructions } from './routes/instructions.ts'
import { addMerchants } from './routes/merchants.ts'
import { addResults } from './routes/results.ts'
import { addRows } from './routes/rows.ts'
import { addSubmitting } from './routes/submitting.ts'
import { ROUTES } from './table.ts'

/** Of a body of JSON. */
const BODY_BYTES_MOST = 256 * 1024
const LEVELS_MOST = 32
/** The second is how often Node looks whether the first has passed. */
const LISTENER = {
  headersTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  insecureHTTPParser: false,
  // A request without one is ours to refuse, with a line of the log.
  requireHostHeader: false,
} as const
const REQUEST_WITHIN_MS = 300_000
const CONNECTIONS_MOST = 2_000
/** Of one address: a single one cannot take all. Proxies of ours may. */
const CONNECTIONS_OF_ONE = 1_000
/** Characters of JSON that one key may send in a minute. */
const CHARACTERS_A_MINUTE = 64 * 1024 ** 2
const LONGEST_ID = 300

export interface Tls {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

/** All routes, and nothing that listens. `addDoors`: what else answers at this port, each in a context of its own. */
export async function buildServer(
  door: Door,
  tls: Tls | null = null,
  addDoors: (server: Server) => Promise<void> = async () => {},
): Promise<Server> {
  const server = newServer(door, tls)
  server.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => (data) => {
    const checked = schema.safeParse(data)
    if (checked.success) return { value: checked.data }
    return { error: invalidRequest(wrongFieldsIn(checked.error.issues, data), httpPart === 'body') }
  })
  server.setSerializerCompiler(serializerCompiler)
  takeJson(server, door)
  answerProblems(server, door)
  refuseUnlisted(server)
  await server.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    referrerPolicy: { policy: 'no-referrer' },
    frameguard: { action: 'deny' },
    strictTransportSecurity: tls === null ? false : { maxAge: 31_536_000 },
  })
  if (tls === null) refuseBesideProxies(server, door)
  guardAccess(server, door)
  await limitRate(server, door)
  logAccess(server, door)
  const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }
  await describeApi(server, version)
  addHealth(server, door)
  await addFiles(server, door)
  await addChecks(server, door)
  addSubmitting(server, door)
  addBatches(server, door)
  addRows(server, door)
  addResults(server, door)
  await addInstructions(server, door)
  addDoubts(server, door)
  addMerchants(server, door)
  addEvents(server, door)
  addEndpoints(server, door)
  addAudit(server, door)
  await addDoors(server)
  await server.ready()
  return server
}

function newServer(door: Door, tls: Tls | null): Server {
  const { trustedProxies, app, connectionsOfOne = CONNECTIONS_OF_ONE } = door
  const server = fastify({
    ...(tls === null ? { http: LISTENER } : { https: { ...LISTENER, ...TLS, ...tls } }),
    bodyLimit: BODY_BYTES_MOST,
    requestTimeout: REQUEST_WITHIN_MS,
    exposeHeadRoutes: false,
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    routerOptions: { maxParamLength: LONGEST_ID },
    frameworkErrors(error: unknown, request: FastifyRequest, reply: FastifyReply) {
      const problem = problemOf(error, app.scrub)
      // No hook sees it.
      app.log.info({ ...whose(request), method: request.method, route: null, status: problem.status }, 'request')
      void tell(problem, request, reply)
    },
  } as object) as unknown as Server
  server.server.maxConnections = CONNECTIONS_MOST
  limitSockets(server.server, trustedProxies, connectionsOfOne)
  logMalformed(server.server, app)
  return server.withTypeProvider<ZodTypeProvider>()
}

function limitSockets(listener: Server['server'], trustedProxies: readonly string[], most: number): void {
  const open = new Map<string, number>()
  const proxies = networkList(trustedProxies)
  // Before TLS as well: a handshake costs more than a socket.
  listener.on('connection', (socket: Socket) => {
    const { remoteAddress: address } = socket
    if (address === undefined || isWithin(proxies, address)) return
    const count = (open.get(address) ?? 0) + 1
    open.set(address, count)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
    if (count > most) socket.destroy()
  })
}

/** What Node itself refuses reaches no hook. The address is that of the socket, before it is closed. */
function logMalformed(listener: Server['server'], app: Door['app']): void {
  const log = ({ remoteAddress: address }: Socket, status: number, why: string) =>
    app.log.info({ address, key: null, method: null, route: null, status, why }, 'request')
  listener.prependListener('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Socket) => {
    const isTimeout = code === 'ERR_HTTP_REQUEST_TIMEOUT'
    if (!socket.writable || (!isTimeout && !code.startsWith('HPE_'))) return // nobody is answered
    log(socket, isTimeout ? 408 : code === 'HPE_HEADER_OVERFLOW' ? 431 : 400, code)
  })
  listener.on('checkExpectation', ({ socket }: IncomingMessage, response: ServerResponse) => {
    log(socket, 417, 'Expect')
    response.writeHead(417).end()
  })
}

function takeJson(server: Server, { app }: Door): void {
  const charactersOf = createAllowance(CHARACTERS_A_MINUTE, () => app.clock.monotonicMs())
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    async ({ caller, ip, method }: FastifyRequest, text: string | Buffer) => {
      if (method === 'DELETE' && text.length === 0) return undefined // it takes no body, whatever its headers say
      const waitMs = charactersOf.take(caller?.key.id ?? ip, text.length)
      if (waitMs > 0)
        throw new ProblemError('rate_limited', 'This key has sent too much in the last minute. Nothing was changed.', {
          retryAfterS: Math.ceil(waitMs / 1000),
        })
      let value: unknown
      try {
        value = JSON.parse(String(text))
      } catch {
        throw new ProblemError('json_invalid', 'The body is not JSON. Nothing was changed.')
      }
      if (isNestedDeeper(value, LEVELS_MOST))
        throw new ProblemError(
          'json_invalid',
          `The body is nested deeper than ${LEVELS_MOST} levels. Nothing was changed.`,
        )
      // Of two values under one name, readers take one or the other.
      if (membersWritten(String(text)) === membersIn(value)) return value
      throw new ProblemError('json_invalid', 'The body names a field twice: write each once. Nothing was changed.')
    },
  )
}

function answerProblems(server: Server, { app }: Door): void {
  server.addHook('onRequest', async (_, reply) => {
    reply.header('cache-control', 'no-store')
  })
  server.setNotFoundHandler((request, reply) =>
    tell(
      new ProblemError('not_found', 'There is nothing under this address.'),
      request as FastifyRequest,
      reply as FastifyReply,
    ),
  )
  server.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error, app.scrub)
    if (problem.status >= 500) app.log.error({ err: error, ...whose(request) }, 'a request failed')
    return tell(problem, request as FastifyRequest, reply as FastifyReply)
  })
}

function tell(problem: ProblemError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (problem.retryAfterS !== null) reply.header('retry-after', String(problem.retryAfterS))
  return reply
    .code(problem.status)
    .header('cache-control', 'no-store')
    .type('application/problem+json; charset=utf-8')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(problemBody(problem, request.id))
}

/** A route that no entry of the table stands for is a mistake of ours, and must not be served until somebody finds it. */
function refuseUnlisted(server: Server): void {
  server.addHook('onRoute', ({ config, method, url }) => {
    if (config?.page !== undefined) return // of the other table, against which the console holds it
    const name = config?.entry
    const entry = name === undefined ? null : ROUTES[name]
    if (entry === null || entry.method !== method || entry.path !== url)
      throw new Error(`bug: ${String(method)} ${url} has no entry in the table of routes`)
  })
}

async function limitRate(server: Server, { requestsPerMinute }: Door): Promise<void> {
  await server.register(rateLimit, {
    hook: 'preParsing', // when it is known whose request it is
    max: requestsPerMinute,
    timeWindow: 60_000,
    keyGenerator: ({ caller, ip }) => (caller === null ? `ip ${ip}` : `key ${caller.key.id}`),
    errorResponseBuilder: ({ caller }, { ttl }) => {
      const who = caller === null ? 'This address' : 'This key'
      return new ProblemError('rate_limited', `${who} has sent too many requests. Nothing was changed.`, {
        retryAfterS: Math.max(1, Math.ceil(ttl / 1000)),
      })
    },
  })
}

/** No query: what was searched for is nobody's business. */
function logAccess(server: Server, { app, onAnswered }: Door): void {
  server.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions } = request
    const { statusCode: status, elapsedTime } = reply
    const told = { ...whose(request), method, route: routeOptions.url ?? null, status, ms: Math.round(elapsedTime) }
    onAnswered?.(method, routeOptions.url ?? 'none', status, elapsedTime)
    if (method === 'GET' && status < 400) app.log.debug(told, 'request')
    else app.log.info(told, 'request')
  })
}

/** In every line about a request. */
function whose({ id, ip, keyId }: Pick<FastifyRequest, 'id' | 'ip' | 'keyId'>): object {
  return { request_id: id, address: ip, key: keyId ?? null }
}

export interface Listening {
  readonly url: string
  /** Takes no new requests; those that are open are answered. */
  close(): Promise<void>
}

export async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const url = await server.listen({ host, port })
  return { url, close: () => server.close() }
}
