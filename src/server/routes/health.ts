// Whether the process turns, whether it can do its work, and the description of the API: for whoever reaches the port.

import { createHash } from 'node:crypto'
import * as z from 'zod'
import { ledgerChecks } from '../../app/health.ts'
import { isHealthy } from '../../domain/health.ts'
import { createToldTrouble } from '../../domain/trouble.ts'
import type { Door, Server } from '../door.ts'
import { publishedApi } from '../openapi.ts'
import { addRoute } from '../route.ts'

const READY = z.object({
  ready: z.boolean(),
  checks: z.record(z.string(), z.object({ ok: z.boolean() })),
})

/** Made when somebody asks for it first: the routes stay as they are, and it takes 45 ms. */
function describing(server: Server): () => { readonly text: string; readonly etag: string } {
  let made: { readonly text: string; readonly etag: string } | null = null
  return () => {
    if (made !== null) return made
    const text = JSON.stringify(publishedApi(server))
    made = { text, etag: `"${createHash('sha256').update(text).digest('base64url')}"` }
    return made
  }
}

export function addHealth(server: Server, { app, ledger }: Door): void {
  const trouble = createToldTrouble()
  addRoute(server, 'livez', {
    summary: 'Whether this process answers',
    replies: { 200: z.object({ live: z.literal(true) }) },
    answer: async () => ({ live: true }),
  })
  addRoute(server, 'readyz', {
    summary: 'Whether the ledger can be read and written',
    description: 'What is wrong is told to people at the machine, and in the log.',
    replies: { 200: READY, 503: READY },
    async answer({ reply }) {
      const checks = await ledgerChecks(app, ledger)
      const ready = isHealthy(checks)
      const failed = checks.filter(({ ok }) => !ok)
      if (ready) trouble.over()
      else if (trouble.isNew(failed.map(({ name }) => name).join()))
        for (const { name, says } of failed) app.log.warn({ check: name }, says)
      return reply.code(ready ? 200 : 503).send({
        ready,
        checks: Object.fromEntries(checks.map(({ name, ok }) => [name, { ok }])),
      })
    },
  })
  const described = describing(server)
  addRoute(server, 'openapi', {
    summary: 'This description',
    replies: { 200: z.record(z.string(), z.unknown()) },
    async answer({ request, reply }) {
      const { text, etag } = described()
      reply.headers({ etag, 'cache-control': 'no-cache' })
      if (request.headers['if-none-match'] === etag) return reply.code(304).send()
      return reply.type('application/json; charset=utf-8').serializer(String).send(text)
    },
  })
}
