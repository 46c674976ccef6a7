// Forms: that they come from a page of ours, made for this session, and which one it is.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { holdsCardData } from '../domain/card-secrets.ts'
import { holdsControls } from '../domain/visible.ts'
import { PageError } from './door.ts'

export type Fields = Readonly<Record<string, string | undefined>>

/** Every browser of these years says where a request comes from. One that says nothing is refused. */
export function assertSameSite({ headers, protocol }: FastifyRequest, publicOrigin: string | null): void {
  const site = headers['sec-fetch-site']
  const own = [`${protocol}://${headers.host}`, ...(publicOrigin === null ? [] : [publicOrigin])]
  const { origin } = headers
  if (site === undefined ? origin !== undefined && own.includes(origin) : site === 'same-origin') return
  throw new PageError(
    403,
    'This form came from another site, or the browser did not say where from. Nothing was changed.',
  )
}

/** A field that is written twice would be read as one or the other. */
export function fieldsIn(text: string): Fields {
  const pairs = [...new URLSearchParams(text)]
  const fields = Object.fromEntries(pairs)
  if (Object.keys(fields).length === pairs.length) return fields
  throw namedTwice()
}

export function namedTwice(): PageError {
  return new PageError(400, 'The form names a field twice. Nothing was changed: open the page again.')
}

/** One for each form that is shown. `secret`: of the session. */
export function newFormToken(secret: string): string {
  const nonce = randomBytes(16).toString('base64url')
  return `${nonce}.${sealOf(secret, nonce)}`
}

function sealOf(secret: string, nonce: string): string {
  return createHmac('sha256', secret).update(`form ${nonce}`).digest('base64url')
}

/** What the form is known by: the key under which its act has its effect once. */
export function formKeyOf(fields: Fields, secret: string): string {
  const [nonce = '', seal = ''] = (fields.form ?? '').split('.')
  const wanted = Buffer.from(sealOf(secret, nonce))
  const given = Buffer.from(seal)
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return nonce
  throw new PageError(403, 'This form belongs to an earlier session. Nothing was changed: open the page again.')
}

export function fieldsOf({ body }: Pick<FastifyRequest, 'body'>): Fields {
  return (body ?? {}) as Fields
}

export const REASON_LONGEST = 500

/** Why a person does it. It is kept for ever, so that no card number may be in it. */
export function reasonIn(request: Pick<FastifyRequest, 'body'>): string {
  const reason = (fieldsOf(request).reason ?? '').trim()
  if (reason === '' || reason.length > REASON_LONGEST || holdsControls(reason))
    throw new PageError(
      422,
      `Write why, in one line of up to ${REASON_LONGEST} characters; it is kept in the history. Nothing was changed.`,
    )
  if (!holdsCardData(reason)) return reason
  throw new PageError(
    422,
    'The reason holds a card number or security code, and the history keeps none. Nothing was changed: write it without.',
  )
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the form that was sent; null: of a page that anybody may send. */
    formKey: string | null
  }
}
