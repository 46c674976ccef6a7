// Trouble that can be rehearsed from a file alone: by amount, by the end of a card number or by the end of a vault id.

import { formatCardMask } from '../domain/card.ts'
import { isVaultOperation } from '../domain/instruction.ts'
import { canMeet, type FaultKind } from './fault-kinds.ts'
import { DECLINED_AMOUNT } from './orders.ts'
import { type SandboxRequest, targetOf } from './target.ts'

export interface Trigger {
  readonly kind: FaultKind
  /** Strikes a request once; the same request sent again passes. */
  readonly firstTimeOnly?: true
  readonly latencyMs?: number
  readonly says: string
}

/** By amount, in currencies with two decimals or more. */
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

/** The end of a card number, or of the id of a record to delete, that the vault itself refuses. */
export const DECLINED_ENDING = '0502'

/**
 * By the last four digits of a card number: of the amounts, those that do not change money. Some number that ends so
 * passes Luhn for every issuer. A deletion names no card: its vault id ends in the same digits behind two zeros (000503),
 * because ids are often given out in sequence, and then every ten-thousandth would end in the four.
 */
export const TRIGGER_ENDINGS: Readonly<Record<string, Trigger>> = {
  '0503': { kind: 'reset-after', says: 'executed, then the connection is reset' },
  '0504': { kind: 'hang-after', says: 'executed, never answered' },
  '0505': { kind: '429', firstTimeOnly: true, says: 'too many requests, the first time' },
  '0506': { kind: '503-after', says: 'executed, answered 503' },
  '0507': { kind: 'cut-body', says: 'executed, half an answer' },
  '0509': { kind: 'wrong-echo', says: 'executed, another card and another id in the answer' },
  '0510': { kind: 'reset-before', says: 'not executed, the connection is reset' },
  '0511': { kind: '429', says: 'too many requests, every time' },
  '0513': { kind: '403', says: 'forbidden, every time' },
  '0514': { kind: 'html', says: 'executed, answered with a web page' },
  '0515': { kind: 'slow', latencyMs: 5000, says: 'executed and answered after 5 seconds' },
}

/** Every amount that means something here, for help texts: the documented decline first, which needs no option. */
export function triggerLines(): readonly string[] {
  return [`${DECLINED_AMOUNT}  declined by the processor`, ...linesOf(TRIGGER_AMOUNTS)]
}

/** Every ending that means something here, likewise. */
export function endingLines(): readonly string[] {
  return [`${DECLINED_ENDING}  refused by the vault (card sales pass)`, ...linesOf(TRIGGER_ENDINGS)]
}

function linesOf(triggers: Readonly<Record<string, Trigger>>): readonly string[] {
  return Object.entries(triggers).map(([sign, { says }]) => `${sign}  ${says}`)
}

const BY_AMOUNT = new Map(Object.entries(TRIGGER_AMOUNTS).map(([amount, trigger]) => [plainDecimal(amount), trigger]))

export function triggerFor(request: SandboxRequest): Trigger | null {
  const { amount } = targetOf(request)
  const byAmount = amount === null ? undefined : BY_AMOUNT.get(plainDecimal(amount))
  const byEnding = TRIGGER_ENDINGS[endingOf(request) ?? '']
  const trigger = byAmount ?? byEnding
  return trigger !== undefined && canMeet(trigger.kind, request.operation) ? trigger : null
}

/** null: its end means nothing. */
function endingOf(request: SandboxRequest): string | null {
  if (request.operation === 'VAULT_DELETE') return /00(\d{4})$/.exec(request.vaultId)?.[1] ?? null
  return targetOf(request).card?.lastFour ?? null
}

export function isRefusedEnding(request: SandboxRequest): boolean {
  return isVaultOperation(request.operation) && endingOf(request) === DECLINED_ENDING
}

/** What tells a request from others when it is sent again. */
export function keyOf(request: SandboxRequest): string {
  const { orderId, vaultId, card, xtlOrderId } = targetOf(request)
  return [request.operation, orderId, vaultId, card === null ? null : formatCardMask(card), xtlOrderId].join('|')
}

export function plainDecimal(text: string): string {
  const [whole = '', decimals = ''] = text.split('.')
  return `${whole.replace(/^0+(?=\d)/, '')}.${decimals.replace(/0+$/, '')}`
}
