// The cookie that holds the secret of a session, and one for the way to an identity provider and back. A browser sends one with that
// name, and two are none.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ConsoleDoor } from './door.ts'

/** The prefix makes the browser refuse one that another host, another path or plain text set. */
function cookieName({ isSecure }: Pick<ConsoleDoor, 'isSecure'>): string {
  return isSecure ? '__Host-tranche' : 'tranche'
}

/** null: there is none that could be one. */
export function secretIn(request: FastifyRequest, door: Pick<ConsoleDoor, 'isSecure'>): string | null {
  const secret = onlyOne(request, cookieName(door))
  return /^[\w-]{43}$/.test(secret) ? secret : null
}

/** Empty: there is none, or more than one. */
function onlyOne({ headers }: FastifyRequest, name: string): string {
  const prefix = `${name}=`
  const found = (headers.cookie ?? '').split('; ').filter((one) => one.startsWith(prefix))
  return found.length === 1 ? (found[0] as string).slice(prefix.length) : ''
}

export function setSecret(reply: FastifyReply, door: Pick<ConsoleDoor, 'isSecure'>, secret: string): void {
  const attributes = `Path=/; HttpOnly; SameSite=Lax${door.isSecure ? '; Secure' : ''}`
  reply.header('set-cookie', `${cookieName(door)}=${secret}; ${attributes}`)
}

export function clearSecret(reply: FastifyReply, door: Pick<ConsoleDoor, 'isSecure'>): void {
  const attributes = `Path=/; Max-Age=0; HttpOnly; SameSite=Lax${door.isSecure ? '; Secure' : ''}`
  reply.header('set-cookie', `${cookieName(door)}=; ${attributes}`)
}

const WAY_LASTS_S = 600

function wayName(door: Pick<ConsoleDoor, 'isSecure'>): string {
  return `${cookieName(door)}-way`
}

/** null: there is none. */
export function sealedWayIn(request: FastifyRequest, door: Pick<ConsoleDoor, 'isSecure'>): string | null {
  const sealed = onlyOne(request, wayName(door))
  return sealed === '' ? null : sealed
}

/** Lax, because the browser comes back from another site. */
export function setWay(reply: FastifyReply, door: Pick<ConsoleDoor, 'isSecure'>, sealed: string): void {
  const attributes = `Path=/; Max-Age=${WAY_LASTS_S}; HttpOnly; SameSite=Lax${door.isSecure ? '; Secure' : ''}`
  reply.header('set-cookie', `${wayName(door)}=${sealed}; ${attributes}`)
}

export function clearWay(reply: FastifyReply, door: Pick<ConsoleDoor, 'isSecure'>): void {
  const attributes = `Path=/; Max-Age=0; HttpOnly; SameSite=Lax${door.isSecure ? '; Secure' : ''}`
  reply.header('set-cookie', `${wayName(door)}=; ${attributes}`)
}
