// What happens to one request up to the socket: credentials, form, fault, execution, log, and the reply to deliver.

import { assert } from '../domain/fault.ts'
import type { Currency } from '../domain/money.ts'
import { type GatewayAnswer, toJson } from './answer.ts'
import { createFaultBoard, FAULT_KINDS, type FaultBoard, faultFor, type Strike } from './faults.ts'
import { type Form, parseForm, parseRequest } from './form.ts'
import { createOrderBook, type Execution, execute, type OrderBook, type TransactionRequest } from './orders.ts'

/** One request that was executed, whatever its sender was told. */
export interface Executed {
  readonly seq: number
  /** By the given clock, without the admin's advances. */
  readonly atMs: number
  /** Which of all requests received it was; counted from 1, like `seq`. */
  readonly requestSeq: number
  readonly operation: Execution['operation']
  readonly orderId: string
  /** As a string, for JSON; null where the order, and with it the currency, is not known. */
  readonly amountMinor: string | null
  readonly currency: Currency | null
  readonly vaultId: string | null
  readonly xtlOrderId: string | null
  readonly transactionId: string
  readonly status: GatewayAnswer['status']
  readonly fault: Strike['kind'] | null
  /** Whether a gateway answer was handed to the connection whole; `fault` says whether it was a true one. */
  readonly answered: boolean
}

type Entry = { -readonly [Field in keyof Executed]: Executed[Field] }

export interface StateOptions {
  readonly username: string
  readonly password: string
  readonly clock: () => number
  readonly settleAfterMs: number
  readonly triggers: boolean
}

export interface SandboxState {
  readonly options: StateOptions
  readonly book: OrderBook
  readonly faults: FaultBoard
  readonly log: Entry[]
  received: number
  advancedMs: number
}

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

export function createState(options: StateOptions): SandboxState {
  const book = createOrderBook(options.settleAfterMs, options.clock())
  return { options, book, faults: createFaultBoard(options.triggers), log: [], received: 0, advancedMs: 0 }
}

/** The moment that settlement and card expiry go by. */
export function nowMsOf(state: SandboxState): number {
  return state.options.clock() + state.advancedMs
}

export function receive(state: SandboxState, requestSeq: number, body: string): Reply {
  const form = parseForm(body)
  if (!isMerchant(state, form)) return refusal(401, 'The username or the password is wrong')
  const parsed = parseRequest(form, nowMsOf(state))
  switch (parsed.kind) {
    case 'wrong':
      return refusal(400, parsed.message)
    case 'request': {
      const strike = faultFor(state.faults, parsed.request)
      if (strike?.kind !== 'slow') return perform(state, requestSeq, parsed.request, strike)
      const then = () => perform(state, requestSeq, parsed.request, strike)
      return { kind: 'later', delayMs: strike.latencyMs ?? 1000, then }
    }
  }
}

function isMerchant(state: SandboxState, { fields }: Form): boolean {
  const { username, password } = state.options
  return fields.get('req_username') === username && fields.get('req_password') === password
}

export function refusal(httpStatus: number, message: string, retryAfterS: number | null = null): Reply {
  const body = JSON.stringify({ ERROR_MESSAGE: message })
  return { kind: 'answer', httpStatus, contentType: JSON_TYPE, body, retryAfterS, entry: null }
}

const JSON_TYPE = 'application/json; charset=utf-8'

function perform(state: SandboxState, requestSeq: number, request: TransactionRequest, strike: Strike | null): Reply {
  if (strike !== null && !FAULT_KINDS[strike.kind].executes) return faultReply(strike, null)
  const execution = execute(state.book, request, nowMsOf(state))
  const entry = enter(state, requestSeq, execution, strike)
  return strike === null
    ? answerReply(execution.answer, entry)
    : faultReply(strike, { answer: execution.answer, entry })
}

/** Written down before any answer is attempted: what broke on the way back was executed all the same. */
function enter(state: SandboxState, requestSeq: number, execution: Execution, strike: Strike | null): Entry {
  const { answer, operation, orderId, money, vaultId, xtlOrderId } = execution
  const entry: Entry = {
    seq: state.log.length + 1,
    atMs: state.options.clock(),
    requestSeq,
    operation,
    orderId,
    amountMinor: money === null ? null : money.amountMinor.toString(),
    currency: money === null ? null : money.currency,
    vaultId,
    xtlOrderId,
    transactionId: answer.transactionId,
    status: answer.status,
    fault: strike?.kind ?? null,
    answered: false,
  }
  state.log.push(entry)
  return entry
}

function answerReply(answer: GatewayAnswer, entry: Entry): Reply {
  return { kind: 'answer', httpStatus: 200, contentType: JSON_TYPE, body: toJson(answer), retryAfterS: null, entry }
}

interface Done {
  readonly answer: GatewayAnswer
  readonly entry: Entry
}

/** `done` is null exactly for the kinds that do not execute. */
function faultReply(strike: Strike, done: Done | null): Reply {
  switch (strike.kind) {
    case 'refuse':
    case 'reset-before':
    case 'reset-after':
      return { kind: 'reset' }
    case 'hang-before':
    case 'hang-after':
      return { kind: 'hang' }
    case '400':
      return refusal(400, 'Bad request (fault on order)')
    case '401':
      return refusal(401, 'Unauthorized (fault on order)')
    case '403':
      return refusal(403, 'Forbidden (fault on order)')
    case '429':
      return refusal(429, 'Too many requests (fault on order)', strike.retryAfterS ?? 1)
    case '503-before':
      return refusal(503, 'Service unavailable (fault on order)')
    case '503-after':
      return refusal(503, 'Service unavailable (fault on order)', strike.retryAfterS ?? 1)
    case 'html':
      return WEB_PAGE
    case 'cut-body':
    case 'wrong-echo':
    case 'other-amount':
    case 'other-currency':
    case 'slow':
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

type Misanswer = 'cut-body' | 'wrong-echo' | 'other-amount' | 'other-currency' | 'slow'

function misanswered(kind: Misanswer, { answer, entry }: Done): Reply {
  switch (kind) {
    case 'cut-body': {
      const body = toJson(answer)
      return { kind: 'cut', body: body.slice(0, Math.floor(body.length / 2)) }
    }
    case 'wrong-echo':
      return answerReply(withOtherIds(answer), entry)
    case 'other-amount':
      return answerReply({ ...answer, value: answer.value === null ? '1.00' : oneMore(answer.value) }, entry)
    case 'other-currency':
      return answerReply({ ...answer, currency: answer.currency === 'EUR' ? 'USD' : 'EUR' }, entry)
    case 'slow':
      return answerReply(answer, entry)
  }
}

function withOtherIds(answer: GatewayAnswer): GatewayAnswer {
  return {
    ...answer,
    orderId: oneMore(answer.orderId),
    recordId: answer.recordId === null ? null : oneMore(answer.recordId),
    xtlOrderId: answer.action === 'REFUND' || answer.action === 'CANCEL' ? null : `OTHER${answer.xtlOrderId ?? ''}`,
  }
}

/** `12.30` → `13.30`, whatever the number of digits. */
function oneMore(decimal: string): string {
  const [whole = '0', decimals] = decimal.split('.')
  return `${BigInt(whole) + 1n}${decimals === undefined ? '' : `.${decimals}`}`
}
