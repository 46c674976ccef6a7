// Why a row was not executed, as one of nine words that a person can count and filter by. Read from the recorded reason.

import { DONE_WORDS } from './done-words.ts'
import type { State } from './states.ts'

/**
 * - `funds`: not enough money or credit behind the card, or a limit of its issuer
 * - `card`: the card or its account cannot be used: expired, closed, restricted, not permitted
 * - `fraud`: lost, stolen, suspected; do not try again
 * - `done`: it was done before, by this request or by someone else: what was sent may be executed
 * - `data`: something in the row is wrong: an amount, an id, a number, a format
 * - `balance`: more than the order has left
 * - `settlement`: the state of the order does not allow it: settled, voided, not captured
 * - `technical`: a system between us and the issuer failed or took too long
 * - `other`: no reason given, or none that says why
 */
export const REASON_CATEGORIES = [
  'funds',
  'card',
  'fraud',
  'done',
  'data',
  'balance',
  'settlement',
  'technical',
  'other',
] as const
export type ReasonCategory = (typeof REASON_CATEGORIES)[number]

export function parseReasonCategory(text: string | null): ReasonCategory | null {
  return REASON_CATEGORIES.find((category) => category === text) ?? null
}

/** A merchant's own: a reason that has this text in it is of this category. Plain text, so that nothing can hang. */
export interface ReasonRule {
  readonly match: string
  readonly category: ReasonCategory
}

interface Entry {
  readonly category: ReasonCategory
  /** Beginnings of words, as `plain` leaves them: "expired" also finds "Card expired." and "EXPIRED_CARD". */
  readonly says: readonly string[]
}

/**
 * Tried from the top, so that what is more telling comes first: "restricted card, suspected fraud" is fraud.
 * Sources: the answers documented for the gateway (balance of the order, pending settlement); the texts of our own
 * sandbox; the usual texts of ISO 8583 field 39, as acquirers publish them (developers.mypos.com "Response codes",
 * docs.lyra.com "GICC", documentation.lemonway.com "Verifone error codes") and as card gateways word them
 * (docs.paymentplatform.dev "Host response codes").
 */
const TABLE: readonly Entry[] = [
  { category: 'done', says: DONE_WORDS },
  {
    category: 'fraud',
    says: [
      ...['fraud', 'suspected', 'suspicion', 'suspicious', 'stolen', 'lost card', 'card lost', 'lost or stolen'],
      ...['reported lost', 'pick up', 'pickup', 'capture card', 'retain card', 'keep the card', 'counterfeit'],
      ...['security violation', 'security regulations', 'violation of law', 'high risk', 'risk threshold', 'blacklist'],
      ...['blocklist', 'blocked by risk'],
    ],
  },
  {
    category: 'settlement',
    says: [
      ...['pending settlement', 'not settled', 'already settled', 'has been settled', 'not yet settled'],
      ...['already been settled', 'only an open authorization', 'only a sale can be refunded', 'voided transaction'],
      ...['not captured', 'cannot be voided', 'cannot be refunded', 'authorization expired', 'authorisation expired'],
      ...['authorization has expired', 'invalid authorization life cycle'],
    ],
  },
  {
    category: 'balance',
    says: [
      ...[
        'order balance',
        'balance of the order',
        'remaining balance',
        'balance remaining',
        'greater than the balance',
      ],
      ...['exceeds the balance', 'exceeds balance', 'exceeds the order', 'exceeds original', 'exceeds the original'],
      ...['exceeds the authorized', 'exceeds authorized', 'exceeds captured', 'exceeds the captured'],
      ...['greater than the authorization', 'more than the original', 'refund amount exceeds', 'refund exceeds'],
      ...['amount no longer available'],
    ],
  },
  {
    category: 'funds',
    says: [
      ...['insufficient', 'not sufficient', 'no sufficient', 'nsf', 'low balance', 'not enough'],
      ...['over limit', 'over credit limit', 'overlimit', 'exceeds limit', 'exceeds the limit', 'exceeds withdrawal'],
      ...['exceeds approval', 'exceeds amount limit'],
      ...['exceeded limit', 'excess withdrawal', 'limit exceeded', 'withdrawal amount limit', 'withdrawal count limit'],
      ...['withdrawal amount past', 'withdrawal frequency', 'credit limit', 'daily limit', 'spending limit'],
      ...['activity limit', 'activity count limit', 'no credit account'],
    ],
  },
  {
    category: 'technical',
    says: [
      ...['system malfunction', 'system error', 'system fault', 'system temporar', 'system problem', 'malfunction'],
      ...['issuer unavailable', 'issuer not available', 'issuer inoperative', 'issuer or switch', 'issuer timed out'],
      ...['issuer system inoperative', 'issuer not accessible', 'issuer temporarily', 'inoperative', 'unavailable'],
      ...['timed out', 'timeout', 'time out', 'too late', 'unreachable', 'not reachable', 'unable to route'],
      ...['cannot be routed', 'destination not found', 'network error', 'communication error', 'connection'],
      ...['message flow', 'cutoff', 'cut off in process', 'cut over', 'try again', 're enter', 'retry later'],
      ...['processing error', 'processing temporarily', 'internal error', 'server error', 'cryptographic', 'mac check'],
      ...['maintenance', 'not executed by', 'http 403', 'reconcile error'],
    ],
  },
  {
    category: 'card',
    says: [
      ...['expired', 'expiry date passed', 'card expiry', 'restricted', 'not permitted', 'not allowed', 'forbidden at'],
      ...['account closed', 'closed account', 'card closed', 'card blocked', 'blocked card', 'card inactive'],
      ...['inactive card', 'not activated', 'no checking account', 'no savings account', 'no such account'],
      ...['no account', 'nonexistent account', 'no card record', 'no card number on file', 'card not in'],
      ...['unsupported card', 'card not supported', 'card type', 'card not accepted', 'invalid pin', 'incorrect pin'],
      ...['pin tries', 'pin try', 'personal identification number', 'secret code', 'refer to card issuer'],
      ...['refer to issuer', 'call issuer', 'contact card issuer', 'contact the card issuer', 'call voice'],
      ...['stop payment', 'revocation of', 'stop all recurring', 'stop this recurring', 'cardholder data available'],
      ...['authentication required', 'authentication failure', 'authentication failed', 'sca required', '3ds'],
    ],
  },
  { category: 'balance', says: ['balance'] },
  {
    category: 'data',
    says: [
      ...['invalid', 'incorrect', 'not valid', 'format error', 'wrong format', 'malformed', 'missing', 'is required'],
      ...['must be', 'not known', 'unknown', 'not found', 'no such', 'does not exist', 'unable to locate'],
      ...[
        'is not an amount',
        'the authorization is in',
        'currency not supported',
        'cvv',
        'cvc',
        'cvv2',
        'security code',
      ],
      ...['avs', 'address verification', 'zip mismatch', 'postcode mismatch', 'mismatch', 'bad track', 'luhn'],
      ...['refused as wrong'],
    ],
  },
]

/** Alternatives of plain words only, so that none can run away; one pass over a text instead of one for each phrase. */
const PATTERNS = TABLE.map(({ category, says }) => ({ category, pattern: new RegExp(` (?:${says.join('|')})`) }))

/** Exactly one for every text. A merchant's own rules come first, in their order. */
export function categoryOfReason(reason: string, own: readonly ReasonRule[]): ReasonCategory {
  const text = folded(reason)
  const ruled = own.length === 0 ? undefined : foldedRules(own).find(({ match }) => text.includes(match))
  if (ruled !== undefined) return ruled.category
  const words = plain(text)
  return PATTERNS.find(({ pattern }) => pattern.test(words))?.category ?? 'other'
}

const FOLDED = new WeakMap<readonly ReasonRule[], readonly ReasonRule[]>()

/** Once for all rows. */
function foldedRules(own: readonly ReasonRule[]): readonly ReasonRule[] {
  const known = FOLDED.get(own)
  if (known !== undefined) return known
  const rules = own.map(({ match, category }) => ({ match: folded(match), category }))
  FOLDED.set(own, rules)
  return rules
}

/**
 * What stands under `result_reason_category`; empty where nothing was refused. A row in doubt may have been executed, so
 * that nobody knows of a reason.
 */
export function categoryOfRow(
  row: { readonly state: State; readonly reason: string | null; readonly categoryKept?: ReasonCategory | null },
  own: readonly ReasonRule[],
): ReasonCategory | '' {
  switch (row.state) {
    case 'DECLINED':
    case 'FAILED':
      return row.categoryKept ?? categoryOfReason(row.reason ?? '', own)
    case 'INVALID':
      return 'data'
    case 'READY':
    case 'SENDING':
    case 'APPROVED':
    case 'IN_DOUBT':
    case 'CANCELLED':
    case 'DUPLICATE':
      return ''
  }
}

/** As rules and reasons are compared: letter case, and how many blanks stand between words, mean nothing. */
export function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()
}

/** Words with one blank before each: signs between them mean nothing. */
function plain(text: string): string {
  return ` ${text.replace(/[^\p{L}\p{N}]+/gu, ' ').trim()}`
}
