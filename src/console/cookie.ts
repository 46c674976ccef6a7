// The cookie that holds the secret of a session. A browser sends one with that name, and two are none.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ConsoleDoor } from './door.ts'

/** The prefix makes the browser refuse one that another host, another path or plain text set. */
function cookieName({ isSecure }: Pick<ConsoleDoor, 'isSecure'>): string {
  return isSecure ? '__Host-tranche' : 'tranche'
}

/** null: there is none that could be one. */
export function secretIn(request: FastifyRequest, door: Pick<ConsoleDoor, 'isSecure'>): string | null {
  const prefix = `${cookieName(door)}=`
  const found = (request.headers.cookie ?? '').split('; ').filter((one) => one.startsWith(prefix))
  const [only] = found
  const secret = only?.slice(prefix.length) ?? ''
  return found.length === 1 && /^[\w-]{43}$/.test(secret) ? secret : null
}

export function setSecret(reply: FastifyReply, door: Pick<ConsoleDoor, 'isSecure'>, secret: string): void {
  const attributes = `Path=/; HttpOnly; SameSite=Lax${door.isSecure ? '; Secure' : ''}`
  reply.header('set-cookie', `${cookieName(door)}=${secret}; ${attributes}`)
}

export function clearSecret(reply: FastifyReply, door: Pick<ConsoleDoor, 'isSecure'>): void {
  const attributes = `Path=/; Max-Age=0; HttpOnly; SameSite=Lax${door.isSecure ? '; Secure' : ''}`
  reply.header('set-cookie', `${cookieName(door)}=; ${attributes}`)
}
