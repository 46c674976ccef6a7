// The published description of the API: OpenAPI 3.1, made of the schemas by which requests are read and replies are written.

import swagger from '@fastify/swagger'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { Server } from './door.ts'
import { entryOf } from './table.ts'

/** Of whatever changes something. */
const ONCE = {
  type: 'object',
  required: ['Idempotency-Key'],
  properties: {
    'Idempotency-Key': {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description:
        'Identifies the request: repeated with the same key, it takes effect once, and is answered with its first status and the present state. Kept for 30 days.',
    },
  },
} as const

export async function describeApi(server: Server, version: string): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Tranche',
        version,
        description:
          'Payment instructions in bulk: never twice, never lost, never misreported. A row in doubt (IN_DOUBT) may have been executed: do not send it again. Replies may gain members; requests may not have unknown ones.',
        license: { name: 'Unlicensed', identifier: 'LicenseRef-UNLICENSED' },
      },
      servers: [{ url: '/' }],
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer', bearerFormat: 'trk_…' } } },
    },
    transform(given) {
      const name = given.route.config?.entry
      if (name === undefined) return { url: given.url, schema: { hide: true } } // a page of the console
      const { schema, url } = jsonSchemaTransform(given)
      return entryOf(name).changes ? { url, schema: { ...schema, headers: ONCE } } : { schema, url }
    },
    transformObject: jsonSchemaTransformObject,
  })
}

/** As it is published. */
export function publishedApi(server: Server): object {
  const document = JSON.parse(JSON.stringify(server.swagger()), (name, value: unknown) =>
    name === 'responses' || name === 'schemas' ? opened(value) : value,
  ) as Document
  const whole = JSON.stringify(document)
  const { schemas = {} } = document.components
  const used = Object.entries(schemas).filter(([name]) => whole.includes(`"#/components/schemas/${name}"`))
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(used) } }
}

interface Document {
  readonly components: { readonly schemas?: Readonly<Record<string, unknown>> }
}

/** Replies may have more members one day: a client that was made by this document must not break then. */
function opened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(opened)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(
    ([name, member]) => !(name === 'additionalProperties' && member === false) && !saysNothing(name, member),
  )
  return Object.fromEntries(members.map(([name, member]) => [name, opened(member)]))
}

/** What holds of every whole number in JSON. */
function saysNothing(name: string, member: unknown): boolean {
  return (name === 'minimum' || name === 'maximum') && Math.abs(Number(member)) === Number.MAX_SAFE_INTEGER
}
