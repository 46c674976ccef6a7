// A declined charge asked for once more, as an instruction of its own: under which reference, and when the card networks let it. Pure.

import { categoryOfReason, parseReasonCategory, type ReasonCategory, type ReasonRule } from './reason-categories.ts'

/** Reasons that may pass by themselves. After any other, the card or the row must change first. */
export const PASSING = ['funds', 'technical', 'other'] as const
export type PassingCategory = (typeof PASSING)[number]

export function parsePassing(text: string): PassingCategory | undefined {
  return PASSING.find((category) => category === text)
}

/** Which declined charges are asked for once more. */
export interface ReattemptAsked {
  readonly categories: readonly PassingCategory[]
  /** The merchant's own. */
  readonly reasonRules: readonly ReasonRule[]
}

export interface Reattempt extends ReattemptAsked {
  /** The merchant's order id that goes with a reference. */
  readonly xtlOrderIdOf: (reference: string) => string
}

const DAY_MS = 86_400_000

interface NetworkRule {
  readonly network: string
  /** Declines of one card at one merchant after which it is not asked again… */
  readonly declines: number
  /** …until so many days have passed. */
  readonly days: number
  readonly sources: readonly string[]
}

/**
 * Beyond these the networks charge a fee for every further try. A vault id does not tell its card's network, so all of them hold.
 * Since May 2025 Visa allows 20; processors still publish both figures, and the lower one is kept. Read on 2026-11-22.
 */
export const NETWORK_RULES: readonly NetworkRule[] = [
  {
    network: 'Visa',
    declines: 15,
    days: 30,
    sources: [
      'support.checkout.com, "When can I retry a declined transaction"',
      'payway.com, "Visa Excessive Reattempts Rule & Fees"',
    ],
  },
  {
    network: 'Mastercard',
    declines: 10,
    days: 1,
    sources: [
      'support.checkout.com, "When can I retry a declined transaction"',
      'developers.tabapay.com, "Excessive Retry Rules"',
    ],
  },
  {
    network: 'Mastercard',
    declines: 35,
    days: 30,
    sources: [
      'support.checkout.com, "When can I retry a declined transaction"',
      'developers.tabapay.com, "Excessive Retry Rules"',
    ],
  },
]

/** What the record knows of one vault id: its declines and its replacements in the vault. */
export interface CardEvent {
  readonly kind: 'declined' | 'replaced'
  readonly atMs: number
  readonly reason: string | null
  /** A person found a row in doubt declined, in words of their own: 0 or 1. */
  readonly byPerson: number
}

/** Why a declined charge is not asked for once more. */
export type NotAsked = ReasonCategory | 'limit' | 'not-a-charge' | 'not-certain' | 'taken'

/** What is to be charged once more, at `nowMs`. */
export interface CardToAsk {
  readonly nowMs: number
  /** How the charge itself was declined; null: that was another card. */
  readonly declined: { readonly atMs: number; readonly reason: string } | null
  readonly events: readonly CardEvent[]
  /** How often it is to be charged already, which may be declined as well. */
  readonly tries: number
}

/**
 * null: it may be asked. A card that took the place of another, under a new vault id or by an update in the vault, has none of its
 * declines.
 */
export function whyNotAsked(card: CardToAsk, { categories, reasonRules }: ReattemptAsked): NotAsked | null {
  const { declined, events, nowMs, tries } = card
  const replacedAtMs = Math.max(0, ...events.filter(({ kind }) => kind === 'replaced').map(({ atMs }) => atMs))
  const declines = events.filter(({ kind, atMs }) => kind === 'declined' && atMs >= replacedAtMs)
  const categoryOf = (reason: string | null) =>
    parseReasonCategory(reason) ?? categoryOfReason(reason ?? '', reasonRules)
  const category = declined === null || declined.atMs < replacedAtMs ? null : categoryOf(declined.reason)
  if (category !== null && !categories.some((asked) => asked === category)) return category
  if (declines.some(({ reason, byPerson }) => byPerson === 0 && categoryOf(reason) === 'fraud')) return 'fraud'
  const isOver = NETWORK_RULES.some(
    (rule) => declines.filter(({ atMs }) => atMs > nowMs - rule.days * DAY_MS).length + tries >= rule.declines,
  )
  return isOver ? 'limit' : null
}

/** The same for a charge by whatever door it came: why none of this card is sent now, in words; null: it may be. */
export function whyForbidden(
  events: readonly CardEvent[],
  reasonRules: readonly ReasonRule[],
  nowMs: number,
): string | null {
  const card = { nowMs, declined: null, events, tries: 0 }
  switch (whyNotAsked(card, { categories: PASSING, reasonRules })) {
    case null:
      return null
    case 'limit':
      return 'not sent, because this card was declined as often as the card networks allow for now: charge it later, or have it replaced (a vault update)'
    default:
      return 'not sent, because this card was declined as lost, stolen or fraud before, and no other try is allowed: have it replaced (a vault update)'
  }
}

/**
 * The second attempt at `sub-7` is `sub-7~2`, the third `sub-7~3`. `last`: of the attempt before; `first`: of the first one.
 */
export function nextReference(last: string, first: string): string {
  const number = last === first ? 1 : Number(last.slice(first.length + 1))
  return `${first}~${number + 1}`
}
