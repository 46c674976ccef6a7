// The sandbox's own routes under /_sandbox: prepare, faults, clock, and what really happened. Not part of the gateway.

import { z } from 'zod'
import { Fault } from '../domain/fault.ts'
import { OPERATIONS } from '../domain/instruction.ts'
import { formatAmount } from '../domain/money.ts'
import type { Order } from './book.ts'
import { FAULT_KINDS, type FaultKind } from './fault-kinds.ts'
import { addRule, clearRules } from './faults.ts'
import { plainDigits } from './form.ts'
import { balanceMinorOf, stateOf } from './orders.ts'
import { addPrepared, type Preparation } from './prepare.ts'
import { nowMsOf, type SandboxState } from './state.ts'

export interface AdminReply {
  readonly httpStatus: number
  /** One JSON object per line; a long log is never one string. */
  readonly lines: Iterable<string>
  readonly allow: string | null
}

type Verb = 'GET' | 'POST' | 'DELETE'
type Route = Readonly<Partial<Record<Verb, (state: SandboxState, body: string) => Iterable<unknown>>>>

const digits = z.string().regex(/^\d{1,20}$/, 'must be 1 to 20 digits')
const id = digits.transform(plainDigits)
const decimal = z.string().regex(/^\d{1,15}(\.\d{1,4})?$/, 'must be a plain decimal in quotes, such as "12.30"')
const count = z.int().min(1)

const PREPARATION = z.strictObject({
  orders: z
    .array(
      z.strictObject({
        orderId: id,
        state: z.enum(['authorized', 'pending settlement', 'settled']),
        amount: decimal,
        currency: z.string(),
      }),
    )
    .optional(),
  vault: z.array(z.strictObject({ vaultId: id })).optional(),
})

const FAULT_RULE = z
  .strictObject({
    id: z.string().max(100).optional(),
    kind: z.enum(Object.keys(FAULT_KINDS) as [FaultKind, ...FaultKind[]]),
    match: z.strictObject({
      any: z.literal(true).optional(),
      operation: z.enum(OPERATIONS).optional(),
      orderId: id.optional(),
      vaultId: id.optional(),
      lastFour: z
        .string()
        .regex(/^\d{4}$/, 'must be 4 digits in quotes')
        .optional(),
      xtlOrderId: z.string().max(255).optional(),
      amount: decimal.optional(),
    }),
    times: count.optional(),
    every: count.optional(),
    latencyMs: z.int().min(0).max(3_600_000).optional(),
    retryAfterS: z.int().min(0).max(86_400).optional(),
    reason: z.string().min(1).max(255).optional(),
  })
  .refine((rule) => rule.kind !== 'refuse' || rule.times !== undefined, {
    path: ['times'],
    message: 'must be given for "refuse": it closes the connections that could end it, too',
  })

const ADVANCE = z.strictObject({ advanceMs: z.int().min(0) })

const ROUTES: Readonly<Record<string, Route>> = {
  '/_sandbox/prepare': {
    POST: (state, body) => [addPrepared(state.book, parsePreparation(body), nowMsOf(state))],
  },
  '/_sandbox/faults': {
    GET: (state) => state.faults.standing.map(({ rule, matched, struck }) => ({ ...rule, matched, struck })),
    POST: (state, body) => {
      addRule(state.faults, parse(FAULT_RULE, body))
      return [{ rules: state.faults.standing.length }]
    },
    DELETE: (state) => {
      clearRules(state.faults)
      return [{ rules: 0 }]
    },
  },
  '/_sandbox/clock': {
    GET: (state) => [{ nowMs: nowMsOf(state) }],
    POST: (state, body) => {
      state.advancedMs += parse(ADVANCE, body).advanceMs
      return [{ nowMs: nowMsOf(state) }]
    },
  },
  '/_sandbox/log': { GET: (state) => state.log.entries },
  '/_sandbox/orders': {
    GET: (state) => state.book.orders.values().map((order) => toOrderLine(state, order)),
  },
  '/_sandbox/counts': { GET: (state) => [{ received: state.received, executed: state.log.executed }] },
}

/** Faults with everything that is wrong with it. */
export function parsePreparation(json: string): Preparation {
  return parse(PREPARATION, json)
}

export function answerAdmin(state: SandboxState, method: string, path: string, body: string): AdminReply {
  const route = Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined
  if (route === undefined) return wrong(404, `There is nothing here. There is: ${Object.keys(ROUTES).join(', ')}`)
  const act = Object.hasOwn(route, method) ? route[method as Verb] : undefined
  if (act === undefined) {
    const allow = Object.keys(route).join(', ')
    return { ...wrong(405, `${path} takes ${allow}`), allow }
  }
  try {
    return { httpStatus: 200, lines: toLines(act(state, body)), allow: null }
  } catch (error) {
    if (error instanceof Fault) return wrong(400, error.message)
    throw error
  }
}

export function wrong(httpStatus: number, message: string): AdminReply {
  return { httpStatus, lines: [`${JSON.stringify({ error: message })}\n`], allow: null }
}

function* toLines(values: Iterable<unknown>): Generator<string> {
  for (const value of values) yield `${JSON.stringify(value)}\n`
}

function parse<T>(schema: z.ZodType<T>, body: string): T {
  const parsed = schema.safeParse(jsonOf(body))
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`)
  throw new Fault('usage', faults.join('; '))
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new Fault('usage', 'The body is not JSON.', { cause })
  }
}

function toOrderLine(state: SandboxState, order: Order) {
  const { currency, orderId, vaultId, xtlOrderId } = order
  const amount = (amountMinor: bigint) => formatAmount({ amountMinor, currency })
  return {
    orderId,
    state: stateOf(order, nowMsOf(state), state.book.settleAfterMs),
    currency,
    taken: amount(order.takenMinor),
    refunded: amount(order.refundedMinor),
    voided: amount(order.voidedMinor),
    balance: amount(balanceMinorOf(order)),
    vaultId,
    xtlOrderId,
  }
}
