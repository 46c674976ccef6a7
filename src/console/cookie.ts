// The cookie that holds the secret of a session, one for a sign-in that is pending at the identity provider, one for an act that is to be
// told of, and one for the theme. A browser sends one with each name, and two are none.

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
  setCookie(reply, door, cookieName(door), secret)
}

export function clearSecret(reply: FastifyReply, door: Pick<ConsoleDoor, 'isSecure'>): void {
  setCookie(reply, door, cookieName(door), '', 0)
}

const PENDING_LASTS_S = 600

function pendingName(door: Pick<ConsoleDoor, 'isSecure'>): string {
  return `${cookieName(door)}-sign-in`
}

/** null: there is none. */
export function pendingIn(request: FastifyRequest, door: Pick<ConsoleDoor, 'isSecure'>): string | null {
  const signed = onlyOne(request, pendingName(door))
  return signed === '' ? null : signed
}

export function setPending(reply: FastifyReply, door: Pick<ConsoleDoor, 'isSecure'>, signed: string): void {
  setCookie(reply, door, pendingName(door), signed, PENDING_LASTS_S)
}

export function clearPending(reply: FastifyReply, door: Pick<ConsoleDoor, 'isSecure'>): void {
  setCookie(reply, door, pendingName(door), '', 0)
}

function doneName(door: Pick<ConsoleDoor, 'isSecure'>): string {
  return `${cookieName(door)}-done`
}

/** null: there is none. */
export function doneIn(request: FastifyRequest, door: Pick<ConsoleDoor, 'isSecure'>): string | null {
  const sealed = onlyOne(request, doneName(door))
  return sealed === '' ? null : sealed
}

export function setDone(
  reply: FastifyReply,
  door: Pick<ConsoleDoor, 'isSecure'>,
  sealed: string,
  lastsS: number,
): void {
  setCookie(reply, door, doneName(door), sealed, lastsS)
}

export function clearDone(reply: FastifyReply, door: Pick<ConsoleDoor, 'isSecure'>): void {
  setCookie(reply, door, doneName(door), '', 0)
}

/** The first is what a browser without the cookie sees. */
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const THEME_LASTS_S = 365 * 86_400

function themeName(door: Pick<ConsoleDoor, 'isSecure'>): string {
  return `${cookieName(door)}-theme`
}

/** One of the known words, whatever the browser sends. */
export function themeIn(request: FastifyRequest, door: Pick<ConsoleDoor, 'isSecure'>): Theme {
  const sent = onlyOne(request, themeName(door))
  return THEMES.find((theme) => theme === sent) ?? 'system'
}

export function setTheme(reply: FastifyReply, door: Pick<ConsoleDoor, 'isSecure'>, theme: Theme): void {
  setCookie(reply, door, themeName(door), theme, THEME_LASTS_S)
}

/** Lax: the browser comes back from the identity provider with it. `maxAgeS`: 0 takes it away; absent: until the browser is closed. */
function setCookie(
  reply: FastifyReply,
  { isSecure }: Pick<ConsoleDoor, 'isSecure'>,
  name: string,
  value: string,
  maxAgeS?: number,
): void {
  const age = maxAgeS === undefined ? '' : `; Max-Age=${maxAgeS}`
  reply.header('set-cookie', `${name}=${value}; Path=/${age}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`)
}
