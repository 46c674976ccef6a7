// A route, added under its entry in the table.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type * as z from 'zod'
import type { Server } from './door.ts'
import { PROBLEM } from './schemas.ts'
import { entryOf, type RouteName } from './table.ts'

const PROBLEMS = { description: 'A problem.', content: { 'application/problem+json': { schema: PROBLEM } } }

export interface RouteParts<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  /** A sentence without its full stop. */
  readonly summary: string
  readonly description?: string
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** By status; what they do not name does not leave. */
  readonly replies: Readonly<Record<number, z.ZodType | { readonly content: object }>>
  readonly answer: (asked: Asked<P, Q, B>) => Promise<unknown>
}

export interface Asked<
  P extends z.ZodType = z.ZodType,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
> {
  readonly params: z.output<P>
  readonly query: z.output<Q>
  readonly body: z.output<B>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

export function addRoute<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  server: Server,
  name: RouteName,
  { summary, description, params, query, body, replies, answer }: RouteParts<P, Q, B>,
): void {
  const { method, path, scope } = entryOf(name)
  server.route({
    method,
    url: path,
    config: { entry: name },
    schema: {
      operationId: name,
      summary,
      ...(description === undefined ? {} : { description }),
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { querystring: query }),
      ...(body === undefined ? {} : { body }),
      response: { ...replies, '4xx': PROBLEMS, '5xx': PROBLEMS } as unknown as Record<string, z.ZodType>,
      security: scope === null ? [] : [{ key: [scope] }],
    },
    handler: (request, reply) =>
      answer({
        params: request.params as z.output<P>,
        query: request.query as z.output<Q>,
        body: request.body as z.output<B>,
        request: request as FastifyRequest,
        reply: reply as FastifyReply,
      }),
  })
}
