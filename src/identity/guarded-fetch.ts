// What is asked over the network in the name of signing in: the issuer's own description, and the addresses that it names there.

import { Agent, fetch } from 'undici'
import { TLS } from '../domain/tls.ts'

const ANSWER_MOST = 1024 * 1024

/** Not for want of an answer. */
class NotFetched extends Error {
  readonly code: string

  constructor(code: string) {
    super(`the identity provider was not asked, or not read to the end: ${code}`)
    this.name = 'NotFetched'
    this.code = code
  }
}

export interface GuardedFetch {
  /** Follows no redirect, and reads no endless answer. */
  readonly fetch: (url: string, options: object) => Promise<Response>
  /** What the issuer named, from now on. False: one of them is no address that may be asked; then none is. */
  allow(urls: readonly (string | undefined)[]): boolean
}

export function createGuardedFetch(issuer: URL): GuardedFetch {
  const allowed = new Set<string>()
  const dispatcher = new Agent({ connect: TLS, allowH2: false })
  const isOfIssuer = (url: URL) => url.origin === issuer.origin && url.pathname.includes('/.well-known/')
  return {
    async fetch(url, options) {
      const asked = new URL(url)
      if (!allowed.has(asked.href) && !isOfIssuer(asked)) throw new NotFetched('ADDRESS_NOT_NAMED')
      return bounded(await fetch(url, { ...options, redirect: 'manual', dispatcher }))
    },
    allow(urls) {
      const isGood = (text: string | undefined): text is string => {
        const url = text === undefined ? null : URL.parse(text)
        // Over plain text only an issuer on this machine is believed, and then nobody else.
        return (
          url !== null && (url.protocol === 'https:' || (issuer.protocol === 'http:' && url.origin === issuer.origin))
        )
      }
      if (!urls.every(isGood)) return false
      for (const url of urls.filter(isGood)) allowed.add(new URL(url).href)
      return true
    },
  }
}

async function bounded(answer: Response): Promise<Response> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of answer.body ?? []) {
    length += part.length
    if (length > ANSWER_MOST) throw new NotFetched('ANSWER_TOO_LONG')
    parts.push(part)
  }
  const { status, headers } = answer
  const hasBody = ![204, 205, 304].includes(status)
  return new Response(hasBody ? Buffer.concat(parts) : null, { status, headers })
}
