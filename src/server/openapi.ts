// The published description of the API: OpenAPI 3.1, made of the schemas by which requests are read and replies are written.

import swagger from '@fastify/swagger'
import { createJsonSchemaTransform } from 'fastify-type-provider-zod'
import type { Server } from './door.ts'

export async function describeApi(server: Server, version: string): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Tranche',
        version,
        description:
          'Payment instructions in bulk: never twice, never lost, never misreported. A row in doubt (IN_DOUBT) may have been executed: do not send it again.',
        license: { name: 'Unlicensed', identifier: 'LicenseRef-UNLICENSED' },
      },
      servers: [{ url: '/' }],
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer', bearerFormat: 'trk_…' } } },
    },
    transform: createJsonSchemaTransform({}),
  })
}

/** As it is published. */
export function publishedApi(server: Server): object {
  return opened(server.swagger()) as object
}

/** Replies may have more members one day: a client that was made by this document must not break then. */
function opened(document: unknown): unknown {
  return JSON.parse(JSON.stringify(document), (name, value) => (name === 'responses' ? open(value) : value))
}

function open(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(open)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name, member]) => name !== 'additionalProperties' || member !== false)
  return Object.fromEntries(members.map(([name, member]) => [name, open(member)]))
}
