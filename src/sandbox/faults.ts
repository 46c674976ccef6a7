// Trouble on order: which requests meet which fault. Deterministic, so that a run can be repeated.

import { Fault } from '../domain/fault.ts'
import type { TransactionType } from '../domain/instruction.ts'
import { DECLINED_AMOUNT, type TransactionRequest } from './orders.ts'

/** What each fault does to a request, and whether the request is executed all the same. */
export const FAULT_KINDS = {
  refuse: { executes: false, says: 'closes the connection when it is accepted, before reading' },
  'reset-before': { executes: false, says: 'reads the request, then resets the connection' },
  'reset-after': { executes: true, says: 'executes, then resets the connection' },
  'hang-before': { executes: false, says: 'reads the request and never answers' },
  'hang-after': { executes: true, says: 'executes and never answers' },
  '400': { executes: false, says: 'answers 400' },
  '401': { executes: false, says: 'answers 401' },
  '403': { executes: false, says: 'answers 403' },
  '429': { executes: false, says: 'answers 429 with Retry-After' },
  '503-before': { executes: false, says: 'answers 503' },
  '503-after': { executes: true, says: 'executes, then answers 503 with Retry-After' },
  'cut-body': { executes: true, says: 'executes, then sends half the answer and closes' },
  html: { executes: true, says: 'executes, then answers 200 with a web page' },
  'wrong-echo': { executes: true, says: 'executes, then answers with the ids of another order' },
  'other-amount': { executes: true, says: 'executes, then answers with another amount' },
  'other-currency': { executes: true, says: 'executes, then answers with another currency' },
  slow: { executes: true, says: 'waits, then executes and answers, even after the client has gone' },
} as const satisfies Record<string, { readonly executes: boolean; readonly says: string }>

export type FaultKind = keyof typeof FAULT_KINDS

/** All that is given must match. */
export interface FaultMatch {
  readonly any?: true | undefined
  readonly operation?: TransactionType | undefined
  readonly orderId?: string | undefined
  readonly vaultId?: string | undefined
  readonly xtlOrderId?: string | undefined
  /** A decimal; `5.1` matches `5.10`. */
  readonly amount?: string | undefined
}

export interface FaultRule {
  readonly id?: string | undefined
  readonly kind: FaultKind
  readonly match: FaultMatch
  /** How often it strikes; without: always. */
  readonly times?: number | undefined
  /** Strikes each nth match only: 3 spares two and strikes the third. */
  readonly every?: number | undefined
  /** For `slow`; default 1000. */
  readonly latencyMs?: number | undefined
  /** For `429` and `503-after`; default 1. */
  readonly retryAfterS?: number | undefined
}

interface StandingRule {
  readonly rule: FaultRule
  matched: number
  struck: number
}

export interface FaultBoard {
  readonly standing: StandingRule[]
  readonly triggers: boolean
  /** Requests that a `firstTimeOnly` trigger has struck. */
  readonly triggered: Set<string>
}

interface Trigger {
  readonly kind: FaultKind
  /** Strikes a request once; the same request sent again passes. */
  readonly firstTimeOnly?: true
  readonly latencyMs?: number
  readonly says: string
}

/** Trouble that can be rehearsed from a file alone, by amount, in currencies with two decimals or more. */
export const TRIGGER_AMOUNTS: Readonly<Record<string, Trigger>> = {
  '5.03': { kind: 'reset-after', says: 'executed, then the connection is reset' },
  '5.04': { kind: 'hang-after', says: 'executed, never answered' },
  '5.05': { kind: '429', firstTimeOnly: true, says: 'too many requests, the first time' },
  '5.06': { kind: '503-after', says: 'executed, answered 503' },
  '5.07': { kind: 'cut-body', says: 'executed, half an answer' },
  '5.08': { kind: 'other-amount', says: 'executed, another amount in the answer' },
  '5.09': { kind: 'wrong-echo', says: "executed, another order's ids in the answer" },
  '5.10': { kind: 'reset-before', says: 'not executed, the connection is reset' },
  '5.11': { kind: '429', says: 'too many requests, every time' },
  '5.12': { kind: 'other-currency', says: 'executed, another currency in the answer' },
  '5.13': { kind: '403', says: 'forbidden, every time' },
  '5.14': { kind: 'html', says: 'executed, answered with a web page' },
  '5.15': { kind: 'slow', latencyMs: 5000, says: 'executed and answered after 5 seconds' },
}

/** Every amount that means something here, for help texts: the documented decline first, which needs no option. */
export function triggerLines(): readonly string[] {
  const declined = `${DECLINED_AMOUNT}  declined by the processor`
  return [declined, ...Object.entries(TRIGGER_AMOUNTS).map(([amount, { says }]) => `${amount}  ${says}`)]
}

const TRIGGERS = new Map(Object.entries(TRIGGER_AMOUNTS).map(([amount, trigger]) => [plainDecimal(amount), trigger]))

/** Every request is held against every rule, so their number is bounded. */
export const RULES_MAX = 1000

export function createFaultBoard(triggers: boolean): FaultBoard {
  return { standing: [], triggers, triggered: new Set() }
}

export function addRule(board: FaultBoard, rule: FaultRule): void {
  if (board.standing.length >= RULES_MAX) {
    throw new Fault('usage', `There are ${RULES_MAX} fault rules already, the most there may be; clear them first.`)
  }
  const named = Object.values(rule.match).filter((value) => value !== undefined)
  if (named.length === 0) throw new Fault('usage', 'A fault rule must match something; {"any": true} matches all.')
  if (rule.kind === 'refuse' && (rule.match.any !== true || named.length > 1)) {
    throw new Fault('usage', 'The fault "refuse" strikes before anything is read, so it can only match {"any": true}.')
  }
  board.standing.push({ rule, matched: 0, struck: 0 })
}

export function clearRules(board: FaultBoard): void {
  board.standing.length = 0
  board.triggered.clear()
}

export type Strike = Pick<FaultRule, 'kind' | 'latencyMs' | 'retryAfterS'>

/** The fault this request meets: the first rule that strikes, in the order in which they were added, else a trigger. */
export function faultFor(board: FaultBoard, request: TransactionRequest): Strike | null {
  for (const standing of board.standing) {
    if (standing.rule.kind !== 'refuse' && matches(standing.rule.match, request) && strikes(standing)) {
      return standing.rule
    }
  }
  return board.triggers ? triggerOn(board, request) : null
}

/** Whether a connection, or the next request on a kept one, is closed unread. */
export function refuses(board: FaultBoard): boolean {
  return board.standing.some((standing) => standing.rule.kind === 'refuse' && strikes(standing))
}

/** Counts the match. */
function strikes(standing: StandingRule): boolean {
  const { times = Number.POSITIVE_INFINITY, every = 1 } = standing.rule
  standing.matched += 1
  if (standing.struck >= times || standing.matched % every !== 0) return false
  standing.struck += 1
  return true
}

function matches(match: FaultMatch, request: TransactionRequest): boolean {
  const { orderId, vaultId } = targetOf(request)
  return (
    (match.operation === undefined || match.operation === request.operation) &&
    (match.orderId === undefined || match.orderId === orderId) &&
    (match.vaultId === undefined || match.vaultId === vaultId) &&
    (match.xtlOrderId === undefined || match.xtlOrderId === request.xtlOrderId) &&
    (match.amount === undefined ||
      (request.amount !== null && plainDecimal(match.amount) === plainDecimal(request.amount)))
  )
}

function triggerOn(board: FaultBoard, request: TransactionRequest): Strike | null {
  const trigger = request.amount === null ? undefined : TRIGGERS.get(plainDecimal(request.amount))
  if (trigger === undefined) return null
  if (trigger.firstTimeOnly) {
    const { orderId, vaultId } = targetOf(request)
    const same = [request.operation, orderId, vaultId, request.xtlOrderId].join('|')
    if (board.triggered.has(same)) return null
    board.triggered.add(same)
  }
  return trigger
}

function targetOf(request: TransactionRequest): { readonly orderId: string | null; readonly vaultId: string | null } {
  if ('orderId' in request) return { orderId: request.orderId, vaultId: null }
  return { orderId: null, vaultId: request.source.kind === 'vault' ? request.source.vaultId : null }
}

function plainDecimal(text: string): string {
  const [whole = '', decimals = ''] = text.split('.')
  return `${whole.replace(/^0+(?=\d)/, '')}.${decimals.replace(/0+$/, '')}`
}
