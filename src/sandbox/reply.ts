// What is delivered to a connection, and what a fault makes of it.

import { assert } from '../domain/fault.ts'
import { FAULT_KINDS } from './fault-kinds.ts'
import type { Strike } from './faults.ts'
import type { Entry } from './log.ts'

export type Reply =
  | {
      readonly kind: 'answer'
      readonly httpStatus: number
      readonly contentType: string
      readonly body: string
      readonly retryAfterS: number | null
      /** Marked as answered once the body is on its way. */
      readonly entry: Entry | null
    }
  | { readonly kind: 'cut'; readonly body: string }
  | { readonly kind: 'reset' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'later'; readonly delayMs: number; readonly then: () => Reply }

export type Untruth = 'wrong-echo' | 'other-amount' | 'other-currency' | 'repeated'

/** A request that was executed: its line in the log, and its answer. */
export interface Done {
  readonly entry: Entry
  readonly body: string
  /** The answer as that fault spoils it. */
  readonly spoilt: (how: Untruth) => string
}

/** What an endpoint answers with a status other than 200: nothing was executed, unless a fault says so. */
export type Refuse = (httpStatus: number, message: string, retryAfterS?: number | null) => Reply

const JSON_TYPE = 'application/json; charset=utf-8'

/** `field`: what the endpoint calls its error text. */
export function refusalsIn(field: 'ERROR_MESSAGE' | 'errorMessage'): Refuse {
  return (httpStatus, message, retryAfterS = null) => {
    const body = JSON.stringify({ [field]: message })
    return { kind: 'answer', httpStatus, contentType: JSON_TYPE, body, retryAfterS, entry: null }
  }
}

export function answered(body: string, entry: Entry | null): Reply {
  return { kind: 'answer', httpStatus: 200, contentType: JSON_TYPE, body, retryAfterS: null, entry }
}

/** Executes where the fault lets it, and only when the time has come. */
export function replyUnder(strike: Strike | null, refuse: Refuse, execute: () => Done): Reply {
  if (strike === null || strike.kind === 'slow' || strike.kind === 'decline') {
    const then = () => {
      const { body, entry } = execute()
      return answered(body, entry)
    }
    return strike?.kind === 'slow' ? { kind: 'later', delayMs: strike.latencyMs ?? 1000, then } : then()
  }
  return struckReply(strike, refuse, FAULT_KINDS[strike.kind].executes ? execute() : null)
}

/** `done` is null exactly for the kinds that do not execute. */
function struckReply(strike: Strike, refuse: Refuse, done: Done | null): Reply {
  switch (strike.kind) {
    case 'refuse':
    case 'reset-before':
    case 'reset-after':
      return { kind: 'reset' }
    case 'hang-before':
    case 'hang-after':
      return { kind: 'hang' }
    case '400':
      return refuse(400, 'Bad request (fault on order)')
    case '401':
      return refuse(401, 'Unauthorized (fault on order)')
    case '403':
      return refuse(403, 'Forbidden (fault on order)')
    case '429':
      return refuse(429, 'Too many requests (fault on order)', strike.retryAfterS ?? 1)
    case '503-before':
      return refuse(503, 'Service unavailable (fault on order)')
    case '503-after':
      return refuse(503, 'Service unavailable (fault on order)', strike.retryAfterS ?? 1)
    case 'html':
      return WEB_PAGE
    case 'cut-body':
    case 'wrong-echo':
    case 'other-amount':
    case 'other-currency':
    case 'repeated':
    case 'slow':
    case 'decline':
      assert(done !== null, `the fault ${strike.kind} changes an answer, so there must be one`)
      return misanswered(strike.kind, done)
  }
}

const WEB_PAGE: Reply = {
  kind: 'answer',
  httpStatus: 200,
  contentType: 'text/html; charset=utf-8',
  body: '<!doctype html><title>Maintenance</title><h1>We will be right back</h1>\n',
  retryAfterS: null,
  entry: null,
}

function misanswered(kind: Untruth | 'cut-body' | 'slow' | 'decline', { body, entry, spoilt }: Done): Reply {
  switch (kind) {
    case 'cut-body':
      return { kind: 'cut', body: body.slice(0, Math.floor(body.length / 2)) }
    case 'slow':
    case 'decline':
      return answered(body, entry)
    case 'wrong-echo':
    case 'other-amount':
    case 'other-currency':
    case 'repeated':
      return answered(spoilt(kind), entry)
  }
}

/** `12.30` → `13.30`, whatever the number of digits. */
export function oneMore(decimal: string): string {
  const [whole = '0', decimals] = decimal.split('.')
  return `${BigInt(whole) + 1n}${decimals === undefined ? '' : `.${decimals}`}`
}
