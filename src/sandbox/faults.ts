// Trouble on order: which requests meet which fault. Deterministic, so that a run can be repeated.

import { Fault } from '../domain/fault.ts'
import { isVaultOperation, type Operation } from '../domain/instruction.ts'
import { canMeet, type FaultKind, isAboutMoney } from './fault-kinds.ts'
import { type SandboxRequest, targetOf } from './target.ts'
import { isRefusedEnding, keyOf, plainDecimal, triggerFor } from './triggers.ts'

/** All that is given must match. */
export interface FaultMatch {
  readonly any?: true | undefined
  readonly operation?: Operation | undefined
  readonly orderId?: string | undefined
  readonly vaultId?: string | undefined
  /** Of the card that the request has details of. */
  readonly lastFour?: string | undefined
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
  /** For `decline`: what the answer says. */
  readonly reason?: string | undefined
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
  const { operation } = rule.match
  if (isAboutMoney(rule.kind) && operation !== undefined && isVaultOperation(operation)) {
    throw new Fault('usage', `The fault "${rule.kind}" is about money, and ${operation} moves none.`)
  }
  board.standing.push({ rule, matched: 0, struck: 0 })
}

export function clearRules(board: FaultBoard): void {
  board.standing.length = 0
  board.triggered.clear()
}

export type Strike = Pick<FaultRule, 'kind' | 'latencyMs' | 'retryAfterS' | 'reason'>

/** The fault this request meets: the first rule that strikes, in the order in which they were added, else a trigger. */
export function faultFor(board: FaultBoard, request: SandboxRequest): Strike | null {
  for (const standing of board.standing) {
    if (matches(standing.rule, request) && strikes(standing)) return standing.rule
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

function matches({ kind, match }: FaultRule, request: SandboxRequest): boolean {
  if (kind === 'refuse' || !canMeet(kind, request.operation)) return false
  const { orderId, vaultId, card, xtlOrderId, amount } = targetOf(request)
  return (
    (match.operation === undefined || match.operation === request.operation) &&
    (match.orderId === undefined || match.orderId === orderId) &&
    (match.vaultId === undefined || match.vaultId === vaultId) &&
    (match.lastFour === undefined || match.lastFour === card?.lastFour) &&
    (match.xtlOrderId === undefined || match.xtlOrderId === xtlOrderId) &&
    (match.amount === undefined || (amount !== null && plainDecimal(match.amount) === plainDecimal(amount)))
  )
}

function triggerOn(board: FaultBoard, request: SandboxRequest): Strike | null {
  const trigger = triggerFor(request)
  if (!trigger?.firstTimeOnly) return trigger
  const same = keyOf(request)
  if (board.triggered.has(same)) return null
  board.triggered.add(same)
  return trigger
}

/** Whether the vault is to refuse what it could do. */
export function isRefusedByTrigger(board: FaultBoard, request: SandboxRequest): boolean {
  return board.triggers && isRefusedEnding(request)
}
