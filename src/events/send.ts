// One attempt to deliver one event: a POST over a connection to an address that was looked at. It may be repeated, so connections are kept.

import { Agent, buildConnector } from 'undici'
import { maskCardData } from '../domain/card-secrets.ts'
import { messageOf } from '../domain/errors.ts'
import { TLS } from '../domain/tls.ts'
import { visible } from '../domain/visible.ts'
import type { WebhookSender } from '../ports/webhooks.ts'
import { guardedLookup, urlFault } from './address-guard.ts'
import { signatureHeader } from './signature.ts'

export interface SenderOptions {
  /** Absent: the system's. */
  readonly resolve?: Parameters<typeof guardedLookup>[0]
  readonly withinMs?: number
  /** What is hidden wherever it stands. */
  readonly scrub: (text: string) => string
}

const WITHIN_MS = 15_000
/** Of an answer. */
const KEPT_BYTES = 1_024
const AT_ONCE = 4

export function createSender({ resolve, withinMs = WITHIN_MS, scrub }: SenderOptions): WebhookSender {
  const agentWith = (guarded: boolean) =>
    new Agent({
      connect: buildConnector({
        ...TLS,
        allowH2: false,
        timeout: withinMs,
        ...(guarded && { lookup: guardedLookup(resolve) }),
      }),
      allowH2: false,
      pipelining: 1,
      connections: AT_ONCE,
      headersTimeout: withinMs,
      bodyTimeout: withinMs,
    })
  const [guarded, open] = [agentWith(true), agentWith(false)]
  const clean = (text: string) => visible(maskCardData(scrub(text))).slice(0, KEPT_BYTES)
  return {
    async send({ url, secrets, allowsPrivate }, id, body, nowMs) {
      const fault = urlFault(url, allowsPrivate)
      if (fault !== null) return { httpStatus: null, said: `not sent: ${fault}`, retryAfter: null }
      const timestamp = Math.floor(nowMs / 1_000)
      const { origin, pathname, search } = new URL(url)
      try {
        const answer = await (allowsPrivate ? open : guarded).request({
          ...{ origin, path: pathname + search, method: 'POST', body, signal: AbortSignal.timeout(withinMs) },
          headers: {
            'content-type': 'application/cloudevents+json; charset=utf-8',
            'user-agent': 'tranche',
            'webhook-id': id,
            'webhook-timestamp': String(timestamp),
            'webhook-signature': signatureHeader(secrets, { id, timestamp, body }),
          },
        })
        const said = await beginningOf(answer.body)
        const { 'retry-after': asked } = answer.headers
        return {
          httpStatus: answer.statusCode,
          said: clean(said),
          retryAfter: typeof asked === 'string' ? asked : null,
        }
      } catch (error) {
        return { httpStatus: null, said: clean(messageOf(error)), retryAfter: null }
      }
    },
    async close() {
      await Promise.all([guarded.destroy(), open.destroy()])
    },
  }
}

/** What comes behind it is not waited for; a short body is read to its end, so that its connection can be used again. */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    parts.push(part)
    bytes += part.length
    if (bytes > KEPT_BYTES) break
  }
  return Buffer.concat(parts).subarray(0, KEPT_BYTES).toString('utf8')
}
