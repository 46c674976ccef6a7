// That an act was done, for the page that comes after it: told once, to the session that did it. Nothing else can have it said.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Finding } from '../domain/resolution.ts'
import { clearDone, doneIn, secretIn, setDone } from './cookie.ts'
import type { ConsoleDoor } from './door.ts'

/** What was done, and of what. The words, and what it means by now, are found when it is told. */
export type Done =
  | OfBatch
  | OfRow
  | OfWorklist
  | OfMerchant
  | OfPerson
  | OfKey
  | OfWebhook
  | { readonly act: 'end-session' | 'change-password' }

export interface OfBatch {
  /** `known`: the file was that batch already. */
  readonly act: 'hand-in' | 'known' | 'approve' | 'reject' | 'pause' | 'resume' | 'cancel'
  readonly batch: string
}
export interface OfRow {
  /** `already`: it stood there before. */
  readonly act: Finding | 'already' | 'propose' | 'confirm' | 'refuse' | 'withdraw'
  readonly reference: string
  readonly batch: string
  readonly row: number
  /** Other batches that were paused by it. */
  readonly paused?: number
}
export interface OfWorklist {
  readonly act: 'worklist'
  /** Lines, by what came of them. */
  readonly found: number
  readonly again: number
  readonly proposed: number
  readonly unchanged: number
}
export interface OfMerchant {
  readonly act: 'rate' | 'resume-merchant'
  readonly merchant: string
}
export interface OfPerson {
  readonly act: 'roles' | 'confirm-person' | 'revoke-person'
  readonly name: string
  /** Whether approvals were in force before. */
  readonly hadPolicy: boolean
  /** Revoked before, by another form: this one changed nothing. */
  readonly wasRevoked?: boolean
}
export interface OfKey {
  readonly act: 'revoke-key'
  readonly id: string
  readonly wasRevoked: boolean
}
export interface OfWebhook {
  readonly act: 'enable-webhook' | 'remove-webhook' | 'ping-webhook' | 'replay'
  readonly id: string
}

export interface Told {
  readonly done: Done
  /** The form was sent before, and had its effect then. */
  readonly isAgain: boolean
}

/** A page that comes later is not the page after it. */
const TOLD_WITHIN_MS = 60_000

interface Kept extends Told {
  readonly atMs: number
  /** Of the address that it is told at. */
  readonly at: string
}

/** Goes on to `to`, where it is said. `secret`: of the session that goes on. */
export function redirectDone(
  door: ConsoleDoor,
  request: FastifyRequest,
  reply: FastifyReply,
  to: string,
  told: Told,
  secret = secretIn(request, door) ?? '',
): FastifyReply {
  const kept: Kept = { ...told, atMs: door.app.clock.nowMs(), at: digestOf(placeOf(to)) }
  const text = Buffer.from(JSON.stringify(kept)).toString('base64url')
  setDone(reply, door, `${text}.${sealOf(secret, text)}`, TOLD_WITHIN_MS / 1000)
  return reply.redirect(to, 303)
}

/** What this page has to say of the act before it, which no page says again. null: nothing. */
export function takeDone(door: ConsoleDoor, request: FastifyRequest, reply: FastifyReply): Told | null {
  // Pages that are watched ask by themselves: nobody reads that answer from its top.
  if (request.method !== 'GET' || reply.statusCode >= 400 || request.headers['x-asked-by'] === 'page') return null
  const [text = '', seal = ''] = (doneIn(request, door) ?? '').split('.')
  const [given, wanted] = [Buffer.from(seal), Buffer.from(sealOf(secretIn(request, door) ?? '', text))]
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return null
  // Only what was sealed here comes so far.
  const { atMs, at, ...told } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Kept
  if (at !== digestOf(placeOf(request.url)) || door.app.clock.nowMs() - atMs > TOLD_WITHIN_MS) return null
  clearDone(reply, door)
  return told
}

function sealOf(secret: string, text: string): string {
  return createHmac('sha256', secret).update(`done ${text}`).digest('base64url')
}

/** As browsers ask for it: of an apostrophe they make %27. */
function placeOf(address: string): string {
  const url = URL.parse(address, 'http://localhost')
  return url === null ? address : `${url.pathname}${url.search}`
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
